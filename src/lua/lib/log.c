/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C side of the module `log`: one line to the program's log.
 */
#include <string.h>

#include "core/log.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/**
 * write(level, text, file, line, module, is_object): file, line and module may be nil; is_object:
 * the text is a JSON object.
 */
static int log_lua_write(lua_State *L)
{
	int level = luaL_checkint(L, 1);
	const char *text = luaL_checkstring(L, 2), *file = lua_tostring(L, 3);
	const char *module = lua_tostring(L, 5);
	luaL_argcheck(L, level >= LOG_FATAL && level <= LOG_DEBUG, 1, "a level expected");
	if (lua_toboolean(L, 6))
		log_write_object(level, module, file, lua_tointeger(L, 4), text);
	else
		log_write_module(level, module, file, lua_tointeger(L, 4), text);
	return 0;
}

/** open(target or nil, is_nonblock) */
static int log_lua_open(lua_State *L)
{
	if (log_open(luaL_optstring(L, 1, NULL), lua_toboolean(L, 2)) != 0)
		return lua_throw(L);
	return 0;
}

/** The process of a log pipe, 0 where there is none. */
static int log_lua_pid(lua_State *L)
{
	lua_pushinteger(L, log_pipe_pid());
	return 1;
}

static int log_lua_level(lua_State *L)
{
	if (!lua_isnoneornil(L, 1))
		log_set_level(luaL_checkint(L, 1));
	lua_pushinteger(L, log_level);
	return 1;
}

static int log_lua_reopen(lua_State *L)
{
	if (log_reopen() != 0)
		return lua_throw(L);
	return 0;
}

static int log_lua_set_format(lua_State *L)
{
	log_set_format(strcmp(luaL_checkstring(L, 1), "json") == 0 ? LOG_JSON : LOG_PLAIN);
	return 0;
}

void lua_log_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"write", log_lua_write},
		{"open", log_lua_open},
		{"pid", log_lua_pid},
		{"level", log_lua_level},
		{"reopen", log_lua_reopen},
		{"set_format", log_lua_set_format},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.log", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "log_cfg.lua", "internal.log_cfg");
	lua_load_embedded(L, "log.lua", "log");
}
