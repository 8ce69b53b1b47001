/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See linger.h.
 */
#include "net/linger.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/memory.h"

enum {
	/** So many linger at once at the most; further ones are closed right away. */
	LINGER_MAX = 256,
	/** So many bytes of a peer that does not stop sending are dropped at a time. */
	LINGER_READ = 16 * 1024,
};

static const double LINGER_SECONDS = 1.0;

struct linger_socket {
	struct linger_set *linger;
	struct list link;
	ev_io input;
	ev_timer limit;
};

static void linger_end(struct linger_socket *s)
{
	ev_io_stop(s->linger->loop, &s->input);
	ev_timer_stop(s->linger->loop, &s->limit);
	close(s->input.fd);
	list_del(&s->link);
	s->linger->count--;
	xfree(s);
}

static void on_input(struct ev_loop *loop, ev_io *w, int events)
{
	char dropped[LINGER_READ];
	ssize_t n = recv(w->fd, dropped, sizeof(dropped), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		linger_end(w->data);
}

static void on_limit(struct ev_loop *loop, ev_timer *w, int events)
{
	linger_end(w->data);
}

void linger_create(struct linger_set *linger, struct ev_loop *loop)
{
	linger->loop = loop;
	list_create(&linger->sockets);
	linger->count = 0;
}

void linger_close(struct linger_set *linger, int fd)
{
	if (linger->count >= LINGER_MAX || shutdown(fd, SHUT_WR) != 0) {
		close(fd);
		return;
	}
	struct linger_socket *s = xmalloc(sizeof(*s));
	s->linger = linger;
	ev_io_init(&s->input, on_input, fd, EV_READ);
	ev_timer_init(&s->limit, on_limit, LINGER_SECONDS, 0);
	s->input.data = s->limit.data = s;
	ev_io_start(linger->loop, &s->input);
	ev_timer_start(linger->loop, &s->limit);
	list_add_tail(&linger->sockets, &s->link);
	linger->count++;
}

void linger_destroy(struct linger_set *linger)
{
	while (!list_empty(&linger->sockets))
		linger_end(list_first_entry(&linger->sockets, struct linger_socket, link));
}
