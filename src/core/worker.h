/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Worker threads for what blocks: files, name look-up, fdatasync, checkpoints.
 * The pool grows to a bound and its idle threads end after a while.
 */
#pragma once

#include <stddef.h>

/** Starts the pool (lazily, threads are made at need). */
void worker_init(void);
/** Waits for what runs and ends all threads. */
void worker_free(void);

/** Threads at the most; 4 at first. */
void worker_set_threads_max(int count);

/**
 * Runs `func(arg)` in a worker thread and parks the fiber until it is done;
 * returns its value and moves its diagnostics here. A cancel does not end the
 * wait, since `arg` must outlive the call. Yields; -1 with an error set, and `func` not
 * called, where no switch is allowed (fiber_may_yield()).
 */
int worker_call(int (*func)(void *arg), void *arg);

/**
 * Runs `func(arg)` in a worker; then, in tx and in the scheduler's fiber,
 * `done(arg, result)`, which may not yield.
 */
void worker_post(int (*func)(void *arg), void *arg, void (*done)(void *arg, int result));
