/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module interface (include/tarn/module.h): helpers for modules that use Lua's C
 * interface. What they are not able to do in C is in module_helpers.lua.
 *
 * A small tuple is a copy in the collector's memory and has no struct tuple. One is
 * made where a module asks for it, and is held by a userdata for as long as the
 * script's tuple lives.
 */
#include <errno.h>
#include <stdlib.h>

#include "db/tuple/tuple.h"
#include "lua/bridge_impl.h"
#include "lua/box/tuple.h"
#include "lua/module/module_box.h"
#include "lua/modules.h"

static int ref_tuples, ref_ctypeid, ref_typeid, ref_new, ref_cdef, ref_gc, ref_tostring;
static struct lua_class holder_class = {.name = "tarn.tuple_holder"};

static int absolute(lua_State *L, int idx)
{
	return idx < 0 && idx > LUA_REGISTRYINDEX ? lua_gettop(L) + idx + 1 : idx;
}

/* Calls and errors ------------------------------------------------------------------- */

MODULE_API lua_State *luaT_state(void);
MODULE_API int luaT_call(lua_State *L, int arg_count, int result_count);
MODULE_API int luaT_cpcall(lua_State *L, lua_CFunction func, void *ud);
MODULE_API int luaT_error(lua_State *L);
MODULE_API int luaT_push_nil_and_error(lua_State *L);
MODULE_API void luaT_pusherror(lua_State *L, struct error *e);

lua_State *luaT_state(void)
{
	return lua_main;
}

int luaT_call(lua_State *L, int arg_count, int result_count)
{
	return lua_call_protected(L, arg_count, result_count);
}

int luaT_cpcall(lua_State *L, lua_CFunction func, void *ud)
{
	lua_pushcfunction(L, func);
	lua_pushlightuserdata(L, ud);
	return lua_call_protected(L, 1, 0);
}

int luaT_error(lua_State *L)
{
	return lua_throw(L);
}

int luaT_push_nil_and_error(lua_State *L)
{
	return lua_push_failure(L);
}

void luaT_pusherror(lua_State *L, struct error *e)
{
	lua_push_error(L, e);
}

/* Tuples ------------------------------------------------------------------------------- */

MODULE_API void luaT_pushtuple(lua_State *L, struct tuple *tuple);
MODULE_API struct tuple *luaT_istuple(lua_State *L, int idx);
MODULE_API struct tuple *luaT_checktuple(lua_State *L, int idx);

void luaT_pushtuple(lua_State *L, struct tuple *tuple)
{
	lua_push_tuple(L, tuple);
}

static int holder_gc(lua_State *L)
{
	struct tuple **holder = lua_class_check(L, 1, &holder_class);
	if (*holder != NULL)
		tuple_unref(*holder);
	*holder = NULL;
	return 0;
}

/** Pushes a holder with a counted tuple of the same data and format. */
static struct tuple *push_holder(lua_State *L, const struct lua_tuple *t)
{
	struct tuple **holder = lua_newuserdata(L, sizeof(*holder));
	*holder = NULL;
	lua_class_set(L, &holder_class);
	uint32_t size;
	const char *data = lua_tuple_data(t, &size);
	*holder = tuple_new(lua_tuple_format(t), data, data + size);
	if (*holder == NULL)
		lua_throw(L);
	return *holder;
}

/** The counted tuple of a small one: made once. */
static struct tuple *small_tuple(lua_State *L, int idx, const struct lua_tuple *t)
{
	luaL_checkstack(L, 4, "tuple");
	idx = absolute(L, idx);
	int top = lua_gettop(L);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_tuples);
	lua_pushvalue(L, idx);
	lua_rawget(L, -2);
	struct tuple *tuple;
	if (lua_isuserdata(L, -1)) {
		tuple = *(struct tuple **)lua_touserdata(L, -1);
	} else {
		lua_pushvalue(L, idx);
		tuple = push_holder(L, t);
		lua_rawset(L, top + 1);
	}
	lua_settop(L, top);
	return tuple;
}

struct tuple *luaT_istuple(lua_State *L, int idx)
{
	const struct lua_tuple *t = lua_to_tuple(L, idx);
	if (t == NULL)
		return NULL;
	return t->_size == LUA_TUPLE_IS_LARGE ? (struct tuple *)lua_tuple_origin(t) :
						small_tuple(L, idx, t);
}

struct tuple *luaT_checktuple(lua_State *L, int idx)
{
	struct tuple *tuple = luaT_istuple(L, idx);
	if (tuple == NULL)
		luaL_error(L, "Invalid argument #%d (box.tuple expected, got %s)",
			   absolute(L, idx), luaL_typename(L, idx));
	return tuple;
}

/* Values --------------------------------------------------------------------------------- */

MODULE_API const char *luaT_tolstring(lua_State *L, int idx, size_t *size);
MODULE_API int luaL_iscallable(lua_State *L, int idx);
MODULE_API void luaL_pushint64(lua_State *L, int64_t value);
MODULE_API void luaL_pushuint64(lua_State *L, uint64_t value);
MODULE_API int64_t luaL_toint64(lua_State *L, int idx);
MODULE_API uint64_t luaL_touint64(lua_State *L, int idx);
MODULE_API int64_t luaL_checkint64(lua_State *L, int idx);
MODULE_API uint64_t luaL_checkuint64(lua_State *L, int idx);

const char *luaT_tolstring(lua_State *L, int idx, size_t *size)
{
	lua_pushvalue(L, idx);
	if (lua_type(L, -1) != LUA_TSTRING) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, ref_tostring);
		lua_insert(L, -2);
		lua_call(L, 1, 1);
	}
	return lua_tolstring(L, -1, size);
}

int luaL_iscallable(lua_State *L, int idx)
{
	if (lua_isfunction(L, idx))
		return 1;
	if (luaL_getmetafield(L, idx, "__call") == 0)
		return 0;
	lua_pop(L, 1);
	return 1;
}

void luaL_pushint64(lua_State *L, int64_t value)
{
	lua_push_int64(L, value);
}

void luaL_pushuint64(lua_State *L, uint64_t value)
{
	lua_push_uint64(L, value);
}

/** The integer in a cdata of a number's type. */
static bool cdata_to_int64(lua_State *L, int idx, int64_t *value)
{
	void *payload;
	switch (lua_cdata(L, idx, &payload)) {
	case CDATA_INT64:
	case CDATA_UINT64: *value = *(int64_t *)payload; return true;
	case CDATA_INT32: *value = *(int32_t *)payload; return true;
	case CDATA_UINT32: *value = *(uint32_t *)payload; return true;
	case CDATA_INT16: *value = *(int16_t *)payload; return true;
	case CDATA_UINT16: *value = *(uint16_t *)payload; return true;
	case CDATA_INT8: *value = *(int8_t *)payload; return true;
	case CDATA_UINT8: *value = *(uint8_t *)payload; return true;
	default: return false;
	}
}

/** The digits that the text begins with. */
static bool string_to_int64(const char *text, bool is_signed, int64_t *value)
{
	char *end;
	errno = 0;
	int64_t n = is_signed ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
	if (errno != 0 || end == text)
		return false;
	*value = n;
	return true;
}

static int64_t number_to_int64(lua_Number n, bool is_signed)
{
	if (is_signed || n < 0)
		return n < 9223372036854775808.0 && n >= -9223372036854775808.0 ? (int64_t)n :
										 INT64_MIN;
	return n < 18446744073709551616.0 ? (int64_t)(uint64_t)n : 0;
}

static bool to_int64(lua_State *L, int idx, bool is_signed, int64_t *value)
{
	*value = 0;
	switch (lua_type(L, idx)) {
	case LUA_TNUMBER:
		*value = number_to_int64(lua_tonumber(L, idx), is_signed);
		return true;
	case LUA_TSTRING: return string_to_int64(lua_tostring(L, idx), is_signed, value);
	case LUA_TCDATA: return cdata_to_int64(L, idx, value);
	default: return false;
	}
}

int64_t luaL_toint64(lua_State *L, int idx)
{
	int64_t value;
	return to_int64(L, idx, true, &value) ? value : 0;
}

uint64_t luaL_touint64(lua_State *L, int idx)
{
	int64_t value;
	return to_int64(L, idx, false, &value) ? (uint64_t)value : 0;
}

int64_t luaL_checkint64(lua_State *L, int idx)
{
	int64_t value;
	if (!to_int64(L, idx, true, &value))
		lua_pushfstring(L, "expected int64_t as %d argument", idx), lua_error(L);
	return value;
}

uint64_t luaL_checkuint64(lua_State *L, int idx)
{
	int64_t value;
	if (!to_int64(L, idx, false, &value))
		lua_pushfstring(L, "expected uint64_t as %d argument", idx), lua_error(L);
	return (uint64_t)value;
}

/* C types ---------------------------------------------------------------------------------- */

MODULE_API uint32_t luaL_ctypeid(lua_State *L, const char *name);
MODULE_API int luaL_cdef(lua_State *L, const char *text);
MODULE_API void *luaL_pushcdata(lua_State *L, uint32_t ctypeid);
MODULE_API void *luaL_checkcdata(lua_State *L, int idx, uint32_t *ctypeid);
MODULE_API void luaL_setcdatagc(lua_State *L, int idx);

uint32_t luaL_ctypeid(lua_State *L, const char *name)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_ctypeid);
	lua_pushstring(L, name);
	lua_call(L, 1, 1);
	uint32_t id = (uint32_t)lua_tonumber(L, -1);
	lua_pop(L, 1);
	return id;
}

int luaL_cdef(lua_State *L, const char *text)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_cdef);
	lua_pushstring(L, text);
	return lua_pcall(L, 1, 0, 0);
}

void *luaL_pushcdata(lua_State *L, uint32_t ctypeid)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_new);
	lua_pushnumber(L, ctypeid);
	lua_call(L, 1, 1);
	return (void *)lua_topointer(L, -1);
}

void *luaL_checkcdata(lua_State *L, int idx, uint32_t *ctypeid)
{
	if (lua_type(L, idx) != LUA_TCDATA)
		luaL_error(L, "expected cdata as %d argument", idx);
	idx = absolute(L, idx);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_typeid);
	lua_pushvalue(L, idx);
	lua_call(L, 1, 1);
	*ctypeid = (uint32_t)lua_tonumber(L, -1);
	lua_pop(L, 1);
	return (void *)lua_topointer(L, idx);
}

void luaL_setcdatagc(lua_State *L, int idx)
{
	idx = absolute(L, idx);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_gc);
	lua_pushvalue(L, idx);
	lua_pushvalue(L, -3);
	lua_call(L, 2, 0);
	lua_pop(L, 1);
}

/* Set-up ------------------------------------------------------------------------------------- */

static int ref_field(lua_State *L, const char *name)
{
	lua_getfield(L, -1, name);
	return lua_ref_forever(L);
}

void lua_module_helpers_init(lua_State *L)
{
	lua_class_new(L, &holder_class);
	lua_pushcfunction(L, holder_gc);
	lua_setfield(L, -2, "__gc");
	lua_load_embedded(L, "module_helpers.lua", "tarn.module_helpers");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "tarn.module_helpers");
	ref_tuples = ref_field(L, "tuples");
	ref_ctypeid = ref_field(L, "ctypeid");
	ref_typeid = ref_field(L, "typeid");
	ref_new = ref_field(L, "new");
	ref_cdef = ref_field(L, "cdef");
	ref_gc = ref_field(L, "gc");
	ref_tostring = ref_field(L, "tostring");
}
