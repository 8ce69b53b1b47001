/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `msgpack`, and `msgpackffi`, which is the same here: encoding to and
 * decoding from strings. Manual: module msgpack.
 */
#include <string.h>

#include "data/mp.h"
#include "lua/bridge.h"
#include "lua/codec_cfg.h"
#include "lua/modules.h"

/** encode(value) */
static int msgpack_encode(lua_State *L)
{
	if (lua_gettop(L) < 1)
		return luaL_error(L, "msgpack.encode: a Lua object expected");
	struct buf *out = lua_scratch_get();
	lua_encode(L, 1, out, lua_codec_of(L));
	lua_pushlstring(L, out->data, out->size);
	lua_scratch_put(out);
	return 1;
}

/** The offset from 1 in argument 2, from 0; the end of the data does not count. [raises] */
static size_t check_offset(lua_State *L, size_t len)
{
	double offset = luaL_optnumber(L, 2, 1);
	if (!(offset >= 1 && offset <= (double)len))
		luaL_error(L, "msgpack.decode: offset is out of bounds");
	return (size_t)offset - 1;
}

/**
 * decode(string[, offset]): the value and the offset behind it. Checked always, in
 * decode_unchecked too: it costs little, and so no string can crash the process.
 */
static int msgpack_decode(lua_State *L)
{
	size_t len;
	if (lua_type(L, 1) != LUA_TSTRING)
		return luaL_error(L, "msgpack.decode: a Lua string or 'char *' expected");
	const char *data = lua_tolstring(L, 1, &len);
	const char *pos = data + (len == 0 && lua_isnoneornil(L, 2) ? 0 : check_offset(L, len));
	const char *end = pos;
	if (mp_check_value(&end, data + len) != 0)
		return luaL_error(L, "msgpack.decode: invalid MsgPack");
	lua_decode(L, &pos, lua_codec_of(L));
	lua_pushinteger(L, pos - data + 1);
	return 2;
}


void lua_msgpack_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"encode", msgpack_encode},
		{"decode", msgpack_decode},
		{"decode_unchecked", msgpack_decode},
		{NULL, NULL},
	};
	lua_codec_new_instance(L, functions);
	lua_pushvalue(L, -1);
	lua_codec_register(L, "msgpackffi");
	lua_codec_register(L, "msgpack");
}
