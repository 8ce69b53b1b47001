/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stacks: guards, canaries, reuse. The file is included to reach its limit of
 * guard pages.
 */
#include "harness.h"

#include <sys/mman.h>

#include "core/stack.c"

enum { COUNT = 3 * SLAB_STACKS };

static void fill_and_give_back(void **state)
{
	struct stack s[COUNT];
	int base_guards = (intptr_t)*state;
	pool_init();
	pool.guard_limit = base_guards;
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(stack_create(&s[i], FIBER_STACK_SIZE_DEFAULT), 0);
		assert_true(s[i].size >= FIBER_STACK_SIZE_DEFAULT);
		assert_int_equal(s[i].is_guarded, i < base_guards);
	}
	/* Each may be used from end to end without a harm to another. */
	for (int i = 0; i < COUNT; i++)
		memset(s[i].base, i, stack_top(&s[i]) - s[i].base);
	for (int i = 0; i < COUNT; i++) {
		assert_true(stack_check(&s[i]));
		for (char *p = s[i].base; p < stack_top(&s[i]); p += 64)
			assert_int_equal(*p, (char)i);
	}
	for (int i = 0; i < COUNT; i++) {
		if (!s[i].is_guarded) {
			s[i].base[-1]++;
			assert_false(stack_check(&s[i]));
			s[i].base[-1]--;
			s[i].base[-STACK_CANARY_SIZE]++;
			assert_false(stack_check(&s[i]));
			s[i].base[-STACK_CANARY_SIZE]--;
		}
	}
	/* A stack given back keeps its neighbour's canary, and its own. */
	for (int i = 0; i < COUNT; i += 2)
		stack_destroy(&s[i]);
	for (int i = 1; i < COUNT; i += 2)
		assert_true(stack_check(&s[i]));
	for (int i = 0; i < COUNT; i += 2) {
		assert_int_equal(stack_create(&s[i], FIBER_STACK_SIZE_DEFAULT), 0);
		assert_true(stack_check(&s[i]));
	}
	for (int i = 0; i < COUNT; i++)
		stack_destroy(&s[i]);
	stack_free_all();
}

static void single_stacks(void **state)
{
	(void)state;
	for (int limit = 0; limit < 2; limit++) {
		struct stack s;
		pool_init();
		pool.guard_limit = limit;
		assert_int_equal(stack_create(&s, 100000), 0);
		assert_int_equal(s.is_guarded, limit);
		assert_true(s.size >= 100000);
		memset(s.base, 7, stack_top(&s) - s.base);
		assert_true(stack_check(&s));
		stack_destroy(&s);
		assert_int_equal(pool.guard_count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(fill_and_give_back, (void *)(intptr_t)COUNT),
		cmocka_unit_test_prestate(fill_and_give_back, (void *)(intptr_t)0),
		cmocka_unit_test_prestate(fill_and_give_back, (void *)(intptr_t)45),
		runtime_test(single_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
