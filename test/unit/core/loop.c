/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The loop: hooks and their order, waiting for descriptors, callbacks that
 * start fibers.
 */
#include "harness.h"

#include <unistd.h>

#include "core/sys.h"

static int fds[2];

FIBER_TEST(waits_for_a_pipe)
{
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(loop_wait_fd(fds[1], EV_WRITE, 10), EV_WRITE);
	assert_int_equal(loop_wait_fd(fds[0], EV_READ, 0.005), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(loop_wait_fd(fds[0], EV_READ, TIMEOUT_INFINITY), EV_READ);
	assert_int_equal(loop_wait_fd(fds[0], EV_READ, 0), EV_READ);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static int f_wait(va_list ap)
{
	int *events = va_arg(ap, int *);
	*events = loop_wait_fd(fds[0], EV_READ, TIMEOUT_INFINITY);
	return 0;
}

FIBER_TEST(cancel_ends_the_wait)
{
	assert_int_equal(pipe(fds), 0);
	int events = -1;
	struct fiber *f = fiber_new("w", f_wait);
	fiber_start(f, &events);
	fiber_sleep(0);
	fiber_cancel(f);
	fiber_sleep(0);
	assert_int_equal(events, 0);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static struct fiber *waiting;
static int journal_calls, net_calls;
static bool is_late;

static void on_fed(struct ev_loop *loop, ev_io *io, int events)
{
	fiber_wakeup(waiting);
	waiting = NULL;
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
	is_late = true;
}

/** A fiber feeds an event, and waits for it: the loop does not wait for another one before. */
FIBER_TEST(an_event_that_is_fed)
{
	ev_io io;
	ev_timer late;
	ev_io_init(&io, on_fed, 0, EV_READ);
	ev_timer_init(&late, on_late, 3, 0);
	ev_timer_start(loop_ev, &late);
	is_late = false;
	waiting = fiber();
	ev_feed_event(loop_ev, &io, EV_READ);
	fiber_yield();
	assert_false(is_late);
	ev_timer_stop(loop_ev, &late);
	return 0;
}

static void journal_hook(void)
{
	journal_calls++;
	if (waiting != NULL) {
		trace_add("J");
		fiber_wakeup(waiting);
		waiting = NULL;
	}
}

static void net_hook(void)
{
	trace_add("N");
	net_calls++;
}

static int f_commit(va_list ap)
{
	trace_reset();
	waiting = fiber();
	fiber_yield();
	trace_add("c");
	loop_stop();
	return 0;
}

static int f_busy(va_list ap)
{
	bool *is_over = va_arg(ap, bool *);
	/* Ready at all times; the hooks must be called nevertheless. */
	while (journal_calls < 10 || net_calls < 10)
		fiber_reschedule();
	*is_over = true;
	return 0;
}

static void hooks_run_in_order(void **state)
{
	(void)state;
	journal_calls = net_calls = 0;
	loop_set_hook(LOOP_HOOK_NET, net_hook);
	loop_set_hook(LOOP_HOOK_JOURNAL, journal_hook);
	fiber_start(fiber_new("commit", f_commit));
	loop_run();
	/* The journal's hook made a fiber ready: the net's waits until it has run. */
	assert_string_equal(trace, "JcN");
	bool is_over = false;
	fiber_start(fiber_new("busy", f_busy), &is_over);
	while (!is_over)
		fiber_sleep(0.001);
	loop_set_hook(LOOP_HOOK_NET, NULL);
}

static int f_note(va_list ap)
{
	trace_add(va_arg(ap, const char *));
	fiber_reschedule();
	trace_add("+");
	loop_stop();
	return 0;
}

static void on_timer(struct ev_loop *ev, ev_timer *w, int events)
{
	assert_int_equal(fiber()->id, 1);
	trace_add("(");
	fiber_start(fiber_new("from callback", f_note), "f");
	trace_add(")");
}

static void callbacks_start_fibers(void **state)
{
	(void)state;
	trace_reset();
	ev_timer timer;
	ev_timer_init(&timer, on_timer, 0.001, 0);
	ev_timer_start(loop_ev, &timer);
	loop_run();
	assert_string_equal(trace, "(f)+");
}

FIBER_TEST(clocks)
{
	double before = clock_monotonic(), real = clock_realtime();
	fiber_sleep(0.002);
	assert_true(loop_monotonic() >= before);
	assert_true(loop_monotonic() <= clock_monotonic());
	assert_true(loop_time() >= real - 0.1 && loop_time() < real + 60);
	uint64_t ns = clock_monotonic_ns();
	assert_true(ns / 1e9 >= loop_monotonic());
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(waits_for_a_pipe),
		runtime_test(cancel_ends_the_wait),
		runtime_test(an_event_that_is_fed),
		runtime_test(hooks_run_in_order),
		runtime_test(callbacks_start_fibers),
		runtime_test(clocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
