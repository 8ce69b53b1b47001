/* SPDX-License-Identifier: BSD-2-Clause
 *
 * msgpack.object: MessagePack that scripts hand around without decoding it, and its
 * iterator. Manual: module msgpack.
 *
 * An object's bytes lie in its userdata, so it needs no finalizer. What take() gives is
 * a part of another object and keeps that one alive through its environment, as an
 * iterator does.
 */
#include <string.h>

#include "data/mp.h"
#include "lua/bridge.h"
#include "lua/value/codec_cfg.h"
#include "lua/value/msgpack_object.h"
#include "lua/modules.h"

struct object {
	const char *data, *end;
	/** The options, as they were when it was made. */
	struct lua_codec codec;
	char body[];
};

struct iterator {
	const char *pos, *end;
	struct lua_codec codec;
};

static struct lua_class object_class = {.name = "msgpack.object"};
static struct lua_class iterator_class = {.name = "msgpack.iterator"};

const char *lua_msgpack_object(lua_State *L, int idx, size_t *size)
{
	if (lua_type(L, idx) != LUA_TUSERDATA || !lua_getmetatable(L, idx))
		return NULL;
	bool is_object = lua_topointer(L, -1) == object_class.metatable;
	lua_pop(L, 1);
	if (!is_object)
		return NULL;
	const struct object *o = lua_touserdata(L, idx);
	*size = o->end - o->data;
	return o->data;
}

/** Pushes an object with a copy of the bytes. */
static void push_copy(lua_State *L, const char *data, size_t size, const struct lua_codec *codec)
{
	struct object *o = lua_newuserdata(L, sizeof(*o) + size);
	memcpy(o->body, data, size);
	o->data = o->body;
	o->end = o->body + size;
	o->codec = *codec;
	lua_class_set(L, &object_class);
}

/** The value at the top lives as long as the one at `owner` is its environment's. */
static void keep_alive(lua_State *L, int owner)
{
	lua_createtable(L, 1, 0);
	lua_pushvalue(L, owner);
	lua_rawseti(L, -2, 1);
	lua_setfenv(L, -2);
}

int lua_msgpack_object_new(lua_State *L)
{
	if (lua_gettop(L) < 1)
		return luaL_error(L, "Usage: msgpack.object(value)");
	struct buf *b = lua_scratch_get();
	lua_encode(L, 1, b, lua_codec_of(L));
	push_copy(L, b->data, b->size, lua_codec_of(L));
	lua_scratch_put(b);
	return 1;
}

int lua_msgpack_object_from_raw(lua_State *L)
{
	size_t size = 0;
	const char *data = NULL;
	void *payload;
	enum lua_cdata_kind kind = lua_cdata(L, 1, &payload);
	if (lua_type(L, 1) == LUA_TSTRING) {
		data = lua_tolstring(L, 1, &size);
	} else if (kind == CDATA_CHAR_PTR || kind == CDATA_CONST_CHAR_PTR) {
		double n = luaL_checknumber(L, 2);
		data = n >= 0 && n < 0x1p46 ? *(const char **)payload : NULL;
		size = data != NULL ? (size_t)n : 0;
	}
	if (data == NULL)
		return luaL_error(L, "msgpack.object_from_raw: a Lua string or 'char *' expected");
	if (mp_check_whole(data, data + size) != 0)
		return luaL_error(L, "msgpack.object_from_raw: invalid MsgPack");
	push_copy(L, data, size, lua_codec_of(L));
	return 1;
}

int lua_msgpack_is_object(lua_State *L)
{
	size_t size;
	lua_pushboolean(L, lua_msgpack_object(L, 1, &size) != NULL);
	return 1;
}

/* Objects --------------------------------------------------------------------- */

static int object_decode(lua_State *L)
{
	const struct object *o = lua_class_check(L, 1, &object_class);
	const char *p = o->data;
	lua_decode(L, &p, &o->codec);
	return 1;
}

static int object_iterator(lua_State *L)
{
	const struct object *o = lua_class_check(L, 1, &object_class);
	struct iterator *it = lua_newuserdata(L, sizeof(*it));
	*it = (struct iterator){o->data, o->end, o->codec};
	lua_class_set(L, &iterator_class);
	keep_alive(L, 1);
	return 1;
}

/** Moves *p, at an array, to its element with the number at `idx`; false where there is none. */
static bool find_element(lua_State *L, int idx, const char **p)
{
	double n = lua_type(L, idx) == LUA_TNUMBER ? lua_tonumber(L, idx) : 0;
	uint32_t count = mp_decode_array(p);
	if (!(n >= 1 && n <= count) || n != (double)(uint32_t)n)
		return false;
	for (uint32_t i = 1; i < (uint32_t)n; i++)
		mp_next(p);
	return true;
}

/** The same for a map and a key, which is compared in MessagePack. */
static bool find_value(lua_State *L, int idx, const char **p)
{
	struct buf *key = lua_scratch_get();
	bool is_found = false;
	if (!lua_encode_scalar(L, idx, key))
		buf_truncate(key, 0);
	for (uint32_t count = mp_decode_map(p); count > 0 && !is_found; count--) {
		const char *begin = *p;
		mp_next(p);
		is_found = key->size > 0 && (size_t)(*p - begin) == key->size &&
			memcmp(begin, key->data, key->size) == 0;
		if (!is_found)
			mp_next(p);
	}
	lua_scratch_put(key);
	return is_found;
}

/** get(object, key): a field of an array or of a map, decoded; else nil */
static int object_get(lua_State *L)
{
	const struct object *o = lua_class_check(L, 1, &object_class);
	const char *p = o->data;
	enum mp_type type = mp_typeof(*p);
	lua_settop(L, 2);
	if ((type == MP_ARRAY && find_element(L, 2, &p)) ||
	    (type == MP_MAP && find_value(L, 2, &p)))
		lua_decode(L, &p, &o->codec);
	else
		lua_pushnil(L);
	return 1;
}

/** A method (they are in the upvalue), else a field. */
static int object_index(lua_State *L)
{
	lua_class_check(L, 1, &object_class);
	lua_settop(L, 2);
	lua_pushvalue(L, 2);
	lua_rawget(L, lua_upvalueindex(1));
	if (!lua_isnil(L, -1))
		return 1;
	return object_get(L);
}

static int class_tostring(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	return 1;
}

/* Iterators ------------------------------------------------------------------- */

static struct iterator *check_iterator(lua_State *L)
{
	return lua_class_check(L, 1, &iterator_class);
}

/** One with data left. [raises] */
static struct iterator *check_left(lua_State *L)
{
	struct iterator *it = check_iterator(L);
	if (it->pos >= it->end)
		luaL_error(L, "iteration ended");
	return it;
}

static int iterator_decode(lua_State *L)
{
	struct iterator *it = check_left(L);
	const char *p = it->pos;
	lua_decode(L, &p, &it->codec);
	it->pos = p;
	return 1;
}

static int iterator_skip(lua_State *L)
{
	mp_next(&check_left(L)->pos);
	return 0;
}

static int iterator_take(lua_State *L)
{
	struct iterator *it = check_left(L);
	struct object *o = lua_newuserdata(L, sizeof(*o));
	o->data = it->pos;
	mp_next(&it->pos);
	o->end = it->pos;
	o->codec = it->codec;
	lua_class_set(L, &object_class);
	/* The iterator's environment holds the bytes; so the part holds the iterator. */
	keep_alive(L, 1);
	return 1;
}

static int iterator_decode_array_header(lua_State *L)
{
	struct iterator *it = check_left(L);
	if (mp_typeof(*it->pos) != MP_ARRAY)
		return luaL_error(L, "unexpected msgpack type");
	lua_pushnumber(L, mp_decode_array(&it->pos));
	return 1;
}

static int iterator_decode_map_header(lua_State *L)
{
	struct iterator *it = check_left(L);
	if (mp_typeof(*it->pos) != MP_MAP)
		return luaL_error(L, "unexpected msgpack type");
	lua_pushnumber(L, mp_decode_map(&it->pos));
	return 1;
}

/** Takes `count` values at once: the head of an array in front of them is not needed. */
static int iterator_take_array(lua_State *L)
{
	struct iterator *it = check_iterator(L);
	double n = luaL_checknumber(L, 2);
	if (!(n >= 0 && n <= UINT32_MAX))
		return luaL_error(L, "Usage: iterator:take_array(count)");
	const char *begin = it->pos, *p = begin;
	for (uint32_t i = 0; i < (uint32_t)n; i++) {
		if (p >= it->end)
			return luaL_error(L, "iteration ended");
		mp_next(&p);
	}
	struct buf *b = lua_scratch_get();
	char *head = buf_reserve(b, 5);
	b->size += mp_encode_array(head, (uint32_t)n) - head;
	buf_append(b, begin, p - begin);
	push_copy(L, b->data, b->size, &it->codec);
	lua_scratch_put(b);
	it->pos = p;
	return 1;
}

static void make_class(lua_State *L, struct lua_class *class, const luaL_Reg *methods)
{
	lua_class_new(L, class);
	lua_newtable(L);
	for (const luaL_Reg *m = methods; m->name != NULL; m++) {
		lua_pushcfunction(L, m->func);
		lua_setfield(L, -2, m->name);
	}
	if (class == &object_class)
		lua_pushcclosure(L, object_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushstring(L, class->name);
	lua_pushcclosure(L, class_tostring, 1);
	lua_setfield(L, -2, "__tostring");
}

void lua_msgpack_object_init(lua_State *L)
{
	static const luaL_Reg object_methods[] = {
		{"decode", object_decode}, {"iterator", object_iterator}, {"get", object_get},
		{NULL, NULL},
	};
	static const luaL_Reg iterator_methods[] = {
		{"decode", iterator_decode}, {"skip", iterator_skip}, {"take", iterator_take},
		{"take_array", iterator_take_array},
		{"decode_array_header", iterator_decode_array_header},
		{"decode_map_header", iterator_decode_map_header},
		{NULL, NULL},
	};
	make_class(L, &object_class, object_methods);
	lua_pushcfunction(L, object_decode);
	lua_setfield(L, -2, "__serialize");
	lua_pop(L, 1);
	make_class(L, &iterator_class, iterator_methods);
	lua_pop(L, 1);
}
