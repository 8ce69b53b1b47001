/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fiber.channel(): channels of Lua values, over core/channel.h. A value in a
 * channel is a registry reference; a channel that is collected gives back those
 * of the values nobody took.
 */
#include <math.h>

#include "core/channel.h"
#include "core/diag.h"
#include "core/fiber.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/finalizer.h"
#include "lua/modules.h"

static struct lua_class channel_class = {.name = "fiber.channel"};

static struct channel *check_channel(lua_State *L, const char *usage)
{
	if (lua_isnoneornil(L, 1))
		luaL_error(L, "%s", usage);
	struct channel *ch = *(struct channel **)lua_class_check(L, 1, &channel_class);
	if (ch == NULL)
		luaL_error(L, "the channel is collected");
	return ch;
}

static double check_timeout(lua_State *L, int idx, const char *usage)
{
	if (lua_isnoneornil(L, idx))
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
	struct channel **ch = lua_newuserdata(L, sizeof(*ch));
	*ch = channel_new(size);
	if (*ch == NULL)
		return lua_throw(L);
	lua_class_set(L, &channel_class);
	return 1;
}

/** After a wait that failed: a cancel is thrown, all else is the caller's to tell. */
static void throw_if_cancelled(lua_State *L)
{
	if (error_is(diag_last(), &type_FiberIsCancelled))
		lua_throw(L);
}

static int lua_channel_put(lua_State *L)
{
	lua_check_finalizer(L);
	static const char usage[] = "usage: channel:put(var [, timeout])";
	struct channel *ch = check_channel(L, usage);
	if (lua_gettop(L) < 2)
		luaL_error(L, "%s", usage);
	double timeout = check_timeout(L, 3, usage);
	lua_pushvalue(L, 2);
	int ref = luaL_ref(L, LUA_REGISTRYINDEX);
	int rc = channel_put(ch, (void *)(intptr_t)ref, timeout);
	if (rc != 0) {
		luaL_unref(L, LUA_REGISTRYINDEX, ref);
		throw_if_cancelled(L);
	}
	lua_pushboolean(L, rc == 0);
	return 1;
}

static int lua_channel_get(lua_State *L)
{
	lua_check_finalizer(L);
	static const char usage[] = "usage: channel:get([timeout])";
	struct channel *ch = check_channel(L, usage);
	double timeout = check_timeout(L, 2, usage);
	void *value;
	if (channel_get(ch, &value, timeout) != 0) {
		throw_if_cancelled(L);
		lua_pushnil(L);
		return 1;
	}
	int ref = (intptr_t)value;
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
	luaL_unref(L, LUA_REGISTRYINDEX, ref);
	return 1;
}

/** Gives back what nobody took. */
static void drop_values(lua_State *L, struct channel *ch)
{
	void *value;
	while (channel_count(ch) > 0 && channel_get(ch, &value, 0) == 0)
		luaL_unref(L, LUA_REGISTRYINDEX, (intptr_t)value);
}

static int lua_channel_close(lua_State *L)
{
	struct channel *ch = check_channel(L, "usage: channel:close()");
	channel_close(ch);
	drop_values(L, ch);
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
	struct channel **ch = lua_class_check(L, 1, &channel_class);
	if (*ch == NULL)
		return 0;
	/* Who waits here holds it: so the process ends, and they will not run again. */
	if (!channel_has_readers(*ch) && !channel_has_writers(*ch)) {
		drop_values(L, *ch);
		channel_delete(*ch);
	}
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
