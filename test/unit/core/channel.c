/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Channels: order, rendezvous, time-outs, close, and a run of random putters
 * and getters after which every value must have arrived once, in order.
 */
#include "harness.h"

#include "core/channel.h"

static int get_int(struct channel *ch, double timeout)
{
	void *value = NULL;
	if (channel_get(ch, &value, timeout) != 0)
		return -1;
	return (intptr_t)value;
}

static int put_int(struct channel *ch, int value, double timeout)
{
	return channel_put(ch, (void *)(intptr_t)value, timeout);
}

static int f_put(va_list ap)
{
	struct channel *ch = va_arg(ap, struct channel *);
	int from = va_arg(ap, int), to = va_arg(ap, int);
	for (int i = from; i <= to; i++) {
		if (put_int(ch, i, TIMEOUT_INFINITY) != 0) {
			trace_add(error_type_name(diag_last()));
			break;
		}
	}
	return 0;
}

static int f_get(va_list ap)
{
	struct channel *ch = va_arg(ap, struct channel *);
	int *value = va_arg(ap, int *);
	*value = get_int(ch, TIMEOUT_INFINITY);
	if (*value < 0)
		trace_add(error_type_name(diag_last()));
	return 0;
}

FIBER_TEST(buffered_values_come_in_order)
{
	struct channel *ch = channel_new(3);
	assert_int_equal(channel_size(ch), 3);
	for (int round = 0; round < 5; round++) {
		for (int i = 1; i <= 3; i++)
			assert_int_equal(put_int(ch, i, 0), 0);
		assert_int_equal(channel_count(ch), 3);
		assert_int_equal(put_int(ch, 4, 0), -1);
		assert_string_equal(error_type_name(diag_last()), "TimedOut");
		fiber_start(fiber_new("put", f_put), ch, 4, 5);
		assert_true(channel_has_writers(ch));
		for (int i = 1; i <= 5; i++)
			assert_int_equal(get_int(ch, 1), i);
		assert_false(channel_has_writers(ch));
		assert_int_equal(get_int(ch, 0), -1);
		assert_int_equal(get_int(ch, 0.001), -1);
		assert_string_equal(error_type_name(diag_last()), "TimedOut");
	}
	channel_delete(ch);
	return 0;
}

FIBER_TEST(rendezvous)
{
	struct channel *ch = channel_new(0);
	int first = 0, second = 0;
	fiber_start(fiber_new("get", f_get), ch, &first);
	fiber_start(fiber_new("get", f_get), ch, &second);
	assert_true(channel_has_readers(ch));
	assert_int_equal(put_int(ch, 1, 0), 0);
	assert_int_equal(put_int(ch, 2, 0), 0);
	assert_int_equal(put_int(ch, 3, 0), -1);
	/* Nobody can take what was handed over already. */
	assert_int_equal(get_int(ch, 0), -1);
	fiber_reschedule();
	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	channel_delete(ch);
	return 0;
}

FIBER_TEST(close_ends_all_waits)
{
	trace_reset();
	struct channel *ch = channel_new(1);
	fiber_start(fiber_new("put", f_put), ch, 1, 2);
	channel_close(ch);
	channel_close(ch);
	assert_true(channel_is_closed(ch));
	fiber_reschedule();
	assert_string_equal(trace, "ChannelIsClosed");
	assert_int_equal(put_int(ch, 5, 1), -1);
	/* What was in it stays. */
	assert_int_equal(get_int(ch, 1), 1);
	assert_int_equal(get_int(ch, 1), -1);
	assert_string_equal(diag_last()->message, "channel is closed");
	channel_delete(ch);

	trace_reset();
	ch = channel_new(0);
	int value;
	struct fiber *f = fiber_new("get", f_get);
	fiber_start(f, ch, &value);
	channel_close(ch);
	fiber_reschedule();
	assert_string_equal(trace, "ChannelIsClosed");
	channel_delete(ch);
	return 0;
}

FIBER_TEST(cancel_ends_a_wait)
{
	trace_reset();
	struct channel *ch = channel_new(0);
	int value;
	struct fiber *f = fiber_new("get", f_get);
	fiber_start(f, ch, &value);
	/* A wake without a reason does not. */
	fiber_wakeup(f);
	fiber_reschedule();
	assert_true(channel_has_readers(ch));
	fiber_cancel(f);
	fiber_reschedule();
	assert_string_equal(trace, "FiberIsCancelled");
	assert_false(channel_has_readers(ch));
	channel_delete(ch);
	return 0;
}

enum { PUTTERS = 5, PER_PUTTER = 2000 };

struct stress {
	struct channel *ch;
	unsigned seed;
	int got, last[PUTTERS], open_putters;
};

static int f_stress_put(va_list ap)
{
	struct stress *s = va_arg(ap, struct stress *);
	int who = va_arg(ap, int);
	for (int i = 1; i <= PER_PUTTER; i++) {
		while (put_int(s->ch, who * 100000 + i, rand_r(&s->seed) % 2 * 0.0001) != 0)
			fiber_reschedule();
		if (rand_r(&s->seed) % 3 == 0)
			fiber_reschedule();
	}
	if (--s->open_putters == 0)
		channel_close(s->ch);
	return 0;
}

static int f_stress_get(va_list ap)
{
	struct stress *s = va_arg(ap, struct stress *);
	while (true) {
		int value = get_int(s->ch, rand_r(&s->seed) % 3 * 0.0001);
		if (value < 0 && error_is(diag_last(), &type_ChannelIsClosed))
			return 0;
		if (value < 0) {
			fiber_reschedule();
			continue;
		}
		s->got++;
		s->last[value / 100000]++;
		if (rand_r(&s->seed) % 4 == 0)
			fiber_reschedule();
	}
}

FIBER_TEST(random_putters_and_getters)
{
	for (unsigned size = 0; size < 4; size++) {
		struct stress s = {channel_new(size), 12345 + size, 0, {0}, PUTTERS};
		struct fiber *fibers[PUTTERS + 3];
		for (int i = 0; i < PUTTERS + 3; i++) {
			fibers[i] = fiber_new("s", i < PUTTERS ? f_stress_put : f_stress_get);
			fiber_set_joinable(fibers[i], true);
			fiber_start(fibers[i], &s, i);
		}
		for (int i = 0; i < PUTTERS + 3; i++)
			assert_int_equal(fiber_join(fibers[i]), 0);
		assert_int_equal(s.got, PUTTERS * PER_PUTTER);
		for (int i = 0; i < PUTTERS; i++)
			assert_int_equal(s.last[i], PER_PUTTER);
		channel_delete(s.ch);
	}
	return 0;
}

FIBER_TEST(absurd_size_is_refused)
{
	assert_null(channel_new(SIZE_MAX / 2));
	assert_string_equal(error_type_name(diag_last()), "OutOfMemory");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(buffered_values_come_in_order),
		runtime_test(rendezvous),
		runtime_test(close_ends_all_waits),
		runtime_test(cancel_ends_a_wait),
		runtime_test(random_putters_and_getters),
		runtime_test(absurd_size_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
