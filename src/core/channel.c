/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Channels. Values that nobody waits for stand in a ring; fibers that wait
 * stand in one of two lists, as records on their own stacks:
 *
 * - A getter waits only where the ring is empty and no putter waits; a putter
 *   only where the ring is full and no getter waits.
 * - Who comes second does the work for both: a put with a waiting getter writes
 *   the value into the getter's record; a get takes the oldest value from the
 *   ring and moves the oldest waiting putter's value into the gap.
 *
 * So a record is done or still in its list, and order is kept with no barging:
 * a value once handed to a getter cannot be taken by another in between.
 */
#include "core/channel.h"

#include <assert.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/memory.h"
#include "core/sys.h"

/** A fiber that waits. In its list until it is done, closed off, or gives up. */
struct waiter {
	struct list link;
	struct fiber *fiber;
	/** What a putter brings or a getter got. */
	void *value;
	bool is_done;
};

struct channel {
	struct list getters, putters;
	bool is_closed;
	size_t size, count, first;
	void *ring[];
};

struct channel *channel_new(size_t size)
{
	size_t bytes = SIZE_MAX;
	if (size < SIZE_MAX / sizeof(void *) / 4)
		bytes = sizeof(struct channel) + size * sizeof(void *);
	struct channel *ch = mem_try(bytes);
	if (ch == NULL) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in malloc for channel", bytes);
		return NULL;
	}
	list_create(&ch->getters);
	list_create(&ch->putters);
	ch->is_closed = false;
	ch->size = size;
	ch->count = 0;
	ch->first = 0;
	return ch;
}

void channel_delete(struct channel *ch)
{
	assert(list_empty(&ch->getters) && list_empty(&ch->putters) && ch->count == 0);
	xfree(ch);
}

static void ring_push(struct channel *ch, void *value)
{
	assert(ch->count < ch->size);
	size_t at = ch->first + ch->count++;
	ch->ring[at < ch->size ? at : at - ch->size] = value;
}

static void *ring_shift(struct channel *ch)
{
	assert(ch->count > 0);
	void *value = ch->ring[ch->first];
	if (++ch->first == ch->size)
		ch->first = 0;
	ch->count--;
	return value;
}

/** Takes the one that waits longest out of the list and wakes it as done. */
static struct waiter *finish_first(struct list *waiters)
{
	struct waiter *w = list_shift_entry(waiters, struct waiter, link);
	w->is_done = true;
	fiber_wakeup(w->fiber);
	return w;
}

/** Puts without waiting where that is possible. */
static bool try_put(struct channel *ch, void *value)
{
	if (!list_empty(&ch->getters))
		finish_first(&ch->getters)->value = value;
	else if (ch->count < ch->size)
		ring_push(ch, value);
	else
		return false;
	return true;
}

static bool try_get(struct channel *ch, void **value)
{
	if (ch->count > 0) {
		*value = ring_shift(ch);
		if (!list_empty(&ch->putters))
			ring_push(ch, finish_first(&ch->putters)->value);
	} else if (!list_empty(&ch->putters)) {
		*value = finish_first(&ch->putters)->value;
	} else {
		return false;
	}
	return true;
}

static int set_closed(void)
{
	diag_set(ChannelIsClosed, "channel is closed");
	return -1;
}

/** Waits in `waiters` until somebody finishes `w`. */
static int wait(struct channel *ch, struct list *waiters, struct waiter *w, double timeout)
{
	if (!(timeout > 0)) {
		diag_set(TimedOut, "timed out");
		return -1;
	}
	bool is_limited = timeout < TIMEOUT_INFINITY;
	double deadline = is_limited ? clock_monotonic() + timeout : 0;
	double left = timeout;
	bool is_over = false;
	list_add_tail(waiters, &w->link);
	while (!w->is_done && !ch->is_closed && !is_over && !fiber_is_cancelled()) {
		is_over = fiber_yield_timeout(left);
		if (is_limited)
			left = deadline - clock_monotonic();
	}
	list_del(&w->link);
	/* What was handed over counts, whatever else has happened. */
	if (w->is_done)
		return 0;
	if (ch->is_closed)
		return set_closed();
	if (fiber_testcancel() != 0)
		return -1;
	diag_set(TimedOut, "timed out");
	return -1;
}

int channel_put(struct channel *ch, void *value, double timeout)
{
	if (ch->is_closed)
		return set_closed();
	if (fiber_testcancel() != 0)
		return -1;
	if (try_put(ch, value))
		return 0;
	struct waiter w = {.fiber = fiber(), .value = value};
	return wait(ch, &ch->putters, &w, timeout);
}

int channel_get(struct channel *ch, void **value, double timeout)
{
	if (fiber_testcancel() != 0)
		return -1;
	if (try_get(ch, value))
		return 0;
	if (ch->is_closed)
		return set_closed();
	struct waiter w = {.fiber = fiber()};
	if (wait(ch, &ch->getters, &w, timeout) != 0)
		return -1;
	*value = w.value;
	return 0;
}

void channel_close(struct channel *ch)
{
	if (ch->is_closed)
		return;
	ch->is_closed = true;
	struct waiter *w;
	list_foreach_entry(w, &ch->getters, link)
		fiber_wakeup(w->fiber);
	list_foreach_entry(w, &ch->putters, link)
		fiber_wakeup(w->fiber);
}

bool channel_is_closed(const struct channel *ch)
{
	return ch->is_closed;
}

size_t channel_size(const struct channel *ch)
{
	return ch->size;
}

size_t channel_count(const struct channel *ch)
{
	return ch->count;
}

bool channel_has_readers(const struct channel *ch)
{
	return !list_empty(&ch->getters);
}

bool channel_has_writers(const struct channel *ch)
{
	return !list_empty(&ch->putters);
}
