/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fiber.channel(): channels of Lua values, over core/channel.h. Where two fibers meet, a
 * value goes from stack to stack. Those that nobody waits for stand in a table, the
 * environment of the channel's userdata: so the collector knows who holds them.
 */
#include <math.h>

#include "core/channel.h"
#include "core/diag.h"
#include "core/fiber.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/modules.h"

static struct lua_class channel_class = {.name = "fiber.channel"};

/*
 * How values move: `from` and `to` are the coroutines in put() and get(). The value is
 * the first's top, and becomes the other's.
 */

enum {
	/** Indexes in their stacks. */
	ARG_CHANNEL = 1,
	ARG_VALUE = 2,
	/** Entries that the table of a channel's values has room for at first. */
	QUEUE_SIZE_FIRST = 16,
};

static void value_hand_over(void *from, void *to)
{
	lua_xmove(from, to, 1);
}

static void value_store(size_t at, void *from)
{
	lua_getfenv(from, ARG_CHANNEL);
	lua_pushvalue(from, ARG_VALUE);
	lua_rawseti(from, -2, at + 1);
	lua_pop(from, 1);
}

static void value_fetch(size_t at, void *to)
{
	lua_getfenv(to, ARG_CHANNEL);
	lua_rawgeti(to, -1, at + 1);
	/* The place stays in the table, so that what is stored there next needs no memory. */
	lua_pushnil(to);
	lua_rawseti(to, -3, at + 1);
	lua_replace(to, -2);
}

static const struct channel_type value_type = {value_hand_over, value_store, value_fetch};

/** A table for the values of the channel at `idx`, in place of the one it had. */
static void reset_values(lua_State *L, int idx, size_t size)
{
	lua_createtable(L, size < QUEUE_SIZE_FIRST ? size : QUEUE_SIZE_FIRST, 0);
	lua_setfenv(L, idx);
}

/* The interface ------------------------------------------------------------------- */

static inline struct channel *check_channel(lua_State *L, const char *usage)
{
	struct channel **ch = lua_class_test_marked(L, 1, &channel_class);
	if (__builtin_expect(ch != NULL && *ch != NULL, 1))
		return *ch;
	if (ch != NULL)
		luaL_error(L, "the channel is collected");
	if (lua_isnoneornil(L, 1))
		luaL_error(L, "%s", usage);
	return lua_class_check_marked(L, 1, &channel_class);
}

static double check_timeout(lua_State *L, int idx, const char *usage)
{
	if (lua_isnil(L, idx))
		return TIMEOUT_INFINITY;
	double timeout = lua_tonumber(L, idx);
	if (!lua_isnumber(L, idx) || !(timeout >= 0))
		luaL_error(L, "%s", usage);
	return fmin(timeout, TIMEOUT_INFINITY);
}

static int channel_make(lua_State *L)
{
	double size = 0;
	if (!lua_isnoneornil(L, 1)) {
		if (!lua_isnumber(L, 1))
			luaL_error(L, "fiber.channel(size): bad arguments");
		size = lua_tonumber(L, 1);
		if (!(size >= 0))
			luaL_error(L, "fiber.channel(size): negative size");
		if (size > INT32_MAX)
			luaL_error(L, "fiber.channel(size): size is too large");
	}
	struct channel **ch = lua_class_push_marked(L, &channel_class, sizeof(*ch));
	*ch = NULL;
	if (size > 0)
		reset_values(L, lua_gettop(L), size);
	*ch = channel_new_of(&value_type, size);
	return *ch != NULL ? 1 : lua_throw(L);
}

/** A put or get failed: that it is late or closed is the caller's to tell, all else is thrown. */
static void check_failure(lua_State *L)
{
	const struct error *e = diag_last();
	if (!error_is(e, &type_TimedOut) && !error_is(e, &type_ChannelIsClosed))
		lua_throw(L);
}

static int lua_channel_put(lua_State *L)
{
	static const char usage[] = "usage: channel:put(var [, timeout])";
	struct channel *ch = check_channel(L, usage);
	int top = lua_gettop(L);
	double timeout = TIMEOUT_INFINITY;
	if (top < ARG_VALUE) {
		luaL_error(L, "%s", usage);
	} else if (top > ARG_VALUE) {
		timeout = check_timeout(L, 3, usage);
		lua_settop(L, ARG_VALUE);
	}
	int rc = channel_put(ch, L, timeout);
	if (rc != 0)
		check_failure(L);
	lua_pushboolean(L, rc == 0);
	return 1;
}

static int lua_channel_get(lua_State *L)
{
	static const char usage[] = "usage: channel:get([timeout])";
	struct channel *ch = check_channel(L, usage);
	double timeout = lua_gettop(L) > 1 ? check_timeout(L, 2, usage) : TIMEOUT_INFINITY;
	/* The value comes to the top. */
	if (channel_get(ch, L, timeout) != 0) {
		check_failure(L);
		lua_pushnil(L);
	}
	return 1;
}

static int lua_channel_close(lua_State *L)
{
	struct channel *ch = check_channel(L, "usage: channel:close()");
	channel_close(ch);
	if (channel_count(ch) > 0)
		reset_values(L, 1, 0);
	channel_drop(ch);
	return 0;
}

static int lua_channel_size(lua_State *L)
{
	lua_pushnumber(L, channel_size(check_channel(L, "usage: channel:size()")));
	return 1;
}

static int lua_channel_count(lua_State *L)
{
	lua_pushnumber(L, channel_count(check_channel(L, "usage: channel:count()")));
	return 1;
}

static int lua_channel_is_full(lua_State *L)
{
	struct channel *ch = check_channel(L, "usage: channel:is_full()");
	lua_pushboolean(L, channel_count(ch) >= channel_size(ch));
	return 1;
}

static int lua_channel_is_empty(lua_State *L)
{
	lua_pushboolean(L, channel_count(check_channel(L, "usage: channel:is_empty()")) == 0);
	return 1;
}

static int lua_channel_has_readers(lua_State *L)
{
	lua_pushboolean(L, channel_has_readers(check_channel(L, "usage: channel:has_readers()")));
	return 1;
}

static int lua_channel_has_writers(lua_State *L)
{
	lua_pushboolean(L, channel_has_writers(check_channel(L, "usage: channel:has_writers()")));
	return 1;
}

static int lua_channel_is_closed(lua_State *L)
{
	lua_pushboolean(L, channel_is_closed(check_channel(L, "usage: channel:is_closed()")));
	return 1;
}

static int lua_channel_tostring(lua_State *L)
{
	struct channel *ch = check_channel(L, "usage: tostring(channel)");
	if (channel_is_closed(ch))
		lua_pushliteral(L, "channel: closed");
	else
		lua_pushfstring(L, "channel: %d", (int)channel_count(ch));
	return 1;
}

static int lua_channel_gc(lua_State *L)
{
	struct channel **ch = lua_class_check_marked(L, 1, &channel_class);
	if (*ch == NULL)
		return 0;
	/* Who waits here holds it: so the process ends, and they will not run again. */
	if (!channel_has_readers(*ch) && !channel_has_writers(*ch))
		channel_delete(*ch);
	*ch = NULL;
	return 0;
}

static const luaL_Reg methods[] = {
	{"put", lua_channel_put},
	{"get", lua_channel_get},
	{"close", lua_channel_close},
	{"size", lua_channel_size},
	{"count", lua_channel_count},
	{"is_full", lua_channel_is_full},
	{"is_empty", lua_channel_is_empty},
	{"has_readers", lua_channel_has_readers},
	{"has_writers", lua_channel_has_writers},
	{"is_closed", lua_channel_is_closed},
	{"__tostring", lua_channel_tostring},
	{"__gc", lua_channel_gc},
	{NULL, NULL},
};

void lua_fiber_channel_init(lua_State *L)
{
	lua_fiber_add_class(L, &channel_class, methods, "channel", channel_make);
}
