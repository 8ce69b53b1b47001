/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How often the collector goes through the heap. LuaJIT begins a cycle when the heap has
 * grown to twice what was left of it. A program with little data of its own would pay for
 * a walk over all functions and tables of our modules, 1 MB, with each MB of garbage: a
 * quarter of the time of short operations. So a heap may grow to HEAP_FREE first.
 *
 * The end of a cycle is told by the finalizer of an object that nobody refers to: LuaJIT
 * looks at the pause right behind it. Where a script has set one, that holds from then on.
 */
#include <lauxlib.h>

#include "lua/alloc.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"

enum {
	/** A cycle begins no earlier than with a heap of so many bytes. */
	HEAP_FREE = 8 * 1024 * 1024,
	/** LuaJIT's own, in percent of what a cycle has left. */
	PAUSE_USUAL = 200,
};

static int pause_set = PAUSE_USUAL;

static int pause_wanted(void)
{
	size_t pause = (size_t)HEAP_FREE * 100 / (lua_heap_used() + 1);
	return pause > PAUSE_USUAL ? (int)pause : PAUSE_USUAL;
}

/** Leaves an object that the next cycle finalizes; its metatable is upvalue 1. */
static void leave_mark(lua_State *L, int metatable)
{
	lua_newuserdata(L, 0);
	lua_pushvalue(L, metatable);
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
}

static int on_cycle(lua_State *L)
{
	int wanted = pause_wanted();
	int before = lua_gc(L, LUA_GCSETPAUSE, wanted);
	if (before != pause_set) {
		lua_gc(L, LUA_GCSETPAUSE, before);
		return 0;
	}
	pause_set = wanted;
	leave_mark(L, lua_upvalueindex(1));
	return 0;
}

void lua_pace_init(lua_State *L)
{
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, on_cycle, 1);
	lua_setfield(L, -2, "__gc");
	leave_mark(L, lua_gettop(L));
	lua_pop(L, 1);
}
