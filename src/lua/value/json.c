/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `json`: encoding.
 *
 * A value goes to MessagePack first, by the rules that all codecs share (which
 * tables are arrays, __serialize, depth), and its text is made from that: no error
 * can leave in the middle of the text. Decoding is in json_decode.c.
 * Manual: module json.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/mp.h"
#include "lua/bridge.h"
#include "lua/value/codec_cfg.h"
#include "lua/value/json.h"
#include "lua/modules.h"

static void put(struct buf *out, const char *s)
{
	buf_append(out, s, strlen(s));
}

/** Bytes that are escaped: control ones, the quote, both slashes, DEL. */
static const char *escape_of(unsigned char c, char *scratch)
{
	switch (c) {
	case '"': return "\\\"";
	case '\\': return "\\\\";
	case '/': return lua_compat.json_plain_slash ? NULL : "\\/";
	case '\b': return "\\b";
	case '\t': return "\\t";
	case '\n': return "\\n";
	case '\f': return "\\f";
	case '\r': return "\\r";
	}
	if (c >= 0x20 && c != 0x7f)
		return NULL;
	snprintf(scratch, 8, "\\u%04x", c);
	return scratch;
}

static void put_string(struct buf *out, const char *s, uint32_t len)
{
	char scratch[8];
	put(out, "\"");
	uint32_t done = 0;
	for (uint32_t i = 0; i < len; i++) {
		const char *escape = escape_of(s[i], scratch);
		if (escape == NULL)
			continue;
		buf_append(out, s + done, i - done);
		put(out, escape);
		done = i + 1;
	}
	buf_append(out, s + done, len - done);
	put(out, "\"");
}

static void put_number(struct buf *out, double value, const struct lua_codec *codec)
{
	char *p = buf_reserve(out, 64);
	out->size += isnan(value) ? snprintf(p, 64, "nan") : lua_number_text(p, value, codec);
}

static void put_uint(struct buf *out, uint64_t value)
{
	out->size += snprintf(buf_reserve(out, 32), 32, "%llu", (unsigned long long)value);
}

static void put_int(struct buf *out, int64_t value)
{
	out->size += snprintf(buf_reserve(out, 32), 32, "%lld", (long long)value);
}

/** A key is a string: numbers are quoted, others are refused. */
static bool put_key(struct buf *out, const char **data)
{
	uint32_t len;
	switch (mp_typeof(**data)) {
	case MP_STR: {
		const char *s = mp_decode_str(data, &len);
		put_string(out, s, len);
		return true;
	}
	case MP_UINT:
		put(out, "\"");
		put_uint(out, mp_decode_uint(data));
		put(out, "\"");
		return true;
	case MP_INT:
		put(out, "\"");
		put_int(out, mp_decode_int(data));
		put(out, "\"");
		return true;
	default:
		return false;
	}
}

static void put_ext(struct buf *out, const char **data)
{
	char text[MP_EXT_TEXT_SIZE];
	if (mp_ext_to_string(*data, text))
		put_string(out, text, strlen(text));
	else
		put(out, "null");
	mp_next(data);
}

static bool put_value(struct buf *out, const char **data, const struct lua_codec *codec)
{
	uint32_t len;
	const char *s;
	switch (mp_typeof(**data)) {
	case MP_NIL: mp_decode_nil(data); put(out, "null"); return true;
	case MP_BOOL: put(out, mp_decode_bool(data) ? "true" : "false"); return true;
	case MP_UINT: put_uint(out, mp_decode_uint(data)); return true;
	case MP_INT: put_int(out, mp_decode_int(data)); return true;
	case MP_FLOAT: put_number(out, mp_decode_float(data), codec); return true;
	case MP_DOUBLE: put_number(out, mp_decode_double(data), codec); return true;
	case MP_STR: s = mp_decode_str(data, &len); put_string(out, s, len); return true;
	case MP_BIN: s = mp_decode_bin(data, &len); put_string(out, s, len); return true;
	case MP_ARRAY:
		len = mp_decode_array(data);
		put(out, "[");
		for (uint32_t i = 0; i < len; i++) {
			if (i > 0)
				put(out, ",");
			if (!put_value(out, data, codec))
				return false;
		}
		put(out, "]");
		return true;
	case MP_MAP:
		len = mp_decode_map(data);
		put(out, "{");
		for (uint32_t i = 0; i < len; i++) {
			if (i > 0)
				put(out, ",");
			if (!put_key(out, data))
				return false;
			put(out, ":");
			if (!put_value(out, data, codec))
				return false;
		}
		put(out, "}");
		return true;
	default: put_ext(out, data); return true;
	}
}

/** Takes the options in argument 2. A string has none: it can be indexed like a table. [raises] */
static void take_options(lua_State *L, struct lua_codec *codec)
{
	if (lua_istable(L, 2))
		lua_codec_override(L, 2, codec);
	else if (lua_type(L, 2) != LUA_TSTRING)
		luaL_error(L, "attempt to index a %s value", luaL_typename(L, 2));
}

/** encode(value[, options]) */
static int json_encode(lua_State *L)
{
	int top = lua_gettop(L);
	luaL_argcheck(L, top == 1 || top == 2, 1, "expected 1 or 2 arguments");
	struct lua_codec codec = *lua_codec_of(L);
	if (top == 2)
		take_options(L, &codec);
	codec.encode_depth_is_told = false;
	struct buf *mp = lua_scratch_get();
	struct buf *text = lua_scratch_get();
	lua_encode(L, 1, mp, &codec);
	const char *data = mp->data;
	if (!put_value(text, &data, &codec)) {
		lua_scratch_put(text);
		lua_scratch_put(mp);
		return luaL_error(L, "table key must be a number or string");
	}
	lua_pushlstring(L, text->data, text->size);
	lua_scratch_put(text);
	lua_scratch_put(mp);
	return 1;
}

/** decode(text[, options]) */
static int json_decode(lua_State *L)
{
	int top = lua_gettop(L);
	luaL_argcheck(L, top == 1 || top == 2, 1, "expected 1 or 2 arguments");
	struct lua_codec codec = *lua_codec_of(L);
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	if (top == 2)
		take_options(L, &codec);
	if (len >= 2 && (text[0] == '\0' || text[1] == '\0'))
		return luaL_error(L, "JSON parser does not support UTF-16 or UTF-32");
	lua_json_decode(L, text, len, &codec);
	return 1;
}

void lua_json_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"encode", json_encode}, {"decode", json_decode}, {NULL, NULL},
	};
	lua_codec_new_instance(L, functions);
	lua_push_null(L);
	lua_setfield(L, -2, "null");
	lua_codec_register(L, "json");
}
