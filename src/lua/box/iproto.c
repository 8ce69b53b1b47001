/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.iproto: packets of scripts' own, and requests that scripts do; constants and all else
 * are in iproto.lua.
 */
#include "net/iproto.h"

#include "core/diag.h"
#include "data/mp.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** The Lua function that finds and calls the handler of a type. */
static int dispatch_ref = LUA_NOREF;

static int run_override(struct session *session, int type, const char *header,
			size_t header_size, const char *body, size_t body_size)
{
	(void)session;
	static const char empty[] = "\x80";
	lua_State *L = lua_state_get();
	lua_rawgeti(L, LUA_REGISTRYINDEX, dispatch_ref);
	lua_pushinteger(L, type);
	lua_pushlstring(L, header, header_size);
	lua_pushlstring(L, body_size > 0 ? body : empty, body_size > 0 ? body_size : 1);
	int rc = lua_call_protected(L, 3, 1);
	if (rc == 0) {
		rc = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	lua_state_put(L);
	return rc;
}

/** (type, is_on) */
static int override(lua_State *L)
{
	int type = luaL_checkint(L, 1);
	if (type < NET_TYPE_UNKNOWN || type > NET_TYPE_MAX)
		return luaL_error(L, "box.iproto.override: no such type");
	net_override(type, lua_toboolean(L, 2), run_override);
	return 0;
}

static void check_map(lua_State *L, const char *data, size_t size)
{
	if (size > 0 && (mp_typeof(*data) != MP_MAP || mp_check_whole(data, data + size) != 0))
		lua_throw_params(L, "a map in MessagePack expected");
}

/** (session id, header, body; both MessagePack) -> 0 */
static int send_packet(lua_State *L)
{
	size_t header_size, body_size;
	uint64_t id = (uint64_t)luaL_checknumber(L, 1);
	const char *header = luaL_checklstring(L, 2, &header_size);
	const char *body = luaL_optlstring(L, 3, "", &body_size);
	if (header_size == 0)
		return lua_throw_params(L, "a map in MessagePack expected");
	check_map(L, header, header_size);
	check_map(L, body, body_size);
	if (net_send(id, header, header_size, body, body_size) != 0)
		return lua_throw(L);
	lua_pushinteger(L, 0);
	return 1;
}

/** (function(type, header, body) -> is it done?) */
static int set_dispatch(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	dispatch_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return 0;
}

void lua_iproto_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"send", send_packet}, {"override", override}, {"set_dispatch", set_dispatch},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.iproto", funcs);
	lua_pushinteger(L, IPROTO_PROTOCOL_VERSION);
	lua_setfield(L, -2, "version");
	lua_pop(L, 1);
	lua_load_embedded(L, "iproto.lua", "tarn.box.iproto");
}
