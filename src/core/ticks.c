/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See ticks.h. How fast the counter runs is told by comparing it with the monotonic
 * clock over all the time since start-up, which grows more exact by itself.
 */
#include "core/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool ticks_are_raw;

/** Both clocks at start-up. */
static uint64_t first_ticks, first_ns;

/** Intel and AMD alike: leaf 80000007, bit 8 of EDX, "invariant TSC". */
static bool has_even_counter(void)
{
#if defined(__x86_64__)
	unsigned eax, ebx, ecx, edx;
	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1 << 8) != 0;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

void ticks_init(void)
{
	ticks_are_raw = has_even_counter();
	first_ticks = ticks_now();
	first_ns = ticks_monotonic_ns();
}

double ticks_unit(void)
{
	/* Below this the two reads themselves would count. */
	enum { SPAN_MIN_NS = 1000000 };
	if (!ticks_are_raw)
		return 1e-9;
	uint64_t ns;
	do {
		ns = ticks_monotonic_ns() - first_ns;
	} while (ns < SPAN_MIN_NS);
	return (double)ns * 1e-9 / (double)(ticks_now() - first_ticks);
}
