/* SPDX-License-Identifier: BSD-2-Clause
 *
 * When to look for events before sleeping.
 */
#include "core/busy_poll.h"

#include "harness.h"

enum { LIMIT = 50000 };

/** `count` waits of which each takes `ns`; what is looked for is found or not. Returns the looks. */
static int wait_often(struct busy_poll *poll, int count, uint64_t ns, bool is_hit)
{
	int looks = 0;
	for (int i = 0; i < count; i++) {
		if (busy_poll_is_due(poll, 1)) {
			busy_poll_note_result(poll, is_hit);
			looks++;
		}
		busy_poll_note_wait(poll, ns);
	}
	return looks;
}

static void test_off(void **state)
{
	(void)state;
	struct busy_poll poll;
	busy_poll_set_limit(&poll, 0);
	assert_int_equal(wait_often(&poll, 100, 1, true), 0);
}

static void test_short_waits(void **state)
{
	(void)state;
	struct busy_poll poll;
	busy_poll_set_limit(&poll, LIMIT);
	/* The first wait shows that they are short. */
	assert_int_equal(wait_often(&poll, 100, LIMIT / 2, true), 99);
}

static void test_long_waits(void **state)
{
	(void)state;
	struct busy_poll poll;
	busy_poll_set_limit(&poll, LIMIT);
	assert_int_equal(wait_often(&poll, 100, LIMIT * 10, false), 0);
	/* One long wait among short ones costs a few looks only. */
	wait_often(&poll, 100, LIMIT / 2, true);
	assert_int_equal(wait_often(&poll, 1, (uint64_t)3600 * 1000000000, true), 1);
	assert_true(wait_often(&poll, 100, LIMIT / 2, true) > 80);
}

static void test_vain_looks(void **state)
{
	(void)state;
	struct busy_poll poll;
	busy_poll_set_limit(&poll, LIMIT);
	/* Events come soon after each look: less and less is looked for. */
	assert_in_range(wait_often(&poll, 1000, LIMIT * 2, false), 4, 6);
	assert_in_range(wait_often(&poll, 100000, LIMIT * 2, false), 20, 30);
	/* Hits bring it back. */
	wait_often(&poll, 20000, LIMIT / 2, true);
	assert_int_equal(wait_often(&poll, 100, LIMIT / 2, true), 100);
}

static void test_core_is_wanted(void **state)
{
	(void)state;
	const uint64_t second = 1000000000;
	struct busy_poll poll;
	busy_poll_set_limit(&poll, LIMIT);
	wait_often(&poll, 100, LIMIT / 2, true);
	assert_true(busy_poll_check_core(&poll, 100 * second, 100 * second + 1000));
	/* Somebody had it shortly: that look was in vain. */
	assert_false(busy_poll_check_core(&poll, 100 * second, 100 * second + 10000));
	assert_true(busy_poll_is_due(&poll, 100 * second + LIMIT));
	/* Somebody had it for 3 ms: off for a while, and for twice as long when that is over. */
	const uint64_t off = second / 10;
	uint64_t now = 101 * second;
	assert_false(busy_poll_check_core(&poll, now - 3000000, now));
	assert_false(busy_poll_is_due(&poll, now + off - 1));
	assert_true(busy_poll_is_due(&poll, now + off));
	now += off + 1000;
	assert_false(busy_poll_check_core(&poll, now - 3000000, now));
	assert_false(busy_poll_is_due(&poll, now + 2 * off - 1));
	assert_true(busy_poll_is_due(&poll, now + 2 * off));
	for (int i = 0; i < 10; i++) {
		now = poll.off_until_ns + 1000;
		assert_false(busy_poll_check_core(&poll, now - 3000000, now));
	}
	assert_int_equal(poll.off_until_ns - now, 32 * off);
	/* Later that is forgotten. */
	now += 100 * second;
	assert_false(busy_poll_check_core(&poll, now - 3000000, now));
	assert_true(busy_poll_is_due(&poll, now + off));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_short_waits),
		cmocka_unit_test(test_long_waits),
		cmocka_unit_test(test_vain_looks),
		cmocka_unit_test(test_core_is_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
