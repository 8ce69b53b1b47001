/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The bridge between C and Lua: each fiber's coroutine, protected calls, errors,
 * and the values that scripts see as cdata.
 *
 * Only LuaJIT's public headers are used. What those cannot make (a cdata) is made
 * by small Lua functions referenced in the registry at start-up; on the path of a
 * request no function, closure, coroutine or table is created.
 *
 * A function marked [raises] may leave by a Lua error, which unwinds the C stack:
 * its caller holds nothing that needs freeing across the call. All others do not.
 */
#pragma once

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/diag.h"

struct format_map;
struct tuple;
struct tuple_format;

/** The state's main coroutine, used by start-up only. */
extern lua_State *lua_main;

/** Bytes the Lua heap has now, and the bytes ever allocated: exact. */
size_t lua_heap_used(void);
uint64_t lua_heap_allocated(void);

/**
 * The most that the Lua heap may have, in bytes; 0: no limit. Below what it has: nothing more,
 * until it shrinks.
 */
size_t lua_heap_limit(void);
void lua_heap_set_limit(size_t limit);

/** Coroutines of fibers, spare ones included. */
size_t lua_coroutine_count(void);

/**
 * Makes the limit hold for the current fiber, or not; returns what was. It holds inside
 * of protected calls on the fiber's coroutine, which lua_call_protected() sees to: there
 * Lua may raise. C that works on another coroutine, or that calls Lua unprotected, must
 * not fail and lifts it. Each fiber has its own.
 */
bool lua_heap_guard(bool yesno);

/**
 * Makes the state with our allocator, opens libraries and embedded modules. Stops the process on
 * failure.
 */
void lua_bridge_init(int argc, char **argv);
void lua_bridge_free(void);

/** Loads an embedded file (see source.h) as the module `name`, at start-up. */
void lua_load_embedded(lua_State *L, const char *file, const char *name);

/** Registers C functions as a table in package.loaded[name] and leaves it on the stack. */
void lua_new_module(lua_State *L, const char *name, const luaL_Reg *funcs);

/**
 * The current fiber's coroutine: made at the fiber's first use of Lua, kept with the pooled fiber.
 */
lua_State *lua_fiber_state(void);

struct fiber;
/** The same for any living fiber, e.g. one that is not yet started. */
lua_State *lua_state_of(struct fiber *f);

/** The same without making one: NULL where the fiber had no use of Lua yet. */
lua_State *lua_state_peek(struct fiber *f);

/**
 * A coroutine to call Lua on from C that may itself have been called by Lua: the
 * fiber's where nothing runs on it, else a spare one. Given back by lua_state_put(),
 * which empties a spare one's stack and leaves the fiber's alone.
 */
lua_State *lua_state_get(void);
void lua_state_put(lua_State *L);

/** Gives a coroutine that nothing runs on the usual globals, where setfenv(0, ...) took them. */
void lua_state_restore_globals(lua_State *L);

/* Calls and errors ------------------------------------------------------ */

/**
 * lua_pcall with the error moved to the diagnostics area: 0, or -1 with nothing left on the stack.
 * May yield. Where C and Lua call each other without an end, it fails (guard.h).
 */
int lua_call_protected(lua_State *L, int arg_count, int result_count);

/** [raises] Throws the fiber's last error as an error object. Use: `return lua_throw(L);` */
int lua_throw(lua_State *L);

/** [raises] Throws ER_ILLEGAL_PARAMS ("Illegal parameters, ..."). */
int lua_throw_params(lua_State *L, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** [raises] Pushes nil and the fiber's last error. Use: `return lua_push_failure(L);` */
int lua_push_failure(lua_State *L);

/** Pushes an error object (takes a reference of its own). */
void lua_push_error(lua_State *L, struct error *e);

/** The error object at `idx`, borrowed; NULL where the value is none. */
struct error *lua_to_error(lua_State *L, int idx);

/**
 * Takes whatever was thrown (at the top; popped) to the diagnostics area; text becomes
 * LuajitError.
 */
void lua_to_diag(lua_State *L);

/* cdata ----------------------------------------------------------------- */

enum { LUA_TCDATA = 10 };

/** What a cdata is, for C: told from its type id, found out once at start-up. */
enum lua_cdata_kind {
	CDATA_OTHER = 0,
	CDATA_NULL,	/* a void pointer that is NULL: box.NULL */
	CDATA_INT64, CDATA_UINT64,
	CDATA_INT8, CDATA_UINT8, CDATA_INT16, CDATA_UINT16, CDATA_INT32, CDATA_UINT32,
	CDATA_FLOAT, CDATA_DOUBLE, CDATA_BOOL,
	CDATA_TUPLE, CDATA_ERROR, CDATA_UUID, CDATA_DECIMAL,
	CDATA_CHAR_PTR, CDATA_CONST_CHAR_PTR,
	CDATA_IBUF,	/* of the module buffer; see buffer.h */
	CDATA_DATETIME, CDATA_INTERVAL,
	CDATA_VARBINARY,	/* struct lua_varbinary */
};

/**
 * The kind of the cdata at `idx` (CDATA_OTHER where it is no cdata); its bytes in
 * *payload (for a pointer or an error: where the pointer stands). Never raises.
 */
enum lua_cdata_kind lua_cdata(lua_State *L, int idx, void **payload);

void lua_push_null(lua_State *L);
/**
 * A number where it is exact below 1e14, else a 64-bit cdata: as the reference decodes integers.
 */
void lua_push_int64(lua_State *L, int64_t value);
void lua_push_uint64(lua_State *L, uint64_t value);
/** A 64-bit cdata whatever the value. [raises] out of memory. */
void lua_push_uint64_cdata(lua_State *L, uint64_t value);

/** A cdata `char *` or `const char *`. [raises] out of memory. */
void lua_push_char_ptr(lua_State *L, const char *ptr, bool is_const);

/** Bytes that are no text, as scripts hold them: the module `varbinary`. */
struct lua_varbinary {
	uint32_t size;
	char data[];
};

/** Pushes a varbinary, or, unless the new behaviour is on, a string. [raises] out of memory. */
void lua_push_binary(lua_State *L, const char *data, size_t size);

/** What users choose with the module `compat`; each is off as in the reference of our version. */
struct lua_compat {
	/** Binary data is decoded as varbinary, not as a string. */
	bool binary_as_object;
	/** JSON leaves slashes as they are. */
	bool json_plain_slash;
	/** YAML writes strings of several lines as blocks. */
	bool yaml_block_text;
	/** box.session.push() is an error. */
	bool push_is_refused;
	/** net.box has tuples with the names of their fields, in calls and what they return. */
	bool calls_have_tuples;
};
extern struct lua_compat lua_compat;

/* Tuples ---------------------------------------------------------------- */

/**
 * A tuple as scripts hold it. Small ones (at most LUA_TUPLE_COPY_MAX bytes) are
 * copied into the collector's memory; large ones hold a counted reference, which is
 * given back when their memory is (box/tuple_watch.c). Each has this head, so every byte of it
 * counts.
 */
struct lua_tuple {
	/** Dictionary of the field names (see db/tuple/format.h); 0: none. */
	uint32_t dict;
	/** Bytes of the array in `body`; LUA_TUPLE_IS_LARGE: it is the origin's. */
	uint16_t _size;
	/** The format it had; may be another's meanwhile, see lua_tuple_format(). */
	uint16_t format_id;
	/**
	 * The tuple it was made from, or itself: equal for what is one tuple to users. Only
	 * that of a large one may be looked into. An address has 48 bits: LuaJIT allows for
	 * no more in its values either.
	 */
	uint16_t _origin[3];
	char body[];
};

_Static_assert(offsetof(struct lua_tuple, body) == 14, "the head is small");

enum {
	LUA_TUPLE_COPY_MAX = 1024,
	LUA_TUPLE_IS_LARGE = 0xffff,
	/** Bytes of `body` in a large one: blocks of an odd size, as few others are. */
	LUA_TUPLE_LARGE_BODY = 3,
};

/** Pushes a tuple; takes a reference of its own where it needs one. NULL pushes nil. */
void lua_push_tuple(lua_State *L, struct tuple *tuple);

/** The tuple at `idx`, valid while it is on the stack; NULL where the value is none. */
const struct lua_tuple *lua_to_tuple(lua_State *L, int idx);

/** Its MessagePack array and, where `size` is not NULL, the bytes of that. */
const char *lua_tuple_data(const struct lua_tuple *t, uint32_t *size);

/* Classes of userdata ---------------------------------------------------- */

/** Known by the address of its metatable, since looking that up by its name takes long. */
struct lua_class {
	/** Of the metatable in the registry, and in the text of errors. */
	const char *name;
	const void *metatable;
	int ref;
};

/** Makes the metatable and leaves it at the top. [raises] */
void lua_class_new(lua_State *L, struct lua_class *class);

/** The same for a class whose objects are only freed: leaves nothing. [raises] */
void lua_class_new_with_gc(lua_State *L, struct lua_class *class, lua_CFunction gc);

/** Makes the userdata at the top an object of the class. */
void lua_class_set(lua_State *L, const struct lua_class *class);

/** The object at `idx`. [raises] luaL_checkudata()'s error where there is no such. */
void *lua_class_check(lua_State *L, int idx, const struct lua_class *class);

/*
 * Where each nanosecond counts: objects that begin with the address of their class, a
 * mark, which takes half as long to compare as a metatable. All of a class have it or none.
 */

/**
 * Pushes an object with `size` bytes behind the mark; returns those, which the caller sets
 * up before anything else can raise. [raises]
 */
void *lua_class_push_marked(lua_State *L, const struct lua_class *class, size_t size);

/** The bytes behind the mark of the object at `idx`; NULL where the value is no such object. */
static inline void *lua_class_test_marked(lua_State *L, int idx, const struct lua_class *class)
{
	const struct lua_class **mark = lua_touserdata(L, idx);
	/* A light userdata has no length, and nothing that may be looked at. */
	if (mark == NULL || lua_objlen(L, idx) < sizeof(class) || *mark != class)
		return NULL;
	return mark + 1;
}

/** The same. [raises] luaL_checkudata()'s error where the value is no such object. */
static inline void *lua_class_check_marked(lua_State *L, int idx, const struct lua_class *class)
{
	void *object = lua_class_test_marked(L, idx, class);
	if (__builtin_expect(object == NULL, 0))
		luaL_typerror(L, idx, class->name);
	return object;
}

/* MessagePack ----------------------------------------------------------- */

/** Options of an encoder or decoder; the defaults of the reference in `lua_codec_default`. */
struct lua_codec {
	bool encode_sparse_convert;
	int encode_sparse_ratio, encode_sparse_safe;
	int encode_max_depth;
	/** The error of a too deep nesting says how deep it is (no option of users). */
	bool encode_depth_is_told;
	bool encode_deep_as_nil;
	bool encode_invalid_numbers;
	int encode_number_precision;
	bool encode_load_metatables;
	bool encode_use_tostring;
	bool encode_invalid_as_nil;
	bool encode_error_as_ext;
	bool decode_invalid_numbers;
	bool decode_save_metatables;
	int decode_max_depth;
	/**
	 * No option of users: tuples are extensions whose formats are noted there, or, for a
	 * decoder, found there. NULL: tuples become arrays, and such extensions are unknown.
	 */
	struct format_map *formats;
};
extern struct lua_codec lua_codec_default;
/** The same for tuples and keys: an array may have any number of holes. */
extern struct lua_codec lua_codec_tuple;

/** Names in the registry of the metatables that decoded containers get. */
#define LUA_ARRAY_MT "tarn.array_mt"
#define LUA_MAP_MT "tarn.map_mt"

/**
 * Appends nil, a boolean, a finite number or a string, which have one form whatever the
 * options; false, and nothing appended, for any other value.
 */
bool lua_encode_scalar(lua_State *L, int idx, struct buf *out);

/** Sets what the client of the running fiber's session has asked for. */
void lua_codec_for_session(struct lua_codec *codec);

/** [raises] Appends the value at `idx` to `out`. May run Lua (__serialize); never yields. */
void lua_encode(lua_State *L, int idx, struct buf *out, const struct lua_codec *codec);

/**
 * [raises] Appends the value at `idx`, which must be a table or a tuple, as an array: a tuple's or
 * key's form.
 */
void lua_encode_array(lua_State *L, int idx, struct buf *out);

/**
 * [raises] A key: a table or tuple as lua_encode_array(), nil as an empty array, a scalar as an
 * array of one.
 */
void lua_encode_key(lua_State *L, int idx, struct buf *out);
/**
 * [raises] The same, for searches: of a table those values that `#` counts, whatever else it
 * has, as in the reference.
 */
void lua_encode_search_key(lua_State *L, int idx, struct buf *out);

/**
 * Pushes the value at *data (well-formed) and moves *data behind it. [raises] an unknown
 * extension, out of memory.
 */
void lua_decode(lua_State *L, const char **data, const struct lua_codec *codec);

/**
 * A scratch buffer for encoding arguments, cleared. Each use gets its own (they
 * nest: a __serialize in the middle of an encoding may encode too); it goes back by
 * lua_scratch_put(), or by itself where an error unwinds the C stack.
 */
struct buf *lua_scratch_get(void);
void lua_scratch_put(struct buf *b);
