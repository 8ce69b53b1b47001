/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See tls_params.h.
 */
#include "lua/box/tls_params.h"

const char *lua_field_text(lua_State *L, const char *name)
{
	lua_getfield(L, -1, name);
	const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
	lua_pop(L, 1);
	return text;
}

struct tls_params lua_tls_params(lua_State *L)
{
	return (struct tls_params){
		.key_file = lua_field_text(L, "ssl_key_file"),
		.cert_file = lua_field_text(L, "ssl_cert_file"),
		.ca_file = lua_field_text(L, "ssl_ca_file"),
		.ciphers = lua_field_text(L, "ssl_ciphers"),
		.password = lua_field_text(L, "ssl_password"),
		.password_file = lua_field_text(L, "ssl_password_file"),
	};
}
