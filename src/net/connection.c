/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections: their queue, input and life. Whole packets put a connection in the queue of the
 * pool.
 */
#include "net/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "db/error.h"
#include "net/address.h"
#include "net/line.h"
#include "net/linger.h"
#include "net/net_thread.h"
#include "net/reply.h"
#include "net/request.h"
#include "net/session.h"
#include "net/stat.h"
#include "net/stream.h"
#include "net/subscription.h"
#include "net/tls.h"
#include "net/worker.h"

enum {
	/** Packets of one connection in a row while others wait. */
	BURST_MAX = 32,
};

struct list connections_ready = LIST_INIT(connections_ready);
struct list connections_eventful = LIST_INIT(connections_eventful);
struct list connections_all = LIST_INIT(connections_all);

/** Of the sockets that tx serves. */
static struct linger_set lingering;

/* Input ----------------------------------------------------------------- */

/** The connection lets go of its chunks; requests may still hold them. */
static void connection_drop_input(struct connection *con)
{
	struct chunk *next;
	for (struct chunk *c = con->in; c != NULL; c = next) {
		next = c->next;
		if (c->refs == 0)
			chunk_put(c);
	}
	con->in = NULL;
}

/** Behind the last packet of a chunk that a network thread gave: goes on with the next. */
static void connection_next_chunk(struct connection *con)
{
	con->taken += line_cost(con->in);
	con->in = con->in->next;
	if (con->fd >= 0)
		connection_mark(con);
}

/* The queue of the pool --------------------------------------------------- */

/** Puts a connection with a whole packet (or a bad length) in the queue. */
static void connection_enqueue(struct connection *con)
{
	size_t header;
	uint64_t size;
	if (con->is_ready || con->in == NULL ||
	    chunk_scan(con->in, &header, &size) == PACKET_PARTIAL)
		return;
	con->is_ready = true;
	con->burst = 0;
	list_add_tail(&connections_ready, &con->ready_link);
	worker_kick();
}

static void connection_dequeue(struct connection *con)
{
	con->is_ready = false;
	list_del(&con->ready_link);
	if (con->fd >= 0 && !con->is_blocked && con->line == NULL)
		wire_start_input(&con->wire);
}

static void connection_block(struct connection *con)
{
	con->is_blocked = true;
	if (con->line == NULL) {
		ev_io_stop(loop_ev, &con->wire.input);
	} else {
		con->orders |= NOTE_TELL;
		connection_mark(con);
	}
	connection_dequeue(con);
}

static void connection_unblock(struct connection *con)
{
	con->is_blocked = false;
	if (con->line == NULL)
		wire_start_input(&con->wire);
	connection_enqueue(con);
}

static const char *connection_peer(const struct connection *con, char *buf, size_t size)
{
	const struct address *peer = &con->session->peer;
	return address_format((const struct sockaddr *)&peer->sa, peer->len, buf, size);
}

/** The stream of bytes makes no sense any more: tells the client and closes. */
static void connection_fail(struct connection *con, const char *reason)
{
	char peer[ADDRESS_TEXT_MAX];
	client_error(ER_INVALID_MSGPACK, reason);
	say_error("%s: %s; the connection is closed", connection_peer(con, peer, sizeof(peer)),
		  diag_last()->message);
	con->in->parsed = con->in->used;
	connection_dequeue(con);
	reply_error(con, 0, diag_last());
	diag_clear(diag_get());
	connection_finish(con);
}

static void connection_fail_length(struct connection *con, uint64_t size)
{
	char reason[64];
	if (size == 0)
		snprintf(reason, sizeof(reason), "packet length");
	else
		snprintf(reason, sizeof(reason), "too big packet size in the header: %llu",
			 (unsigned long long)size);
	connection_fail(con, reason);
}

/** Lets others go first after a while. */
static void connection_rotate(struct connection *con)
{
	if (++con->burst < BURST_MAX)
		return;
	con->burst = 0;
	list_del(&con->ready_link);
	list_add_tail(&connections_ready, &con->ready_link);
}

bool connection_take(struct connection *con, struct packet *packet)
{
	struct chunk *c = con->in;
	size_t header;
	uint64_t size;
	if (connection_unsent(con) >= CONNECTION_OUTPUT_MAX) {
		connection_block(con);
		return false;
	}
	if (chunk_scan(c, &header, &size) != PACKET_WHOLE) {
		connection_fail_length(con, size);
		return false;
	}
	packet->chunk = c;
	packet->arrived = c->read_at;
	packet->begin = c->data + c->parsed + header;
	packet->end = packet->begin + size;
	c->parsed += header + size;
	c->refs++;
	if (con->line != NULL && c->parsed == c->used) {
		connection_next_chunk(con);
		c = con->in;
	}
	if (c == NULL || chunk_scan(c, &header, &size) == PACKET_PARTIAL)
		connection_dequeue(con);
	else
		connection_rotate(con);
	return true;
}

void connection_done(struct connection *con, struct packet *packet)
{
	struct chunk *c = packet->chunk;
	if (--c->refs == 0) {
		if (c != con->in)
			chunk_put(c);
		else if (c->parsed == c->used)
			connection_drop_input(con);
	}
	connection_free_if_over(con);
}

/* Life -------------------------------------------------------------------- */

static void connection_tell_tls(const struct connection *con, const char *reason)
{
	char peer[ADDRESS_TEXT_MAX];
	say_warn("TLS with %s failed: %s", connection_peer(con, peer, sizeof(peer)), reason);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
	struct connection *con = w->data;
	if (con->is_ready) {
		/* First what is here already. connection_dequeue() starts the watcher again. */
		ev_io_stop(loop, w);
		return;
	}
	ssize_t n = wire_read(&con->wire, &con->in);
	if (n < 0) {
		if (errno == EPROTO)
			connection_tell_tls(con, tls_reason(con->wire.tls));
		connection_close(con);
		return;
	}
	if (n > 0) {
		stat_count(STAT_NET_RECEIVED, n);
		chunk_shrink(&con->in);
		connection_enqueue(con);
	}
	if (con->wire.tls != NULL &&
	    wire_after_read(&con->wire, !con->is_ready, connection_unsent(con) > 0)) {
		/* Held, so that it is not freed in here. */
		con->in_flight++;
		connection_flush(con);
		con->in_flight--;
		connection_free_if_over(con);
	}
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
	struct connection *con = w->data;
	/* Held, so that it is not freed in here. */
	con->in_flight++;
	connection_flush(con);
	con->in_flight--;
	if (con->fd < 0)
		connection_free_if_over(con);
	else if (con->is_blocked && connection_unsent(con) < CONNECTION_OUTPUT_MAX / 2)
		connection_unblock(con);
	else if (con->wire.tls != NULL && ev_is_active(&con->wire.input))
		ev_feed_event(loop_ev, &con->wire.input, EV_READ);
}

/** Whole packets from a network thread. */
static void connection_receive(struct connection *con, struct chunk *c)
{
	if (con->fd < 0) {
		chunk_put(c);
		return;
	}
	if (con->in == NULL)
		con->in = c;
	else
		con->in_last->next = c;
	con->in_last = c;
	if (!con->is_blocked)
		connection_enqueue(con);
}

void connection_on_note(struct connection *con, struct note *note)
{
	outbuf_put(&note->out);
	if (note->in != NULL)
		connection_receive(con, note->in);
	if ((note->what & NOTE_ROOM) != 0 && con->is_blocked)
		connection_unblock(con);
	if (note->reason != NULL && con->fd >= 0)
		connection_tell_tls(con, note->reason);
	xfree(note->reason);
	if ((note->what & NOTE_ENDED) != 0)
		connection_close(con);
	if ((note->what & NOTE_GONE) != 0) {
		line_delete(con->line);
		con->line = NULL;
		connection_free_if_over(con);
	}
}

static int connection_push(struct session *session, uint64_t sync, struct port *values)
{
	struct connection *con = session->owner;
	if (con->is_encoding) {
		client_error(ER_UNSUPPORTED, "Session", "push() while an answer is encoded");
		return -1;
	}
	return reply_push(con, sync, values);
}

static const struct session_vtab connection_session_vtab = {
	.push = connection_push,
};

static void set_socket_options(int fd, int family)
{
	int one = 1;
	if (family == AF_UNIX)
		return;
	/* Answers go out in batches already; a refusal costs speed only. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

/** The socket goes to a network thread, if there is one. */
static void connection_attach(struct connection *con, struct tls *tls)
{
	struct net_thread *thread = net_thread_pick();
	if (thread == NULL) {
		wire_open(&con->wire, loop_ev, con->fd, tls, on_readable, on_writable, con);
	} else {
		con->line = line_new(con, thread, con->fd, tls);
		con->stat = net_thread_stat_of(thread);
	}
}

void connection_accept(int fd, const struct address *peer, struct tls_context *tls)
{
	struct connection *con = xcalloc(1, sizeof(*con));
	con->fd = fd;
	con->session = session_new(SESSION_BINARY, fd, USER_GUEST);
	con->session->peer = *peer;
	con->session->vtab = &connection_session_vtab;
	con->session->owner = con;
	list_create(&con->ready_link);
	list_create(&con->dirty_link);
	list_create(&con->event_link);
	list_add_tail(&connections_all, &con->all_link);
	map_u64_create(&con->streams);
	map_str_create(&con->subscriptions);
	set_socket_options(fd, peer->sa.ss_family);
	connection_attach(con, tls != NULL ? tls_new(tls, fd, true) : NULL);
	auth_salt(con->salt);
	stat_count_net(con->stat, STAT_NET_CONNECTIONS, 1);
	stat_now_add(con->stat, STAT_NOW_CONNECTIONS, 1);
	if (list_empty(&session_connect_triggers)) {
		connection_greet(con);
		return;
	}
	con->is_connecting = true;
	list_add_tail(&connections_eventful, &con->event_link);
	worker_kick();
}

void connection_greet(struct connection *con)
{
	auth_greeting(con->salt, buf_alloc(connection_output(con), GREETING_SIZE));
	con->is_greeted = true;
	if (con->line == NULL)
		ev_io_start(loop_ev, &con->wire.input);
	else
		con->orders |= NOTE_OPEN;
}

/** Takes the socket away, from the network thread too. */
static void connection_detach(struct connection *con)
{
	if (con->line == NULL) {
		wire_close(&con->wire, con->is_finished ? &lingering : NULL);
	} else if (con->is_greeted) {
		con->orders |= NOTE_CLOSE | (con->is_finished ? NOTE_LINGER : 0);
		connection_tell(con);
	} else {
		line_delete(con->line);
		con->line = NULL;
	}
}

void connection_close(struct connection *con)
{
	if (con->fd < 0)
		return;
	connection_unmark(con);
	/* An answer in the middle of its encoding still writes there. */
	if (!con->is_encoding)
		connection_drop_output(con);
	connection_detach(con);
	con->fd = con->session->fd = -1;
	con->session->peer.len = 0;
	con->is_blocked = false;
	stat_now_add(con->stat, STAT_NOW_CONNECTIONS, -1);
	if (con->is_connecting) {
		con->is_connecting = false;
		list_del(&con->event_link);
	}
	stream_close_all(con);
	subscription_drop_all(con);
	if (!list_empty(&session_disconnect_triggers)) {
		con->is_disconnecting = true;
		list_add_tail(&connections_eventful, &con->event_link);
		worker_kick();
	}
	connection_free_if_over(con);
}

void connection_finish(struct connection *con)
{
	/* Held, so that it is not freed in here. */
	con->in_flight++;
	if (con->fd >= 0)
		connection_flush(con);
	con->is_finished = true;
	connection_close(con);
	con->in_flight--;
	connection_free_if_over(con);
}

void connection_free_if_over(struct connection *con)
{
	if (con->fd >= 0 || con->in_flight > 0 || con->is_ready || con->is_disconnecting ||
	    con->streams.count > 0 || con->line != NULL)
		return;
	connection_drop_input(con);
	connection_drop_output(con);
	list_del(&con->all_link);
	map_u64_destroy(&con->streams);
	map_str_destroy(&con->subscriptions);
	session_delete(con->session);
	xfree(con);
}

void connection_close_all(void)
{
	struct connection *con, *tmp;
	list_foreach_entry_safe(con, tmp, &connections_all, all_link)
		connection_finish(con);
}

void connections_init(void)
{
	linger_create(&lingering, loop_ev);
	buffers_init();
}

void connections_free(void)
{
	linger_destroy(&lingering);
	buffers_free();
}

size_t connections_memory(void)
{
	struct connection *con;
	size_t size = 0;
	list_foreach_entry(con, &connections_all, all_link) {
		size += sizeof(*con) + con->out.capacity;
		for (struct chunk *c = con->in; c != NULL; c = c->next)
			size += sizeof(*c) + c->capacity;
		if (con->line != NULL)
			size += sizeof(*con->line) +
				atomic_load_explicit(&con->line->held, memory_order_relaxed);
	}
	return size;
}
