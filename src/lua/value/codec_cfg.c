/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See codec_cfg.h.
 */
#include "lua/value/codec_cfg.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum option_kind { OPTION_BOOL, OPTION_INT };

static const struct option {
	const char *name;
	enum option_kind kind;
	size_t offset;
} options[] = {
#define B(name) {#name, OPTION_BOOL, offsetof(struct lua_codec, name)}
#define I(name) {#name, OPTION_INT, offsetof(struct lua_codec, name)}
	B(encode_sparse_convert), I(encode_sparse_ratio), I(encode_sparse_safe),
	I(encode_max_depth), B(encode_deep_as_nil), B(encode_invalid_numbers),
	I(encode_number_precision), B(encode_load_metatables), B(encode_use_tostring),
	B(encode_invalid_as_nil), B(encode_error_as_ext), B(decode_invalid_numbers),
	B(decode_save_metatables), I(decode_max_depth),
#undef B
#undef I
};

enum {
	OPTION_COUNT = sizeof(options) / sizeof(options[0]),
	/** The most digits of a number, as in the reference. */
	NUMBER_PRECISION_MAX = 14,
	/** The most that a number may be set to: so deep a nesting still fits a fiber's stack. */
	CODEC_INT_MAX = 1000,
};

struct lua_codec *lua_codec_of(lua_State *L)
{
	return lua_touserdata(L, lua_upvalueindex(1));
}

static void push_option(lua_State *L, const struct option *o, const struct lua_codec *codec)
{
	const char *field = (const char *)codec + o->offset;
	if (o->kind == OPTION_BOOL)
		lua_pushboolean(L, *(const bool *)field);
	else
		lua_pushinteger(L, *(const int *)field);
}

/** Takes the value at the top, where it is there and, for a number, is one; pops it. */
static void take_option(lua_State *L, const struct option *o, struct lua_codec *codec)
{
	char *field = (char *)codec + o->offset;
	if (o->kind == OPTION_BOOL && !lua_isnil(L, -1))
		*(bool *)field = lua_toboolean(L, -1);
	else if (o->kind == OPTION_INT && lua_isnumber(L, -1))
		*(int *)field = lua_tointeger(L, -1) < CODEC_INT_MAX ? lua_tointeger(L, -1) :
								       CODEC_INT_MAX;
	lua_pop(L, 1);
}

void lua_codec_override(lua_State *L, int idx, struct lua_codec *codec)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		lua_getfield(L, idx, options[i].name);
		take_option(L, &options[i], codec);
	}
}

static void fill_cfg(lua_State *L, int idx, const struct lua_codec *codec)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		push_option(L, &options[i], codec);
		lua_setfield(L, idx, options[i].name);
	}
}

/** cfg{...}: called with the table `cfg` itself first. */
static int cfg_call(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TTABLE);
	struct lua_codec *codec = lua_codec_of(L);
	lua_codec_override(L, 2, codec);
	fill_cfg(L, 1, codec);
	return 0;
}

/** new(): upvalue 1 is the list of functions. */
static int instance_new(lua_State *L)
{
	lua_codec_new_instance(L, lua_touserdata(L, lua_upvalueindex(1)));
	return 1;
}

/** Pushes `cfg` for the options at stack index `codec_idx`. */
static void push_cfg(lua_State *L, int codec_idx)
{
	lua_createtable(L, 0, OPTION_COUNT);
	fill_cfg(L, lua_gettop(L), lua_touserdata(L, codec_idx));
	lua_createtable(L, 0, 1);
	lua_pushvalue(L, codec_idx);
	lua_pushcclosure(L, cfg_call, 1);
	lua_setfield(L, -2, "__call");
	lua_setmetatable(L, -2);
}

void lua_codec_new_instance(lua_State *L, const luaL_Reg *funcs)
{
	struct lua_codec *codec = lua_newuserdata(L, sizeof(*codec));
	*codec = lua_codec_default;
	int codec_idx = lua_gettop(L);
	lua_newtable(L);
	for (const luaL_Reg *f = funcs; f->name != NULL; f++) {
		lua_pushvalue(L, codec_idx);
		lua_pushcclosure(L, f->func, 1);
		lua_setfield(L, -2, f->name);
	}
	push_cfg(L, codec_idx);
	lua_setfield(L, -2, "cfg");
	lua_pushlightuserdata(L, (void *)funcs);
	lua_pushcclosure(L, instance_new, 1);
	lua_setfield(L, -2, "new");
	lua_push_null(L);
	lua_setfield(L, -2, "NULL");
	lua_getfield(L, LUA_REGISTRYINDEX, LUA_ARRAY_MT);
	lua_setfield(L, -2, "array_mt");
	lua_getfield(L, LUA_REGISTRYINDEX, LUA_MAP_MT);
	lua_setfield(L, -2, "map_mt");
	lua_remove(L, codec_idx);
}

void lua_codec_register(lua_State *L, const char *name)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_insert(L, -2);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
}

int lua_number_text(char *out, double value, const struct lua_codec *codec)
{
	if (value >= -0x1p63 && value < 0x1p63 && value == trunc(value))
		return snprintf(out, 64, "%lld", (long long)value);
	if (value >= 0x1p63 && value < 0x1p64)
		return snprintf(out, 64, "%llu", (unsigned long long)value);
	int precision = codec->encode_number_precision;
	if (precision < 1 || precision > NUMBER_PRECISION_MAX)
		precision = NUMBER_PRECISION_MAX;
	return snprintf(out, 64, "%.*g", precision, value);
}

void lua_push_whole(lua_State *L, uint64_t value)
{
	if (value <= INT64_MAX)
		lua_push_int64(L, value);
	else
		lua_push_uint64(L, value);
}
