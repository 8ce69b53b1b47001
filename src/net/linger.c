/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See linger.h.
 */
#include "net/linger.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/list.h"
#include "core/loop.h"
#include "core/memory.h"

enum {
	/** So many linger at once at the most; further ones are closed right away. */
	LINGER_MAX = 256,
	/** So many bytes of a peer that does not stop sending are dropped at a time. */
	LINGER_READ = 16 * 1024,
};

static const double LINGER_SECONDS = 1.0;

struct linger_socket {
	struct list link;
	ev_io input;
	ev_timer limit;
};

static struct list lingering = LIST_INIT(lingering);
static int linger_count;

static void linger_end(struct linger_socket *s)
{
	ev_io_stop(loop_ev, &s->input);
	ev_timer_stop(loop_ev, &s->limit);
	close(s->input.fd);
	list_del(&s->link);
	linger_count--;
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

void linger_close(int fd)
{
	if (linger_count >= LINGER_MAX || shutdown(fd, SHUT_WR) != 0) {
		close(fd);
		return;
	}
	struct linger_socket *s = xmalloc(sizeof(*s));
	ev_io_init(&s->input, on_input, fd, EV_READ);
	ev_timer_init(&s->limit, on_limit, LINGER_SECONDS, 0);
	s->input.data = s->limit.data = s;
	ev_io_start(loop_ev, &s->input);
	ev_timer_start(loop_ev, &s->limit);
	list_add_tail(&lingering, &s->link);
	linger_count++;
}

void linger_free(void)
{
	while (!list_empty(&lingering))
		linger_end(list_first_entry(&lingering, struct linger_socket, link));
}
