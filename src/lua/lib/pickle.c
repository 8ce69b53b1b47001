/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `pickle`: binary strings from values and back, by a format of letters:
 * b s i l (integers of 8 to 64 bits, little-endian), n N q (16, 32, 64 bits, big-endian),
 * f d (numbers of 32 and 64 bits), a (a string as it is). Capitals of b s i l and a
 * serve in pack, A in both. Manual: module pickle.
 */
#include <math.h>
#include <string.h>

#include "lua/bridge.h"
#include "lua/modules.h"

/** Bytes of the integer that a letter stands for; 0: it stands for none. */
static int integer_size(char letter, bool *is_big_endian)
{
	*is_big_endian = letter == 'n' || letter == 'N' || letter == 'q' || letter == 'Q';
	switch (letter) {
	case 'b':
	case 'B':
		return 1;
	case 's':
	case 'S':
	case 'n':
		return 2;
	case 'i':
	case 'I':
	case 'N':
		return 4;
	case 'l':
	case 'L':
	case 'q':
	case 'Q':
		return 8;
	}
	return 0;
}

/** The integer at `idx`, its low bits where it is wider than asked for; false: it is none. */
static bool to_integer(lua_State *L, int idx, uint64_t *value)
{
	void *payload;
	switch (lua_cdata(L, idx, &payload)) {
	case CDATA_INT64:
	case CDATA_UINT64:
		memcpy(value, payload, sizeof(*value));
		return true;
	default:
		break;
	}
	if (lua_type(L, idx) != LUA_TNUMBER)
		return false;
	double number = lua_tonumber(L, idx);
	if (number != floor(number) || number < -0x1p63 || number >= 0x1p64)
		return false;
	*value = number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number;
	return true;
}

static void put_integer(struct buf *out, uint64_t value, int size, bool is_big_endian)
{
	char *p = buf_reserve(out, size);
	for (int i = 0; i < size; i++)
		p[i] = value >> 8 * (is_big_endian ? size - 1 - i : i);
	out->size += size;
}

static uint64_t get_integer(const char *p, int size, bool is_big_endian)
{
	uint64_t value = 0;
	for (int i = 0; i < size; i++)
		value = value << 8 | (unsigned char)p[is_big_endian ? i : size - 1 - i];
	return value;
}

/** Appends the value at `idx` as the letter says. [raises] */
static void pack_one(lua_State *L, int idx, char letter, struct buf *out)
{
	bool is_big_endian;
	int size = integer_size(letter, &is_big_endian);
	uint64_t value = 0;
	if (size > 0) {
		if (!to_integer(L, idx, &value))
			luaL_error(L, "pickle.pack: expected %d-bit int", size * 8);
		put_integer(out, value, size, is_big_endian);
	} else if (letter == 'a' || letter == 'A') {
		size_t length;
		const char *text = luaL_checklstring(L, idx, &length);
		buf_append(out, text, length);
	} else if (letter == 'f') {
		float number = lua_tonumber(L, idx);
		buf_append(out, (const char *)&number, sizeof(number));
	} else if (letter == 'd') {
		double number = lua_tonumber(L, idx);
		buf_append(out, (const char *)&number, sizeof(number));
	} else {
		luaL_error(L, "pickle.pack: unsupported pack format specifier '%c'", letter);
	}
}

/** pack(format, ...) -> string */
static int pickle_pack(lua_State *L)
{
	const char *format = luaL_checkstring(L, 1);
	int top = lua_gettop(L), idx = 2;
	struct buf *out = lua_scratch_get();
	for (; *format != '\0'; format++, idx++) {
		if (idx > top)
			return luaL_error(L,
				"pickle.pack: argument count does not match the format");
		pack_one(L, idx, *format, out);
	}
	lua_pushlstring(L, out->data, out->size);
	lua_scratch_put(out);
	return 1;
}

/** Bytes that unpacking by the letter takes; -1: all that are left. [raises] */
static int unpack_size(lua_State *L, char letter)
{
	bool is_big_endian;
	if (letter == 'a' || letter == 'A')
		return -1;
	if (letter == 'f')
		return sizeof(float);
	if (letter == 'd')
		return sizeof(double);
	int size = strchr("BSILQ", letter) == NULL ? integer_size(letter, &is_big_endian) : 0;
	if (size == 0)
		return luaL_error(L, "pickle.unpack: unsupported format specifier '%c'", letter);
	return size;
}

static void unpack_one(lua_State *L, char letter, const char *p, int size)
{
	bool is_big_endian;
	if (letter == 'a' || letter == 'A') {
		lua_pushlstring(L, p, size);
	} else if (letter == 'f') {
		float number;
		memcpy(&number, p, sizeof(number));
		lua_pushnumber(L, number);
	} else if (letter == 'd') {
		double number;
		memcpy(&number, p, sizeof(number));
		lua_pushnumber(L, number);
	} else {
		integer_size(letter, &is_big_endian);
		lua_push_uint64(L, get_integer(p, size, is_big_endian));
	}
}

/** unpack(format, string) -> values */
static int pickle_unpack(lua_State *L)
{
	const char *format = luaL_checkstring(L, 1);
	size_t total;
	const char *data = luaL_checklstring(L, 2, &total), *p = data, *end = data + total;
	int count = 0;
	for (const char *f = format; *f != '\0'; f++) {
		int size = unpack_size(L, *f);
		if (size > end - p)
			return luaL_error(L, "pickle.unpack('%c'): got %d bytes (expected: %d+)",
					  *f, (int)total, (int)(p - data) + size);
		if (size < 0)
			size = end - p;
		luaL_checkstack(L, 2, "pickle.unpack: too many values");
		unpack_one(L, *f, p, size);
		p += size;
		count++;
	}
	if (p != end)
		return luaL_error(L, "pickle.unpack('%s'): too many bytes: unpacked %d, total %d",
				  format, (int)(p - data), (int)total);
	return count;
}

void lua_pickle_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"pack", pickle_pack},
		{"unpack", pickle_unpack},
		{NULL, NULL},
	};
	lua_new_module(L, "pickle", functions);
}
