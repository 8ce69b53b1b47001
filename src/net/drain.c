/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The graceful shutdown. A client that watches the event box.shutdown was told of it: it ends
 * what it has begun and closes the connection itself. Any other connection is closed once
 * its requests are answered and the answers are sent.
 * Source: the manual, "Graceful shutdown protocol" (internals).
 */
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/sys.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/listen.h"
#include "net/session.h"

/** Seconds between looks at the connections. */
#define DRAIN_INTERVAL 0.002

static bool is_watching(const struct connection *con)
{
	static const char name[] = "box.shutdown";
	return map_str_get(&con->subscriptions, name, strlen(name)) != NULL;
}

/** Has it something before it that is to be done before it is closed? */
static bool is_waited_for(const struct connection *con)
{
	if (con->session->is_exiting)
		return false;
	return is_watching(con) || con->in_flight > 0 || con->is_ready || con->is_connecting ||
	       connection_unsent(con) > 0;
}

/** Closes those that are idle; returns how many are left that are open. */
static int close_idle(void)
{
	int count = 0;
	struct connection *con, *tmp;
	list_foreach_entry_safe(con, tmp, &connections_all, all_link) {
		if (con->fd < 0)
			continue;
		if (is_waited_for(con))
			count++;
		else
			connection_finish(con);
	}
	return count;
}

void net_stop_listening(void)
{
	listen_stop();
}

void net_drain(double timeout)
{
	double deadline = clock_monotonic() + timeout;
	int count;
	while ((count = close_idle()) > 0 && clock_monotonic() < deadline)
		fiber_sleep(DRAIN_INTERVAL);
	if (count > 0)
		say_warn("%d connections had requests at work, or clients that did not leave, "
			 "when the time for the shutdown was over", count);
}
