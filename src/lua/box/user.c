/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Users from scripts: hashes of passwords, and the settings of logging in. All else is
 * rows (user.lua) and rules for them (password.lua).
 */
#include "db/schema/user.h"

#include "core/buf.h"
#include "data/mp.h"
#include "db/error.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "net/auth.h"

/** (password) -> base64(SHA1(SHA1(password))) */
static int hash(lua_State *L)
{
	size_t len;
	const char *password = luaL_checklstring(L, 1, &len);
	char out[PASSWORD_TEXT_SIZE];
	password_hash(password, len, out);
	lua_pushstring(L, out);
	return 1;
}

/** (password) -> salt, hash: of pap-sha256 */
static int hash_pap(lua_State *L)
{
	size_t len;
	const char *password = luaL_checklstring(L, 1, &len);
	char salt[PASSWORD_TEXT_SIZE], out[PASSWORD_TEXT_SIZE];
	password_hash_pap(password, len, salt, out);
	lua_pushstring(L, salt);
	lua_pushstring(L, out);
	return 2;
}

/** ({method = data}, password) -> is it that password? */
static int matches(lua_State *L)
{
	size_t len;
	const char *password = luaL_checklstring(L, 2, &len);
	struct buf *b = lua_scratch_get();
	lua_encode(L, 1, b, &lua_codec_default);
	struct password stored;
	bool is_equal = mp_typeof(*b->data) == MP_MAP &&
			password_decode(&stored, b->data) == NULL &&
			password_matches(&stored, password, len);
	lua_scratch_put(b);
	lua_pushboolean(L, is_equal);
	return 1;
}

/** (code, text): raises the error. */
static int refuse(lua_State *L)
{
	client_error_set_text(luaL_checkint(L, 1), luaL_checkstring(L, 2));
	return lua_throw(L);
}

/** (name) -> is it the name of a method of authentication? */
static int is_method(lua_State *L)
{
	size_t len;
	const char *name = luaL_checklstring(L, 1, &len);
	lua_pushboolean(L, password_method_by_name(name, len) != password_method_MAX);
	return 1;
}

/** (auth_type, auth_delay, auth_retries, password_lifetime_days, disable_guest) */
static int set_auth(lua_State *L)
{
	enum { DAY = 86400 };
	size_t len;
	const char *method = luaL_checklstring(L, 1, &len);
	auth_config = (struct auth_config){
		.method = password_method_by_name(method, len),
		.delay = luaL_checknumber(L, 2),
		.retries = luaL_checknumber(L, 3),
		.password_lifetime = luaL_checknumber(L, 4) * DAY,
		.disable_guest = lua_toboolean(L, 5),
	};
	return 0;
}

void lua_user_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"password_hash", hash}, {"password_hash_pap", hash_pap},
		{"password_matches", matches}, {"is_auth_method", is_method},
		{"set_auth", set_auth}, {"refuse", refuse}, {NULL, NULL},
	};
	lua_new_module(L, "tarn.user", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "user_priv.lua", "tarn.box.priv");
	lua_load_embedded(L, "password.lua", "tarn.box.password");
	lua_load_embedded(L, "guest.lua", "tarn.box.guest");
	lua_load_embedded(L, "user.lua", "tarn.box.user");
	lua_load_embedded(L, "schema_func.lua", "tarn.box.func");
}
