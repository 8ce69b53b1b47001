/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finalizers; see finalizer.h. collectgarbage() is replaced by a function that goes on
 * in the original and remembers whether a script has stopped the collector. Within a
 * finalizer nothing is learned from it.
 */
#include "lua/finalizer.h"

#include <assert.h>
#include <lauxlib.h>

#include "core/fiber.h"
#include "lua/bridge.h"
#include "lua/modules.h"

bool lua_collector_is_stopped;

static const char REFUSAL[] = "fiber can't yield in a finalizer";

static lua_CFunction original_collectgarbage;

static bool is_running(lua_State *L)
{
	return lua_gc(L, LUA_GCISRUNNING, 0) != 0;
}

static int collectgarbage(lua_State *L)
{
	if (!is_running(L) && !lua_collector_is_stopped)
		return original_collectgarbage(L); /* in a finalizer */
	/* Finalizers that run in the call are told by the collector alone. */
	lua_collector_is_stopped = false;
	int count = original_collectgarbage(L);
	lua_collector_is_stopped = !is_running(L);
	return count;
}

int lua_refuse_finalizer(lua_State *L)
{
	return luaL_error(L, "%s", REFUSAL);
}

/** For C that waits, below any Lua: fiber_may_yield(). */
static int check_yield(void)
{
	if (lua_main == NULL || !lua_in_finalizer(lua_main))
		return 0;
	diag_set(LuajitError, "%s", REFUSAL);
	return -1;
}

void lua_finalizer_init(lua_State *L)
{
	fiber_check_yield = check_yield;
	lua_getglobal(L, "collectgarbage");
	original_collectgarbage = lua_tocfunction(L, -1);
	assert(original_collectgarbage != NULL);
	lua_pushcfunction(L, collectgarbage);
	lua_setglobal(L, "collectgarbage");
	lua_pop(L, 1);
}
