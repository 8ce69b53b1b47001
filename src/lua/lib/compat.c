/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `compat`: what the Lua half (compat.lua) sets in C.
 */
#include <string.h>

#include "core/log.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "net/iproto.h"

/** (is_new): upvalue 1 points to the flag. */
static int set_flag(lua_State *L)
{
	bool *flag = lua_touserdata(L, lua_upvalueindex(1));
	*flag = lua_toboolean(L, 1);
	return 0;
}

/** (is_new): slashes in JSON, that of the log too. */
static int set_json_slash(lua_State *L)
{
	lua_compat.json_plain_slash = log_json_plain_slash = lua_toboolean(L, 1);
	return 0;
}

/** (is_new, value): tuples in calls. Servers offer them unless the value is 'old'. */
static int set_tuple_extension(lua_State *L)
{
	lua_compat.calls_have_tuples = lua_toboolean(L, 1);
	net_set_call_tuples(strcmp(luaL_checkstring(L, 2), "old") != 0);
	return 0;
}

void lua_compat_init(lua_State *L)
{
	static const struct {
		const char *name;
		bool *flag;
	} options[] = {
		{"binary_data_decoding", &lua_compat.binary_as_object},
		{"yaml_pretty_multiline", &lua_compat.yaml_block_text},
		{"box_session_push_deprecation", &lua_compat.push_is_refused},
	};
	lua_new_module(L, "tarn.compat", NULL);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		lua_pushlightuserdata(L, options[i].flag);
		lua_pushcclosure(L, set_flag, 1);
		lua_setfield(L, -2, options[i].name);
	}
	lua_pushcfunction(L, set_json_slash);
	lua_setfield(L, -2, "json_escape_forward_slash");
	lua_pushcfunction(L, set_tuple_extension);
	lua_setfield(L, -2, "box_tuple_extension");
	lua_pop(L, 1);
	lua_load_embedded(L, "compat.lua", "compat");
}
