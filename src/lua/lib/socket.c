/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C side of the module `socket`: one handle a socket, with the input that was read and
 * not asked for yet. Every function takes a handle first; one that fails returns nil and the
 * number of the error, which errno() has, too. Waits end with an error of the fiber that is
 * cancelled. socket.lua has the objects and checks arguments; addresses and the numbers of
 * options are in socket_address.c and socket_constants.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ev.h>

#include "core/coio.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "lua/bridge.h"
#include "lua/lib/socket_private.h"
#include "lua/modules.h"

struct handle {
	int fd;
	/** Input that read() has taken from the socket. */
	struct buf in;
};

static struct lua_class handle_class = {.name = "socket"};

enum { READ_SIZE = 16384 };

/* Handles --------------------------------------------------------------------------- */

static struct handle *check_handle(lua_State *L)
{
	struct handle *h = lua_class_check(L, 1, &handle_class);
	if (h->fd < 0)
		luaL_error(L, "attempt to use closed socket");
	return h;
}

/** An empty one, so that a descriptor made next is not lost where memory is short. */
static struct handle *push_handle(lua_State *L)
{
	struct handle *h = lua_newuserdata(L, sizeof(*h));
	h->fd = -1;
	h->in = (struct buf)BUF_INIT;
	lua_class_set(L, &handle_class);
	return h;
}

static int push_errno(lua_State *L)
{
	int saved = errno;
	lua_pushnil(L);
	lua_pushinteger(L, saved);
	errno = saved;
	return 2;
}

static int push_success(lua_State *L, bool ok)
{
	if (!ok)
		return push_errno(L);
	lua_pushboolean(L, true);
	return 1;
}

/** new(domain, type, protocol) */
static int socket_new(lua_State *L)
{
	struct handle *h = push_handle(L);
	h->fd = socket(luaL_checkint(L, 1), luaL_checkint(L, 2) | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       luaL_checkint(L, 3));
	return h->fd < 0 ? push_errno(L) : 1;
}

/** pair(domain, type, protocol): two handles */
static int socket_pair(lua_State *L)
{
	int fds[2];
	struct handle *a = push_handle(L), *b = push_handle(L);
	if (socketpair(luaL_checkint(L, 1), luaL_checkint(L, 2) | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       luaL_checkint(L, 3), fds) != 0)
		return push_errno(L);
	a->fd = fds[0];
	b->fd = fds[1];
	return 2;
}

/** from_fd(number): a handle that owns the descriptor */
static int socket_from_fd(lua_State *L)
{
	int fd = luaL_checkint(L, 1);
	struct handle *h = push_handle(L);
	if (fcntl(fd, F_GETFL) < 0)
		return push_errno(L);
	h->fd = fd;
	return 1;
}

static int socket_close(lua_State *L)
{
	struct handle *h = lua_class_check(L, 1, &handle_class);
	if (h->fd < 0)
		return 0;
	int fd = h->fd;
	h->fd = -1;
	buf_free(&h->in);
	return push_success(L, coio_close(fd) == 0);
}

/** detach(h): the number of the descriptor, which is the caller's from now on */
static int socket_detach(lua_State *L)
{
	struct handle *h = check_handle(L);
	lua_pushinteger(L, h->fd);
	h->fd = -1;
	buf_free(&h->in);
	return 1;
}

static int socket_fd(lua_State *L)
{
	struct handle *h = lua_class_check(L, 1, &handle_class);
	lua_pushinteger(L, h->fd);
	return 1;
}

/** The timeout at `idx`, endless where there is none. [raises] for NaN, which no wait would end by */
static double check_timeout(lua_State *L, int idx)
{
	double timeout = luaL_optnumber(L, idx, TIMEOUT_INFINITY);
	if (isnan(timeout))
		luaL_error(L, "a timeout may not be NaN");
	return timeout < TIMEOUT_INFINITY ? timeout : TIMEOUT_INFINITY;
}

/* Addresses -------------------------------------------------------------------------- */

static int option(int fd, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : 0;
}

static int push_end(lua_State *L, int fd, int (*get)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	if (get(fd, (struct sockaddr *)&sa, &len) != 0)
		return push_errno(L);
	lua_createtable(L, 0, 5);
	lua_socket_set_address(L, (struct sockaddr *)&sa, len);
	lua_socket_set_type(L, option(fd, SO_TYPE));
	lua_socket_set_protocol(L, option(fd, SO_PROTOCOL));
	return 1;
}

static int get_name(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int get_peer(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

static int socket_name(lua_State *L)
{
	return push_end(L, check_handle(L)->fd, get_name);
}

static int socket_peer(lua_State *L)
{
	return push_end(L, check_handle(L)->fd, get_peer);
}

static int hint(lua_State *L, const char *name)
{
	lua_getfield(L, 4, name);
	int value = (int)lua_tointeger(L, -1);
	lua_pop(L, 1);
	return value;
}

static int push_list_protected(lua_State *L)
{
	lua_socket_push_list(L, lua_touserdata(L, 1));
	return 1;
}

/** getaddrinfo(host, port, timeout, {family, type, protocol, flags}): a list, or nil and a text. */
static int socket_getaddrinfo(lua_State *L)
{
	const char *host = lua_tostring(L, 1), *port = lua_tostring(L, 2);
	double timeout = check_timeout(L, 3);
	luaL_checktype(L, 4, LUA_TTABLE);
	struct addrinfo hints = {
		.ai_family = hint(L, "family"), .ai_socktype = hint(L, "type"),
		.ai_protocol = hint(L, "protocol"), .ai_flags = hint(L, "flags"),
	}, *list = NULL;
	if (coio_resolve(host, port, &hints, &list, timeout) != 0) {
		if (fiber_testcancel() != 0)
			return lua_throw(L);
		errno = error_is(diag_last(), &type_TimedOut) ? ETIMEDOUT : EIO;
		int saved = errno;
		lua_pushnil(L);
		lua_pushstring(L, diag_last()->message);
		errno = saved;
		return 2;
	}
	lua_pushcfunction(L, push_list_protected);
	lua_pushlightuserdata(L, list);
	int rc = lua_call_protected(L, 1, 1);
	freeaddrinfo(list);
	return rc == 0 ? 1 : lua_throw(L);
}

/* Calls ------------------------------------------------------------------------------- */

/** bind(h, host, port) and connect(h, host, port) */
static int socket_bind(lua_State *L)
{
	struct handle *h = check_handle(L);
	struct socket_address a;
	return push_success(L, lua_socket_make_address(L, 2, 3, &a) &&
			       bind(h->fd, (struct sockaddr *)&a.sa, a.len) == 0);
}

static int socket_connect(lua_State *L)
{
	struct handle *h = check_handle(L);
	struct socket_address a;
	return push_success(L, lua_socket_make_address(L, 2, 3, &a) &&
			       connect(h->fd, (struct sockaddr *)&a.sa, a.len) == 0);
}

static int socket_listen(lua_State *L)
{
	struct handle *h = check_handle(L);
	return push_success(L, listen(h->fd, luaL_checkint(L, 2)) == 0);
}

/** accept(h): a handle and the address of the other end; never waits */
static int socket_accept(lua_State *L)
{
	struct handle *h = check_handle(L), *new = push_handle(L);
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	new->fd = accept4(h->fd, (struct sockaddr *)&sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (new->fd < 0)
		return push_errno(L);
	lua_createtable(L, 0, 3);
	lua_socket_set_address(L, (struct sockaddr *)&sa, len);
	return 2;
}

/** shutdown(h, how): 0 reading, 1 writing, 2 both */
static int socket_shutdown(lua_State *L)
{
	struct handle *h = check_handle(L);
	return push_success(L, shutdown(h->fd, luaL_checkint(L, 2)) == 0);
}

/** nonblock(h[, flag]): the flag as it is then */
static int socket_nonblock(lua_State *L)
{
	struct handle *h = check_handle(L);
	int flags = fcntl(h->fd, F_GETFL);
	if (flags < 0)
		return push_errno(L);
	if (!lua_isnoneornil(L, 2)) {
		flags = lua_toboolean(L, 2) ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
		if (fcntl(h->fd, F_SETFL, flags) != 0)
			return push_errno(L);
	}
	lua_pushboolean(L, (flags & O_NONBLOCK) != 0);
	return 1;
}

static int push_count(lua_State *L, ssize_t n)
{
	if (n < 0)
		return push_errno(L);
	lua_pushnumber(L, (lua_Number)n);
	return 1;
}

/** send(h, data, flags): one call, bytes sent */
static int socket_send(lua_State *L)
{
	struct handle *h = check_handle(L);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	return push_count(L, send(h->fd, data, size, luaL_optint(L, 3, 0) | MSG_NOSIGNAL));
}

/** sendto(h, host, port, data, flags); without host and port as send() */
static int socket_sendto(lua_State *L)
{
	struct handle *h = check_handle(L);
	size_t size;
	const char *data = luaL_checklstring(L, 4, &size);
	int flags = luaL_optint(L, 5, 0) | MSG_NOSIGNAL;
	struct socket_address a;
	if (lua_isnil(L, 2))
		return push_count(L, send(h->fd, data, size, flags));
	if (!lua_socket_make_address(L, 2, 3, &a))
		return push_errno(L);
	return push_count(L, sendto(h->fd, data, size, flags, (struct sockaddr *)&a.sa, a.len));
}

/** How much there is to read in one go, where the script does not say. */
static size_t pending_size(int fd)
{
	char c;
	int waiting = 0;
	if (option(fd, SO_TYPE) == SOCK_STREAM)
		return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0 ? (size_t)waiting : 512;
	ssize_t n = recv(fd, &c, 1, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 512;
}

/** recv(h, size or nil, flags): data and the sender; one call */
static int socket_recv(lua_State *L)
{
	struct handle *h = check_handle(L);
	size_t size = lua_isnil(L, 2) ? pending_size(h->fd) : (size_t)luaL_checknumber(L, 2);
	if (size > INT32_MAX)
		size = INT32_MAX;
	struct buf *data = lua_scratch_get();
	struct sockaddr_storage sa = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof(sa);
	ssize_t n = recvfrom(h->fd, buf_reserve(data, size + 1), size, luaL_optint(L, 3, 0),
			     (struct sockaddr *)&sa, &len);
	if (n < 0) {
		int saved = errno;
		lua_scratch_put(data);
		errno = saved;
		return push_errno(L);
	}
	lua_pushlstring(L, data->data, n);
	lua_scratch_put(data);
	lua_createtable(L, 0, 3);
	if (len > 0 && sa.ss_family != AF_UNSPEC)
		lua_socket_set_address(L, (struct sockaddr *)&sa, len);
	return 2;
}

/* Options ------------------------------------------------------------------------------ */

/** getsockopt(h, level, name, is_text) */
static int socket_getsockopt(lua_State *L)
{
	struct handle *h = check_handle(L);
	int level = luaL_checkint(L, 2), name = luaL_checkint(L, 3), value = 0;
	char text[256];
	bool is_text = lua_toboolean(L, 4);
	socklen_t len = is_text ? sizeof(text) : sizeof(value);
	if (getsockopt(h->fd, level, name, is_text ? (void *)text : &value, &len) != 0)
		return push_errno(L);
	if (is_text)
		lua_pushlstring(L, text, strnlen(text, len));
	else
		lua_pushinteger(L, value);
	return 1;
}

/** setsockopt(h, level, name, number or string) */
static int socket_setsockopt(lua_State *L)
{
	struct handle *h = check_handle(L);
	int level = luaL_checkint(L, 2), name = luaL_checkint(L, 3);
	if (lua_type(L, 4) == LUA_TSTRING) {
		size_t size;
		const char *text = lua_tolstring(L, 4, &size);
		return push_success(L, setsockopt(h->fd, level, name, text, size) == 0);
	}
	/* Some options are times: the reference sets and reads their seconds as a number. */
	int value[4] = {luaL_checkint(L, 4), 0, 0, 0};
	bool is_time = level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO);
	return push_success(L, setsockopt(h->fd, level, name, value,
					  is_time ? sizeof(value) : sizeof(value[0])) == 0);
}

/** linger(h[, active, seconds]): active, seconds */
static int socket_linger(lua_State *L)
{
	struct handle *h = check_handle(L);
	struct linger value = {0, 0};
	socklen_t len = sizeof(value);
	if (lua_isnoneornil(L, 2)) {
		if (getsockopt(h->fd, SOL_SOCKET, SO_LINGER, &value, &len) != 0)
			return push_errno(L);
	} else {
		value.l_onoff = lua_toboolean(L, 2);
		value.l_linger = luaL_optint(L, 3, 0);
		if (setsockopt(h->fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value)) != 0)
			return push_errno(L);
	}
	lua_pushboolean(L, value.l_onoff != 0);
	lua_pushinteger(L, value.l_linger);
	return 2;
}

/* Waiting -------------------------------------------------------------------------------- */

static double check_deadline(lua_State *L, int idx)
{
	return clock_monotonic() + check_timeout(L, idx);
}

/**
 * Waits for the descriptor; 0 where the time is over (ETIMEDOUT) or the handle was closed
 * (EBADF). [raises] where the fiber is cancelled.
 */
static int wait_for(lua_State *L, struct handle *h, int events, double deadline)
{
	double left = deadline - clock_monotonic();
	int ready = coio_wait_events(h->fd, events, left > 0 ? left : 0);
	if (fiber_testcancel() != 0)
		lua_throw(L);
	if (h->fd < 0) {
		errno = EBADF;
		return 0;
	}
	if (ready == 0)
		errno = ETIMEDOUT;
	return ready;
}

/** wait(h, events, timeout): what is ready (1 reading, 2 writing), 0 and ETIMEDOUT */
static int socket_wait(lua_State *L)
{
	struct handle *h = check_handle(L);
	double deadline = check_deadline(L, 3);
	int events, ready;
	events = luaL_checkint(L, 2);
	do
		ready = wait_for(L, h, events, deadline);
	while (ready == 0 && h->fd >= 0 && clock_monotonic() < deadline);
	lua_pushinteger(L, ready);
	lua_pushinteger(L, ready == 0 ? errno : 0);
	return 2;
}

/** iowait(fd, events, timeout) for any descriptor; a sleep where it is nil */
static int socket_iowait(lua_State *L)
{
	double timeout = check_timeout(L, 3);
	int ready = 0;
	if (lua_isnil(L, 1)) {
		fiber_sleep(timeout);
	} else {
		int fd = luaL_checkint(L, 1);
		if (fcntl(fd, F_GETFD) < 0)
			return push_errno(L);
		double deadline = clock_monotonic() + timeout;
		do {
			double left = deadline - clock_monotonic();
			ready = coio_wait_events(fd, luaL_checkint(L, 2), left > 0 ? left : 0);
		} while (ready == 0 && !fiber_is_cancelled() && clock_monotonic() < deadline &&
			 fcntl(fd, F_GETFD) >= 0);
	}
	if (fiber_testcancel() != 0)
		return lua_throw(L);
	lua_pushinteger(L, ready);
	return 1;
}

/** The end of the first delimiter of the list at `idx`, from `from` on; 0: none. */
static size_t find_delimiter(lua_State *L, int idx, const struct buf *in, size_t from)
{
	size_t best = 0, best_start = SIZE_MAX;
	int count = (int)lua_objlen(L, idx);
	for (int i = 1; i <= count; i++) {
		size_t len;
		lua_rawgeti(L, idx, i);
		const char *text = lua_tolstring(L, -1, &len);
		lua_pop(L, 1);	/* the table keeps it */
		size_t start = from > len ? from - len : 0;
		const char *found = text == NULL || in->size - start < len ? NULL :
			memmem(in->data + start, in->size - start, text, len);
		if (found != NULL && (size_t)(found - in->data) < best_start) {
			best_start = found - in->data;
			best = best_start + len;
		}
	}
	return best;
}

/** Reads what is there: bytes, 0 at the end, -1 with errno. */
static ssize_t receive(struct handle *h)
{
	ssize_t n;
	char *p = buf_reserve(&h->in, READ_SIZE);
	do
		n = recv(h->fd, p, READ_SIZE, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == ENOTSOCK) {
		do
			n = read(h->fd, p, READ_SIZE);
		while (n < 0 && errno == EINTR);
	}
	if (n > 0)
		h->in.size += n;
	return n;
}

static int push_input(lua_State *L, struct handle *h, size_t size)
{
	if (h->in.size == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	lua_pushlstring(L, h->in.data, size);
	buf_consume(&h->in, size);
	return 1;
}

/**
 * read(h, limit, {delimiter, ...} or nil, timeout): data up to the limit or to the end of a
 * delimiter, or up to the end of the input; what came stays for the next where the time is
 * over. Yields.
 */
static int socket_read(lua_State *L)
{
	struct handle *h = check_handle(L);
	double limit_number = luaL_checknumber(L, 2);
	size_t limit = limit_number < 0x1p46 ? (size_t)limit_number : SIZE_MAX, seen = 0;
	double deadline = check_deadline(L, 4);
	bool has_delimiters = lua_istable(L, 3);
	for (;;) {
		size_t end = has_delimiters && h->in.size > 0 ?
			     find_delimiter(L, 3, &h->in, seen) : 0;
		if (end > 0 && end <= limit)
			return push_input(L, h, end);
		if (h->in.size >= limit)
			return push_input(L, h, limit);
		seen = h->in.size;
		ssize_t n = receive(h);
		if (n == 0)
			return push_input(L, h, h->in.size);
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return push_errno(L);
		if (n < 0 && wait_for(L, h, EV_READ, deadline) == 0 &&
		    (h->fd < 0 || clock_monotonic() >= deadline))
			return push_errno(L);
	}
}

/** write(h, data, timeout): bytes written, all of them. Yields. */
static int socket_write(lua_State *L)
{
	struct handle *h = check_handle(L);
	size_t size, done = 0;
	const char *data = luaL_checklstring(L, 2, &size);
	double deadline = check_deadline(L, 3);
	while (done < size) {
		ssize_t n = send(h->fd, data + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == ENOTSOCK)
			n = write(h->fd, data + done, size - done);
		if (n >= 0) {
			done += n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return push_errno(L);
		if (wait_for(L, h, EV_WRITE, deadline) == 0 &&
		    (h->fd < 0 || clock_monotonic() >= deadline))
			return push_errno(L);
	}
	return push_count(L, (ssize_t)size);
}

void lua_socket_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"new", socket_new}, {"pair", socket_pair}, {"from_fd", socket_from_fd},
		{"close", socket_close}, {"detach", socket_detach}, {"fd", socket_fd},
		{"name", socket_name}, {"peer", socket_peer}, {"getaddrinfo", socket_getaddrinfo},
		{"bind", socket_bind}, {"connect", socket_connect}, {"listen", socket_listen},
		{"accept", socket_accept}, {"shutdown", socket_shutdown},
		{"nonblock", socket_nonblock}, {"send", socket_send}, {"sendto", socket_sendto},
		{"recv", socket_recv}, {"getsockopt", socket_getsockopt},
		{"setsockopt", socket_setsockopt}, {"linger", socket_linger}, {"wait", socket_wait},
		{"iowait", socket_iowait}, {"read", socket_read}, {"write", socket_write},
		{NULL, NULL},
	};
	lua_class_new(L, &handle_class);
	lua_pushcfunction(L, socket_close);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	lua_new_module(L, "tarn.socket", functions);
	lua_socket_set_constants(L);
	lua_pop(L, 1);
	lua_load_embedded(L, "socket_object.lua", "internal.socket_object");
	lua_load_embedded(L, "socket_luasocket.lua", "internal.socket_luasocket");
	lua_load_embedded(L, "socket.lua", "socket");
}
