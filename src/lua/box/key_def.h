/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Key definitions as scripts hold them: cdata of struct tarn_key_def, made in key_def.lua.
 */
#pragma once

#include "lua/bridge.h"

struct key_def;
struct tuple_format;

/** As in key_def.lua. */
struct tarn_key_def {
	struct key_def *def;
};

/** Pushes a list of parts, each a table as index.parts shows it. [raises] out of memory. */
void lua_push_key_parts(lua_State *L, const struct key_def *def);

/* Reached by FFI: none yields, runs Lua or raises. */

void tarn_key_def_release(struct tarn_key_def *key);
/** Compares two tuples that the definition was checked against. */
int tarn_key_def_compare(const struct tarn_key_def *key, const struct lua_tuple *a,
			 const struct lua_tuple *b);
/** The format that tuples to be merged by the key have to suit, counted. NULL: an error is set. */
struct tuple_format *tarn_key_def_format(const struct tarn_key_def *key);
void tarn_format_release(struct tuple_format *format);
/** -1: an error is set. */
int tarn_format_check(struct tuple_format *format, const struct lua_tuple *t);
