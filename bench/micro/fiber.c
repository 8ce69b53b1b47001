/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What fibers cost, without Lua: nanoseconds per switch, birth and death,
 * sleep(0), timer and waits. Run by hand: `ninja bench_fiber && ./bench_fiber`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/channel.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "core/sys.h"

static int live;
static long rounds;

static void report(const char *what, uint64_t since, long count)
{
	printf("%-44s %8.1f ns\n", what, (double)(clock_monotonic_ns() - since) / count);
	fflush(stdout);
}

static int f_reschedule(va_list ap)
{
	(void)ap;
	for (long i = 0; i < rounds; i++)
		fiber_reschedule();
	live--;
	return 0;
}

static int f_sleep0(va_list ap)
{
	(void)ap;
	for (long i = 0; i < rounds; i++)
		fiber_sleep(0);
	live--;
	return 0;
}

static int f_sleep(va_list ap)
{
	double seconds = va_arg(ap, double);
	for (long i = 0; i < rounds; i++)
		fiber_sleep(seconds);
	live--;
	return 0;
}

static int f_nothing(va_list ap)
{
	(void)ap;
	return 0;
}

static int f_pingpong(va_list ap)
{
	struct fiber **peer = va_arg(ap, struct fiber **);
	for (long i = 0; i < rounds; i++) {
		fiber_wakeup(*peer);
		fiber_yield();
	}
	fiber_wakeup(*peer);
	live--;
	return 0;
}

static int f_get(va_list ap)
{
	struct channel *ch = va_arg(ap, struct channel *);
	void *value;
	while (channel_get(ch, &value, TIMEOUT_INFINITY) == 0 && value != NULL)
		;
	live--;
	return 0;
}

static void spread(fiber_func func, int fibers, long n)
{
	rounds = n;
	live = fibers;
	for (int i = 0; i < fibers; i++)
		fiber_wakeup(fiber_new("bench", func));
	while (live > 0)
		fiber_sleep(0);
}

static int bench(va_list ap)
{
	(void)ap;
	uint64_t t;
	for (int n = 2; n <= 1024; n *= 8) {
		char what[64];
		spread(f_reschedule, n, 100);
		t = clock_monotonic_ns();
		spread(f_reschedule, n, 5000000 / n);
		snprintf(what, sizeof(what), "reschedule, %d fibers", n);
		report(what, t, 5000000);
	}
	rounds = 5000000;
	live = 2;
	struct fiber *a = fiber_new("a", f_pingpong), *b = fiber_new("b", f_pingpong);
	fiber_set_joinable(a, true);
	fiber_set_joinable(b, true);
	t = clock_monotonic_ns();
	fiber_start(a, &b);
	fiber_start(b, &a);
	fiber_join(a);
	fiber_join(b);
	report("wakeup and yield, two fibers", t, 2 * rounds);

	t = clock_monotonic_ns();
	for (int i = 0; i < 3000000; i++)
		fiber_start(fiber_new("f", f_nothing));
	report("birth, start and death", t, 3000000);

	t = clock_monotonic_ns();
	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < 1000; k++)
			fiber_wakeup(fiber_new("f", f_nothing));
		fiber_reschedule();
	}
	report("birth, wakeup and death, 1000 at once", t, 300000);

	spread(f_sleep0, 1, 10);
	t = clock_monotonic_ns();
	spread(f_sleep0, 1, 300000);
	report("sleep(0), one fiber", t, 300000);
	t = clock_monotonic_ns();
	spread(f_sleep0, 100, 30000);
	report("sleep(0), 100 fibers", t, 3000000);

	struct channel *ch = channel_new(1);
	live = 1;
	fiber_start(fiber_new("get", f_get), ch);
	t = clock_monotonic_ns();
	for (long i = 1; i <= 3000000; i++)
		channel_put(ch, (void *)i, TIMEOUT_INFINITY);
	channel_put(ch, NULL, TIMEOUT_INFINITY);
	while (live > 0)
		fiber_reschedule();
	report("channel put and get", t, 3000000);
	channel_delete(ch);

	int many = 100000;
	rounds = 1;
	live = many;
	t = clock_monotonic_ns();
	for (int i = 0; i < many; i++)
		fiber_start(fiber_new("sleeper", f_sleep), 1.0 + i * 1e-6);
	report("birth of 100,000 sleepers", t, many);
	while (live > 0)
		fiber_sleep(0.01);
	t = clock_monotonic_ns();
	live = many;
	for (int i = 0; i < many; i++)
		fiber_start(fiber_new("sleeper", f_sleep), 0.000001);
	while (live > 0)
		fiber_sleep(0.001);
	report("short sleep of 100,000, pooled", t, many);
	loop_stop();
	return 0;
}

int main(void)
{
	fiber_init();
	loop_init();
	fiber_wakeup(fiber_new("bench", bench));
	loop_run();
	loop_free();
	fiber_free();
	return 0;
}
