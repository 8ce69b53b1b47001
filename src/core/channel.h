/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Channels: bounded queues of pointers between fibers. A channel of size 0
 * hands each value over from a putter to a getter directly. Order is first in,
 * first out for values, putters and getters alike.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct channel;

/** `size` values fit without a reader. NULL: OutOfMemory is set. */
struct channel *channel_new(size_t size);

/**
 * Frees the channel. Nobody may wait in it and it must be empty: close it, let
 * the waiters run and take what is left first.
 */
void channel_delete(struct channel *ch);

/**
 * Puts a value; waits for room at most `timeout` seconds. -1 with TimedOut,
 * ChannelIsClosed or FiberIsCancelled set; the value stays the caller's then.
 * Yields only where it must wait.
 */
int channel_put(struct channel *ch, void *value, double timeout);

/**
 * Takes the oldest value into `*value`. Errors as in channel_put(); a closed channel is emptied
 * first.
 */
int channel_get(struct channel *ch, void **value, double timeout);

/** No puts any more; waiting putters and, once empty, getters get ChannelIsClosed. */
void channel_close(struct channel *ch);

bool channel_is_closed(const struct channel *ch);
size_t channel_size(const struct channel *ch);
size_t channel_count(const struct channel *ch);
bool channel_has_readers(const struct channel *ch);
bool channel_has_writers(const struct channel *ch);
