/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A clock for measuring what runs millions of times: the processor's own counter,
 * read in a few nanoseconds. Where the processor does not promise that it runs
 * evenly, ticks are nanoseconds of the monotonic clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** Is the processor's counter used? Found out by ticks_init(). */
extern bool ticks_are_raw;

/** Once, at start-up. */
void ticks_init(void);

static inline uint64_t ticks_monotonic_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	if (ticks_are_raw)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
	return ticks_monotonic_ns();
}

/** Seconds in one tick, from what has passed since ticks_init(). Not for every call. */
double ticks_unit(void);
