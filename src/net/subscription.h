/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: the events that a connection watches (WATCH, UNWATCH, EVENT).
 */
#pragma once

#include <stddef.h>

struct connection;

enum {
	/** Names that a connection may watch: each takes memory. */
	SUBSCRIPTIONS_MAX = 10000,
	/** All their names together. */
	SUBSCRIPTION_BYTES_MAX = 1 << 20,
};

/**
 * Subscribes to a name or, where it is subscribed, acknowledges the last event; not for a closed
 * connection. -1: too many.
 */
int subscription_watch(struct connection *con, const char *name, size_t len);

void subscription_unwatch(struct connection *con, const char *name, size_t len);

/** The connection is closed. */
void subscription_drop_all(struct connection *con);
