/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The output of connections. Answers gather in the output buffer, which is sent at the turn's
 * end with one call, or goes to the network thread that has the socket.
 */
#include <assert.h>

#include "core/loop.h"
#include "net/connection.h"
#include "net/line.h"
#include "net/net_thread.h"
#include "net/stat.h"

static struct list connections_dirty = LIST_INIT(connections_dirty);

void connection_mark(struct connection *con)
{
	if (!con->is_dirty) {
		con->is_dirty = true;
		list_add_tail(&connections_dirty, &con->dirty_link);
	}
}

void connection_unmark(struct connection *con)
{
	if (con->is_dirty) {
		con->is_dirty = false;
		list_del(&con->dirty_link);
	}
}

void connection_drop_output(struct connection *con)
{
	outbuf_put(&con->out);
	con->out_sent = 0;
}

size_t connection_unsent_by_line(const struct connection *con)
{
	if (con->fd < 0)
		return 0;
	return con->given - atomic_load_explicit(&con->line->sent, memory_order_relaxed);
}

struct buf *connection_output(struct connection *con)
{
	assert(con->fd >= 0 && !con->is_encoding);
	if (con->out.data == NULL)
		outbuf_get(&con->out);
	connection_mark(con);
	return &con->out;
}

void connection_tell(struct connection *con)
{
	bool has_output = con->out.size > 0 && !con->is_encoding;
	if (!has_output && con->orders == 0 && con->taken == 0)
		return;
	struct note *note = note_new(con->line);
	note->what = con->orders;
	note->taken = con->taken;
	con->orders = 0;
	con->taken = 0;
	if (has_output) {
		note->out = con->out;
		con->given += con->out.size;
		con->out = (struct buf)BUF_INIT;
	}
	net_thread_tell(con->line->thread, note);
}

void connection_flush(struct connection *con)
{
	connection_unmark(con);
	if (con->line != NULL) {
		connection_tell(con);
		return;
	}
	if (con->is_encoding) {
		/* The one that is encoded will mark it dirty again. */
		ev_io_stop(loop_ev, &con->wire.output);
		return;
	}
	ssize_t n = wire_write(&con->wire, &con->out, &con->out_sent);
	if (n < 0)
		connection_close(con);
	else
		stat_count(STAT_NET_SENT, n);
}

void connection_answered(struct connection *con)
{
	if (con->out.size - con->out_sent < CONNECTION_OUTPUT_EAGER ||
	    ev_is_active(&con->wire.output))
		return;
	connection_flush(con);
	if (con->line != NULL)
		net_thread_push(con->line->thread);
}

void connection_flush_all(void)
{
	while (!list_empty(&connections_dirty)) {
		struct connection *con = list_first_entry(&connections_dirty, struct connection,
							  dirty_link);
		if (ev_is_active(&con->wire.output))
			connection_unmark(con);
		else
			connection_flush(con);
	}
}
