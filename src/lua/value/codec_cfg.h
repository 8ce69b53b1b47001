/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Instances of the codec modules msgpack, json and yaml: a table of functions that
 * share one set of options, `cfg` to look at and change them, and `new` for another.
 */
#pragma once

#include "lua/bridge.h"

/**
 * Pushes a new instance with the functions, each of which has the instance's
 * options as its upvalue 1 (see lua_codec_of). `funcs` lives for good.
 */
void lua_codec_new_instance(lua_State *L, const luaL_Reg *funcs);

/** The options of the instance whose function runs. */
struct lua_codec *lua_codec_of(lua_State *L);

/**
 * Overwrites those options in `codec` that the table at `idx` has; others and wrong types are
 * passed over.
 */
void lua_codec_override(lua_State *L, int idx, struct lua_codec *codec);

/** Makes the instance at the top package.loaded[name] and pops it. */
void lua_codec_register(lua_State *L, const char *name);

/** Pushes a whole number of a text: a signed 64-bit cdata, where it is large but fits. */
void lua_push_whole(lua_State *L, uint64_t value);

/**
 * A number's text as these formats print it: whole numbers of 64 bits with all their
 * digits, else %.*g with the codec's precision. At most 64 bytes; returns the length.
 */
int lua_number_text(char *out, double value, const struct lua_codec *codec);
