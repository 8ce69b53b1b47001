/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples as scripts hold them (struct lua_tuple, see bridge.h), and the module
 * box.tuple. The methods that need speed are in tuple.lua and reach the exported
 * functions here through FFI: these neither yield nor run Lua.
 */
#include <assert.h>
#include <string.h>

#include "data/mp.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"
#include "lua/tuple.h"

static int ref_new_small, ref_new_large;

void lua_tuple_fill(struct lua_tuple *t, struct tuple *tuple)
{
	t->bsize = tuple->bsize;
	t->dict = tuple_format(tuple)->dict->id;
	if (tuple->bsize > LUA_TUPLE_COPY_MAX) {
		tuple_ref(tuple);
		t->tuple = tuple;
		t->data = tuple_data(tuple);
	} else {
		t->tuple = NULL;
		t->data = memcpy(t->body, tuple_data(tuple), tuple->bsize);
	}
}

void lua_tuple_release(struct lua_tuple *t)
{
	if (t->tuple != NULL)
		tuple_unref(t->tuple);
	t->tuple = NULL;
}

/** Pushes an empty one with room for `size` bytes, or with a finalizer where it is large. */
static struct lua_tuple *push_empty(lua_State *L, uint32_t size)
{
	if (size > LUA_TUPLE_COPY_MAX)
		return lua_push_new(L, ref_new_large);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_new_small);
	lua_pushnumber(L, size);
	lua_call(L, 1, 1);
	return (struct lua_tuple *)lua_topointer(L, -1);
}

void lua_push_tuple(lua_State *L, struct tuple *tuple)
{
	if (tuple == NULL) {
		lua_pushnil(L);
		return;
	}
	lua_tuple_fill(push_empty(L, tuple->bsize), tuple);
}

const struct lua_tuple *lua_to_tuple(lua_State *L, int idx)
{
	void *payload;
	return lua_cdata(L, idx, &payload) == CDATA_TUPLE ? payload : NULL;
}

void lua_tuple_init(lua_State *L)
{
	lua_load_embedded(L, "tuple.lua", "internal.tuple");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "internal.tuple");
	lua_getfield(L, -1, "new_small");
	ref_new_small = lua_ref_forever(L);
	lua_getfield(L, -1, "new_large");
	ref_new_large = lua_ref_forever(L);
	lua_pop(L, 2);
}
