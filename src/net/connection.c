/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections: their sockets, buffers and life.
 *
 * A readable socket is read once; libev tells again while there is more. Whole
 * packets put the connection in the queue of the pool. Answers gather in the
 * output buffer, which is sent at the turn's end with one call. Chunks and
 * output buffers of usual size go from connection to connection, so an idle
 * connection holds neither and a busy one finds them in the processor's cache.
 */
#include "net/connection.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/ticks.h"
#include "db/error.h"
#include "net/address.h"
#include "net/iproto.h"
#include "net/linger.h"
#include "net/packet.h"
#include "net/reply.h"
#include "net/request.h"
#include "net/session.h"
#include "net/stat.h"
#include "net/stream.h"
#include "net/subscription.h"
#include "net/tls.h"
#include "net/worker.h"

enum {
	CHUNK_CACHE_MAX = 64,
	BUF_CACHE_MAX = 64,
	/** An output buffer that grew larger is not kept. */
	BUF_CACHED_CAPACITY_MAX = 64 * 1024,
	/** Packets of one connection in a row while others wait. */
	BURST_MAX = 32,
};

struct list connections_ready = LIST_INIT(connections_ready);
struct list connections_eventful = LIST_INIT(connections_eventful);
struct list connections_all = LIST_INIT(connections_all);
size_t connection_readahead = NET_READAHEAD_DEFAULT;

static struct list connections_dirty = LIST_INIT(connections_dirty);
static struct chunk *chunk_cache[CHUNK_CACHE_MAX];
static int chunk_cache_count;
static struct buf buf_cache[BUF_CACHE_MAX];
static int buf_cache_count;

/* Chunks ---------------------------------------------------------------- */

static struct chunk *chunk_get(size_t capacity)
{
	if (capacity <= connection_readahead && chunk_cache_count > 0)
		return chunk_cache[--chunk_cache_count];
	if (capacity < connection_readahead)
		capacity = connection_readahead;
	struct chunk *c = xmalloc(sizeof(*c) + capacity);
	c->refs = 0;
	c->capacity = capacity;
	c->used = c->parsed = 0;
	return c;
}

static void chunk_put(struct chunk *c)
{
	assert(c->refs == 0);
	if (c->capacity != connection_readahead || chunk_cache_count == CHUNK_CACHE_MAX) {
		xfree(c);
		return;
	}
	c->used = c->parsed = 0;
	chunk_cache[chunk_cache_count++] = c;
}

/** The connection lets go of its chunk; requests may still hold it. */
static void connection_drop_chunk(struct connection *con)
{
	struct chunk *c = con->in;
	con->in = NULL;
	if (c != NULL && c->refs == 0)
		chunk_put(c);
}

static enum packet_state scan(const struct chunk *c, size_t *header, uint64_t *size)
{
	return packet_scan(c->data + c->parsed, c->data + c->used, PACKET_SIZE_MAX, header, size);
}

/**
 * How large the chunk for the packet at the end of a full one must be: the whole
 * packet, but no more than twice what has arrived of it.
 */
static size_t chunk_size_wanted(const struct chunk *c)
{
	size_t header, arrived = c->used - c->parsed;
	uint64_t size;
	scan(c, &header, &size);
	size_t whole = header + size;
	return whole < 2 * arrived ? whole : 2 * arrived;
}

/** A chunk with room to read into. */
static struct chunk *connection_room(struct connection *con)
{
	struct chunk *c = con->in;
	if (c == NULL)
		return con->in = chunk_get(0);
	if (c->used < c->capacity)
		return c;
	size_t tail = c->used - c->parsed;
	size_t wanted = chunk_size_wanted(c);
	if (c->refs == 0 && wanted <= c->capacity && c->parsed > 0) {
		memmove(c->data, c->data + c->parsed, tail);
	} else {
		struct chunk *old = c;
		c = chunk_get(wanted > tail ? wanted : tail + 1);
		memcpy(c->data, old->data + old->parsed, tail);
		connection_drop_chunk(con);
		con->in = c;
	}
	c->used = tail;
	c->parsed = 0;
	return c;
}

/* Output ---------------------------------------------------------------- */

static void connection_drop_output(struct connection *con)
{
	if (con->out.data != NULL) {
		con->out.size = 0;
		if (con->out.capacity <= BUF_CACHED_CAPACITY_MAX && buf_cache_count < BUF_CACHE_MAX)
			buf_cache[buf_cache_count++] = con->out;
		else
			buf_free(&con->out);
	}
	con->out = (struct buf)BUF_INIT;
	con->out_sent = 0;
}

static size_t connection_unsent(const struct connection *con)
{
	return con->out.size - con->out_sent;
}

struct buf *connection_output(struct connection *con)
{
	assert(con->fd >= 0 && !con->is_encoding);
	if (con->out.data == NULL && buf_cache_count > 0)
		con->out = buf_cache[--buf_cache_count];
	if (!con->is_dirty) {
		con->is_dirty = true;
		list_add_tail(&connections_dirty, &con->dirty_link);
	}
	return &con->out;
}

static ssize_t connection_send(struct connection *con)
{
	const char *data = con->out.data + con->out_sent;
	if (con->tls != NULL)
		return tls_write(con->tls, data, connection_unsent(con));
	return send(con->fd, data, connection_unsent(con), MSG_NOSIGNAL);
}

/** A write has to wait. While TLS waits for input, on_readable() tries again. */
static void connection_wait_output(struct connection *con)
{
	if (con->tls == NULL || tls_wants_write(con->tls))
		ev_io_start(loop_ev, &con->output);
	else
		ev_io_stop(loop_ev, &con->output);
}

/** Sends what the socket takes; the rest waits for it. The connection may be closed and freed. */
static void connection_flush(struct connection *con)
{
	if (con->is_dirty) {
		con->is_dirty = false;
		list_del(&con->dirty_link);
	}
	if (con->is_encoding) {
		/* The one that is encoded will mark it dirty again. */
		ev_io_stop(loop_ev, &con->output);
		return;
	}
	while (connection_unsent(con) > 0) {
		ssize_t n = connection_send(con);
		if (n > 0) {
			con->out_sent += n;
			stat_count(STAT_NET_SENT, n);
		} else if (errno == EAGAIN) {
			connection_wait_output(con);
			return;
		} else if (errno != EINTR) {
			connection_close(con);
			return;
		}
	}
	ev_io_stop(loop_ev, &con->output);
	connection_drop_output(con);
}

void connection_answered(struct connection *con)
{
	if (connection_unsent(con) >= CONNECTION_OUTPUT_EAGER && !ev_is_active(&con->output))
		connection_flush(con);
}

void connection_flush_all(void)
{
	while (!list_empty(&connections_dirty)) {
		struct connection *con = list_first_entry(&connections_dirty, struct connection,
							  dirty_link);
		if (ev_is_active(&con->output)) {
			con->is_dirty = false;
			list_del(&con->dirty_link);
		} else {
			connection_flush(con);
		}
	}
}

/* The queue of the pool --------------------------------------------------- */

/** Puts a connection with a whole packet (or a bad length) in the queue. */
static void connection_enqueue(struct connection *con)
{
	size_t header;
	uint64_t size;
	if (con->is_ready || con->in == NULL || scan(con->in, &header, &size) == PACKET_PARTIAL)
		return;
	con->is_ready = true;
	con->burst = 0;
	list_add_tail(&connections_ready, &con->ready_link);
	worker_kick();
}

/** Begins to read, what TLS has decrypted already included. */
static void connection_start_input(struct connection *con)
{
	ev_io_start(loop_ev, &con->input);
	if (con->tls != NULL && tls_has_input(con->tls))
		ev_feed_event(loop_ev, &con->input, EV_READ);
}

static void connection_dequeue(struct connection *con)
{
	con->is_ready = false;
	list_del(&con->ready_link);
	if (con->fd >= 0 && !con->is_blocked)
		connection_start_input(con);
}

static void connection_block(struct connection *con)
{
	con->is_blocked = true;
	ev_io_stop(loop_ev, &con->input);
	connection_dequeue(con);
}

static void connection_unblock(struct connection *con)
{
	con->is_blocked = false;
	connection_start_input(con);
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
	if (scan(c, &header, &size) != PACKET_WHOLE) {
		connection_fail_length(con, size);
		return false;
	}
	packet->chunk = c;
	packet->arrived = con->read_at;
	packet->begin = c->data + c->parsed + header;
	packet->end = packet->begin + size;
	c->parsed += header + size;
	c->refs++;
	if (scan(c, &header, &size) == PACKET_PARTIAL)
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
			connection_drop_chunk(con);
	}
	connection_free_if_over(con);
}

/* Life -------------------------------------------------------------------- */

static ssize_t connection_recv(struct connection *con, struct chunk *c)
{
	void *room = c->data + c->used;
	if (con->tls != NULL)
		return tls_read(con->tls, room, c->capacity - c->used);
	return recv(con->fd, room, c->capacity - c->used, 0);
}

/** A read by TLS may have been what a write, or the next read, was waiting for. */
static void connection_go_on(struct connection *con)
{
	if (!con->is_ready && tls_has_input(con->tls))
		ev_feed_event(loop_ev, &con->input, EV_READ);
	if (connection_unsent(con) == 0 && tls_wants_write(con->tls))
		ev_io_start(loop_ev, &con->output);
	if (connection_unsent(con) > 0 && !ev_is_active(&con->output)) {
		/* Held, so that it is not freed in here. */
		con->in_flight++;
		connection_flush(con);
		con->in_flight--;
		connection_free_if_over(con);
	}
}

static void connection_tell_tls(const struct connection *con)
{
	char peer[ADDRESS_TEXT_MAX];
	say_warn("TLS with %s failed: %s", connection_peer(con, peer, sizeof(peer)),
		 tls_reason(con->tls));
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
	struct connection *con = w->data;
	if (con->is_ready) {
		/* First what is here already. connection_dequeue() starts the watcher again. */
		ev_io_stop(loop, w);
		return;
	}
	struct chunk *c = connection_room(con);
	ssize_t n = connection_recv(con, c);
	if (n > 0) {
		con->read_at = ticks_now();
		c->used += n;
		stat_count(STAT_NET_RECEIVED, n);
		connection_enqueue(con);
		if (con->tls != NULL)
			connection_go_on(con);
		return;
	}
	if (c->used == c->parsed && c->refs == 0)
		connection_drop_chunk(con);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (con->tls != NULL)
			connection_go_on(con);
		return;
	}
	if (n < 0 && errno == EPROTO)
		connection_tell_tls(con);
	connection_close(con);
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
	else if (con->tls != NULL && ev_is_active(&con->input))
		ev_feed_event(loop_ev, &con->input, EV_READ);
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

void connection_accept(int fd, const struct address *peer, struct tls_context *tls)
{
	struct connection *con = xcalloc(1, sizeof(*con));
	con->fd = fd;
	if (tls != NULL)
		con->tls = tls_new(tls, fd, true);
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
	ev_io_init(&con->input, on_readable, fd, EV_READ);
	ev_io_init(&con->output, on_writable, fd, EV_WRITE);
	con->input.data = con->output.data = con;
	auth_salt(con->salt);
	stat_count(STAT_NET_CONNECTIONS, 1);
	stat_connections_now++;
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
	ev_io_start(loop_ev, &con->input);
}

void connection_close(struct connection *con)
{
	if (con->fd < 0)
		return;
	ev_io_stop(loop_ev, &con->input);
	ev_io_stop(loop_ev, &con->output);
	tls_delete(con->tls);
	con->tls = NULL;
	if (con->is_finished)
		linger_close(con->fd);
	else
		close(con->fd);
	con->fd = con->session->fd = -1;
	con->session->peer.len = 0;
	con->is_blocked = false;
	if (con->is_dirty) {
		con->is_dirty = false;
		list_del(&con->dirty_link);
	}
	/* An answer in the middle of its encoding still writes there. */
	if (!con->is_encoding)
		connection_drop_output(con);
	stat_connections_now--;
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
	    con->streams.count > 0)
		return;
	connection_drop_chunk(con);
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

void connection_drop_caches(void)
{
	while (chunk_cache_count > 0)
		xfree(chunk_cache[--chunk_cache_count]);
	while (buf_cache_count > 0)
		buf_free(&buf_cache[--buf_cache_count]);
}

size_t connections_memory(void)
{
	struct connection *con;
	size_t size = 0;
	list_foreach_entry(con, &connections_all, all_link) {
		size += sizeof(*con) + con->out.capacity;
		if (con->in != NULL)
			size += sizeof(*con->in) + con->in->capacity;
	}
	return size;
}
