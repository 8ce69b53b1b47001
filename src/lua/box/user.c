/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Users from scripts: the password's hash. All else is rows (user.lua).
 */
#include "db/schema/user.h"

#include "lua/box/box.h"
#include "lua/bridge.h"

/** (password) -> base64(SHA1(SHA1(password))) */
static int hash(lua_State *L)
{
	size_t len;
	const char *password = luaL_checklstring(L, 1, &len);
	char out[64];
	password_hash(password, len, out);
	lua_pushstring(L, out);
	return 1;
}

void lua_user_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {{"password_hash", hash}, {NULL, NULL}};
	lua_new_module(L, "tarn.user", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "user_priv.lua", "tarn.box.priv");
	lua_load_embedded(L, "user.lua", "tarn.box.user");
	lua_load_embedded(L, "schema_func.lua", "tarn.box.func");
}
