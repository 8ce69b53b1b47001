/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The process title that `ps` shows, for title.lua. libbsd writes it over the area of the
 * command line; main.c has prepared that. Neither function yields or runs Lua.
 */
#include <bsd/unistd.h>

#include "lua/bridge.h"
#include "lua/modules.h"

/** (text) */
static int title_set(lua_State *L)
{
	setproctitle("-%s", luaL_checkstring(L, 1));
	return 0;
}

void lua_title_init(lua_State *L)
{
	static const luaL_Reg functions[] = {{"set", title_set}, {NULL, NULL}};
	lua_new_module(L, "internal.title", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "title.lua", "title");
}
