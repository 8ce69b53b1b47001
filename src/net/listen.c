/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A listener is one bound socket with its watcher. A set of them is in force at
 * a time; a new set is built whole before it replaces the old one.
 */
#include "net/listen.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "db/error.h"
#include "net/tls.h"

enum {
	/** Connections taken at one go before others get their turn. */
	ACCEPT_BATCH = 64,
	ADDRESSES_MAX = 16,
};
/** Seconds without accepting where the process has no descriptor left. */
#define ACCEPT_PAUSE 0.2

struct listener {
	ev_io io;
	int fd;
	listen_accept_cb accept;
	/** As the user gave it: tells whether a new set has it, too. */
	char *uri;
	/** NULL: not encrypted. */
	struct tls_context *tls;
	/** The one whose socket it takes over, while the set is not in force yet. */
	struct listener *from;
	/** Path of the unix socket, to remove in the end; empty for TCP. */
	char path[108];
	char text[ADDRESS_TEXT_MAX];
};

struct listener_set {
	int count;
	struct listener *items[LISTEN_MAX];
};

static struct listener_set current;
static ev_timer pause_timer;
/** Said once until a connection is accepted again. */
static bool is_pause_logged;

static void accept_resume(struct ev_loop *loop, ev_timer *w, int events)
{
	for (int i = 0; i < current.count; i++)
		ev_io_start(loop, &current.items[i]->io);
}

static void accept_pause(void)
{
	if (!is_pause_logged)
		say_syserror("can't accept connections for now");
	is_pause_logged = true;
	for (int i = 0; i < current.count; i++)
		ev_io_stop(loop_ev, &current.items[i]->io);
	ev_timer_stop(loop_ev, &pause_timer);
	ev_timer_init(&pause_timer, accept_resume, ACCEPT_PAUSE, 0);
	ev_timer_start(loop_ev, &pause_timer);
}

static void on_acceptable(struct ev_loop *loop, ev_io *w, int events)
{
	struct listener *l = w->data;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		struct address peer = {.len = sizeof(peer.sa)};
		int fd = accept4(l->fd, (struct sockaddr *)&peer.sa, &peer.len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			is_pause_logged = false;
			l->accept(fd, &peer, l->tls);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			accept_pause();
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			say_syserror("accept on %s", l->text);
		return;
	}
}

static void listener_delete(struct listener *l, bool unlink_path)
{
	ev_io_stop(loop_ev, &l->io);
	if (l->fd >= 0)
		close(l->fd);
	if (unlink_path && l->path[0] != '\0' && l->from == NULL)
		unlink(l->path);
	tls_context_unref(l->tls);
	xfree(l->uri);
	xfree(l);
}

/** Is there a unix socket's file at the path that nobody listens on any more? */
static bool path_is_stale(const struct address *a, const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	int rc = connect(fd, (const struct sockaddr *)&a->sa, a->len);
	bool stale = rc != 0 && errno == ECONNREFUSED;
	close(fd);
	return stale;
}

/** Opens, binds and listens. -1 with errno. */
static int bind_address(struct listener *l, const struct address *a)
{
	int family = a->sa.ss_family, one = 1;
	l->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return -1;
	if (family != AF_UNIX)
		setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	const struct sockaddr *sa = (const struct sockaddr *)&a->sa;
	int rc = bind(l->fd, sa, a->len);
	if (rc != 0 && errno == EADDRINUSE && family == AF_UNIX) {
		if (path_is_stale(a, l->path) && unlink(l->path) == 0)
			rc = bind(l->fd, sa, a->len);
		else
			errno = EADDRINUSE;
	}
	if (rc == 0)
		rc = listen(l->fd, SOMAXCONN);
	if (rc != 0) {
		int saved = errno;
		close(l->fd);
		l->fd = -1;
		errno = saved;
	}
	return rc;
}

static void note_address(struct listener *l)
{
	struct address bound = {.len = sizeof(bound.sa)};
	getsockname(l->fd, (struct sockaddr *)&bound.sa, &bound.len);
	address_format((struct sockaddr *)&bound.sa, bound.len, l->text, sizeof(l->text));
}

/** Binds a new socket. */
static int listener_bind(struct listener *l, const struct address_uri *uri)
{
	struct address addresses[ADDRESSES_MAX];
	int count = address_resolve(uri, addresses, ADDRESSES_MAX);
	if (count < 0)
		return -1;
	errno = EADDRNOTAVAIL;
	for (int i = 0; i < count && l->fd < 0; i++)
		bind_address(l, &addresses[i]);
	if (l->fd < 0)
		diag_set_errno(SocketError, "can't listen on %s", l->uri);
	return l->fd < 0 ? -1 : 0;
}

static bool same_text(const char *a, const char *b, size_t len)
{
	return strlen(a) == len && memcmp(a, b, len) == 0;
}

/** Takes over the socket of one in force that differs in its parameters alone, if there is one. */
static int listener_take_over(struct listener *l)
{
	size_t len = strcspn(l->uri, "?");
	for (int i = 0; i < current.count && l->fd < 0; i++) {
		struct listener *old = current.items[i];
		bool is_it = strcspn(old->uri, "?") == len && memcmp(old->uri, l->uri, len) == 0;
		if (!is_it && !same_text(old->text, l->uri, len))
			continue;
		l->fd = fcntl(old->fd, F_DUPFD_CLOEXEC, 0);
		if (l->fd < 0) {
			diag_set_errno(SocketError, "can't listen on %s", l->uri);
			return -1;
		}
		l->from = old;
	}
	return 0;
}

static int listener_open(struct listener *l, const struct address_uri *uri,
			 const struct tls_params *tls)
{
	if (tls != NULL && (l->tls = tls_context_new(tls, true)) == NULL)
		return -1;
	if (listener_take_over(l) != 0)
		return -1;
	return l->fd >= 0 ? 0 : listener_bind(l, uri);
}

static struct listener *listener_new(const struct listen_uri *where, listen_accept_cb cb)
{
	struct address_uri uri;
	if (!address_parse(where->text, where->len, &uri)) {
		client_error(ER_CFG, "listen", "expected host:service or /unix.socket");
		return NULL;
	}
	struct listener *l = xcalloc(1, sizeof(*l));
	l->uri = xstrndup(where->text, where->len);
	l->accept = cb;
	l->fd = -1;
	memcpy(l->path, uri.path, sizeof(l->path));
	if (listener_open(l, &uri, where->tls) != 0) {
		listener_delete(l, false);
		return NULL;
	}
	note_address(l);
	ev_io_init(&l->io, on_acceptable, l->fd, EV_READ);
	l->io.data = l;
	return l;
}

/** The listener of the set in force that the URI, or its real address, names; or NULL. */
static struct listener *find_open(const char *uri, size_t len)
{
	for (int i = 0; i < current.count; i++) {
		struct listener *l = current.items[i];
		if (same_text(l->uri, uri, len) || (l->tls == NULL && same_text(l->text, uri, len)))
			return l;
	}
	return NULL;
}

static bool set_has(const struct listener_set *set, const struct listener *l)
{
	for (int i = 0; i < set->count; i++)
		if (set->items[i] == l)
			return true;
	return false;
}

/** Closes what is in `set` and not in `keep`. */
static void set_close(const struct listener_set *set, const struct listener_set *keep)
{
	for (int i = 0; i < set->count; i++)
		if (!set_has(keep, set->items[i]))
			listener_delete(set->items[i], true);
}

static const char *skip_spaces(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/** Opens one more; what is open already is shared with the set in force. */
static int set_add(struct listener_set *set, const struct listen_uri *uri, listen_accept_cb cb)
{
	if (set->count == LISTEN_MAX) {
		client_error(ER_CFG, "listen", "too many addresses");
		return -1;
	}
	struct listener *l = find_open(uri->text, uri->len);
	if (l == NULL)
		l = listener_new(uri, cb);
	if (l == NULL)
		return -1;
	if (!set_has(set, l))
		set->items[set->count++] = l;
	return 0;
}

/** The new set's sockets that were taken over are its own now. */
static void set_settle(struct listener_set *set)
{
	for (int i = 0; i < set->count; i++) {
		if (set->items[i]->from != NULL)
			set->items[i]->from->path[0] = '\0';
		set->items[i]->from = NULL;
	}
}

int listen_set_list(const struct listen_uri *uris, int count, listen_accept_cb cb)
{
	struct listener_set next = {0};
	for (int i = 0; i < count; i++) {
		if (set_add(&next, &uris[i], cb) != 0) {
			set_close(&next, &current);
			return -1;
		}
	}
	set_settle(&next);
	set_close(&current, &next);
	for (int i = 0; i < next.count; i++) {
		if (!set_has(&current, next.items[i]))
			say_info("binary: bound to %s", next.items[i]->text);
		ev_io_start(loop_ev, &next.items[i]->io);
	}
	current = next;
	return 0;
}

int listen_set(const char *uris, listen_accept_cb cb)
{
	/* One more than allowed, so that too many are noticed. */
	struct listen_uri list[LISTEN_MAX + 1];
	int count = 0;
	const char *p = skip_spaces(uris != NULL ? uris : "");
	while (*p != '\0' && count <= LISTEN_MAX) {
		size_t len = strcspn(p, ",");
		const char *next = p + len + (p[len] == ',');
		while (len > 0 && p[len - 1] == ' ')
			len--;
		list[count++] = (struct listen_uri){.text = p, .len = len};
		p = skip_spaces(next);
	}
	return listen_set_list(list, count, cb);
}

void listen_stop(void)
{
	struct listener_set none = {0};
	set_close(&current, &none);
	current = none;
	ev_timer_stop(loop_ev, &pause_timer);
}

int listen_count(void)
{
	return current.count;
}

const char *listen_address(int i)
{
	return current.items[i]->text;
}
