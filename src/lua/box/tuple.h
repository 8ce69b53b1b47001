/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples in Lua, for the files tuple*.c. The functions of the first part are reached
 * by compiled Lua through FFI (and declared again in tuple.lua): none yields, runs Lua
 * or raises.
 */
#pragma once

#include "lua/bridge.h"

/** What lua_tuple_field() found. */
enum lua_field_kind {
	FIELD_NONE = 0,
	/** In `number`. */
	FIELD_NUMBER,
	/** In `data` and `size`. */
	FIELD_STRING,
	FIELD_NULL, FIELD_TRUE, FIELD_FALSE,
	/** Any other; `data` points to its MessagePack. */
	FIELD_OTHER,
};

struct lua_field {
	double number;
	const char *data;
	uint32_t size;
};

/** Finds the field by its number from 1 (the integer part counts) and says what it is. */
int lua_tuple_field(const struct lua_tuple *t, double number, struct lua_field *field);

/** Fills an empty one from a tuple; it has room for a copy or, where that is large, a finalizer. */
void lua_tuple_fill(struct lua_tuple *t, struct tuple *tuple);

/** The finalizer of large ones, where lua_tuple_watch() is not possible. */
void lua_tuple_release(struct lua_tuple *t);

/** The bytes of the tuple's array. */
uint32_t lua_tuple_size(const struct tuple *tuple);
uint32_t lua_tuple_bsize(const struct lua_tuple *t);

/** Are they one tuple? */
bool lua_tuple_is_same(const struct lua_tuple *a, const struct lua_tuple *b);

/** What it was made from, see bridge.h. */
static inline const void *lua_tuple_origin(const struct lua_tuple *t)
{
	return (const void *)(t->_origin[0] | (uintptr_t)t->_origin[1] << 16 |
			      (uintptr_t)t->_origin[2] << 32);
}

/* For C. -------------------------------------------------------------------- */

/** So many tuples, at most, lua_set_tuples() takes at once. */
enum { LUA_SET_TUPLES_MAX = 256 };

/**
 * Puts tuples into the table on top of the stack, from index `first` on: what lua_push_tuple()
 * would make of each, with one call into Lua for all. [raises] out of memory.
 */
void lua_set_tuples(lua_State *L, int first, struct tuple *const *tuples, uint32_t count);

/** The format of a tuple, or the default one where that is gone. */
struct tuple_format *lua_tuple_format(const struct lua_tuple *t);

/**
 * Pushes a tuple of its own from a MessagePack array, of the format (borrowed) and with
 * the names of the dictionary. [raises] out of memory.
 */
void lua_push_new_tuple(lua_State *L, struct tuple_format *format, uint32_t dict, const char *data,
			const char *end);

/** The tuple at `idx`, or an error with the text. [raises] */
const struct lua_tuple *lua_check_tuple(lua_State *L, int idx, const char *usage);

/** Has the collector to work for the large tuples that were handed out? */
bool lua_tuple_is_due(void);

/** Bytes of large tuples that Lua objects keep alive, garbage included. */
size_t lua_tuple_held(void);

/** Gives the reference of a large one back, whose memory goes. */
void lua_tuple_forget(const struct lua_tuple *t);

/**
 * Finds out how to tell, when the collector gives memory back, that it was a large tuple,
 * and sees to its reference from then on. False where that is not possible: then large
 * ones need finalizers. Start-up only.
 */
bool lua_tuple_watch(lua_State *L);

/** Adds the methods to the table at the top of the stack. */
void lua_tuple_methods_init(lua_State *L);
