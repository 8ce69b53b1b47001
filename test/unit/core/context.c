/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The context switch alone: locals in integer and floating point registers and
 * on the stack survive, whatever the compiler keeps where, and unwinding ends
 * at the first frame. Three contexts go round: main, a, b.
 *
 * It needs nothing but context.h and the assembly file, so it can be built with
 * a cross compiler and run in an emulator as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

#include <cmocka.h>

#include "core/context.h"

enum { ROUNDS = 20000, STACK_SIZE = 256 * 1024 };

static void *sp_main, *sp_a, *sp_b;
static long total, mistakes;
static int born, frames;
static char stacks[2][STACK_SIZE] __attribute__((aligned(16)));

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *arg)
{
	(void)context;
	(void)arg;
	return ++frames > 1000 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/** Switches with many live values; all must be the same behind it. */
static double work(void **self, void *const *to, double x, long a, long b, long c, long d, long e,
		   long f, long g, long h, long i)
{
	double y = x * 2, z = x * 3, w = x * 5;
	context_switch(self, *to);
	total += a + b + c + d + e + f + g + h + i;
	return y + z + w;
}

static void round_of(void **self, void *const *to, long n)
{
	if (work(self, to, n, 1, 2, 3, 4, 5, 6, 7, 8, n) != n * 10.0)
		mistakes++;
}

void context_main(void)
{
	void **self = born++ == 0 ? &sp_a : &sp_b;
	void *const *to = self == &sp_a ? &sp_b : &sp_main;
	_Unwind_Backtrace(count_frame, NULL);
	for (long n = 0;; n++)
		round_of(self, to, n);
}

static void three_contexts(void **state)
{
	(void)state;
	sp_a = context_create(stacks[0] + STACK_SIZE);
	sp_b = context_create(stacks[1] + STACK_SIZE);
	for (long n = 0; n < ROUNDS; n++)
		round_of(&sp_main, &sp_a, n);
	assert_int_equal(born, 2);
	assert_int_equal(mistakes, 0);
	/* All went so many rounds, save that a and b stand inside their last. */
	long all = 3 * (36L * ROUNDS + (long)ROUNDS * (ROUNDS - 1) / 2);
	assert_int_equal(total, all - 2 * (36 + ROUNDS - 1));
	assert_true(frames >= 2 && frames <= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_contexts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
