/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A module written against tarn/module.h, as a user would: fibers, conditions, latches
 * and blocking calls. fiber.lua beside it calls what is here.
 */
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <tarn/module.h>
#include <unistd.h>

/* Fibers ---------------------------------------------------------------- */

static int add_loop(va_list args)
{
	int *sum = va_arg(args, int *);
	int count = va_arg(args, int);
	for (int i = 0; i < count; i++) {
		*sum += 1;
		fiber_reschedule();
	}
	return count == 0 ? -1 : 0;
}

/** sum(fibers, rounds): that many fibers add 1 that many times. */
static int sample_sum(lua_State *L)
{
	enum { FIBER_MAX = 100 };
	int fibers = luaL_checkint(L, 1), rounds = luaL_checkint(L, 2);
	luaL_argcheck(L, fibers <= FIBER_MAX, 1, "too many fibers");
	struct fiber_attr *attr = fiber_attr_new();
	luaL_argcheck(L, fiber_attr_setstacksize(attr, 100) == -1, 1, "a tiny stack is taken");
	fiber_attr_setstacksize(attr, 64 * 1024);
	struct fiber *list[FIBER_MAX];
	int sum = 0;
	for (int i = 0; i < fibers; i++) {
		list[i] = i % 2 == 0 ? fiber_new("sum", add_loop) : fiber_new_ex("sum_ex", attr, add_loop);
		fiber_set_joinable(list[i], true);
		fiber_start(list[i], &sum, rounds);
	}
	fiber_attr_delete(attr);
	int failed = 0;
	for (int i = 0; i < fibers; i++)
		failed += fiber_join(list[i]) != 0;
	lua_pushinteger(L, sum);
	lua_pushinteger(L, failed);
	return 2;
}

static int sleep_until_cancelled(va_list args)
{
	bool *was_cancelled = va_arg(args, bool *);
	while (!fiber_is_cancelled())
		fiber_sleep(1000);
	*was_cancelled = true;
	return 0;
}

/** cancel(): a fiber that sleeps is joined with a limit, then cancelled and joined. */
static int sample_cancel(lua_State *L)
{
	bool was_cancelled = false;
	struct fiber *f = fiber_new("sleeper", sleep_until_cancelled);
	fiber_set_joinable(f, true);
	fiber_start(f, &was_cancelled);
	lua_pushboolean(L, fiber_join_timeout(f, 0.001) == -1 && !was_cancelled);
	fiber_cancel(f);
	lua_pushboolean(L, fiber_join(f) == 0 && was_cancelled);
	return 2;
}

/* Conditions and latches -------------------------------------------------- */

struct turns {
	struct fiber_cond *cond;
	box_latch_t *latch;
	int woken, inside, inside_max, entries;
};

static int wait_and_enter(va_list args)
{
	struct turns *t = va_arg(args, struct turns *);
	if (fiber_cond_wait(t->cond) == 0)
		t->woken++;
	box_latch_lock(t->latch);
	t->entries++;
	if (++t->inside > t->inside_max)
		t->inside_max = t->inside;
	fiber_reschedule();
	t->inside--;
	box_latch_unlock(t->latch);
	return 0;
}

/** turns(): ten fibers wait for a condition, then go through a latch one by one. */
static int sample_turns(lua_State *L)
{
	enum { COUNT = 10 };
	struct turns t = {.cond = fiber_cond_new(), .latch = box_latch_new()};
	struct fiber *list[COUNT];
	for (int i = 0; i < COUNT; i++) {
		list[i] = fiber_new("turn", wait_and_enter);
		fiber_set_joinable(list[i], true);
		fiber_start(list[i], &t);
	}
	int timed_out = fiber_cond_wait_timeout(t.cond, 0.001);
	fiber_cond_signal(t.cond);
	fiber_reschedule();
	int locked = box_latch_trylock(t.latch);
	fiber_cond_broadcast(t.cond);
	for (int i = 0; i < COUNT; i++) {
		if (i == 5)
			fiber_wakeup(list[COUNT - 1]); /* for no reason: it must wait on */
		fiber_join(list[i]);
	}
	lua_pushinteger(L, timed_out);
	lua_pushinteger(L, locked);
	lua_pushinteger(L, t.woken);
	lua_pushinteger(L, t.inside_max);
	lua_pushinteger(L, t.entries);
	lua_pushinteger(L, box_latch_trylock(t.latch));
	box_latch_unlock(t.latch);
	box_latch_delete(t.latch);
	fiber_cond_delete(t.cond);
	return 6;
}

/* Blocking calls ----------------------------------------------------------- */

static ssize_t block(va_list args)
{
	int value = va_arg(args, int);
	const char *text = va_arg(args, const char *);
	usleep(1000);
	errno = ENOTTY;
	return value + (ssize_t)strlen(text);
}

static int sample_call(lua_State *L)
{
	errno = 0;
	lua_pushinteger(L, coio_call(block, 40, "ab"));
	lua_pushboolean(L, errno == ENOTTY);
	return 2;
}

static int wait_readable(va_list args)
{
	int fd = va_arg(args, int);
	int *events = va_arg(args, int *);
	*events = coio_wait(fd, COIO_READ, 1000);
	return 0;
}

/** wait(): a descriptor that is not ready, is ready, and is closed while waited for. */
static int sample_wait(lua_State *L)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
		return luaL_error(L, "socketpair: %s", strerror(errno));
	lua_pushinteger(L, coio_wait(pair[0], COIO_READ, 0.001));
	lua_pushinteger(L, coio_wait(pair[0], COIO_READ | COIO_WRITE, 1000));
	if (write(pair[1], "x", 1) != 1)
		return luaL_error(L, "write: %s", strerror(errno));
	lua_pushinteger(L, coio_wait(pair[0], COIO_READ, 1000));
	int events = -1;
	struct fiber *f = fiber_new("reader", wait_readable);
	fiber_set_joinable(f, true);
	fiber_start(f, pair[1], &events);
	lua_pushinteger(L, coio_close(pair[1]));
	fiber_join(f);
	lua_pushinteger(L, events);
	coio_close(pair[0]);
	return 5;
}

/** resolve(host): the number of addresses, or nil. */
static int sample_resolve(lua_State *L)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_flags = AI_NUMERICHOST}, *list, *a;
	if (coio_getaddrinfo(luaL_checkstring(L, 1), "80", &hints, &list,
			     luaL_optnumber(L, 2, 1000)) != 0)
		return 0;
	int count = 0;
	for (a = list; a != NULL; a = a->ai_next)
		count++;
	freeaddrinfo(list);
	lua_pushboolean(L, count > 0);
	return 1;
}

static int sample_time(lua_State *L)
{
	lua_pushboolean(L, fiber_time() * 1e6 - (double)fiber_time64() < 2);
	lua_pushboolean(L, fiber_clock() * 1e6 - (double)fiber_clock64() < 2);
	lua_pushboolean(L, fiber_self() != NULL);
	return 3;
}

/* For FFI ------------------------------------------------------------------- */

/** Yields from the `from`-th call on. */
int sample_yield_late(int call, int from)
{
	if (call >= from)
		fiber_reschedule();
	return call;
}

/** Calls back, with a yield before and after. */
int sample_call_back(int (*func)(int), int value)
{
	fiber_reschedule();
	int result = func(value);
	fiber_reschedule();
	return result;
}

int luaopen_sample(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"sum", sample_sum}, {"cancel", sample_cancel}, {"turns", sample_turns},
		{"call", sample_call}, {"wait", sample_wait}, {"resolve", sample_resolve},
		{"time", sample_time}, {NULL, NULL},
	};
	lua_newtable(L);
	luaL_register(L, NULL, functions);
	return 1;
}
