/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For unit tests of what needs fibers: each test gets a fresh runtime and runs
 * its body in a fiber, while the main fiber runs the loop in fiber_join().
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fiber.h"
#include "core/loop.h"

static inline int runtime_setup(void **state)
{
	(void)state;
	fiber_init();
	loop_init();
	return 0;
}

static inline int runtime_teardown(void **state)
{
	(void)state;
	loop_free();
	fiber_free();
	return 0;
}

/** Runs `body` in a fiber of its own and the loop until it is over. */
static inline int run_in_fiber(fiber_func body)
{
	struct fiber *f = fiber_new("test", body);
	assert_non_null(f);
	fiber_set_joinable(f, true);
	fiber_start(f);
	return fiber_join(f);
}

#define runtime_test(f) cmocka_unit_test_setup_teardown(f, runtime_setup, runtime_teardown)

/** A cmocka test NAME whose body, which follows, runs in a fiber. */
#define FIBER_TEST(name) \
	static int name##_body(va_list ap); \
	static void name(void **state) \
	{ \
		(void)state; \
		assert_int_equal(run_in_fiber(name##_body), 0); \
	} \
	static int name##_body(__attribute__((unused)) va_list ap)

/** A text that the parts of a test append to, to check their order. */
static char trace[4096];

static inline void trace_reset(void)
{
	trace[0] = '\0';
}

static inline void trace_add(const char *s)
{
	strncat(trace, s, sizeof(trace) - strlen(trace) - 1);
}
