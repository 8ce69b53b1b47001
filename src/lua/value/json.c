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

static inline void put_char(struct buf *out, char c)
{
	*buf_alloc(out, 1) = c;
}

/** A string literal. */
#define PUT(out, text) buf_append(out, text, sizeof(text) - 1)

/** Bytes that may have to be escaped: control ones, the quote, both slashes, DEL. */
static const bool is_escaped[256] = {
	true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
	true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
	true, true, ['"'] = true, ['\\'] = true, ['/'] = true, [0x7f] = true,
};

static void put_escape(struct buf *out, unsigned char c)
{
	switch (c) {
	case '"': PUT(out, "\\\""); return;
	case '\\': PUT(out, "\\\\"); return;
	case '\b': PUT(out, "\\b"); return;
	case '\t': PUT(out, "\\t"); return;
	case '\n': PUT(out, "\\n"); return;
	case '\f': PUT(out, "\\f"); return;
	case '\r': PUT(out, "\\r"); return;
	case '/':
		if (!lua_compat.json_plain_slash)
			put_char(out, '\\');
		put_char(out, '/');
		return;
	}
	out->size += snprintf(buf_reserve(out, 8), 8, "\\u%04x", c);
}

static void put_string(struct buf *out, const char *s, uint32_t len)
{
	const char *end = s + len;
	buf_reserve(out, (size_t)len + 2);
	put_char(out, '"');
	while (true) {
		const char *from = s;
		while (s < end && !is_escaped[(unsigned char)*s])
			s++;
		buf_append(out, from, s - from);
		if (s == end)
			break;
		put_escape(out, *s++);
	}
	put_char(out, '"');
}

static void put_number(struct buf *out, double value, const struct lua_codec *codec)
{
	char *p = buf_reserve(out, 64);
	out->size += isnan(value) ? snprintf(p, 64, "nan") : lua_number_text(p, value, codec);
}

static void put_uint(struct buf *out, uint64_t value)
{
	char text[20], *p = text + sizeof(text);
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value > 0);
	buf_append(out, p, text + sizeof(text) - p);
}

static void put_int(struct buf *out, int64_t value)
{
	if (value < 0)
		put_char(out, '-');
	put_uint(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
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
		put_char(out, '"');
		put_uint(out, mp_decode_uint(data));
		put_char(out, '"');
		return true;
	case MP_INT:
		put_char(out, '"');
		put_int(out, mp_decode_int(data));
		put_char(out, '"');
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
		PUT(out, "null");
	mp_next(data);
}

static void put_bool(struct buf *out, bool value)
{
	if (value)
		PUT(out, "true");
	else
		PUT(out, "false");
}

static bool put_value(struct buf *out, const char **data, const struct lua_codec *codec)
{
	uint32_t len;
	const char *s;
	switch (mp_typeof(**data)) {
	case MP_NIL: mp_decode_nil(data); PUT(out, "null"); return true;
	case MP_BOOL: put_bool(out, mp_decode_bool(data)); return true;
	case MP_UINT: put_uint(out, mp_decode_uint(data)); return true;
	case MP_INT: put_int(out, mp_decode_int(data)); return true;
	case MP_FLOAT: put_number(out, mp_decode_float(data), codec); return true;
	case MP_DOUBLE: put_number(out, mp_decode_double(data), codec); return true;
	case MP_STR: s = mp_decode_str(data, &len); put_string(out, s, len); return true;
	case MP_BIN: s = mp_decode_bin(data, &len); put_string(out, s, len); return true;
	case MP_ARRAY:
		len = mp_decode_array(data);
		put_char(out, '[');
		for (uint32_t i = 0; i < len; i++) {
			if (i > 0)
				put_char(out, ',');
			if (!put_value(out, data, codec))
				return false;
		}
		put_char(out, ']');
		return true;
	case MP_MAP:
		len = mp_decode_map(data);
		put_char(out, '{');
		for (uint32_t i = 0; i < len; i++) {
			if (i > 0)
				put_char(out, ',');
			if (!put_key(out, data))
				return false;
			put_char(out, ':');
			if (!put_value(out, data, codec))
				return false;
		}
		put_char(out, '}');
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
