/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files that bind `box` share: the table itself, arguments, triggers.
 *
 * A script's trigger is called through one protected frame (call_body), so that
 * neither an error of the script nor a lack of memory while its arguments are
 * pushed unwinds the database's own frames.
 */
#include "lua/box/box.h"

#include "core/memory.h"
#include "db/tuple/tuple.h"
#include "lua/bridge.h"

struct lua_trigger {
	struct trigger base;
	/** The function in the registry. */
	int ref;
};

/** call_body() in the registry; made at the first trigger. */
static int call_body_ref = LUA_NOREF;

void lua_box_push(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_getfield(L, -1, "box");
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_setfield(L, -3, "box");
		lua_pushvalue(L, -1);
		lua_setglobal(L, "box");
	}
	lua_remove(L, -2);
}

int lua_box_push_counted(lua_State *L, struct tuple *tuple)
{
	if (tuple == NULL)
		return 0;
	lua_push_tuple(L, tuple);
	tuple_unref(tuple);
	return 1;
}

uint32_t lua_box_uint(lua_State *L, int idx, const char *usage)
{
	if (lua_type(L, idx) != LUA_TNUMBER)
		luaL_error(L, "%s", usage);
	return (uint32_t)(int64_t)lua_tonumber(L, idx);
}

int lua_box_ref(lua_State *L, lua_CFunction f)
{
	lua_pushcfunction(L, f);
	return luaL_ref(L, LUA_REGISTRYINDEX);
}

static void lua_trigger_destroy(struct trigger *base)
{
	struct lua_trigger *t = (struct lua_trigger *)base;
	if (lua_main != NULL)	/* the state may be gone when the database is freed */
		luaL_unref(lua_main, LUA_REGISTRYINDEX, t->ref);
	xfree(t);
}

/** The trigger of the function at `idx`, or NULL. */
static struct lua_trigger *trigger_find(lua_State *L, int idx, struct list *triggers,
					trigger_func run)
{
	struct trigger *t;
	list_foreach_entry(t, triggers, link) {
		if (t->run != run)
			continue;
		lua_rawgeti(L, LUA_REGISTRYINDEX, ((struct lua_trigger *)t)->ref);
		int is_same = lua_rawequal(L, -1, idx);
		lua_pop(L, 1);
		if (is_same)
			return (struct lua_trigger *)t;
	}
	return NULL;
}

static int trigger_list(lua_State *L, struct list *triggers, trigger_func run)
{
	lua_newtable(L);
	int i = 0;
	struct trigger *t;
	list_foreach_entry(t, triggers, link) {
		if (t->run != run)
			continue;
		lua_rawgeti(L, LUA_REGISTRYINDEX, ((struct lua_trigger *)t)->ref);
		lua_rawseti(L, -2, ++i);
	}
	return 1;
}

/** nil and box.NULL stand for no function. */
static bool is_nil(lua_State *L, int idx)
{
	void *payload;
	return lua_isnoneornil(L, idx) || lua_cdata(L, idx, &payload) == CDATA_NULL;
}

static bool is_callable(lua_State *L, int idx)
{
	if (lua_isfunction(L, idx))
		return true;
	if (!luaL_getmetafield(L, idx, "__call"))
		return false;
	lua_pop(L, 1);
	return true;
}

int lua_trigger_reset(lua_State *L, int base, struct list *triggers, trigger_func run)
{
	int argc = lua_gettop(L) - base + 1;
	if (argc <= 0 || (is_nil(L, base) && is_nil(L, base + 1)))
		return trigger_list(L, triggers, run);
	if ((!is_nil(L, base) && !is_callable(L, base)) ||
	    (!is_nil(L, base + 1) && !is_callable(L, base + 1)))
		return luaL_error(L, "trigger reset: incorrect arguments");
	struct lua_trigger *old = NULL;
	if (!is_nil(L, base + 1)) {
		old = trigger_find(L, base + 1, triggers, run);
		if (old == NULL)
			return luaL_error(L, "trigger reset: Trigger is not found");
	}
	if (is_nil(L, base)) {
		list_del(&old->base.link);
		lua_trigger_destroy(&old->base);
		return 0;
	}
	lua_pushvalue(L, base);
	int ref = luaL_ref(L, LUA_REGISTRYINDEX);
	if (old != NULL) {
		luaL_unref(L, LUA_REGISTRYINDEX, old->ref);
		old->ref = ref;
	} else {
		struct lua_trigger *t = xmalloc(sizeof(*t));
		trigger_create(&t->base, run, NULL, lua_trigger_destroy);
		t->ref = ref;
		list_add(triggers, &t->base.link);
	}
	lua_pushvalue(L, base);
	return 1;
}

/** One call: what the protected frame needs. */
struct call {
	int function, push, take;
	void *event;
};

static int call_body(lua_State *L)
{
	struct call *call = lua_touserdata(L, 1);
	lua_settop(L, 0);
	lua_rawgeti(L, LUA_REGISTRYINDEX, call->function);
	lua_rawgeti(L, LUA_REGISTRYINDEX, call->push);
	lua_pushlightuserdata(L, call->event);
	lua_call(L, 1, LUA_MULTRET);
	if (call->take == LUA_NOREF) {
		lua_call(L, lua_gettop(L) - 1, 0);
		return 0;
	}
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	lua_rawgeti(L, LUA_REGISTRYINDEX, call->take);
	lua_insert(L, 1);
	lua_pushlightuserdata(L, call->event);
	lua_insert(L, 2);
	lua_call(L, lua_gettop(L) - 1, 0);
	return 0;
}

int lua_trigger_call(struct trigger *trigger, int push, int take, void *event)
{
	if (call_body_ref == LUA_NOREF)
		call_body_ref = lua_box_ref(lua_main, call_body);
	struct call call = {((struct lua_trigger *)trigger)->ref, push, take, event};
	lua_State *L = lua_state_get();
	lua_rawgeti(L, LUA_REGISTRYINDEX, call_body_ref);
	lua_pushlightuserdata(L, &call);
	int rc = lua_call_protected(L, 1, 0);
	lua_state_put(L);
	return rc;
}

void lua_box_init_api(lua_State *L)
{
	lua_newtable(L);
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_pushvalue(L, -2);
	lua_setfield(L, -2, "tarn.box.api");
	lua_pop(L, 2);
	lua_box_push(L);
	lua_push_null(L);
	lua_setfield(L, -2, "NULL");
	lua_pop(L, 1);
}
