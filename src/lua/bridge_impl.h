/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of the bridge (bridge.c, cdata.c, codec files, tuple.c, error.c,
 * call.c) share among themselves. Bindings include bridge.h only.
 */
#pragma once

#include "core/list.h"
#include "lua/bridge.h"

struct fiber;

/** What a fiber has of Lua: its coroutine and the scratch buffers in use. */
struct lua_fiber {
	lua_State *L;
	/** Anchor of L in the registry. */
	int ref;
	/** The next spare, while in the list of coroutines without a fiber. */
	struct lua_fiber *next_spare;
	/** The limit of the Lua heap holds; of a borrowed coroutine: what the borrower had. */
	bool is_guarded;
	/** The fiber's `usage.heap_bytes` when its outermost call began. */
	uint64_t bytes_at_begin;
	/** Scratch buffers in use, newest first, and their number. */
	struct list scratches;
	uint32_t scratch_count;
};

/** The current fiber's record, made at need. */
struct lua_fiber *lua_fiber_get(void);

/** Gives back the scratch buffers of a fiber whose life ends. */
void lua_scratch_release_all(struct lua_fiber *lf);

/**
 * Is what a cdata's bytes at `payload` belong to a struct lua_tuple? For memory that was a
 * cdata, or never one but has 16 bytes before. Always false where types are asked of Lua.
 */
bool lua_cdata_was_tuple(const void *payload);

/** Start-up of the parts, in this order. */
void lua_cdata_init(lua_State *L);
void lua_codec_init(lua_State *L);

/**
 * Makes lua_cdata() ask Lua what a value is, as where the position of a type's id is
 * not found. For tests. Returns what was.
 */
bool lua_cdata_force_slow(bool yesno);

/**
 * Pushes a fresh cdata by the maker (a function without arguments) at `ref`; returns its bytes.
 * [raises]
 */
void *lua_push_new(lua_State *L, int ref);

/** Pushes a fresh struct tt_uuid and returns its 16 bytes. */
void *lua_push_uuid_new(lua_State *L);

struct decimal;
struct datetime;
struct interval;
/** Push a fresh one. [raises] */
struct decimal *lua_push_decimal_new(lua_State *L);
struct datetime *lua_push_datetime_new(lua_State *L);
struct interval *lua_push_interval_new(lua_State *L);

/**
 * Pushes an error object that has no error yet: the caller puts a reference there, which is the
 * object's. [raises]
 */
struct error **lua_push_error_new(lua_State *L);

/** Takes the value at the top and returns a reference to it that lives for good. */
int lua_ref_forever(lua_State *L);

/** A string of our own for any value (through __tostring), pushed; never raises. */
const char *lua_push_text(lua_State *L, int idx);

/** Pushes the `__serialize` of a cdata's metatype, or nothing: then false. [raises] */
bool lua_cdata_serializer(lua_State *L, int idx);

/** lua_decode(), within itself. [raises] */
void lua_decode_value(lua_State *L, const char **data, const struct lua_codec *codec);
