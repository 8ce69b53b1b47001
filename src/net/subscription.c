/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Subscriptions; see subscription.h. The client's acknowledgement bounds what it is
 * sent: one event of a name at a time.
 */
#include "net/subscription.h"

#include "core/memory.h"
#include "db/error.h"
#include "net/connection.h"
#include "net/reply.h"
#include "net/watch.h"

struct subscription {
	/** First, so that the watcher's address is the subscription's. */
	struct watcher watcher;
	struct connection *con;
};

static bool send_event(struct watcher *watcher)
{
	struct connection *con = ((struct subscription *)watcher)->con;
	if (con->is_encoding)
		return false;
	size_t len, size;
	const char *name = watcher_name(watcher, &len);
	const char *value = watcher_value(watcher, &size);
	reply_event(con, name, len, value, size);
	return true;
}

int subscription_watch(struct connection *con, const char *name, size_t len)
{
	/* A request that waited while its client left: nobody would take it back. */
	if (con->fd < 0)
		return 0;
	struct subscription *s = map_str_get(&con->subscriptions, name, len);
	if (s != NULL) {
		watcher_ack(&s->watcher);
		return 0;
	}
	if (con->subscriptions.count >= SUBSCRIPTIONS_MAX ||
	    con->subscription_bytes + len > SUBSCRIPTION_BYTES_MAX) {
		client_error(ER_ILLEGAL_PARAMS, "too many watchers on a connection");
		return -1;
	}
	s = xmalloc(sizeof(*s));
	s->con = con;
	con->subscription_bytes += len;
	map_str_put(&con->subscriptions, name, len, s);
	watcher_register(&s->watcher, name, len, send_event);
	return 0;
}

void subscription_unwatch(struct connection *con, const char *name, size_t len)
{
	struct subscription *s = map_str_del(&con->subscriptions, name, len);
	if (s == NULL)
		return;
	con->subscription_bytes -= len;
	watcher_unregister(&s->watcher);
	xfree(s);
}

void subscription_drop_all(struct connection *con)
{
	size_t pos = 0, len;
	const char *name;
	void *value;
	while (map_str_next(&con->subscriptions, &pos, &name, &len, &value)) {
		struct subscription *s = value;
		watcher_unregister(&s->watcher);
		xfree(s);
	}
	map_str_destroy(&con->subscriptions);
	map_str_create(&con->subscriptions);
	con->subscription_bytes = 0;
}
