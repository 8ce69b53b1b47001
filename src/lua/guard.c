/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Endless recursion of Lua functions ends in an error, "stack overflow". Where C
 * stands between (a callback of string.gsub that calls string.gsub...), each level
 * takes C stack, of which a fiber has little, and the process would die first. So the
 * library's functions that call back, and those that make coroutines, look at what is
 * left before they run, as do our own. Each is replaced by a C function that checks
 * and goes on in the original, which finds its arguments as before.
 */
#include "lua/guard.h"

#include <assert.h>

#include "core/fiber.h"

enum {
	/** C stack that a call needs to be left: what the C library may take between two checks. */
	STACK_LEFT_MIN = 64 * 1024,
};

int lua_check_c_stack(void)
{
	const struct stack *stack = &fiber()->_stack;
	const char *here = __builtin_frame_address(0);
	if (here < stack->base || here >= stack->base + stack->size)
		return 0; /* the thread's own stack, or a sanitizer's */
	if (here - stack->base > STACK_LEFT_MIN)
		return 0;
	diag_set(LuajitError, "stack overflow");
	return -1;
}

/** The functions in front of which the check stands. */
static lua_CFunction original_gsub, original_sort, original_load, original_dofile,
	original_create, original_wrap, original_require;

static int go_on(lua_State *L, lua_CFunction original)
{
	if (lua_check_c_stack() != 0)
		return luaL_error(L, "stack overflow");
	return original(L);
}

static int guarded_gsub(lua_State *L)
{
	return go_on(L, original_gsub);
}

static int guarded_sort(lua_State *L)
{
	return go_on(L, original_sort);
}

static int guarded_load(lua_State *L)
{
	return go_on(L, original_load);
}

static int guarded_create(lua_State *L)
{
	return go_on(L, original_create);
}

static int guarded_wrap(lua_State *L)
{
	return go_on(L, original_wrap);
}

static int guarded_dofile(lua_State *L)
{
	return go_on(L, original_dofile);
}

static int guarded_require(lua_State *L)
{
	return go_on(L, original_require);
}

/** Replaces the function of that name in the table at the top; its environment is the same. */
static void replace(lua_State *L, const char *name, lua_CFunction guarded, lua_CFunction *original)
{
	lua_getfield(L, -1, name);
	*original = lua_tocfunction(L, -1);
	assert(*original != NULL);
	lua_pushcfunction(L, guarded);
	lua_getfenv(L, -2);
	lua_setfenv(L, -2);
	lua_setfield(L, -3, name);
	lua_pop(L, 1);
}

void lua_guard_init(lua_State *L)
{
	lua_pushvalue(L, LUA_GLOBALSINDEX);
	replace(L, "load", guarded_load, &original_load);
	replace(L, "dofile", guarded_dofile, &original_dofile);
	replace(L, "require", guarded_require, &original_require);
	lua_getfield(L, -1, "string");
	replace(L, "gsub", guarded_gsub, &original_gsub);
	lua_pop(L, 1);
	lua_getfield(L, -1, "coroutine");
	replace(L, "create", guarded_create, &original_create);
	replace(L, "wrap", guarded_wrap, &original_wrap);
	lua_pop(L, 1);
	lua_getfield(L, -1, "table");
	replace(L, "sort", guarded_sort, &original_sort);
	lua_pop(L, 2);
}
