/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finalizers; see finalizer.h. collectgarbage() is replaced by a function that goes on
 * in the original and remembers whether a script has stopped the collector. Within a
 * finalizer nothing is learned from it.
 *
 * Every yield asks, so a call of LuaJIT would be felt. It stops its collector by a number
 * in its state; where that stands is found out by stopping and starting it. Only where
 * the word has the value that means "stopped", or was not found, LuaJIT is asked.
 */
#include "lua/finalizer.h"

#include <assert.h>
#include <lauxlib.h>

#include "core/fiber.h"
#include "lua/alloc.h"
#include "lua/bridge.h"
#include "lua/modules.h"

const volatile uint64_t *lua_collector_word;
uint64_t lua_collector_word_stopped;

/** Did a script stop the collector? */
static bool is_stopped_by_script;

static const char REFUSAL[] = "fiber can't yield in a finalizer";

static lua_CFunction original_collectgarbage;

static bool is_running(lua_State *L)
{
	return lua_gc(L, LUA_GCISRUNNING, 0) != 0;
}

static int collectgarbage(lua_State *L)
{
	if (!is_running(L) && !is_stopped_by_script)
		return original_collectgarbage(L); /* in a finalizer */
	/* Finalizers that run in the call are told by the collector alone. */
	is_stopped_by_script = false;
	int count = original_collectgarbage(L);
	is_stopped_by_script = !is_running(L);
	return count;
}

bool lua_in_finalizer_asked(lua_State *L)
{
	return !is_running(L) && !is_stopped_by_script;
}

/**
 * Looks for the word in the block of memory that the state begins with. It is the one
 * that differs whenever the collector is stopped, and then has the same value.
 */
static void find_collector_word(lua_State *L)
{
	const volatile uint64_t *words = (const volatile uint64_t *)L;
	size_t count = lua_heap_block_size(L) / sizeof(*words), found = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t running[2], stopped[2];
		for (int j = 0; j < 2; j++) {
			running[j] = words[i];
			lua_gc(L, LUA_GCSTOP, 0);
			stopped[j] = words[i];
			lua_gc(L, LUA_GCRESTART, 0);
		}
		if (stopped[0] == running[0] || stopped[0] != stopped[1] ||
		    stopped[1] == running[1] || words[i] == stopped[0])
			continue;
		lua_collector_word = &words[i];
		lua_collector_word_stopped = stopped[0];
		found++;
	}
	if (found != 1)
		lua_collector_word = NULL;
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
	find_collector_word(lua_main);
	lua_getglobal(L, "collectgarbage");
	original_collectgarbage = lua_tocfunction(L, -1);
	assert(original_collectgarbage != NULL);
	lua_pushcfunction(L, collectgarbage);
	lua_setglobal(L, "collectgarbage");
	lua_pop(L, 1);
}
