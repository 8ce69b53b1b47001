/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Telling that a finalizer runs: there no fiber may be switched.
 */
#pragma once

#include <lua.h>
#include <stdbool.h>

/** Did a script stop the collector? */
extern bool lua_collector_is_stopped;

/** [raises] "fiber can't yield in a finalizer" */
int lua_refuse_finalizer(lua_State *L);

/**
 * Does a finalizer run? LuaJIT stops the collector for as long, and tells so; and scripts
 * that stop it themselves are noticed (finalizer.c).
 */
static inline bool lua_in_finalizer(lua_State *L)
{
	return __builtin_expect(lua_gc(L, LUA_GCISRUNNING, 0) == 0, 0) && !lua_collector_is_stopped;
}

/** [raises] An error where a finalizer runs. */
static inline void lua_check_finalizer(lua_State *L)
{
	if (lua_in_finalizer(L))
		lua_refuse_finalizer(L);
}
