/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See wire.h. A readable socket is read once; libev tells again while there is more.
 */
#include "net/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/ticks.h"
#include "net/buffers.h"
#include "net/linger.h"
#include "net/tls.h"

void wire_open(struct wire *wire, struct ev_loop *loop, int fd, struct tls *tls, wire_cb on_readable,
	       wire_cb on_writable, void *data)
{
	wire->loop = loop;
	wire->fd = fd;
	wire->tls = tls;
	ev_io_init(&wire->input, on_readable, fd, EV_READ);
	ev_io_init(&wire->output, on_writable, fd, EV_WRITE);
	wire->input.data = wire->output.data = data;
}

void wire_start_input(struct wire *wire)
{
	ev_io_start(wire->loop, &wire->input);
	if (wire->tls != NULL && tls_has_input(wire->tls))
		ev_feed_event(wire->loop, &wire->input, EV_READ);
}

ssize_t wire_read(struct wire *wire, struct chunk **in)
{
	struct chunk *c = chunk_make_room(in);
	void *room = c->data + c->used;
	ssize_t n = wire->tls != NULL ? tls_read(wire->tls, room, c->capacity - c->used) :
		    recv(wire->fd, room, c->capacity - c->used, 0);
	if (n > 0) {
		c->read_at = ticks_now();
		c->used += n;
		return n;
	}
	int saved_errno = n < 0 ? errno : 0;
	if (c->used == c->parsed && c->refs == 0) {
		chunk_put(c);
		*in = NULL;
	}
	errno = saved_errno;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

bool wire_after_read(struct wire *wire, bool wants_input, bool has_output)
{
	if (wants_input && tls_has_input(wire->tls))
		ev_feed_event(wire->loop, &wire->input, EV_READ);
	if (has_output)
		return !ev_is_active(&wire->output);
	if (tls_wants_write(wire->tls))
		ev_io_start(wire->loop, &wire->output);
	return false;
}

/** A write has to wait. While TLS waits for input, wire_after_read() tries again. */
static void wait_for_output(struct wire *wire)
{
	if (wire->tls == NULL || tls_wants_write(wire->tls))
		ev_io_start(wire->loop, &wire->output);
	else
		ev_io_stop(wire->loop, &wire->output);
}

ssize_t wire_write(struct wire *wire, struct buf *out, size_t *sent)
{
	size_t before = *sent;
	while (*sent < out->size) {
		const char *data = out->data + *sent;
		size_t size = out->size - *sent;
		ssize_t n = wire->tls != NULL ? tls_write(wire->tls, data, size) :
			    send(wire->fd, data, size, MSG_NOSIGNAL);
		if (n > 0) {
			*sent += n;
		} else if (errno == EAGAIN) {
			wait_for_output(wire);
			return *sent - before;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	size_t total = *sent - before;
	ev_io_stop(wire->loop, &wire->output);
	outbuf_put(out);
	*sent = 0;
	return total;
}

void wire_close(struct wire *wire, struct linger_set *linger)
{
	ev_io_stop(wire->loop, &wire->input);
	ev_io_stop(wire->loop, &wire->output);
	tls_delete(wire->tls);
	wire->tls = NULL;
	if (linger != NULL)
		linger_close(linger, wire->fd);
	else
		close(wire->fd);
	wire->fd = -1;
}
