/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocking calls and descriptors for modules, behind `coio_*` of tarn/module.h.
 */
#pragma once

#include <stdarg.h>
#include <sys/types.h>

struct addrinfo;

/** Waits for EV_READ | EV_WRITE of `fd`; 0 on time-out, cancel and coio_close(). Yields. */
int coio_wait_events(int fd, int events, double timeout);

/** close(2) after waking whoever waits for `fd` in coio_wait_events(). */
int coio_close(int fd);

/** Runs func(args) in a worker; keeps its errno. Yields. */
ssize_t coio_call_va(ssize_t (*func)(va_list), va_list args);

/**
 * getaddrinfo(3) in a worker: 0, or -1 with SystemError, TimedOut or FiberIsCancelled set. Yields.
 */
int coio_resolve(const char *host, const char *port, const struct addrinfo *hints,
		 struct addrinfo **res, double timeout);
