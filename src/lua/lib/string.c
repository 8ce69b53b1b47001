/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What string.lua needs of C: hexadecimal texts, parts of strings, what stands around them.
 */
#include <ctype.h>
#include <string.h>

#include "core/buf.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** (bytes) -> their digits */
static int string_hex(lua_State *L)
{
	static const char digits[] = "0123456789abcdef";
	size_t len;
	const char *s = luaL_checklstring(L, 1, &len);
	struct buf *out = lua_scratch_get();
	char *p = buf_reserve(out, 2 * len);
	for (size_t i = 0; i < len; i++) {
		*p++ = digits[(unsigned char)s[i] >> 4];
		*p++ = digits[s[i] & 15];
	}
	lua_pushlstring(L, p - 2 * len, 2 * len);
	lua_scratch_put(out);
	return 1;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/** (digits, an even number) -> bytes, or nil where there are other characters */
static int string_fromhex(lua_State *L)
{
	size_t len;
	const char *s = luaL_checklstring(L, 1, &len);
	struct buf *out = lua_scratch_get();
	char *p = buf_reserve(out, len / 2);
	int wrong = 0;
	for (size_t i = 0; i + 1 < len; i += 2) {
		int high = hex_digit(s[i]), low = hex_digit(s[i + 1]);
		wrong |= high | low;
		*p++ = (char)((unsigned)high << 4 | (unsigned)low);
	}
	if (wrong < 0)
		lua_pushnil(L);
	else
		lua_pushlstring(L, p - len / 2, len / 2);
	lua_scratch_put(out);
	return 1;
}

static const char *skip_spaces(const char *s, const char *end)
{
	while (s < end && isspace((unsigned char)*s))
		s++;
	return s;
}

static const char *skip_word(const char *s, const char *end)
{
	while (s < end && !isspace((unsigned char)*s))
		s++;
	return s;
}

/** Puts a part into the table at the top. */
static void add_part(lua_State *L, int number, const char *from, const char *end)
{
	lua_pushlstring(L, from, end - from);
	lua_rawseti(L, -2, number);
}

static void split_at_spaces(lua_State *L, const char *s, const char *end, double max)
{
	int count = 0;
	s = skip_spaces(s, end);
	while (count < max) {
		const char *stop = skip_word(s, end);
		if (stop == end)
			break;
		add_part(L, ++count, s, stop);
		s = skip_spaces(stop, end);
	}
	if (s < end)
		add_part(L, count + 1, s, end);
}

/** (string, separator or nil for runs of spaces, most of cuts) -> parts */
static int string_split(lua_State *L)
{
	size_t len, separator_len;
	const char *s = luaL_checklstring(L, 1, &len), *end = s + len;
	const char *separator = luaL_optlstring(L, 2, NULL, &separator_len);
	double max = luaL_checknumber(L, 3);
	lua_newtable(L);
	if (separator == NULL) {
		split_at_spaces(L, s, end, max);
		return 1;
	}
	int count = 0;
	while (count < max) {
		const char *stop = memmem(s, end - s, separator, separator_len);
		if (stop == NULL)
			break;
		add_part(L, ++count, s, stop);
		s = stop + separator_len;
	}
	add_part(L, count + 1, s, end);
	return 1;
}

/** (string, bytes or nil for spaces and zeros, at the left?, at the right?) */
static int string_strip(lua_State *L)
{
	size_t len, char_count;
	const char *s = luaL_checklstring(L, 1, &len), *end = s + len;
	const char *chars = luaL_optlstring(L, 2, NULL, &char_count);
	if (chars == NULL) {
		static const char spaces[] = " \t\n\v\f\r";
		chars = spaces;
		char_count = sizeof(spaces);	/* with the zero */
	}
	while (lua_toboolean(L, 3) && s < end && memchr(chars, *s, char_count) != NULL)
		s++;
	while (lua_toboolean(L, 4) && s < end && memchr(chars, end[-1], char_count) != NULL)
		end--;
	lua_pushlstring(L, s, end - s);
	return 1;
}

void lua_string_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"hex", string_hex}, {"fromhex", string_fromhex}, {"split", string_split},
		{"strip", string_strip}, {NULL, NULL},
	};
	lua_new_module(L, "tarn.string", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "string.lua", "internal.string");
}
