/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Channels. Values that nobody waits for stand in a ring; fibers that wait
 * stand in one of two lists, as records on their own stacks:
 *
 * - A getter waits only where the ring is empty and no putter waits; a putter
 *   only where the ring is full and no getter waits.
 * - Who comes second does the work for both: a put with a waiting getter moves
 *   the value to the getter's place; a get takes the oldest value from the
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
	/** Where a putter's value comes from or a getter's goes to. */
	void *place;
	bool is_done;
};

struct channel {
	struct list getters, putters;
	/** NULL: pointers, which stand in `ring`. */
	const struct channel_type *type;
	bool is_closed;
	size_t size, count, first;
	void *ring[];
};

struct channel *channel_new_of(const struct channel_type *type, size_t size)
{
	size_t ring_size = type == NULL ? size : 0, bytes = SIZE_MAX;
	if (ring_size < SIZE_MAX / sizeof(void *) / 4)
		bytes = sizeof(struct channel) + ring_size * sizeof(void *);
	struct channel *ch = mem_try(bytes);
	if (ch == NULL) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in malloc for channel", bytes);
		return NULL;
	}
	list_create(&ch->getters);
	list_create(&ch->putters);
	ch->type = type;
	ch->is_closed = false;
	ch->size = size;
	ch->count = 0;
	ch->first = 0;
	return ch;
}

struct channel *channel_new(size_t size)
{
	return channel_new_of(NULL, size);
}

void channel_delete(struct channel *ch)
{
	assert(list_empty(&ch->getters) && list_empty(&ch->putters));
	xfree(ch);
}

static void hand_over(struct channel *ch, void *from, void *to)
{
	if (ch->type != NULL)
		ch->type->hand_over(from, to);
	else
		*(void **)to = from;
}

static void ring_push(struct channel *ch, void *from)
{
	assert(ch->count < ch->size);
	size_t at = ch->first + ch->count;
	if (at >= ch->size)
		at -= ch->size;
	if (ch->type != NULL)
		ch->type->store(at, from);
	else
		ch->ring[at] = from;
	ch->count++;
}

static void ring_shift(struct channel *ch, void *to)
{
	assert(ch->count > 0);
	if (ch->type != NULL)
		ch->type->fetch(ch->first, to);
	else
		*(void **)to = ch->ring[ch->first];
	if (++ch->first == ch->size)
		ch->first = 0;
	ch->count--;
}

/** Takes the one that waits longest out of the list and wakes it as done; its place. */
static void *finish_first(struct list *waiters)
{
	struct waiter *w = list_shift_entry(waiters, struct waiter, link);
	w->is_done = true;
	fiber_wakeup(w->fiber);
	return w->place;
}

/** Puts without waiting where that is possible. */
static bool try_put(struct channel *ch, void *from)
{
	if (!list_empty(&ch->getters))
		hand_over(ch, from, finish_first(&ch->getters));
	else if (ch->count < ch->size)
		ring_push(ch, from);
	else
		return false;
	return true;
}

static bool try_get(struct channel *ch, void *to)
{
	if (ch->count > 0) {
		ring_shift(ch, to);
		if (!list_empty(&ch->putters))
			ring_push(ch, finish_first(&ch->putters));
	} else if (!list_empty(&ch->putters)) {
		hand_over(ch, finish_first(&ch->putters), to);
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
	if (fiber_may_yield() != 0)
		return -1;
	bool is_limited = timeout < TIMEOUT_INFINITY;
	double deadline = is_limited ? clock_monotonic() + timeout : 0;
	double left = timeout;
	bool is_over = false;
	list_add_tail(waiters, &w->link);
	while (!w->is_done && !ch->is_closed && !is_over && !fiber_is_cancelled()) {
		if (!is_limited) {
			fiber_yield();
			continue;
		}
		is_over = fiber_yield_timeout(left);
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
	struct waiter w = {.fiber = fiber(), .place = value};
	return wait(ch, &ch->putters, &w, timeout);
}

int channel_get(struct channel *ch, void *value, double timeout)
{
	if (fiber_testcancel() != 0)
		return -1;
	if (try_get(ch, value))
		return 0;
	if (ch->is_closed)
		return set_closed();
	struct waiter w = {.fiber = fiber(), .place = value};
	return wait(ch, &ch->getters, &w, timeout);
}

static void send_away(struct list *waiters)
{
	while (!list_empty(waiters))
		fiber_wakeup(list_shift_entry(waiters, struct waiter, link)->fiber);
}

void channel_close(struct channel *ch)
{
	if (ch->is_closed)
		return;
	ch->is_closed = true;
	send_away(&ch->getters);
	send_away(&ch->putters);
}

void channel_drop(struct channel *ch)
{
	assert(list_empty(&ch->putters));
	ch->count = ch->first = 0;
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
