/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The socket of a connection: connecting, packets out and in. See netbox.h.
 *
 * Output is sent by a callback that runs before each poll of the event loop. A write that
 * fails there may make no fiber ready, since the loop would wait regardless: a timer that
 * is due at once carries the failure over.
 */
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/coio.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/iproto_const.h"
#include "db/wal/xrow.h"
#include "lua/netbox/netbox.h"
#include "net/packet.h"
#include "net/tls.h"

enum {
	READ_SIZE = 16384,
	/** Room that is kept for the next input or output, more is given back. */
	BUFFER_KEEP = 1 << 20,
};

static struct list dirty = {&dirty, &dirty};
static ev_prepare flusher;

/* Life -------------------------------------------------------------------------- */

static void on_readable(struct ev_loop *ev, ev_io *io, int events);
static void on_writable(struct ev_loop *ev, ev_io *io, int events);
static void on_failed(struct ev_loop *ev, ev_timer *timer, int events);

struct netbox *netbox_new(void)
{
	struct netbox *t = xcalloc(1, sizeof(*t));
	t->refs = 1;
	t->fd = -1;
	map_u64_create(&t->requests);
	list_create(&t->events);
	fiber_cond_create(&t->changed);
	ev_init(&t->reader, on_readable);
	ev_init(&t->writer, on_writable);
	ev_timer_init(&t->failed, on_failed, 0, 0);
	t->reader.data = t->writer.data = t->failed.data = t;
	return t;
}

void netbox_ref(struct netbox *t)
{
	t->refs++;
}

static void drop_events(struct netbox *t)
{
	while (!list_empty(&t->events)) {
		struct netbox_event *e = list_first_entry(&t->events, struct netbox_event, link);
		list_del(&e->link);
		buf_free(&e->key);
		buf_free(&e->data);
		xfree(e);
	}
}

void netbox_unref(struct netbox *t)
{
	if (--t->refs > 0)
		return;
	netbox_close(t);
	drop_events(t);
	map_u64_destroy(&t->requests);
	fiber_cond_destroy(&t->changed);
	buf_free(&t->out);
	buf_free(&t->in);
	xfree(t->failure);
	xfree(t);
}

/** Requests leave the map before they end, since whoever wakes may ask anew. */
static void fail_requests(struct netbox *t, const char *why)
{
	struct map_u64 all = t->requests;
	map_u64_create(&t->requests);
	size_t pos = 0;
	uint64_t sync;
	void *value;
	while (map_u64_next(&all, &pos, &sync, &value)) {
		struct netbox_request *r = value;
		r->transport = NULL;
		netbox_request_fail(r, why);
	}
	map_u64_destroy(&all);
}

void netbox_fail(struct netbox *t, const char *why)
{
	xfree(t->failure);
	t->failure = xstrdup(why);
	ev_io_stop(loop_ev, &t->reader);
	ev_io_stop(loop_ev, &t->writer);
	ev_timer_stop(loop_ev, &t->failed);
	if (t->is_dirty)
		list_del(&t->dirty_link);
	t->is_dirty = false;
	tls_delete(t->tls);
	t->tls = NULL;
	if (t->fd >= 0)
		coio_close(t->fd);
	t->fd = -1;
	buf_free(&t->out);
	buf_free(&t->in);
	t->out_done = t->in_pos = 0;
	t->schema_version = t->schema_version_seen = 0;
	/* Whoever leads the connection first: who asks anew finds its state changed. */
	fiber_cond_broadcast(&t->changed);
	fail_requests(t, t->failure);
}

void netbox_close(struct netbox *t)
{
	if (t->is_closed)
		return;
	t->is_closed = true;
	netbox_fail(t, "Connection closed");
}

/* Before packets ------------------------------------------------------------------ */

/** Waits until `events`, the deadline, a cancel or close(); 0 or what to say. */
static const char *wait_fd(struct netbox *t, int events, double deadline)
{
	if (fiber_is_cancelled())
		return "fiber is cancelled";
	double left = deadline - clock_monotonic();
	if (left <= 0)
		return "Connection timed out";
	coio_wait_events(t->fd, events, left);
	if (t->is_closed || t->fd < 0)
		return "Connection closed";
	return NULL;
}

/** One address: 0, or -1 with errno set. */
static int connect_to(struct netbox *t, const struct addrinfo *ai, double deadline)
{
	t->fd = socket(ai->ai_family, ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       ai->ai_protocol);
	if (t->fd < 0)
		return -1;
	int error = 0, one = 1;
	socklen_t len = sizeof(error);
	if (ai->ai_family != AF_UNIX)
		setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(t->fd, ai->ai_addr, ai->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		goto failed;
	if (wait_fd(t, EV_WRITE, deadline) != NULL) {
		errno = ETIMEDOUT;
		goto failed;
	}
	if (clock_monotonic() >= deadline) {
		errno = ETIMEDOUT;
		goto failed;
	}
	if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0)
		return 0;
	errno = error;
failed:
	error = errno;
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	errno = error;
	return -1;
}

static int connect_unix(struct netbox *t, const char *path, double deadline)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(un.sun_path, path, strlen(path));
	struct addrinfo ai = {.ai_family = AF_UNIX, .ai_socktype = SOCK_STREAM,
			      .ai_addr = (struct sockaddr *)&un, .ai_addrlen = sizeof(un)};
	return connect_to(t, &ai, deadline);
}

int netbox_connect(struct netbox *t, const char *host, const char *service, double deadline)
{
	assert(t->fd < 0);
	if (host != NULL && strcmp(host, "unix/") == 0)
		return connect_unix(t, service, deadline);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	if (host != NULL && (*host == '\0' || strcmp(host, "*") == 0))
		host = NULL;
	/* Numbers need no look-up in a worker. */
	if (getaddrinfo(host, service, &hints, &list) != 0) {
		hints.ai_flags = 0;
		double left = deadline - clock_monotonic();
		if (left <= 0 || coio_resolve(host, service, &hints, &list, left) != 0) {
			errno = left <= 0 || clock_monotonic() >= deadline ? ETIMEDOUT : EINVAL;
			return -1;
		}
	}
	int rc = -1;
	errno = EINVAL;
	for (struct addrinfo *ai = list; ai != NULL && rc != 0 && !t->is_closed; ai = ai->ai_next)
		rc = connect_to(t, ai, deadline);
	int saved = errno;
	freeaddrinfo(list);
	errno = saved;
	return rc;
}

void netbox_start_tls(struct netbox *t, struct tls_context *context)
{
	assert(t->fd >= 0 && t->tls == NULL);
	t->tls = tls_new(context, t->fd, false);
}

/** What a read or write that failed with `error` has to say. */
static const char *failure_text(const struct netbox *t, int error)
{
	return error == EPROTO && t->tls != NULL ? tls_reason(t->tls) : strerror(error);
}

/** As send(). */
static ssize_t send_some(struct netbox *t, const char *data, size_t size)
{
	if (t->tls != NULL)
		return tls_write(t->tls, data, size);
	return send(t->fd, data, size, MSG_NOSIGNAL);
}

/** What to wait for when a read or write can't go on. */
static int events_to_wait(const struct netbox *t, int events)
{
	return t->tls == NULL ? events : tls_wants_write(t->tls) ? EV_WRITE : EV_READ;
}

/** Reads what is there; bytes, 0 where it would block, -1 with *why set. */
static ssize_t read_some(struct netbox *t, const char **why)
{
	char *p = buf_reserve(&t->in, READ_SIZE);
	size_t room = t->in.capacity - t->in.size;
	ssize_t n = t->tls != NULL ? tls_read(t->tls, p, room) : read(t->fd, p, room);
	if (n > 0) {
		t->in.size += n;
		return n;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	*why = n == 0 ? "Peer closed" : failure_text(t, errno);
	return -1;
}

/** Reads more, waiting for it. */
static bool read_more(struct netbox *t, double deadline, const char **why)
{
	if (t->fd < 0) {
		*why = t->failure != NULL ? t->failure : "Connection closed";
		return false;
	}
	ssize_t n;
	while ((n = read_some(t, why)) == 0) {
		*why = wait_fd(t, events_to_wait(t, EV_READ), deadline);
		if (*why != NULL)
			return false;
	}
	return n > 0;
}

const char *netbox_read_exact(struct netbox *t, size_t size, double deadline, const char **why)
{
	while (t->in.size - t->in_pos < size) {
		if (!read_more(t, deadline, why))
			return NULL;
	}
	const char *p = t->in.data + t->in_pos;
	t->in_pos += size;
	return p;
}

const char *netbox_read_until(struct netbox *t, const char *end, size_t *size, double deadline,
			      const char **why)
{
	size_t len = strlen(end), from = t->in_pos;
	buf_consume(&t->in, from);
	from = t->in_pos = 0;
	for (;;) {
		char *found = t->in.size - from < len ? NULL :
			      memmem(t->in.data + from, t->in.size - from, end, len);
		if (found != NULL) {
			*size = t->in_pos = found + len - t->in.data;
			return t->in.data;
		}
		if (t->in.size >= len)
			from = t->in.size - len + 1;
		if (!read_more(t, deadline, why))
			return NULL;
	}
}

bool netbox_write(struct netbox *t, const char *data, size_t size, double deadline,
		  const char **why)
{
	while (size > 0) {
		if (t->fd < 0) {
			*why = t->failure != NULL ? t->failure : "Connection closed";
			return false;
		}
		ssize_t n = send_some(t, data, size);
		if (n >= 0) {
			data += n;
			size -= n;
			continue;
		}
		bool may_wait = errno == EAGAIN || errno == EINTR;
		*why = may_wait ? wait_fd(t, events_to_wait(t, EV_WRITE), deadline)
				: failure_text(t, errno);
		if (*why != NULL)
			return false;
	}
	return true;
}

/* Output ---------------------------------------------------------------------------- */

static void on_failed(struct ev_loop *ev, ev_timer *timer, int events)
{
	(void)ev;
	(void)events;
	struct netbox *t = timer->data;
	netbox_fail(t, strerror(t->failed_errno));
}

/** Sends what can be sent at once. */
static void flush(struct netbox *t)
{
	while (t->out_done < t->out.size) {
		ssize_t n = send_some(t, t->out.data + t->out_done, t->out.size - t->out_done);
		if (n >= 0) {
			t->out_done += n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN) {
			/* Where TLS waits for input, on_readable() goes on. */
			if (events_to_wait(t, EV_WRITE) == EV_WRITE)
				ev_io_start(loop_ev, &t->writer);
		} else if (!ev_is_active(&t->failed)) {
			t->failed_errno = errno;
			ev_timer_start(loop_ev, &t->failed);
		}
		return;
	}
	ev_io_stop(loop_ev, &t->writer);
	t->out_done = 0;
	buf_truncate(&t->out, 0);
	if (t->out.capacity > BUFFER_KEEP)
		buf_free(&t->out);
}

static void on_writable(struct ev_loop *ev, ev_io *io, int events)
{
	(void)ev;
	(void)events;
	flush(io->data);
}

static void on_prepare(struct ev_loop *ev, ev_prepare *w, int events)
{
	(void)ev;
	(void)w;
	(void)events;
	while (!list_empty(&dirty)) {
		struct netbox *t = list_first_entry(&dirty, struct netbox, dirty_link);
		list_del(&t->dirty_link);
		t->is_dirty = false;
		flush(t);
	}
}

void netbox_send(struct netbox *t, const struct buf *packet)
{
	assert(t->fd >= 0);
	buf_append(&t->out, packet->data, packet->size);
	/* While the writer waits, more output changes nothing. */
	if (t->is_dirty || ev_is_active(&t->writer) || ev_is_active(&t->failed))
		return;
	t->is_dirty = true;
	list_add_tail(&dirty, &t->dirty_link);
	if (!ev_is_active(&flusher)) {
		ev_prepare_init(&flusher, on_prepare);
		ev_prepare_start(loop_ev, &flusher);
	}
}

/* Input ------------------------------------------------------------------------------ */

void netbox_expect(struct netbox *t, struct netbox_request *request)
{
	request->transport = t;
	map_u64_put(&t->requests, request->sync, request);
}

/** An event of a watched key: {key, data}. False where it is none. */
static bool take_event(struct netbox *t, const struct xrow_header *row)
{
	const char *end = row->body + row->body_size;
	const char *key = NULL, *data = NULL;
	if (row->body != NULL) {
		key = netbox_find(row->body, end, IPROTO_EVENT_KEY);
		data = netbox_find(row->body, end, IPROTO_EVENT_DATA);
	}
	if (key == NULL || mp_typeof(*key) != MP_STR)
		return false;
	struct netbox_event *e = xcalloc(1, sizeof(*e));
	const char *p = key;
	mp_next(&p);
	buf_append(&e->key, key, p - key);
	if (data != NULL) {
		p = data;
		mp_next(&p);
		buf_append(&e->data, data, p - data);
	}
	list_add_tail(&t->events, &e->link);
	fiber_cond_broadcast(&t->changed);
	return true;
}

/** Looks at a whole packet. False where it makes no sense. */
static bool take_packet(struct netbox *t, const char *p, const char *end)
{
	struct xrow_header row;
	if (xrow_header_decode(&row, &p, end) != 0) {
		diag_clear(diag_get());
		return false;
	}
	if (row.type == IPROTO_EVENT)
		return take_event(t, &row);
	if (row.schema_version != 0 && row.schema_version != t->schema_version_seen) {
		t->schema_version_seen = row.schema_version;
		if (netbox_schema_is_stale(t))
			fiber_cond_broadcast(&t->changed);
	}
	struct netbox_request *r = map_u64_get(&t->requests, row.sync);
	if (r == NULL)
		return true;	/* nobody waits for it any more */
	const char *body = row.body != NULL ? row.body : "";
	size_t size = row.body != NULL ? row.body_size : 0;
	if (size > 0 && mp_typeof(*body) != MP_MAP)
		return false;
	if (row.type == IPROTO_CHUNK) {
		netbox_request_push(r, body, size);
		return true;
	}
	map_u64_del(&t->requests, row.sync);
	r->transport = NULL;
	r->schema_version = row.schema_version;
	netbox_request_finish(r, row.type, body, size);
	if (t->requests.count == 0)
		fiber_cond_broadcast(&t->changed);
	return true;
}

/** Takes all whole packets; false with *why set. */
static bool take_packets(struct netbox *t, const char **why)
{
	while (t->in_pos < t->in.size) {
		const char *p = t->in.data + t->in_pos, *end = t->in.data + t->in.size;
		size_t header;
		uint64_t size;
		enum packet_state state = packet_scan(p, end, PACKET_SIZE_MAX, &header, &size);
		if (state == PACKET_PARTIAL) {
			break;
		} else if (state != PACKET_WHOLE || size == 0 ||
			   !take_packet(t, p + header, p + header + size)) {
			*why = "Invalid MsgPack - packet header";
			return false;
		}
		t->in_pos += header + size;
	}
	if (t->in_pos == t->in.size) {
		t->in_pos = 0;
		buf_truncate(&t->in, 0);
		if (t->in.capacity > BUFFER_KEEP)
			buf_free(&t->in);
	} else if (t->in_pos > READ_SIZE) {
		buf_consume(&t->in, t->in_pos);
		t->in_pos = 0;
	}
	return true;
}

static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
	(void)ev;
	(void)events;
	struct netbox *t = io->data;
	const char *why = NULL;
	netbox_ref(t);
	ssize_t n;
	do {
		n = read_some(t, &why);
		if (n < 0 || (n > 0 && !take_packets(t, &why)))
			netbox_fail(t, why);
		/* The socket does not tell of what was decrypted already. */
	} while (n > 0 && t->tls != NULL && tls_has_input(t->tls));
	if (t->tls != NULL && t->out_done < t->out.size && !ev_is_active(&t->writer))
		flush(t);
	netbox_unref(t);
}

void netbox_start(struct netbox *t)
{
	assert(t->fd >= 0);
	ev_io_set(&t->reader, t->fd, EV_READ);
	ev_io_set(&t->writer, t->fd, EV_WRITE);
	ev_io_start(loop_ev, &t->reader);
	const char *why = NULL;
	if (!take_packets(t, &why))
		netbox_fail(t, why);
}
