/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables: order of wakes, broadcast, time-outs, cancels.
 */
#include "harness.h"

static int f_wait(va_list ap)
{
	struct fiber_cond *c = va_arg(ap, struct fiber_cond *);
	const char *name = va_arg(ap, const char *);
	double timeout = va_arg(ap, double);
	int rc = fiber_cond_wait_timeout(c, timeout);
	trace_add(name);
	if (rc != 0)
		trace_add(error_is(diag_last(), &type_TimedOut) ? "(time)" : "(cancel)");
	return 0;
}

FIBER_TEST(signal_wakes_the_oldest)
{
	trace_reset();
	struct fiber_cond c;
	fiber_cond_create(&c);
	fiber_cond_signal(&c);
	fiber_start(fiber_new("a", f_wait), &c, "a", TIMEOUT_INFINITY);
	fiber_start(fiber_new("b", f_wait), &c, "b", TIMEOUT_INFINITY);
	fiber_start(fiber_new("c", f_wait), &c, "c", 100.0);
	fiber_reschedule();
	assert_string_equal(trace, "");
	fiber_cond_signal(&c);
	fiber_reschedule();
	assert_string_equal(trace, "a");
	fiber_cond_broadcast(&c);
	fiber_reschedule();
	assert_string_equal(trace, "abc");
	fiber_cond_destroy(&c);
	return 0;
}

FIBER_TEST(waits_end_by_time_and_cancel)
{
	trace_reset();
	struct fiber_cond *c = fiber_cond_new();
	fiber_start(fiber_new("a", f_wait), c, "a", 0.001);
	struct fiber *f = fiber_new("b", f_wait);
	fiber_start(f, c, "b", TIMEOUT_INFINITY);
	fiber_sleep(0.01);
	assert_string_equal(trace, "a(time)");
	fiber_cancel(f);
	fiber_sleep(0);
	assert_string_equal(trace, "a(time)b(cancel)");
	/* Neither left anything behind in the list. */
	assert_true(list_empty(&c->waiters));
	assert_int_equal(fiber_cond_wait_timeout(c, 0), -1);
	fiber_cond_delete(c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(signal_wakes_the_oldest),
		runtime_test(waits_end_by_time_and_cancel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
