/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which bindings start, and the globals that every script finds.
 */
#include "lua/init.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/sys.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"
#include "lua/version.h"

#pragma weak lua_error_init
#pragma weak lua_tuple_init
#pragma weak lua_call_init
#pragma weak lua_fiber_init
#pragma weak lua_fiber_cond_init
#pragma weak lua_fiber_channel_init
#pragma weak lua_errno_init
#pragma weak lua_clock_init
#pragma weak lua_log_init
#pragma weak lua_fio_init
#pragma weak lua_uuid_init
#pragma weak lua_digest_init
#pragma weak lua_msgpack_init
#pragma weak lua_json_init
#pragma weak lua_yaml_init
#pragma weak lua_txn_init
#pragma weak lua_index_init
#pragma weak lua_space_init
#pragma weak lua_session_init
#pragma weak lua_info_init
#pragma weak lua_cfg_init
#pragma weak lua_console_init

static double start_time;

static int lua_uptime(lua_State *L)
{
	lua_pushnumber(L, clock_monotonic() - start_time);
	return 1;
}

static int lua_pid(lua_State *L)
{
	lua_pushinteger(L, getpid());
	return 1;
}

/** The module `tarantool`: version, build, uptime, pid; and the global _TARANTOOL. */
static void lua_tarantool_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"uptime", lua_uptime},
		{"pid", lua_pid},
		{NULL, NULL},
	};
	static const char *const build[][2] = {
		{"target", TARN_TARGET},
		{"options", TARN_BUILD_OPTIONS},
		{"compiler", TARN_COMPILER},
		{"flags", TARN_C_FLAGS},
		{"mod_format", "so"},
	};
	start_time = clock_monotonic();
	lua_new_module(L, "tarantool", functions);
	lua_pushliteral(L, TARN_COMPAT_VERSION);
	lua_pushvalue(L, -1);
	lua_setglobal(L, "_TARANTOOL");
	lua_setfield(L, -2, "version");
	lua_pushliteral(L, "tarn");
	lua_setfield(L, -2, "package");
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(build) / sizeof(build[0]); i++) {
		lua_pushstring(L, build[i][1]);
		lua_setfield(L, -2, build[i][0]);
	}
	lua_setfield(L, -2, "build");
	lua_pop(L, 1);
}

/** The table `box` with box.NULL and box.internal, which later bindings fill. */
static void lua_box_init(lua_State *L)
{
	lua_new_module(L, "box", NULL);
	lua_newtable(L);
	lua_setfield(L, -2, "internal");
	lua_push_null(L);
	lua_setfield(L, -2, "NULL");
	lua_setglobal(L, "box");
}

static int lua_getcwd(lua_State *L)
{
	char path[4096];
	lua_pushstring(L, getcwd(path, sizeof(path)) != NULL ? path : ".");
	return 1;
}

/** What init.lua needs of C. */
static void lua_globals_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"getcwd", lua_getcwd},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.init", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "init.lua", "internal.init");
}

/** package.preload's loader of a module that is Lua alone: its file is upvalue 1. */
static int load_preloaded(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	lua_load_embedded(L, lua_tostring(L, lua_upvalueindex(1)), name);
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, name);
	return 1;
}

static void lua_preload(lua_State *L, const char *name, const char *file)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "preload");
	lua_pushstring(L, file);
	lua_pushcclosure(L, load_preloaded, 1);
	lua_setfield(L, -2, name);
	lua_pop(L, 2);
}

typedef void (*init_func)(lua_State *L);

void lua_init_modules(lua_State *L)
{
	lua_cdata_init(L);
	lua_codec_init(L);
	lua_tarantool_init(L);
	lua_box_init(L);
	lua_globals_init(L);
	lua_preload(L, "strict", "strict.lua");
	lua_preload(L, "tap", "tap.lua");
	static const init_func order[] = {
		lua_error_init, lua_tuple_init, lua_call_init, lua_fiber_init,
		lua_fiber_cond_init, lua_fiber_channel_init, lua_errno_init, lua_clock_init,
		lua_log_init, lua_fio_init, lua_uuid_init, lua_digest_init, lua_msgpack_init,
		lua_json_init, lua_yaml_init, lua_txn_init, lua_index_init, lua_space_init,
		lua_session_init, lua_info_init, lua_cfg_init, lua_console_init,
	};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		/* Declared weak above: a module that is not part of this build is left out. */
		if (order[i] != NULL)
			order[i](L);
		lua_settop(L, 0);
	}
}

void lua_init_args(lua_State *L, int argc, char **argv)
{
	lua_createtable(L, argc, 1);
	for (int i = 0; i < argc; i++) {
		lua_pushstring(L, argv[i]);
		lua_rawseti(L, -2, i);
	}
	lua_setglobal(L, "arg");
}
