/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See thread.h.
 */
#include "core/thread.h"

#include <signal.h>

enum {
	/** Enough for getaddrinfo(), zstd and TLS. */
	THREAD_STACK_SIZE = 1024 * 1024,
};

int thread_start(pthread_t *thread, void *(*main)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_SIZE);
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(thread, &attr, main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}
