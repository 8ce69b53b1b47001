/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Channels: bounded queues between fibers. A channel of size 0 hands each value
 * over from a putter to a getter directly. Order is first in, first out for
 * values, putters and getters alike.
 *
 * Values are pointers, or of a type that says how they move from a place at the
 * putter to a place at the getter: so they need not become pointers on the way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct channel;

/**
 * How values of a type move. `from` is what channel_put() was given, `to` what
 * channel_get() was given as `value`; the fiber at the other end may be suspended. The
 * queue is the type's, with the positions 0 to size - 1; a position that was taken is
 * the next to be stored to while the queue is full. None may yield. One that leaves by a
 * Lua error, called for the running fiber's own put or get, has changed nothing.
 */
struct channel_type {
	void (*hand_over)(void *from, void *to);
	void (*store)(size_t at, void *from);
	void (*fetch)(size_t at, void *to);
};

/** Of pointers; `size` fit without a reader. NULL: OutOfMemory is set. */
struct channel *channel_new(size_t size);

/** Of values of a type, which outlives the channel. NULL: OutOfMemory is set. */
struct channel *channel_new_of(const struct channel_type *type, size_t size);

/** Frees the channel. Nobody may wait in it: close it and let the waiters run first. */
void channel_delete(struct channel *ch);

/**
 * Puts a value; waits for room at most `timeout` seconds. -1 with TimedOut,
 * ChannelIsClosed or FiberIsCancelled set, or where it would wait and no switch is
 * allowed (fiber_may_yield()); the value stays the caller's then. Yields only where it
 * must wait.
 */
int channel_put(struct channel *ch, void *value, double timeout);

/**
 * Takes the oldest value into `*value`, a pointer (or to the place that its type knows).
 * Errors as in channel_put(); a closed channel is emptied first.
 */
int channel_get(struct channel *ch, void *value, double timeout);

/** No puts any more; waiting putters and, once empty, getters get ChannelIsClosed. */
void channel_close(struct channel *ch);

/** Forgets the values in the queue of a channel in which no putter waits, as of a closed one. */
void channel_drop(struct channel *ch);

bool channel_is_closed(const struct channel *ch);
size_t channel_size(const struct channel *ch);
size_t channel_count(const struct channel *ch);
bool channel_has_readers(const struct channel *ch);
bool channel_has_writers(const struct channel *ch);
