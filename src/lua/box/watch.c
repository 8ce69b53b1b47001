/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.watch, box.watch_once and box.broadcast: events of this process for scripts.
 * A watcher's function runs in a fiber of its own, once at a time; it stays
 * registered until unregister(), whether its handle is kept or not.
 */
#include "net/watch.h"

#include <string.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/memory.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/modules.h"

struct lua_watcher {
	/** First, so that the watcher's address is this one's. */
	struct watcher watcher;
	/** Of the handle, of being registered, and of a fiber that runs the function. */
	int refs;
	bool is_registered;
	/** The function, in the registry. */
	int func;
};

static int run_ref = LUA_NOREF;
static struct lua_class watcher_class = {.name = "watcher"};

static void watcher_unref(struct lua_watcher *w)
{
	if (--w->refs == 0)
		xfree(w);
}

static void watcher_remove(struct lua_watcher *w)
{
	w->is_registered = false;
	watcher_unregister(&w->watcher);
	luaL_unref(lua_main, LUA_REGISTRYINDEX, w->func);
	watcher_unref(w);
}

/** (watcher): calls its function with the name and the value, which may be none that scripts have. */
static int run(lua_State *L)
{
	struct lua_watcher *w = lua_touserdata(L, 1);
	size_t len, size;
	const char *name = watcher_name(&w->watcher, &len);
	const char *value = watcher_value(&w->watcher, &size);
	lua_rawgeti(L, LUA_REGISTRYINDEX, w->func);
	lua_pushlstring(L, name, len);
	if (value != NULL)
		lua_decode(L, &value, &lua_codec_default);
	else
		lua_pushnil(L);
	lua_call(L, 2, 0);
	return 0;
}

static int call_watcher(va_list ap)
{
	struct lua_watcher *w = va_arg(ap, struct lua_watcher *);
	lua_State *L = lua_fiber_state();
	w->refs++;
	lua_rawgeti(L, LUA_REGISTRYINDEX, run_ref);
	lua_pushlightuserdata(L, w);
	if (lua_call_protected(L, 1, 0) != 0)
		diag_log();
	if (w->is_registered)
		watcher_ack(&w->watcher);
	watcher_unref(w);
	return 0;
}

static bool run_watcher(struct watcher *watcher)
{
	struct fiber *f = fiber_new("watcher", call_watcher);
	if (f == NULL)
		return false;
	fiber_start(f, (struct lua_watcher *)watcher);
	return true;
}

/** (key, function) -> handle */
static int watch(lua_State *L)
{
	if (lua_type(L, 1) != LUA_TSTRING || !lua_isfunction(L, 2))
		return luaL_error(L, "Usage: box.watch(key, function)");
	size_t len;
	const char *name = lua_tolstring(L, 1, &len);
	struct lua_watcher **p = lua_newuserdata(L, sizeof(*p));
	*p = NULL;
	lua_class_set(L, &watcher_class);
	lua_pushvalue(L, 2);
	int func = luaL_ref(L, LUA_REGISTRYINDEX);
	struct lua_watcher *w = xcalloc(1, sizeof(*w));
	w->refs = 2;
	w->is_registered = true;
	w->func = func;
	*p = w;
	watcher_register(&w->watcher, name, len, run_watcher);
	return 1;
}

static int watcher_lua_unregister(lua_State *L)
{
	struct lua_watcher **p = lua_class_check(L, 1, &watcher_class);
	if (!(*p)->is_registered)
		return luaL_error(L, "Watcher is already unregistered");
	watcher_remove(*p);
	return 0;
}

static int watcher_gc(lua_State *L)
{
	struct lua_watcher **p = lua_class_check(L, 1, &watcher_class);
	if (*p != NULL)
		watcher_unref(*p);
	*p = NULL;
	return 0;
}

/** (key) -> value, nil where there is none */
static int watch_once(lua_State *L)
{
	size_t len, size;
	if (lua_type(L, 1) != LUA_TSTRING)
		return luaL_error(L, "Usage: box.watch_once(key)");
	const char *name = lua_tolstring(L, 1, &len);
	const char *value = watch_value(name, len, &size);
	if (value == NULL)
		return 0;
	lua_decode(L, &value, &lua_codec_default);
	return 1;
}

/** (key, value): of any name, for the server itself */
static int broadcast_own(lua_State *L)
{
	size_t len;
	const char *name = luaL_checklstring(L, 1, &len);
	struct buf *value = lua_scratch_get();
	if (!lua_isnoneornil(L, 2))
		lua_encode(L, 2, value, &lua_codec_default);
	watch_broadcast(name, len, value->size > 0 ? value->data : NULL, value->size);
	lua_scratch_put(value);
	return 0;
}

/** (key, value) */
static int broadcast(lua_State *L)
{
	static const char prefix[] = "box.";
	if (lua_type(L, 1) != LUA_TSTRING || lua_gettop(L) > 2)
		return luaL_error(L, "Usage: box.broadcast(key, value)");
	if (strncmp(lua_tostring(L, 1), prefix, sizeof(prefix) - 1) == 0)
		return lua_throw_params(L, "events whose names begin with 'box.' are the server's");
	return broadcast_own(L);
}

void lua_watch_init(lua_State *L)
{
	static const luaL_Reg own[] = {{"broadcast", broadcast_own}, {NULL, NULL}};
	static const luaL_Reg functions[] = {
		{"watch", watch},
		{"watch_once", watch_once},
		{"broadcast", broadcast},
		{NULL, NULL},
	};
	run_ref = lua_box_ref(L, run);
	lua_class_new(L, &watcher_class);
	lua_pushcfunction(L, watcher_gc);
	lua_setfield(L, -2, "__gc");
	lua_newtable(L);
	lua_pushcfunction(L, watcher_lua_unregister);
	lua_setfield(L, -2, "unregister");
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
	lua_box_push(L);
	luaL_register(L, NULL, functions);
	lua_pop(L, 1);
	lua_new_module(L, "tarn.watch", own);
	lua_pop(L, 1);
	lua_load_embedded(L, "events.lua", "tarn.box.events");
}
