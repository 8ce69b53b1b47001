/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Events: values by name that are broadcast to those who watch the name, in this process or
 * over a connection. A watcher is told the value when it registers and after each change,
 * but only the newest one, and not before it has acknowledged the last.
 * Source: the manual, "Event watchers".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"

struct watch_key;

struct watcher {
	struct watch_key *key;
	/** In the key's list. */
	struct list link;
	/** Among those to be told. */
	struct list ready_link;
	/** The version of the value it was told last. */
	uint64_t seen;
	/** Was told and has not acknowledged that. */
	bool is_busy;
	/**
	 * Tells the watcher: see watcher_name(), watcher_value(). Runs in a fiber of the layer
	 * and does not wait; false where it can't be told now but soon.
	 */
	bool (*run)(struct watcher *watcher);
};

void watch_init(void);
void watch_free(void);

/** `run` is called soon, and after each change. */
void watcher_register(struct watcher *watcher, const char *name, size_t len,
		      bool (*run)(struct watcher *watcher));

/** What it was told has been taken in. */
void watcher_ack(struct watcher *watcher);

/** `run` is not called any more. */
void watcher_unregister(struct watcher *watcher);

const char *watcher_name(const struct watcher *watcher, size_t *len);

/** The value in MessagePack; NULL: there is none yet. Valid until the next broadcast. */
const char *watcher_value(const struct watcher *watcher, size_t *size);

/** The value of a name; NULL: there is none. Valid until the next broadcast. */
const char *watch_value(const char *name, size_t len, size_t *size);

/** Sets the value (MessagePack, `size` bytes, copied; NULL: none) and tells the watchers. */
void watch_broadcast(const char *name, size_t len, const char *data, size_t size);
