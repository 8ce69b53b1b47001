/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples as scripts hold them: making them (struct lua_tuple, see bridge.h) and
 * looking up fields. The metatype is in tuple.lua, the methods in tuple_methods.c.
 *
 * The way to a field is a walk over those before it. The last field found is
 * remembered, so that a script that goes through a tuple in order walks it once.
 */
#include "lua/box/tuple.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "data/mp.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple.h"
#include "core/memory.h"
#include "lua/alloc.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"

static int ref_new_small, ref_new_large, ref_new_row;

/** The field found last, by its number from 0. A tuple that is made at `t` forgets it. */
static struct {
	const struct lua_tuple *t;
	uint32_t fieldno;
	const char *data;
} last_found;

/* Making ------------------------------------------------------------------- */

static bool is_large(const struct lua_tuple *t)
{
	return t->_size == LUA_TUPLE_IS_LARGE;
}

static void set_origin(struct lua_tuple *t, const void *origin)
{
	uintptr_t address = (uintptr_t)origin;
	assert(address >> 48 == 0);
	for (int i = 0; i < 3; i++)
		t->_origin[i] = (uint16_t)(address >> 16 * i);
}

/**
 * The collector does not know how much memory large tuples hold, and so would leave them for
 * long. As they are handed out, it is made to work so much that it has gone through the heap once
 * for each eighth of memtx_memory.
 */
static struct {
	/** Bytes of large tuples that Lua has, and those handed out since the collector worked. */
	size_t held, debt;
} large;

enum { LARGE_DEBT_MIN = 256 * 1024, LARGE_DEBT_MAX = 4 * 1024 * 1024, LARGE_DEBTS = 16 };

/** What a step of LuaJIT's collector does at its usual pace, in bytes. */
enum { GC_STEP_WORK = 2048 };

static size_t large_debt_max(void)
{
	size_t debt = tuple_memory.limit / 8 / LARGE_DEBTS;
	debt = debt < LARGE_DEBT_MIN ? LARGE_DEBT_MIN : debt;
	return debt > LARGE_DEBT_MAX ? LARGE_DEBT_MAX : debt;
}

bool lua_tuple_is_due(void)
{
	return large.debt >= large_debt_max();
}

/** [runs finalizers] Lets the collector work, where that is due. */
static void large_pay(lua_State *L)
{
	if (!lua_tuple_is_due())
		return;
	large.debt = 0;
	for (size_t n = lua_heap_used() / GC_STEP_WORK / LARGE_DEBTS; n > 0; n--)
		lua_gc(L, LUA_GCSTEP, 0);
}

static int pay(lua_State *L)
{
	large_pay(L);
	return 0;
}

size_t lua_tuple_held(void)
{
	return large.held;
}

const char *lua_tuple_data(const struct lua_tuple *t, uint32_t *size)
{
	uint32_t ignored;
	if (is_large(t))
		return tuple_data_range(lua_tuple_origin(t), size != NULL ? size : &ignored);
	if (size != NULL)
		*size = t->_size;
	return t->body;
}

uint32_t lua_tuple_size(const struct tuple *tuple)
{
	return tuple->bsize;
}

uint32_t lua_tuple_bsize(const struct lua_tuple *t)
{
	uint32_t size;
	lua_tuple_data(t, &size);
	return size;
}

void lua_tuple_fill(struct lua_tuple *t, struct tuple *tuple)
{
	last_found.t = NULL;
	t->dict = tuple_format(tuple)->dict->id;
	t->format_id = tuple->format_id;
	set_origin(t, tuple);
	if (tuple->bsize > LUA_TUPLE_COPY_MAX) {
		tuple_ref(tuple);
		t->_size = LUA_TUPLE_IS_LARGE;
		large.held += tuple->bsize;
		large.debt += tuple->bsize;
	} else {
		t->_size = (uint16_t)tuple->bsize;
		memcpy(t->body, tuple_data(tuple), tuple->bsize);
	}
}

void lua_tuple_forget(const struct lua_tuple *t)
{
	struct tuple *origin = (struct tuple *)lua_tuple_origin(t);
	large.held -= origin->bsize;
	tuple_unref(origin);
}

void lua_tuple_release(struct lua_tuple *t)
{
	/* A finalizer that comes later may still look at it: an empty tuple. */
	static const struct {
		struct tuple tuple;
		char data;
	} empty = {{.refs = 1, .bsize = 1, .data_offset = sizeof(struct tuple)}, (char)0x90};
	const void *origin = lua_tuple_origin(t);
	if (is_large(t) && origin != &empty)
		lua_tuple_forget(t);
	t->_size = LUA_TUPLE_IS_LARGE;
	set_origin(t, &empty);
}

/** Pushes an empty one with room for `size` bytes, or with a finalizer where it is large. */
static struct lua_tuple *push_empty(lua_State *L, uint32_t size)
{
	if (size > LUA_TUPLE_COPY_MAX)
		return lua_push_new(L, ref_new_large);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_new_small);
	lua_pushnumber(L, size);
	lua_call(L, 1, 1);
	return (struct lua_tuple *)lua_topointer(L, -1);
}

void lua_push_tuple(lua_State *L, struct tuple *tuple)
{
	if (tuple == NULL) {
		lua_pushnil(L);
		return;
	}
	lua_tuple_fill(push_empty(L, tuple->bsize), tuple);
	if (large.debt > 0)
		large_pay(L);
}

/** Puts a tuple into its room in the table on top of the stack, or makes it, where it has none. */
static void set_tuple(lua_State *L, int idx, struct tuple *tuple)
{
	if (tuple->bsize > LUA_TUPLE_COPY_MAX) {
		lua_push_tuple(L, tuple);
		lua_rawseti(L, -2, idx);
		return;
	}
	lua_rawgeti(L, -1, idx);
	lua_tuple_fill((struct lua_tuple *)lua_topointer(L, -1), tuple);
	lua_pop(L, 1);
}

void lua_set_tuples(lua_State *L, int first, struct tuple *const *tuples, uint32_t count)
{
	assert(count <= LUA_SET_TUPLES_MAX);
	uint16_t sizes[LUA_SET_TUPLES_MAX];
	for (uint32_t i = 0; i < count; i++)
		sizes[i] = tuples[i]->bsize > LUA_TUPLE_COPY_MAX ? 0 : tuples[i]->bsize;
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_new_row);
	lua_pushvalue(L, -2);
	lua_pushinteger(L, first);
	lua_pushinteger(L, count);
	lua_pushnumber(L, (lua_Number)(uintptr_t)sizes);
	lua_call(L, 4, 0);
	for (uint32_t i = 0; i < count; i++)
		set_tuple(L, first + (int)i, tuples[i]);
}

/**
 * A large one: the tuple is made once the cdata is there, so that nothing is lost if that fails.
 */
static struct lua_tuple *push_new_large(lua_State *L, struct tuple_format *format,
					const char *data, const char *end)
{
	struct lua_tuple *t = push_empty(L, end - data);
	struct tuple *tuple = tuple_new(format, data, end);
	if (tuple == NULL)
		lua_throw(L);
	lua_tuple_fill(t, tuple);
	tuple_unref(tuple);
	large_pay(L);
	return t;
}

void lua_push_new_tuple(lua_State *L, struct tuple_format *format, uint32_t dict, const char *data,
			const char *end)
{
	if (end - data > LUA_TUPLE_COPY_MAX) {
		push_new_large(L, format, data, end)->dict = dict;
		return;
	}
	struct lua_tuple *t = push_empty(L, end - data);
	last_found.t = NULL;
	t->_size = (uint16_t)(end - data);
	t->dict = dict;
	t->format_id = format->id;
	set_origin(t, t);
	memcpy(t->body, data, end - data);
}

const struct lua_tuple *lua_to_tuple(lua_State *L, int idx)
{
	void *payload;
	return lua_cdata(L, idx, &payload) == CDATA_TUPLE ? payload : NULL;
}

struct tuple_format *lua_tuple_format(const struct lua_tuple *t)
{
	struct tuple_format *format = tuple_formats[t->format_id];
	return format != NULL && format->dict->id == t->dict ? format : tuple_format_default;
}

bool lua_tuple_is_same(const struct lua_tuple *a, const struct lua_tuple *b)
{
	if (a == b)
		return true;
	uint32_t a_size, b_size;
	const char *a_data = lua_tuple_data(a, &a_size), *b_data = lua_tuple_data(b, &b_size);
	return lua_tuple_origin(a) == lua_tuple_origin(b) && a_size == b_size &&
		memcmp(a_data, b_data, a_size) == 0;
}

/* Fields --------------------------------------------------------------------- */

/** The MessagePack of a field by its number from 0, or NULL. */
static const char *find_field(const struct lua_tuple *t, uint32_t fieldno)
{
	const char *p = lua_tuple_data(t, NULL);
	if (fieldno >= mp_decode_array(&p))
		return NULL;
	uint32_t i = 0;
	if (last_found.t == t && last_found.fieldno <= fieldno) {
		i = last_found.fieldno;
		p = last_found.data;
	}
	for (; i < fieldno; i++)
		mp_next(&p);
	last_found.t = t;
	last_found.fieldno = fieldno;
	last_found.data = p;
	return p;
}

/** Integers within it are Lua numbers (see lua_push_int64); others are cdata. */
static const int64_t NUMBER_LIMIT = 100000000000000;

static int number_found(struct lua_field *field, double number)
{
	field->number = number;
	return FIELD_NUMBER;
}

static int uint_found(struct lua_field *field, const char *p)
{
	uint64_t value = mp_decode_uint(&p);
	return value < (uint64_t)NUMBER_LIMIT ? number_found(field, (double)value) : FIELD_OTHER;
}

static int int_found(struct lua_field *field, const char *p)
{
	int64_t value = mp_decode_int(&p);
	return value > -NUMBER_LIMIT ? number_found(field, (double)value) : FIELD_OTHER;
}

int lua_tuple_field(const struct lua_tuple *t, double number, struct lua_field *field)
{
	if (!(number >= 1 && number <= UINT32_MAX))
		return FIELD_NONE;
	const char *p = find_field(t, (uint32_t)number - 1);
	if (p == NULL)
		return FIELD_NONE;
	field->data = p;
	switch (mp_typeof(*p)) {
	case MP_UINT: return uint_found(field, p);
	case MP_INT: return int_found(field, p);
	case MP_FLOAT: return number_found(field, mp_decode_float(&p));
	case MP_DOUBLE: return number_found(field, mp_decode_double(&p));
	case MP_NIL: return FIELD_NULL;
	case MP_BOOL: return mp_decode_bool(&p) ? FIELD_TRUE : FIELD_FALSE;
	case MP_STR:
		field->data = mp_decode_str(&p, &field->size);
		return FIELD_STRING;
	default: return FIELD_OTHER;
	}
}

void lua_tuple_init(lua_State *L)
{
	lua_new_module(L, "tarn.tuple", NULL);
	lua_pushcfunction(L, pay);
	lua_setfield(L, -2, "pay");
	lua_tuple_methods_init(L);
	lua_pushboolean(L, lua_tuple_watch(L));
	lua_setfield(L, -2, "is_watched");
	lua_pop(L, 1);
	lua_load_embedded(L, "tuple.lua", "internal.tuple");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "internal.tuple");
	lua_getfield(L, -1, "new_small");
	ref_new_small = lua_ref_forever(L);
	lua_getfield(L, -1, "new_row");
	ref_new_row = lua_ref_forever(L);
	lua_getfield(L, -1, "new_large");
	ref_new_large = lua_ref_forever(L);
	lua_pop(L, 2);
}
