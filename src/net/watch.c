/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Events. A key lives while it has a value or a watcher. Watchers to be told stand in one
 * list, and one fiber goes through it.
 */
#include "net/watch.h"

#include <assert.h>
#include <string.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/map.h"
#include "core/memory.h"

/** Seconds until a watcher that could not be told is tried again. */
#define RETRY_INTERVAL 0.001

struct watch_key {
	struct list watchers;
	/** Counts changes, from 1. */
	uint64_t version;
	char *data;
	size_t size;
	size_t len;
	char name[];
};

static struct map_str keys;
static struct list ready = LIST_INIT(ready);
/** Tells the watchers. NULL: not made yet. */
static struct fiber *teller;
static bool is_stopping;

void watch_init(void)
{
	map_str_create(&keys);
	is_stopping = false;
}

void watch_free(void)
{
	is_stopping = true;
	if (teller != NULL) {
		fiber_wakeup(teller);
		fiber_reschedule();
	}
	size_t pos = 0, len;
	const char *name;
	void *value;
	while (map_str_next(&keys, &pos, &name, &len, &value)) {
		struct watch_key *key = value;
		xfree(key->data);
		xfree(key);
	}
	map_str_destroy(&keys);
}

static struct watch_key *key_get(const char *name, size_t len)
{
	struct watch_key *key = map_str_get(&keys, name, len);
	if (key != NULL)
		return key;
	key = xmalloc(sizeof(*key) + len);
	list_create(&key->watchers);
	key->version = 1;
	key->data = NULL;
	key->size = 0;
	key->len = len;
	memcpy(key->name, name, len);
	map_str_put(&keys, name, len, key);
	return key;
}

static void key_free_if_unused(struct watch_key *key)
{
	if (key->data != NULL || !list_empty(&key->watchers))
		return;
	map_str_del(&keys, key->name, key->len);
	xfree(key);
}

static int teller_main(va_list ap)
{
	while (!is_stopping) {
		while (!list_empty(&ready)) {
			struct watcher *w = list_shift_entry(&ready, struct watcher, ready_link);
			w->is_busy = true;
			w->seen = w->key->version;
			if (!w->run(w)) {
				w->is_busy = false;
				list_add(&ready, &w->ready_link);
				fiber_sleep(RETRY_INTERVAL);
			}
			diag_clear(diag_get());
		}
		if (!is_stopping)
			fiber_yield();
	}
	teller = NULL;
	return 0;
}

/** Puts the watcher in the list where there is something new for it. */
static void tell(struct watcher *w)
{
	if (w->is_busy || w->seen == w->key->version || !list_empty(&w->ready_link))
		return;
	list_add_tail(&ready, &w->ready_link);
	if (teller == NULL) {
		teller = fiber_new("watch", teller_main);
		if (teller == NULL) {
			/* The next event tries again. */
			diag_log();
			return;
		}
		teller->flags |= FIBER_IS_SYSTEM;
		teller->flags &= ~FIBER_IS_CANCELLABLE;
	}
	fiber_wakeup(teller);
}

void watcher_register(struct watcher *watcher, const char *name, size_t len,
		      bool (*run)(struct watcher *watcher))
{
	watcher->key = key_get(name, len);
	watcher->run = run;
	watcher->seen = 0;
	watcher->is_busy = false;
	list_create(&watcher->ready_link);
	list_add_tail(&watcher->key->watchers, &watcher->link);
	tell(watcher);
}

void watcher_ack(struct watcher *watcher)
{
	watcher->is_busy = false;
	tell(watcher);
}

void watcher_unregister(struct watcher *watcher)
{
	list_del(&watcher->link);
	list_del(&watcher->ready_link);
	key_free_if_unused(watcher->key);
	watcher->key = NULL;
}

const char *watcher_name(const struct watcher *watcher, size_t *len)
{
	*len = watcher->key->len;
	return watcher->key->name;
}

const char *watcher_value(const struct watcher *watcher, size_t *size)
{
	*size = watcher->key->size;
	return watcher->key->data;
}

const char *watch_value(const char *name, size_t len, size_t *size)
{
	struct watch_key *key = map_str_get(&keys, name, len);
	if (key == NULL)
		return NULL;
	*size = key->size;
	return key->data;
}

void watch_broadcast(const char *name, size_t len, const char *data, size_t size)
{
	struct watch_key *key = key_get(name, len);
	char *copy = NULL;
	if (data != NULL) {
		copy = xmalloc(size);
		memcpy(copy, data, size);
	}
	xfree(key->data);
	key->data = copy;
	key->size = data != NULL ? size : 0;
	key->version++;
	struct watcher *w;
	list_foreach_entry(w, &key->watchers, link)
		tell(w);
	key_free_if_unused(key);
}
