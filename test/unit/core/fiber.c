/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fibers: start, order, yield, sleep, cancel, join, recycling, slots, stacks.
 */
#include "harness.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/sched.h"
#include "core/sys.h"
#include "core/trigger.h"

static int f_letters(va_list ap)
{
	const char *letter = va_arg(ap, const char *);
	int count = va_arg(ap, int);
	for (int i = 0; i < count; i++) {
		trace_add(letter);
		fiber_reschedule();
	}
	return 0;
}

FIBER_TEST(start_runs_at_once_and_returns_first)
{
	trace_reset();
	fiber_start(fiber_new("a", f_letters), "a", 2);
	trace_add("-");
	fiber_start(fiber_new("b", f_letters), "b", 2);
	trace_add("-");
	/* The queue is a, b. */
	fiber_reschedule();
	trace_add(".");
	fiber_reschedule();
	assert_string_equal(trace, "a-b-ab.");
	return 0;
}

FIBER_TEST(yielding_fibers_take_turns)
{
	trace_reset();
	for (int i = 0; i < 3; i++)
		fiber_start(fiber_new("f", f_letters), (const char *[]){"a", "b", "c"}[i], 4);
	while (strlen(trace) < 12)
		fiber_reschedule();
	assert_string_equal(trace, "abcabcabcabc");
	return 0;
}

FIBER_TEST(yield_in_place_only_where_nobody_waits)
{
	fiber_sleep(0);
	uint64_t csw = fiber()->csw;
	assert_true(fiber_yield_in_place());
	assert_int_equal(fiber()->csw, csw + 1);
	struct fiber *other = fiber_new("a", f_letters);
	fiber_start(other, "a", 1);
	assert_false(fiber_yield_in_place());
	fiber_reschedule();
	/* A poll comes due by time. */
	while (fiber_yield_in_place())
		;
	fiber_sleep(0);
	return 0;
}

static int f_args(va_list ap)
{
	assert_int_equal(va_arg(ap, int), 7);
	assert_true(va_arg(ap, double) == 2.5);
	assert_string_equal(va_arg(ap, char *), "text");
	for (int i = 0; i < 20; i++)
		assert_int_equal(va_arg(ap, long), i);
	return 0;
}

FIBER_TEST(arguments_arrive)
{
	fiber_start(fiber_new("args", f_args), 7, 2.5, "text", 0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L,
		    8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L, 19L);
	return 0;
}

static int f_yield(va_list ap)
{
	int *runs = va_arg(ap, int *);
	(*runs)++;
	fiber_yield();
	(*runs)++;
	return 0;
}

static int f_sleep_zero(va_list ap)
{
	int *runs = va_arg(ap, int *);
	(*runs)++;
	fiber_sleep(0);
	(*runs)++;
	return 0;
}

FIBER_TEST(wakeup_is_counted_once)
{
	int runs = 0;
	struct fiber *f = fiber_new("y", f_yield);
	uint64_t id = f->id;
	fiber_start(f, &runs);
	assert_int_equal(runs, 1);
	fiber_reschedule();
	assert_int_equal(runs, 1);
	assert_ptr_equal(fiber_find(id), f);
	fiber_wakeup(f);
	fiber_wakeup(f);
	assert_true(f->flags & FIBER_IS_READY);
	fiber_reschedule();
	assert_int_equal(runs, 2);
	assert_null(fiber_find(id));
	/* Of a fiber that ended: nothing. */
	fiber_wakeup(f);
	assert_false(f->flags & FIBER_IS_READY);
	fiber_wakeup(fiber());
	assert_false(fiber()->flags & FIBER_IS_READY);
	return 0;
}

FIBER_TEST(halted_fibers_wait_for_another_wake)
{
	int runs = 0, sleeper_runs = 0;
	struct fiber *f = fiber_new("f", f_yield);
	fiber_start(f, &runs);
	struct fiber *sleeper = fiber_new("sleeper", f_sleep_zero);
	fiber_start(sleeper, &sleeper_runs);
	fiber_wakeup(f);
	fiber_halt_all();
	fiber_sleep(0.001);
	assert_int_equal(runs, 1);
	assert_int_equal(sleeper_runs, 1);
	fiber_wakeup(f);
	fiber_wakeup(sleeper);
	fiber_reschedule();
	assert_int_equal(runs, 2);
	assert_int_equal(sleeper_runs, 2);
	return 0;
}

FIBER_TEST(ids_grow_and_are_not_reused)
{
	uint64_t last = fiber()->id;
	assert_true(last >= 101);
	for (int i = 0; i < 1000; i++) {
		struct fiber *f = fiber_new("x", f_letters);
		assert_true(f->id > last);
		last = f->id;
		fiber_start(f, "", 0);
		assert_null(fiber_find(last));
	}
	assert_int_equal(fiber_count(), 2);
	assert_int_equal(fiber_pool_count(), 1);
	return 0;
}

static int f_set_flag(va_list ap)
{
	bool *flag = va_arg(ap, bool *);
	fiber_sleep(va_arg(ap, double));
	*flag = true;
	return 0;
}

FIBER_TEST(sleep_lasts_at_least_its_time)
{
	bool is_set = false;
	double start = clock_monotonic();
	fiber_start(fiber_new("s", f_set_flag), &is_set, 0.02);
	assert_false(is_set);
	fiber_sleep(0.05);
	assert_true(is_set);
	assert_true(clock_monotonic() - start >= 0.0499);
	return 0;
}

FIBER_TEST(odd_sleep_times_do_no_harm)
{
	fiber_sleep(0);
	fiber_sleep(-1);
	fiber_sleep(NAN);
	assert_true(fiber_yield_timeout(NAN));
	assert_true(fiber_yield_timeout(-INFINITY));
	return 0;
}

static int pipe_fds[2];

static int f_read_byte(va_list ap)
{
	bool *got = va_arg(ap, bool *);
	char c;
	assert_int_equal(loop_wait_fd(pipe_fds[0], EV_READ, TIMEOUT_INFINITY), EV_READ);
	*got = read(pipe_fds[0], &c, 1) == 1;
	return 0;
}

FIBER_TEST(sleep_zero_lets_due_events_go_first)
{
	assert_int_equal(pipe(pipe_fds), 0);
	bool got = false;
	fiber_start(fiber_new("reader", f_read_byte), &got);
	fiber_sleep(0);
	assert_false(got);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	fiber_sleep(0);
	fiber_reschedule();
	assert_true(got);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return 0;
}

FIBER_TEST(events_do_not_starve_beside_busy_fibers)
{
	bool is_set = false;
	fiber_start(fiber_new("s", f_set_flag), &is_set, 0.001);
	/* Ends by the timer, or never. */
	while (!is_set)
		fiber_reschedule();
	return 0;
}

static int f_cancel_me(va_list ap)
{
	int *seen = va_arg(ap, int *);
	fiber_sleep(1000);
	*seen = fiber_is_cancelled();
	assert_int_equal(fiber_testcancel(), -1);
	assert_string_equal(diag_last()->message, "fiber is cancelled");
	assert_string_equal(error_type_name(diag_last()), "FiberIsCancelled");
	return -1;
}

FIBER_TEST(cancel_wakes_a_sleeper)
{
	int seen = 0;
	struct fiber *f = fiber_new("c", f_cancel_me);
	fiber_start(f, &seen);
	fiber_cancel(f);
	assert_int_equal(seen, 0);
	fiber_reschedule();
	assert_int_equal(seen, 1);
	assert_int_equal(fiber_testcancel(), 0);
	return 0;
}

static int f_uncancellable(va_list ap)
{
	int *runs = va_arg(ap, int *);
	assert_true(fiber_set_cancellable(false));
	fiber_yield();
	++*runs;
	assert_false(fiber_set_cancellable(true));
	return 0;
}

FIBER_TEST(cancel_waits_where_it_must)
{
	int runs = 0;
	struct fiber *f = fiber_new("u", f_uncancellable);
	fiber_start(f, &runs);
	fiber_cancel(f);
	fiber_reschedule();
	assert_int_equal(runs, 0);
	assert_true(f->flags & FIBER_IS_CANCELLED);
	fiber_wakeup(f);
	fiber_reschedule();
	assert_int_equal(runs, 1);
	return 0;
}

static int f_fail(va_list ap)
{
	fiber_sleep(va_arg(ap, double));
	diag_set(IllegalParams, "failed by %s", "intent");
	return -1;
}

FIBER_TEST(join_returns_result_and_error)
{
	for (int i = 0; i < 2; i++) {
		struct fiber *f = fiber_new("j", f_fail);
		fiber_set_joinable(f, true);
		fiber_start(f, i * 0.001);
		diag_clear(diag_get());
		assert_int_equal(fiber_join(f), -1);
		assert_string_equal(diag_last()->message, "failed by intent");
		assert_null(f->diag.last);
		assert_int_equal(f->id, 0);
	}
	return 0;
}

FIBER_TEST(join_times_out)
{
	bool is_set = false;
	struct fiber *f = fiber_new("j", f_set_flag);
	fiber_set_joinable(f, true);
	fiber_start(f, &is_set, 1000.0);
	assert_int_equal(fiber_join_timeout(f, 0.001), -1);
	assert_string_equal(error_type_name(diag_last()), "TimedOut");
	fiber_wakeup(f);
	assert_int_equal(fiber_join_timeout(f, 10), 0);
	assert_true(is_set);
	assert_int_equal(fiber_join(fiber()), -1);
	assert_string_equal(diag_last()->message, "the fiber is not joinable");
	return 0;
}

static int f_join(va_list ap)
{
	struct fiber *f = va_arg(ap, struct fiber *);
	int *result = va_arg(ap, int *);
	*result = fiber_join(f);
	return 0;
}

FIBER_TEST(second_joiner_gets_an_error)
{
	bool is_set = false;
	struct fiber *f = fiber_new_sized("j", 64 * 1024, f_set_flag);
	fiber_set_joinable(f, true);
	fiber_start(f, &is_set, 0.001);
	int first = 1, second = 1;
	fiber_start(fiber_new("j1", f_join), f, &first);
	fiber_start(fiber_new("j2", f_join), f, &second);
	while (first == 1 || second == 1)
		fiber_sleep(0.001);
	assert_true(is_set);
	assert_int_equal(first, 0);
	assert_int_equal(second, -1);
	return 0;
}

static int f_wait_end(va_list ap)
{
	struct fiber *f = va_arg(ap, struct fiber *);
	int *result = va_arg(ap, int *);
	*result = fiber_wait_end(f, TIMEOUT_INFINITY);
	if (!*result)
		assert_ptr_equal(diag_last()->type, &type_FiberIsCancelled);
	return 0;
}

FIBER_TEST(cancel_ends_a_wait_for_the_end)
{
	int runs = 0, first = -1, second = -1;
	struct fiber *f = fiber_new("f", f_yield);
	fiber_set_joinable(f, true);
	fiber_start(f, &runs);
	struct fiber *waiter = fiber_new("w", f_wait_end);
	fiber_start(waiter, f, &first);
	fiber_cancel(waiter);
	fiber_reschedule();
	assert_int_equal(first, false);
	/* One that was cancelled before waits. */
	waiter = fiber_new("w", f_wait_end);
	waiter->flags |= FIBER_IS_CANCELLED;
	fiber_start(waiter, f, &second);
	assert_int_equal(second, -1);
	fiber_wakeup(f);
	fiber_reschedule();
	fiber_reschedule();
	assert_int_equal(second, true);
	assert_int_equal(fiber_join(f), 0);
	return 0;
}

FIBER_TEST(dead_fiber_set_unjoinable_is_recycled)
{
	struct fiber *f = fiber_new("j", f_letters);
	uint64_t id = f->id;
	fiber_set_joinable(f, true);
	fiber_start(f, "", 0);
	assert_ptr_equal(fiber_find(id), f);
	assert_true(f->flags & FIBER_IS_DEAD);
	fiber_set_joinable(f, false);
	assert_null(fiber_find(id));
	return 0;
}

static int slot, recycled, destroyed;

static void slot_recycle(struct fiber *f, void *value)
{
	assert_ptr_equal(f, fiber());
	assert_string_equal(value, "kept");
	recycled++;
}

static void slot_destroy(struct fiber *f)
{
	destroyed += f->slot[slot] != NULL;
}

static int f_slot(va_list ap)
{
	bool is_first = va_arg(ap, int);
	assert_int_equal(fiber()->slot[slot] == NULL, is_first);
	fiber()->slot[slot] = "kept";
	region_alloc(&fiber()->region, 100000);
	return 0;
}

static void slots_stay_with_pooled_fibers(void **state)
{
	recycled = destroyed = 0;
	runtime_setup(state);
	slot = fiber_slot_new(slot_recycle);
	fiber_on_destroy(slot_destroy);
	fiber_start(fiber_new("one", f_slot), 1);
	fiber_start(fiber_new("two", f_slot), 0);
	assert_int_equal(recycled, 2);
	assert_int_equal(destroyed, 0);
	runtime_teardown(state);
	assert_int_equal(destroyed, 1);
}

static int on_stop(struct trigger *t, void *event)
{
	assert_ptr_equal(event, fiber());
	++*(int *)t->data;
	return 0;
}

static void trigger_xfree(struct trigger *t)
{
	xfree(t);
}

FIBER_TEST(on_stop_runs_once)
{
	int stops = 0;
	for (int i = 0; i < 2; i++) {
		struct fiber *f = fiber_new("s", f_letters);
		assert_true(list_empty(&f->on_stop));
		struct trigger *t = xmalloc(sizeof(*t));
		trigger_create(t, on_stop, &stops, trigger_xfree);
		list_add_tail(&f->on_stop, &t->link);
		fiber_start(f, "", 1);
		fiber_reschedule();
		assert_int_equal(stops, i + 1);
	}
	return 0;
}

static int yields_announced;

static void on_yield(struct fiber *f)
{
	assert_ptr_equal(f, fiber());
	yields_announced++;
}

static int f_all_yields(va_list ap)
{
	struct fiber *started = va_arg(ap, struct fiber *);
	fiber()->on_yield = on_yield;
	fiber_reschedule();
	fiber_sleep(0);
	fiber_sleep(0.0001);
	fiber_yield_timeout(0.0001);
	fiber_start(started, "", 0);
	fiber()->on_yield = NULL;
	fiber_reschedule();
	return 0;
}

FIBER_TEST(on_yield_runs_before_each_yield)
{
	yields_announced = 0;
	struct fiber *f = fiber_new("y", f_all_yields);
	fiber_set_joinable(f, true);
	fiber_start(f, fiber_new("s", f_letters));
	assert_int_equal(fiber_join(f), 0);
	assert_int_equal(yields_announced, 5);
	return 0;
}

static int count_one(struct fiber *f, void *arg)
{
	uint64_t *last = arg;
	assert_true(f->id > *last);
	*last = f->id;
	return f->id == 103 ? 42 : 0;
}

FIBER_TEST(foreach_goes_by_age)
{
	int runs = 0;
	for (int i = 0; i < 3; i++)
		fiber_start(fiber_new("y", f_yield), &runs);
	uint64_t last = 0;
	assert_int_equal(fiber_foreach(count_one, &last), 42);
	assert_int_equal(last, 103);
	return 0;
}

FIBER_TEST(long_names_are_cut)
{
	char name[1000];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fiber_set_name(fiber(), name);
	assert_int_equal(strlen(fiber_name(fiber())), FIBER_NAME_MAX);
	return 0;
}

static int use_stack(int depth)
{
	volatile char room[1024];
	room[0] = depth;
	return depth > 0 ? use_stack(depth - 1) + room[0] : 0;
}

static int f_deep(va_list ap)
{
	return use_stack(va_arg(ap, int)) < 0;
}

FIBER_TEST(stacks_have_their_size)
{
	for (int i = 0; i < 3; i++) {
		struct fiber *f = fiber_new_sized("big", 8 << 20, f_deep);
		assert_int_equal(f->stack_size, 8 << 20);
		fiber_start(f, 2000);
		struct fiber *g = fiber_new("usual", f_deep);
		assert_int_equal(g->stack_size, FIBER_STACK_SIZE_DEFAULT);
		fiber_start(g, 150);
	}
	struct fiber *f = fiber_new_sized("tiny", 1, f_letters);
	assert_int_equal(f->stack_size, 16 * 1024);
	fiber_start(f, "", 1);
	fiber_reschedule();
	assert_null(fiber_new_sized("huge", SIZE_MAX / 2, f_letters));
	assert_string_equal(error_type_name(diag_last()), "OutOfMemory");
	return 0;
}

#ifndef TARN_ASAN
static void overflow_names_the_fiber(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		runtime_setup(state);
		fiber_start(fiber_new("deep one", f_deep), 1000000);
		_exit(0);
	}
	close(fds[1]);
	char text[200];
	ssize_t len = read(fds[0], text, sizeof(text) - 1);
	assert_true(len > 0);
	text[len] = '\0';
	assert_non_null(strstr(text, "stack overflow in fiber"));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	close(fds[0]);
}
#endif

static int f_sleeper(va_list ap)
{
	int *left = va_arg(ap, int *);
	fiber_sleep(0.05);
	--*left;
	return 0;
}

/** More than there can be guard pages. */
FIBER_TEST(many_sleepers)
{
#ifdef TARN_ASAN
	int count = 2000;
#else
	int count = 40000;
#endif
	int left = count;
	for (int i = 0; i < count; i++) {
		struct fiber *f = fiber_new("sleeper", f_sleeper);
		assert_non_null(f);
		fiber_start(f, &left);
	}
	while (left > 0)
		fiber_sleep(0.01);
	assert_int_equal(fiber_count(), 2);
	assert_int_equal(fiber_pool_count(), count);
	/* A period that needed them all keeps them; the next one does not. */
	assert_true(sched_trim_pool());
	assert_int_equal(fiber_pool_count(), count);
	while (sched_trim_pool())
		;
	assert_int_equal(fiber_pool_count(), 1024);
	left = 1500;
	for (int i = 0; i < 1500; i++)
		fiber_start(fiber_new("sleeper", f_sleeper), &left);
	while (left > 0)
		fiber_sleep(0.01);
	return 0;
}

static int f_stop(va_list ap)
{
	(void)ap;
	fiber_sleep(0.001);
	loop_stop();
	return 0;
}

static void main_fiber_is_a_fiber_too(void **state)
{
	(void)state;
	assert_int_equal(fiber()->id, 1);
	assert_string_equal(fiber()->name, "sched");
	trace_reset();
	fiber_start(fiber_new("a", f_letters), "a", 3);
	trace_add("-");
	fiber_reschedule();
	trace_add("-");
	fiber_sleep(0.001);
	assert_string_equal(trace, "a-a-a");
	fiber_sleep(0);
	fiber_start(fiber_new("stop", f_stop));
	/* A wake while the loop runs is without effect. */
	fiber_wakeup(fiber());
	loop_run();
	assert_true(fiber()->flags & FIBER_IS_RUNNING);
}

static int main_runs, spinners;

static int f_wake_main(va_list ap)
{
	struct fiber *f = va_arg(ap, struct fiber *);
	for (int i = 0; i < 20000; i++) {
		int before = main_runs;
		fiber_wakeup(f);
		fiber_reschedule();
		/* Main was ahead of us in the queue, or came early for a poll: once. */
		assert_int_equal(main_runs, before + 1);
	}
	spinners = 0;
	fiber_wakeup(f);
	return 0;
}

static int f_spin(va_list ap)
{
	while (spinners > 0)
		fiber_reschedule();
	return 0;
}

static void main_fiber_keeps_its_wakes(void **state)
{
	(void)state;
	main_runs = 0;
	spinners = 5;
	for (int i = 0; i < 5; i++)
		fiber_wakeup(fiber_new("spin", f_spin));
	fiber_start(fiber_new("waker", f_wake_main), fiber());
	while (spinners > 0) {
		main_runs++;
		fiber_yield();
	}
}

static void on_wake_and_start(struct ev_loop *ev, ev_timer *w, int events)
{
	fiber_wakeup(w->data);
	trace_add("<");
	fiber_start(fiber_new("cb", f_letters), "c", 2);
	fiber_wakeup(w->data);
	trace_add(">");
	fiber_reschedule();
	trace_add("|");
}

/** Two callbacks of one poll wake main, which waits, and start fibers upon it. */
static void callbacks_use_main_while_it_waits(void **state)
{
	(void)state;
	trace_reset();
	ev_timer timers[2];
	for (int i = 0; i < 2; i++) {
		ev_timer_init(&timers[i], on_wake_and_start, 0.001, 0);
		timers[i].data = fiber();
		ev_timer_start(loop_ev, &timers[i]);
	}
	fiber_yield();
	assert_string_equal(trace, "<c>c|<c>c|");
	fiber_reschedule();
	assert_true(fiber()->flags & FIBER_IS_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(start_runs_at_once_and_returns_first),
		runtime_test(yielding_fibers_take_turns),
		runtime_test(yield_in_place_only_where_nobody_waits),
		runtime_test(arguments_arrive),
		runtime_test(wakeup_is_counted_once),
		runtime_test(halted_fibers_wait_for_another_wake),
		runtime_test(ids_grow_and_are_not_reused),
		runtime_test(sleep_lasts_at_least_its_time),
		runtime_test(odd_sleep_times_do_no_harm),
		runtime_test(sleep_zero_lets_due_events_go_first),
		runtime_test(events_do_not_starve_beside_busy_fibers),
		runtime_test(cancel_wakes_a_sleeper),
		runtime_test(cancel_waits_where_it_must),
		runtime_test(join_returns_result_and_error),
		runtime_test(join_times_out),
		runtime_test(second_joiner_gets_an_error),
		runtime_test(cancel_ends_a_wait_for_the_end),
		runtime_test(dead_fiber_set_unjoinable_is_recycled),
		cmocka_unit_test(slots_stay_with_pooled_fibers),
		runtime_test(on_stop_runs_once),
		runtime_test(on_yield_runs_before_each_yield),
		runtime_test(foreach_goes_by_age),
		runtime_test(long_names_are_cut),
		runtime_test(stacks_have_their_size),
#ifndef TARN_ASAN
		cmocka_unit_test(overflow_names_the_fiber),
#endif
		runtime_test(many_sleepers),
		runtime_test(main_fiber_is_a_fiber_too),
		runtime_test(main_fiber_keeps_its_wakes),
		runtime_test(callbacks_use_main_while_it_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
