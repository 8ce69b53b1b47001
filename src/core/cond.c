/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables: lists of fibers that wait. They hold no lock, since
 * fibers switch only where they yield; a waiter checks its condition again when
 * it runs. Declared in fiber.h.
 */
#include "core/fiber.h"
#include "core/memory.h"

void fiber_cond_create(struct fiber_cond *c)
{
	list_create(&c->waiters);
}

void fiber_cond_destroy(struct fiber_cond *c)
{
	fiber_cond_broadcast(c);
}

struct fiber_cond *fiber_cond_new(void)
{
	struct fiber_cond *c = xmalloc(sizeof(*c));
	fiber_cond_create(c);
	return c;
}

void fiber_cond_delete(struct fiber_cond *c)
{
	fiber_cond_destroy(c);
	xfree(c);
}

void fiber_cond_signal(struct fiber_cond *c)
{
	if (!list_empty(&c->waiters))
		fiber_wakeup(list_first_entry(&c->waiters, struct fiber, link));
}

void fiber_cond_broadcast(struct fiber_cond *c)
{
	while (!list_empty(&c->waiters))
		fiber_wakeup(list_first_entry(&c->waiters, struct fiber, link));
}

int fiber_cond_wait_timeout(struct fiber_cond *c, double timeout)
{
	if (fiber_testcancel() != 0)
		return -1;
	list_add_tail(&c->waiters, &fiber_current->link);
	bool is_over = fiber_yield_timeout(timeout);
	if (fiber_testcancel() != 0)
		return -1;
	if (is_over) {
		diag_set(TimedOut, "timed out");
		return -1;
	}
	return 0;
}

int fiber_cond_wait(struct fiber_cond *c)
{
	return fiber_cond_wait_timeout(c, TIMEOUT_INFINITY);
}
