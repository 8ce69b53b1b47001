/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The guard of exported functions that yield; see module_guard.h.
 *
 * How a call from compiled code is told, without LuaJIT's private parts:
 *
 *  1. Its return address is in no file that the process has loaded, since compiled
 *     code lies in anonymous memory. This is sure, also in coroutines, where the call
 *     is the FFI's own. Addresses found good are remembered, so it costs one look into
 *     a table.
 *  2. Where a library's function stands between, the address is the library's. Then
 *     the top frame of the fiber's coroutine tells: in the interpreter whoever calls C
 *     is a C function there, compiled code writes no frame. LuaJIT may have left an
 *     older C frame on top, so this finds most such calls, not all; but a call that
 *     yields while it is recorded is never compiled.
 */
#include "lua/module/module_guard.h"

#include <dlfcn.h>
#include <luajit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "lua/bridge_impl.h"
#include "lua/finalizer.h"
#include "lua/modules.h"

enum { KNOWN_MAX = 256 };

/** Callers that are code of the program or of a library, by their addresses' low bits. */
static const void *known[KNOWN_MAX];

/** traces.lua: its function, and a coroutine of its own. */
static int ref_locate;
static lua_State *locate_state;

static bool is_loaded_code(const void *pc)
{
	size_t at = ((uintptr_t)pc >> 2) % KNOWN_MAX;
	if (known[at] == pc)
		return true;
	Dl_info info;
	if (dladdr(pc, &info) == 0)
		return false;
	known[at] = pc;
	return true;
}

/**
 * The place in Lua that the machine code at `pc` was compiled from. The coroutine that
 * runs has no valid stack in compiled code, so another one asks, and the collector,
 * which would look at it, stays out.
 */
static const char *find_place(const void *pc)
{
	lua_State *L = locate_state;
	lua_gc(L, LUA_GCSTOP, 0);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_locate);
	lua_pushnumber(L, (lua_Number)(uintptr_t)pc);
	if (lua_pcall(L, 1, 1, 0) != 0 || lua_type(L, -1) != LUA_TSTRING)
		return "an unknown place";
	return lua_tostring(L, -1);
}

static __attribute__((noreturn, noinline, cold))
void stop_process(const char *func, const char *how, const char *place)
{
	say(LOG_FATAL,
	    "fiber %llu '%s': %s() was called by FFI from compiled Lua code, %s %s. "
	    "A switch of fibers inside compiled code corrupts the Lua heap, so the process "
	    "stops. Call jit.off(func) for the Lua function that makes the FFI call, or make "
	    "the call through a C function of the Lua interface",
	    (unsigned long long)fiber()->id, fiber_name(fiber()), func, how, place);
	abort();
}

void module_guard(const char *func, const void *caller)
{
	lua_State *L = fiber_is_tx() ? lua_state_peek(fiber()) : NULL;
	if (L == NULL)
		return; /* there is no Lua in this fiber */
	lua_Debug ar;
	if (!is_loaded_code(caller))
		stop_process(func, "in the trace that begins in", find_place(caller));
	if (lua_getstack(L, 0, &ar) == 0)
		return;
	lua_getinfo(L, "S", &ar);
	if (strcmp(ar.what, "C") != 0) {
		char place[LUA_IDSIZE + 32];
		snprintf(place, sizeof(place), "%s:%d", ar.short_src, ar.linedefined);
		stop_process(func, "in or below the function that is defined at", place);
	}
	lua_check_finalizer(L);
	luaJIT_setmode(L, 0, -1); /* an unknown mode: ends a recording, nothing else */
}

void lua_module_init(lua_State *L)
{
	lua_load_embedded(L, "traces.lua", "tarn.traces");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "tarn.traces");
	lua_getfield(L, -1, "locate");
	ref_locate = lua_ref_forever(L);
	lua_pop(L, 2);
	locate_state = lua_newthread(L);
	lua_ref_forever(L);
}
