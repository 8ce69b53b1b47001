/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Starting threads of the process: signals are for tx, and stacks are small.
 */
#pragma once

#include <pthread.h>

/** Starts a thread with all signals blocked, which is to be joined. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*main)(void *arg), void *arg);
