/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Latches. Unlocking makes the first waiter the owner at once, so that nobody comes
 * between while it is on its way to run.
 */
#include "core/latch.h"

#include <assert.h>

#include "core/fiber.h"
#include "core/memory.h"

struct latch *latch_new(void)
{
	struct latch *latch = xmalloc(sizeof(*latch));
	latch->owner = NULL;
	list_create(&latch->waiters);
	return latch;
}

void latch_delete(struct latch *latch)
{
	assert(latch->owner == NULL && list_empty(&latch->waiters));
	xfree(latch);
}

int latch_trylock(struct latch *latch)
{
	if (latch->owner != NULL)
		return 1;
	latch->owner = fiber();
	return 0;
}

void latch_lock(struct latch *latch)
{
	struct fiber *self = fiber();
	assert(latch->owner != self);
	bool was_cancellable = fiber_set_cancellable(false);
	while (latch->owner != self && latch_trylock(latch) != 0) {
		list_add_tail(&latch->waiters, &self->link);
		fiber_yield();
	}
	fiber_set_cancellable(was_cancellable);
}

void latch_unlock(struct latch *latch)
{
	assert(latch->owner == fiber());
	latch->owner = NULL;
	if (list_empty(&latch->waiters))
		return;
	latch->owner = list_first_entry(&latch->waiters, struct fiber, link);
	fiber_wakeup(latch->owner);
}
