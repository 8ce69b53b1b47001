/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack to Lua values. The input is well-formed: whoever takes bytes from
 * outside checks them first, so depth is bounded too (MP_DEPTH_MAX).
 *
 * Arrays and maps get a metatable that remembers what they were (msgpack.array_mt
 * and map_mt), unless the codec says otherwise.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/datetime.h"
#include "data/decimal.h"
#include "data/mp.h"
#include "data/uuid.h"
#include "db/error_mp.h"
#include "db/tuple/format.h"
#include "db/tuple/format_map.h"
#include "lua/box/tuple.h"
#include "lua/bridge_impl.h"

enum {
	/** Stack slots that one level of nesting may need. */
	LEVEL_SLOTS = 8,
	/** Elements that a container's table is made for, however many it says it has. */
	PREALLOC_MAX = 1 << 16,
};

static int ref_array_mt, ref_map_mt;

/** A table {__serialize = word}. */
static int make_hint(lua_State *L, const char *word, const char *name)
{
	lua_createtable(L, 0, 1);
	lua_pushstring(L, word);
	lua_setfield(L, -2, "__serialize");
	lua_pushvalue(L, -1);
	lua_setfield(L, LUA_REGISTRYINDEX, name);
	return lua_ref_forever(L);
}

void lua_codec_init(lua_State *L)
{
	ref_array_mt = make_hint(L, "seq", LUA_ARRAY_MT);
	ref_map_mt = make_hint(L, "map", LUA_MAP_MT);
	lua_codec_tuple = lua_codec_default;
	lua_codec_tuple.encode_sparse_ratio = 0;
}

static void set_hint(lua_State *L, int ref, const struct lua_codec *codec)
{
	if (!codec->decode_save_metatables)
		return;
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
	lua_setmetatable(L, -2);
}

static int min_int(uint32_t a, int b)
{
	return a < (uint32_t)b ? (int)a : b;
}

static void decode_array(lua_State *L, const char **data, const struct lua_codec *codec)
{
	uint32_t count = mp_decode_array(data);
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	lua_createtable(L, min_int(count, PREALLOC_MAX), 0);
	for (uint32_t i = 1; i <= count; i++) {
		lua_decode_value(L, data, codec);
		lua_rawseti(L, -2, i);
	}
	set_hint(L, ref_array_mt, codec);
}

static void decode_map(lua_State *L, const char **data, const struct lua_codec *codec)
{
	uint32_t count = mp_decode_map(data);
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	lua_createtable(L, 0, min_int(count, PREALLOC_MAX));
	for (uint32_t i = 0; i < count; i++) {
		lua_decode_value(L, data, codec);
		/* What cannot be a key: NaN. Its value is dropped. */
		bool is_key = lua_type(L, -1) != LUA_TNUMBER || !isnan(lua_tonumber(L, -1));
		lua_decode_value(L, data, codec);
		if (is_key)
			lua_rawset(L, -3);
		else
			lua_pop(L, 2);
	}
	set_hint(L, ref_map_mt, codec);
}

static void decode_double(lua_State *L, double value, const struct lua_codec *codec)
{
	if (!isfinite(value) && !codec->decode_invalid_numbers) {
		lua_pushliteral(L, "number must not be NaN or Inf");
		lua_error(L);
	}
	lua_pushnumber(L, value);
}

static void decode_uuid(lua_State *L, const char *p)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	uint8_t *u = lua_push_uuid_new(L);
	for (int i = 0; i < 16; i++)
		u[i] = (uint8_t)p[order[i]];
}

static void decode_error(lua_State *L, const char *data, const char *end)
{
	/* The object first, since making it may raise. */
	struct error **e = lua_push_error_new(L);
	*e = error_from_stack(data, end);
	if (*e == NULL) {
		lua_pushliteral(L, "Can not parse an error from MsgPack");
		lua_error(L);
	}
}

/** [raises] The type's number is shown without a sign, as in the reference. */
static void unknown_ext(lua_State *L, int8_t type)
{
	char text[64];
	snprintf(text, sizeof(text), "Unsuported MsgPack extension type: %u", (unsigned)type);
	lua_pushstring(L, text);
	lua_error(L);
}

/** A value of ours; false where the content is not that of its type. */
static bool decode_value_ext(lua_State *L, int8_t type, const char *p, uint32_t len)
{
	switch (type) {
	case MP_EXT_DECIMAL:
		return decimal_unpack(lua_push_decimal_new(L), p, len) == 0;
	case MP_EXT_DATETIME:
		return datetime_unpack(lua_push_datetime_new(L), p, len) == 0;
	case MP_EXT_INTERVAL:
		return interval_unpack(lua_push_interval_new(L), p, len) == 0;
	case MP_EXT_UUID:
		if (len != sizeof(struct uuid))
			return false;
		decode_uuid(L, p);
		return true;
	case MP_EXT_ERROR:
		decode_error(L, p, p + len);
		return true;
	default:
		unknown_ext(L, type);
		return false;
	}
}

static void decode_tuple(lua_State *L, const char *p, uint32_t len, struct format_map *formats)
{
	const char *data;
	uint32_t dict;
	if (!format_map_read_tuple(formats, p, len, &data, &dict)) {
		lua_pushliteral(L, "Can not parse a tuple from MsgPack");
		lua_error(L);
	}
	lua_push_new_tuple(L, tuple_format_default, dict, data, p + len);
}

static void decode_ext(lua_State *L, const char **data, const struct lua_codec *codec)
{
	int8_t type;
	uint32_t len = mp_decode_extl(data, &type);
	const char *p = *data;
	*data += len;
	if (type == MP_EXT_TUPLE && codec->formats != NULL)
		decode_tuple(L, p, len, codec->formats);
	else if (!decode_value_ext(L, type, p, len)) {
		lua_pushliteral(L, "msgpack.decode: invalid MsgPack");
		lua_error(L);
	}
}

void lua_decode_value(lua_State *L, const char **data, const struct lua_codec *codec)
{
	uint32_t len;
	const char *s;
	switch (mp_typeof(**data)) {
	case MP_UINT: lua_push_uint64(L, mp_decode_uint(data)); break;
	case MP_INT: lua_push_int64(L, mp_decode_int(data)); break;
	case MP_FLOAT: decode_double(L, mp_decode_float(data), codec); break;
	case MP_DOUBLE: decode_double(L, mp_decode_double(data), codec); break;
	case MP_BOOL: lua_pushboolean(L, mp_decode_bool(data)); break;
	case MP_NIL:
		mp_decode_nil(data);
		lua_push_null(L);
		break;
	case MP_STR:
		s = mp_decode_str(data, &len);
		lua_pushlstring(L, s, len);
		break;
	case MP_BIN:
		s = mp_decode_bin(data, &len);
		lua_push_binary(L, s, len);
		break;
	case MP_ARRAY: decode_array(L, data, codec); break;
	case MP_MAP: decode_map(L, data, codec); break;
	default: decode_ext(L, data, codec); break;
	}
}

void lua_decode(lua_State *L, const char **data, const struct lua_codec *codec)
{
	lua_decode_value(L, data, codec);
}
