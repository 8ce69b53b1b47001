/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cdata, seen from C.
 *
 * LuaJIT's public interface gives the address of a cdata's bytes (lua_topointer) but
 * not its type. The type's id, a 16-bit number, stands somewhere in the object's
 * header: at start-up samples of known types are made in Lua (cdata.lua) and the one
 * place before their bytes is looked for at which every sample has its own id. With
 * it, telling what a value is costs one load and one look into a table. Where there
 * is no such place, a Lua function is asked, which is slower and right as well.
 *
 * A cdata is made by a Lua function in the registry, and filled in by C.
 */
#include <assert.h>
#include <string.h>

#include "core/log.h"
#include "lua/bridge_impl.h"

enum {
	/** Bytes of a fixed-size cdata's header, all of them ours to read. */
	HEADER_SIZE = 16,
	/** An odd number: no place was found. */
	ID_UNKNOWN = 1,
};

/** Where the id stands, from the bytes. */
static int id_offset = ID_UNKNOWN;
static bool is_slow;
static uint8_t kind_by_id[UINT16_MAX + 1];

static int ref_null, ref_classify, ref_int64, ref_uint64, ref_uuid, ref_serializer;
static int ref_decimal, ref_datetime, ref_interval, ref_varbinary;
static int ref_char_ptr, ref_const_char_ptr;

static uint16_t id_at(const void *payload, int offset)
{
	uint16_t id;
	memcpy(&id, (const char *)payload + offset, sizeof(id));
	return id;
}

/** Does every sample (pairs of id and cdata in the table at the top) have its id at `offset`? */
static bool samples_agree(lua_State *L, int offset)
{
	int count = lua_objlen(L, -1);
	bool agree = count > 0;
	for (int i = 1; i < count && agree; i += 2) {
		lua_rawgeti(L, -1, i);
		lua_rawgeti(L, -2, i + 1);
		agree = lua_tointeger(L, -2) == id_at(lua_topointer(L, -1), offset);
		lua_pop(L, 2);
	}
	return agree;
}

static void find_id_offset(lua_State *L)
{
	int found = 0;
	lua_getfield(L, -1, "samples");
	for (int offset = -HEADER_SIZE; offset <= -2; offset += 2) {
		if (samples_agree(L, offset)) {
			id_offset = offset;
			found++;
		}
	}
	lua_pop(L, 1);
	if (found != 1)
		id_offset = ID_UNKNOWN;
	is_slow = id_offset == ID_UNKNOWN;
}

static void load_kinds(lua_State *L)
{
	lua_getfield(L, -1, "kind_by_id");
	for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
		lua_Integer id = lua_tointeger(L, -2);
		assert(id > 0 && id <= UINT16_MAX);
		kind_by_id[id] = lua_tointeger(L, -1);
	}
	lua_pop(L, 1);
}

static int ref_field(lua_State *L, const char *name)
{
	lua_getfield(L, -1, name);
	return lua_ref_forever(L);
}

void lua_cdata_init(lua_State *L)
{
	lua_load_embedded(L, "cdata.lua", "internal.cdata");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "internal.cdata");
	find_id_offset(L);
	load_kinds(L);
	ref_null = ref_field(L, "null");
	ref_classify = ref_field(L, "classify");
	ref_int64 = ref_field(L, "new_int64");
	ref_uint64 = ref_field(L, "new_uint64");
	ref_uuid = ref_field(L, "new_uuid");
	ref_decimal = ref_field(L, "new_decimal");
	ref_datetime = ref_field(L, "new_datetime");
	ref_interval = ref_field(L, "new_interval");
	ref_varbinary = ref_field(L, "new_varbinary");
	ref_char_ptr = ref_field(L, "new_char_ptr");
	ref_const_char_ptr = ref_field(L, "new_const_char_ptr");
	ref_serializer = ref_field(L, "serializer");
	lua_pop(L, 2);
	if (is_slow)
		say_verbose("cdata: type ids are asked of Lua");
}

bool lua_cdata_force_slow(bool yesno)
{
	bool was = is_slow;
	is_slow = yesno || id_offset == ID_UNKNOWN;
	return was;
}

static enum lua_cdata_kind kind_slow(lua_State *L, int idx)
{
	lua_pushvalue(L, idx);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_classify);
	lua_insert(L, -2);
	lua_call(L, 1, 1);
	enum lua_cdata_kind kind = lua_tointeger(L, -1);
	lua_pop(L, 1);
	return kind;
}

enum lua_cdata_kind lua_cdata(lua_State *L, int idx, void **payload)
{
	if (lua_type(L, idx) != LUA_TCDATA)
		return CDATA_OTHER;
	void *bytes = (void *)lua_topointer(L, idx);
	*payload = bytes;
	enum lua_cdata_kind kind = is_slow ? kind_slow(L, idx) :
					     kind_by_id[id_at(bytes, id_offset)];
	if (kind == CDATA_NULL && *(void **)bytes != NULL)
		return CDATA_OTHER;
	return kind;
}

bool lua_cdata_was_tuple(const void *payload)
{
	return id_offset != ID_UNKNOWN && kind_by_id[id_at(payload, id_offset)] == CDATA_TUPLE;
}

/* Pushing ---------------------------------------------------------------- */

void lua_push_null(lua_State *L)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_null);
}

void *lua_push_new(lua_State *L, int ref)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
	lua_call(L, 0, 1);
	return (void *)lua_topointer(L, -1);
}

/** Integers below it are handed out as numbers; the reference's limit, not that of a double. */
static const int64_t NUMBER_LIMIT = 100000000000000;

void lua_push_int64(lua_State *L, int64_t value)
{
	if (value > -NUMBER_LIMIT && value < NUMBER_LIMIT) {
		lua_pushnumber(L, (lua_Number)value);
		return;
	}
	*(int64_t *)lua_push_new(L, ref_int64) = value;
}

void lua_push_uint64_cdata(lua_State *L, uint64_t value)
{
	*(uint64_t *)lua_push_new(L, ref_uint64) = value;
}

void lua_push_uint64(lua_State *L, uint64_t value)
{
	if (value < (uint64_t)NUMBER_LIMIT) {
		lua_pushnumber(L, (lua_Number)value);
		return;
	}
	lua_push_uint64_cdata(L, value);
}

void *lua_push_uuid_new(lua_State *L)
{
	return lua_push_new(L, ref_uuid);
}

struct decimal *lua_push_decimal_new(lua_State *L)
{
	return lua_push_new(L, ref_decimal);
}

struct datetime *lua_push_datetime_new(lua_State *L)
{
	return lua_push_new(L, ref_datetime);
}

struct interval *lua_push_interval_new(lua_State *L)
{
	return lua_push_new(L, ref_interval);
}

struct lua_compat lua_compat;

void lua_push_binary(lua_State *L, const char *data, size_t size)
{
	if (!lua_compat.binary_as_object) {
		lua_pushlstring(L, data, size);
		return;
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_varbinary);
	lua_pushnumber(L, (lua_Number)size);
	lua_call(L, 1, 1);
	struct lua_varbinary *v = (struct lua_varbinary *)lua_topointer(L, -1);
	memcpy(v->data, data, size);
}

void lua_push_char_ptr(lua_State *L, const char *ptr, bool is_const)
{
	*(const char **)lua_push_new(L, is_const ? ref_const_char_ptr : ref_char_ptr) = ptr;
}

bool lua_cdata_serializer(lua_State *L, int idx)
{
	lua_pushvalue(L, idx);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_serializer);
	lua_insert(L, -2);
	lua_call(L, 1, 1);
	if (!lua_isnil(L, -1))
		return true;
	lua_pop(L, 1);
	return false;
}
