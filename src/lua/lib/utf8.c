/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module utf8: characters of strings in UTF-8, by ICU. Where a string is not
 * well-formed, ICU's macros decide how many bytes belong together.
 *
 * Numbers of arguments are cut to 32 bits, as in the reference.
 */
#include <lauxlib.h>
#include <lua.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "core/buf.h"
#include "core/log.h"
#include "data/coll.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** Of the root locale. */
static UCaseMap *case_map;
static struct coll *coll_cmp, *coll_casecmp;

static int usage(lua_State *L, const char *text)
{
	return luaL_error(L, "Usage: %s", text);
}

/* Case ----------------------------------------------------------------------- */

typedef int32_t (*case_func)(const UCaseMap *map, char *to, int32_t size, const char *from,
			     int32_t len, UErrorCode *status);

static int change_case(lua_State *L, case_func convert, const char *text)
{
	size_t len;
	if (lua_gettop(L) != 1 || !lua_isstring(L, 1))
		return usage(L, text);
	const char *s = lua_tolstring(L, 1, &len);
	if (len > INT32_MAX)
		return luaL_error(L, "the string is too long");
	/* The result is seldom longer than the string; then its size is known. */
	struct buf *b = lua_scratch_get();
	UErrorCode status = U_ZERO_ERROR;
	buf_reserve(b, len);
	int32_t size = convert(case_map, b->data, len, s, len, &status);
	if (status == U_BUFFER_OVERFLOW_ERROR) {
		status = U_ZERO_ERROR;
		buf_reserve(b, size);
		size = convert(case_map, b->data, size, s, len, &status);
	}
	if (U_FAILURE(status)) {
		lua_scratch_put(b);
		return luaL_error(L, "ICU: %s", u_errorName(status));
	}
	lua_pushlstring(L, b->data, size);
	lua_scratch_put(b);
	return 1;
}

static int utf8_lower(lua_State *L)
{
	return change_case(L, ucasemap_utf8ToLower, "utf8.lower(<string>)");
}

static int utf8_upper(lua_State *L)
{
	return change_case(L, ucasemap_utf8ToUpper, "utf8.upper(<string>)");
}

/* Characters ------------------------------------------------------------------- */

static int utf8_char(lua_State *L)
{
	int count = lua_gettop(L);
	if (count < 1)
		return usage(L, "utf8.char(<char code>");
	luaL_Buffer b;
	luaL_buffinit(L, &b);
	for (int i = 1; i <= count; i++) {
		char bytes[U8_MAX_LENGTH];
		uint32_t c = (uint32_t)luaL_checkinteger(L, i);
		int len = 0;
		U8_APPEND_UNSAFE(bytes, len, c);
		luaL_addlstring(&b, bytes, len);
	}
	luaL_pushresult(&b);
	return 1;
}

/** (string or code) -> does its one character belong to the class? */
static int is_of_class(lua_State *L, UBool (*belongs)(UChar32 c), const char *text)
{
	if (lua_gettop(L) != 1)
		return usage(L, text);
	UChar32 c;
	if (lua_type(L, 1) == LUA_TSTRING) {
		size_t len;
		const char *s = lua_tolstring(L, 1, &len);
		int32_t end = 0;
		c = U_SENTINEL;
		if (len > 0 && len <= U8_MAX_LENGTH)
			U8_NEXT(s, end, (int32_t)len, c);
		if ((size_t)end != len)
			c = U_SENTINEL;
	} else {
		c = (UChar32)luaL_checkinteger(L, 1);
	}
	lua_pushboolean(L, c != U_SENTINEL && belongs(c));
	return 1;
}

static int utf8_isalpha(lua_State *L)
{
	return is_of_class(L, u_isalpha, "utf8.isalpha(<string> or <one symbol code>)");
}

static int utf8_isdigit(lua_State *L)
{
	return is_of_class(L, u_isdigit, "utf8.isdigit(<string> or <one symbol code>)");
}

static int utf8_islower(lua_State *L)
{
	return is_of_class(L, u_islower, "utf8.islower(<string> or <one symbol code>)");
}

static int utf8_isupper(lua_State *L)
{
	return is_of_class(L, u_isupper, "utf8.isupper(<string> or <one symbol code>)");
}

/* Positions ---------------------------------------------------------------------- */

/** The string, whose length fits ICU's numbers; there are at most so many arguments. */
static const char *string_arg(lua_State *L, int32_t *len, int count_max, const char *text)
{
	size_t size = 0;
	if (lua_gettop(L) > count_max || !lua_isstring(L, 1))
		usage(L, text);
	const char *s = lua_tolstring(L, 1, &size);
	if (size > INT32_MAX)
		luaL_error(L, "the string is too long");
	*len = (int32_t)size;
	return s;
}

static int int_arg(lua_State *L, int idx, int def)
{
	return lua_isnoneornil(L, idx) ? def : (int)luaL_checkinteger(L, idx);
}

/** A position from 1 on; a negative one counts from the end. 0: before the string. */
static int64_t absolute(int64_t pos, int64_t len)
{
	if (pos >= 0)
		return pos;
	return -pos <= len ? len + pos + 1 : 0;
}

/** (string, first byte, last byte) -> characters; nil and a place where it is malformed */
static int utf8_len(lua_State *L)
{
	int32_t len;
	const char *s = string_arg(L, &len, 3, "utf8.len(<string>, [i, [j]])");
	int64_t first = absolute(int_arg(L, 2, 1), len), last = absolute(int_arg(L, 3, -1), len);
	if (first < 1 || first > (int64_t)len + 1 || last > len) {
		lua_pushnil(L);
		lua_pushliteral(L, "position is out of string");
		return 2;
	}
	int32_t at = (int32_t)first - 1, count = 0;
	while (at < last) {
		UChar32 c;
		U8_NEXT(s, at, len, c);
		if (c < 0) {
			lua_pushnil(L);
			lua_pushinteger(L, at);
			return 2;
		}
		count++;
	}
	lua_pushinteger(L, count);
	return 1;
}

/** (string, byte) -> the byte behind the character there, its code; nothing at the end */
static int utf8_next(lua_State *L)
{
	int32_t len;
	const char *s = string_arg(L, &len, 2, "utf8.next(<string>, [<byte offset>])");
	int64_t pos = absolute(int_arg(L, 2, 1), len);
	int32_t at = pos < 1 ? 0 : pos > len ? len : (int32_t)pos - 1;
	if (at >= len)
		return 0;
	UChar32 c;
	U8_NEXT(s, at, len, c);
	if (c < 0)
		return 0;
	lua_pushinteger(L, at + 1);
	lua_pushinteger(L, c);
	return 2;
}

static int32_t count_characters(const char *s, int32_t len)
{
	int32_t count = 0;
	for (int32_t at = 0; at < len; count++)
		U8_FWD_1(s, at, len);
	return count;
}

/** (string, first character, last character) */
static int utf8_sub(lua_State *L)
{
	static const char text[] = "utf8.sub(<string>, [i, [j]])";
	int32_t len, begin = 0, end = 0;
	if (lua_gettop(L) < 2)
		return usage(L, text);
	const char *s = string_arg(L, &len, INT_MAX, text);
	int64_t first = (int)luaL_checkinteger(L, 2), last = int_arg(L, 3, -1);
	if (first < 0 || last < 0) {
		int32_t count = count_characters(s, len);
		first = absolute(first, count);
		last = absolute(last, count);
	}
	first = first < 1 ? 1 : first;
	for (int64_t i = 1; i <= last && end < len; i++) {
		if (i == first)
			begin = end;
		U8_FWD_1(s, end, len);
		/* So far the first character has not come. */
		if (i < first)
			begin = end;
	}
	lua_pushlstring(L, s + begin, end - begin);
	return 1;
}

/* Comparison ------------------------------------------------------------------- */

static int compare(lua_State *L, const struct coll *coll, const char *text)
{
	size_t a_len, b_len;
	if (lua_gettop(L) != 2 || !lua_isstring(L, 1) || !lua_isstring(L, 2))
		return usage(L, text);
	const char *a = lua_tolstring(L, 1, &a_len), *b = lua_tolstring(L, 2, &b_len);
	lua_pushinteger(L, coll_compare(coll, a, a_len, b, b_len));
	return 1;
}

static int utf8_cmp(lua_State *L)
{
	return compare(L, coll_cmp, "utf8.cmp(<string1>, <string2>)");
}

static int utf8_casecmp(lua_State *L)
{
	return compare(L, coll_casecmp, "utf8.casecmp(<string1>, <string2>)");
}

void lua_utf8_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"casecmp", utf8_casecmp}, {"char", utf8_char}, {"cmp", utf8_cmp},
		{"isalpha", utf8_isalpha}, {"isdigit", utf8_isdigit}, {"islower", utf8_islower},
		{"isupper", utf8_isupper}, {"len", utf8_len}, {"lower", utf8_lower},
		{"next", utf8_next}, {"sub", utf8_sub}, {"upper", utf8_upper}, {NULL, NULL},
	};
	UErrorCode status = U_ZERO_ERROR;
	case_map = ucasemap_open("", 0, &status);
	coll_cmp = coll_new(&(struct coll_def){.strength = COLL_TERTIARY});
	coll_casecmp = coll_new(&(struct coll_def){.strength = COLL_PRIMARY});
	if (U_FAILURE(status) || coll_cmp == NULL || coll_casecmp == NULL)
		panic("ICU does not have its data");
	lua_new_module(L, "utf8", functions);
	lua_setglobal(L, "utf8");
}
