/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C side of the module `log`: one line to the program's log.
 */
#include <string.h>

#include "core/log.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** write(level, text, file, line): file and line may be nil. */
static int log_lua_write(lua_State *L)
{
	log_write(luaL_checkint(L, 1), lua_tostring(L, 3), lua_tointeger(L, 4), NULL, "%s",
		  luaL_checkstring(L, 2));
	return 0;
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
		{"level", log_lua_level},
		{"reopen", log_lua_reopen},
		{"set_format", log_lua_set_format},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.log", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "log.lua", "log");
}
