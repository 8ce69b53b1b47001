/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `msgpack`, and `msgpackffi`, which is the same here: encoding to and
 * decoding from strings, buffers and bare pointers. Manual: module msgpack.
 */
#include <string.h>

#include "data/mp.h"
#include "lua/bridge.h"
#include "lua/value/buffer.h"
#include "lua/value/codec_cfg.h"
#include "lua/value/msgpack_object.h"
#include "lua/modules.h"

/**
 * encode(value[, ibuf | options]): a string; or, with a buffer, writes there and returns
 * the size
 */
static int msgpack_encode(lua_State *L)
{
	int top = lua_gettop(L);
	if (top < 1)
		return luaL_error(L, "msgpack.encode: a Lua object expected");
	void *payload = NULL;
	struct lua_codec codec = *lua_codec_of(L);
	bool has_options = top > 1 && lua_istable(L, 2), is_string = top == 1 || has_options;
	if (has_options)
		lua_codec_override(L, 2, &codec);
	else if (!is_string && lua_cdata(L, 2, &payload) != CDATA_IBUF)
		return luaL_error(L, "msgpack.encode: argument 2 must be of type 'struct ibuf'");
	struct buf *out = lua_scratch_get();
	lua_encode(L, 1, out, &codec);
	if (is_string) {
		lua_pushlstring(L, out->data, out->size);
	} else {
		struct lua_ibuf *b = payload;
		char *room = lua_ibuf_try_reserve(b, out->size);
		if (room == NULL) {
			lua_scratch_put(out);
			return luaL_error(L, "not enough memory");
		}
		memcpy(room, out->data, out->size);
		b->wpos += out->size;
		lua_pushnumber(L, (double)out->size);
	}
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

/** Where the `char *` at `idx` points to; NULL where the value is none. */
static const char *to_pointer(lua_State *L, int idx, bool *is_const)
{
	void *payload;
	enum lua_cdata_kind kind = lua_cdata(L, idx, &payload);
	*is_const = kind == CDATA_CONST_CHAR_PTR;
	return *is_const || kind == CDATA_CHAR_PTR ? *(const char **)payload : NULL;
}

/** The size in argument 2. [raises] */
static size_t check_size(lua_State *L)
{
	double size = luaL_checknumber(L, 2);
	if (!(size >= 0 && size < 0x1p46))
		luaL_error(L, "msgpack.decode: size can't be negative");
	return (size_t)size;
}

/** decode(char *, size): the value and a pointer behind it. Without a size it is not checked. */
static int decode_pointer(lua_State *L, const char *pos, bool is_const, bool is_checked)
{
	if (is_checked) {
		const char *end = pos;
		if (mp_check_value(&end, pos + check_size(L)) != 0)
			return luaL_error(L, "msgpack.decode: invalid MsgPack");
	}
	lua_decode(L, &pos, lua_codec_of(L));
	lua_push_char_ptr(L, pos, is_const);
	return 2;
}

static int decode(lua_State *L, bool is_checked)
{
	size_t len;
	bool is_const;
	const char *pointer = to_pointer(L, 1, &is_const);
	if (pointer != NULL)
		return decode_pointer(L, pointer, is_const, is_checked);
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

/** decode(string[, offset]): the value and the offset behind it; or (char *, size) */
static int msgpack_decode(lua_State *L)
{
	return decode(L, true);
}

/**
 * decode_unchecked(string[, offset]) or (char *). Strings are checked here, too: it costs
 * little, and so no string can crash the process. A bare pointer cannot be.
 */
static int msgpack_decode_unchecked(lua_State *L)
{
	return decode(L, false);
}

/** (char *, size): the head of an array or a map: its count, and a pointer behind the head */
static int decode_header(lua_State *L, enum mp_type type, const char *name)
{
	bool is_const;
	const char *pos = to_pointer(L, 1, &is_const);
	if (lua_gettop(L) < 2)
		return luaL_error(L, "Usage: %s(ptr, size)", name);
	if (pos == NULL)
		return luaL_error(L, "%s: 'char *' expected", name);
	double size = luaL_checknumber(L, 2);
	if (!(size >= 1 && size < 0x1p46))
		return luaL_error(L, "%s: non-positive size", name);
	if (mp_typeof(*pos) != type)
		return luaL_error(L, "%s: unexpected msgpack type", name);
	const char *end = pos + (size_t)size;
	if ((type == MP_ARRAY ? mp_check_array(pos, end) : mp_check_map(pos, end)) > 0)
		return luaL_error(L, "%s: unexpected end of buffer", name);
	uint32_t count = type == MP_ARRAY ? mp_decode_array(&pos) : mp_decode_map(&pos);
	lua_pushnumber(L, count);
	lua_push_char_ptr(L, pos, is_const);
	return 2;
}

static int msgpack_decode_array_header(lua_State *L)
{
	return decode_header(L, MP_ARRAY, "msgpack.decode_array_header");
}

static int msgpack_decode_map_header(lua_State *L)
{
	return decode_header(L, MP_MAP, "msgpack.decode_map_header");
}

/** ibuf_decode(char *): the pointer behind the value, and the value */
static int msgpack_ibuf_decode(lua_State *L)
{
	bool is_const;
	if (to_pointer(L, 1, &is_const) == NULL)
		return luaL_error(L, "expected cdata as 1 argument");
	lua_settop(L, 1);
	decode(L, false);
	lua_insert(L, -2);
	return 2;
}

void lua_msgpack_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"encode", msgpack_encode},
		{"decode", msgpack_decode},
		{"decode_unchecked", msgpack_decode_unchecked},
		{"decode_array_header", msgpack_decode_array_header},
		{"decode_map_header", msgpack_decode_map_header},
		{"ibuf_decode", msgpack_ibuf_decode},
		{"object", lua_msgpack_object_new},
		{"object_from_raw", lua_msgpack_object_from_raw},
		{"is_object", lua_msgpack_is_object},
		{NULL, NULL},
	};
	lua_msgpack_object_init(L);
	lua_codec_new_instance(L, functions);
	lua_pushvalue(L, -1);
	lua_codec_register(L, "msgpackffi");
	lua_codec_register(L, "msgpack");
}
