/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For tests, with TARN_CHECK_FFI in the environment: every C function that Lua reaches
 * by FFI is watched. One that runs Lua or switches fibers would corrupt the state once
 * its caller is compiled, so it ends the process with a message that names it.
 *
 * While one runs, a hook sees each Lua function that is called; the collector rests,
 * since finalizers it runs are not the function's doing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fiber.h"
#include "core/log.h"
#include "lua/bridge.h"
#include "lua/modules.h"

static struct {
	/** The function that runs, or NULL. */
	const char *name;
	uint64_t switch_count;
	lua_Hook hook;
	int mask, count;
	/** Was the collector at work before? Not in a finalizer, and not where it was stopped. */
	bool is_collecting;
	uint64_t calls;
} check;

static void on_call(lua_State *L, lua_Debug *ar)
{
	lua_getinfo(L, "S", ar);
	if (check.name != NULL && ar->what[0] != 'C')
		panic("%s() was called by FFI and has run Lua: %s:%d", check.name, ar->short_src,
		      ar->linedefined);
}

/** (name) */
static int enter(lua_State *L)
{
	check.is_collecting = lua_gc(L, LUA_GCISRUNNING, 0);
	lua_gc(L, LUA_GCSTOP, 0);
	check.hook = lua_gethook(L);
	check.mask = lua_gethookmask(L);
	check.count = lua_gethookcount(L);
	check.switch_count = fiber_switch_count;
	check.name = lua_tostring(L, 1);
	check.calls++;
	lua_sethook(L, on_call, LUA_MASKCALL, 0);
	return 0;
}

static int leave(lua_State *L)
{
	const char *name = check.name;
	check.name = NULL;
	lua_sethook(L, check.hook, check.mask, check.count);
	if (check.is_collecting)
		lua_gc(L, LUA_GCRESTART, 0);
	if (fiber_switch_count != check.switch_count)
		panic("%s() was called by FFI and has yielded", name);
	return 0;
}

static int calls(lua_State *L)
{
	lua_pushnumber(L, check.calls);
	return 1;
}

void lua_ffi_check_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"enter", enter}, {"leave", leave}, {"calls", calls}, {NULL, NULL},
	};
	if (getenv("TARN_CHECK_FFI") == NULL)
		return;
	lua_new_module(L, "tarn.ffi_check", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "ffi_check.lua", "tarn.ffi_check_proxy");
}
