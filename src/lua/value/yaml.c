/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `yaml`: the functions as scripts call them. Manual: module yaml.
 */
#include "lua/value/yaml.h"

#include "lua/modules.h"

/** encode(value[, {tag_prefix = , tag_handle = , and the options of cfg}]) */
static int yaml_encode(lua_State *L)
{
	static const char usage[] =
		"Usage: encode(object, {tag_prefix = <string>, tag_handle = <string>})";
	const char *handle = NULL, *prefix = NULL;
	struct lua_codec codec = *lua_codec_of(L);
	int top = lua_gettop(L);
	if (top != 1 && top != 2)
		return luaL_error(L, "%s", usage);
	if (top == 2 && !lua_isnil(L, 2)) {
		if (!lua_istable(L, 2))
			return luaL_error(L, "%s", usage);
		lua_codec_override(L, 2, &codec);
		lua_getfield(L, 2, "tag_prefix");
		lua_getfield(L, 2, "tag_handle");
		prefix = lua_tostring(L, 3);
		handle = lua_tostring(L, 4);
		if ((prefix == NULL) != (handle == NULL))
			return luaL_error(L, "%s", usage);
	}
	lua_yaml_encode(L, 1, &codec, handle, prefix);
	return 1;
}

/** decode(text[, {tag_only = , and the options of cfg}]) */
static int yaml_decode(lua_State *L)
{
	size_t len;
	if (lua_gettop(L) < 1 || !lua_isstring(L, 1) ||
	    !(lua_isnoneornil(L, 2) || lua_istable(L, 2)))
		return luaL_error(L, "Usage: yaml.decode(document, [{tag_only = boolean}])");
	const char *text = lua_tolstring(L, 1, &len);
	struct lua_codec codec = *lua_codec_of(L);
	if (lua_istable(L, 2)) {
		lua_getfield(L, 2, "tag_only");
		if (lua_toboolean(L, -1))
			return lua_yaml_decode_tag(L, text, len);
		lua_codec_override(L, 2, &codec);
	}
	return lua_yaml_decode(L, text, len, &codec);
}

void lua_yaml_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"encode", yaml_encode}, {"decode", yaml_decode}, {NULL, NULL},
	};
	lua_codec_new_instance(L, functions);
	lua_codec_register(L, "yaml");
}
