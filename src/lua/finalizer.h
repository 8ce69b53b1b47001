/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Telling that a finalizer runs: there no fiber may be switched.
 */
#pragma once

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * The word of LuaJIT's state that tells whether the collector may run, found at start-up,
 * and its value when it is stopped; NULL where it was not found (private to finalizer.c).
 */
extern const volatile uint64_t *lua_collector_word;
extern uint64_t lua_collector_word_stopped;

/** The same as lua_in_finalizer(), asked of LuaJIT. */
bool lua_in_finalizer_asked(lua_State *L);

/** [raises] "fiber can't yield in a finalizer" */
int lua_refuse_finalizer(lua_State *L);

/**
 * Does a finalizer run? LuaJIT stops the collector for as long, and tells so; and scripts
 * that stop it themselves are noticed (finalizer.c).
 */
static inline bool lua_in_finalizer(lua_State *L)
{
	if (__builtin_expect(lua_collector_word != NULL &&
			     *lua_collector_word != lua_collector_word_stopped, 1))
		return false;
	return lua_in_finalizer_asked(L);
}

/** [raises] An error where a finalizer runs. */
static inline void lua_check_finalizer(lua_State *L)
{
	if (lua_in_finalizer(L))
		lua_refuse_finalizer(L);
}
