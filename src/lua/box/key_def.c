/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module key_def: definitions of keys, and what can be done with them outside of a
 * space. The methods, with the checks of their arguments, are in key_def.lua; texts of
 * errors are those observed of the reference.
 *
 * Functions get the definition as a cdata and tuples as tuples; key_def.lua sees to that.
 */
#include "lua/box/key_def.h"

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/field_path.h"
#include "db/tuple/format.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple.h"
#include "lua/bridge_impl.h"
#include "lua/box/tuple.h"
#include "lua/modules.h"

enum { PART_MAX = 255 };

static int throw_illegal(lua_State *L, const char *text)
{
	diag_set(IllegalParams, "%s", text);
	return lua_throw(L);
}

static int throw_type(lua_State *L, const char *what, const char *type)
{
	diag_set(IllegalParams, "%s field type: %s", what, type);
	return lua_throw(L);
}

static struct tarn_key_def *to_key_def(lua_State *L, int idx)
{
	return (struct tarn_key_def *)lua_topointer(L, idx);
}

/* For FFI ---------------------------------------------------------------------- */

void tarn_key_def_release(struct tarn_key_def *key)
{
	if (key->def != NULL)
		key_def_delete(key->def);
	key->def = NULL;
}

int tarn_key_def_compare(const struct tarn_key_def *key, const struct lua_tuple *a,
			 const struct lua_tuple *b)
{
	return tuple_compare_raw(lua_tuple_data(a, NULL), lua_tuple_data(b, NULL), key->def);
}

struct tuple_format *tarn_key_def_format(const struct tarn_key_def *key)
{
	struct key_def *def = key->def;
	return tuple_format_new(&def, 1, NULL, 0, 0);
}

void tarn_format_release(struct tuple_format *format)
{
	tuple_format_unref(format);
}

int tarn_format_check(struct tuple_format *format, const struct lua_tuple *t)
{
	uint32_t size;
	const char *data = lua_tuple_data(t, &size);
	return tuple_format_validate(format, data, data + size);
}

/* Parts ------------------------------------------------------------------------- */

static void push_collation(lua_State *L, uint32_t id)
{
	const struct coll_id *coll_id = id != COLL_ID_NONE ? coll_id_by_id(id) : NULL;
	if (coll_id == NULL)
		return;
	lua_pushstring(L, coll_id->name);
	lua_setfield(L, -2, "collation");
}

void lua_push_key_parts(lua_State *L, const struct key_def *def)
{
	lua_createtable(L, (int)def->part_count, 0);
	for (uint32_t i = 0; i < def->part_count; i++) {
		const struct key_part *part = &def->parts[i];
		lua_createtable(L, 0, 4);
		lua_pushnumber(L, (double)part->fieldno + 1);
		lua_setfield(L, -2, "fieldno");
		lua_pushstring(L, field_type_names[part->type]);
		lua_setfield(L, -2, "type");
		lua_pushboolean(L, part->is_nullable);
		lua_setfield(L, -2, "is_nullable");
		if (part->exclude_null) {
			lua_pushboolean(L, true);
			lua_setfield(L, -2, "exclude_null");
		}
		if (part->is_desc) {
			lua_pushliteral(L, "desc");
			lua_setfield(L, -2, "sort_order");
		}
		if (part->path_text != NULL) {
			lua_pushstring(L, part->path_text);
			lua_setfield(L, -2, "path");
		}
		if (part->coll_id != COLL_NONE)
			push_collation(L, part->coll_id);
		lua_rawseti(L, -2, (int)i + 1);
	}
}

static void read_fieldno(lua_State *L, struct key_part *part)
{
	lua_getfield(L, -1, "fieldno");
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_getfield(L, -1, "field");
	}
	if (lua_isnil(L, -1))
		throw_illegal(L, "fieldno or field must not be nil");
	double fieldno = lua_tonumber(L, -1);
	if (!(fieldno >= 1 && fieldno <= INT32_MAX))
		throw_illegal(L, "fieldno must be a number from 1");
	part->fieldno = (uint32_t)fieldno - 1;
	lua_pop(L, 1);
}

static void read_type(lua_State *L, struct key_part *part)
{
	lua_getfield(L, -1, "type");
	if (lua_isnil(L, -1))
		throw_illegal(L, "type must not be nil");
	size_t len = 0;
	const char *name = lua_tolstring(L, -1, &len);
	part->type = name == NULL ? field_type_MAX : field_type_by_name(name, len);
	if (part->type == field_type_MAX)
		throw_type(L, "Unknown", name != NULL ? name : "");
	if (part->type == FIELD_TYPE_ANY || part->type == FIELD_TYPE_ARRAY ||
	    part->type == FIELD_TYPE_MAP || part->type == FIELD_TYPE_INTERVAL)
		throw_type(L, "Unsupported", name);
	lua_pop(L, 1);
}

static void read_path(lua_State *L, struct key_part *part)
{
	size_t len = 0;
	lua_getfield(L, -1, "path");
	const char *text = lua_tolstring(L, -1, &len);
	if (text != NULL && len == 0) {
		part->path_text = "";
	} else if (text != NULL) {
		bool is_any_twice;
		const struct field_path_text *path = field_path_intern(text, len, &is_any_twice);
		if (path == NULL && !is_any_twice)
			throw_illegal(L, "invalid path");
		if (is_any_twice || path->path->any_step != PATH_NO_ANY)
			throw_illegal(L, "multikey path is unsupported");
		part->path = path->path;
		part->path_text = path->text;
	}
	lua_pop(L, 1);
}

static void read_sort_order(lua_State *L, struct key_part *part)
{
	lua_getfield(L, -1, "sort_order");
	const char *order = lua_tostring(L, -1);
	part->is_desc = order != NULL && strcmp(order, "desc") == 0;
	if (order != NULL && !part->is_desc && strcmp(order, "asc") != 0)
		throw_illegal(L, "unknown sort order");
	lua_pop(L, 1);
}

static bool read_flag(lua_State *L, const char *name)
{
	lua_getfield(L, -1, name);
	bool flag = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return flag;
}

/** The part that the table at the top describes, the `no`th from 1. */
static void read_part(lua_State *L, int no, struct key_part *part)
{
	*part = (struct key_part){.coll_id = COLL_NONE};
	read_fieldno(L, part);
	read_type(L, part);
	part->exclude_null = read_flag(L, "exclude_null");
	part->is_nullable = part->exclude_null || read_flag(L, "is_nullable");
	lua_getfield(L, -1, "collation_id");
	if (!lua_isnil(L, -1)) {
		part->coll_id = (uint32_t)lua_tonumber(L, -1);
		if (coll_id_by_id(part->coll_id) == NULL) {
			client_error(ER_WRONG_INDEX_OPTIONS, no,
				     "collation was not found by ID");
			lua_throw(L);
		}
	}
	lua_pop(L, 1);
	read_path(L, part);
	read_sort_order(L, part);
}

/** (empty definition, parts with collation_id for names) */
static int key_def_make(lua_State *L)
{
	int count = (int)lua_objlen(L, 2);
	if (count == 0)
		return throw_illegal(L, "Key definition can only be constructed by using at least "
				     "1 key_part");
	if (count > PART_MAX)
		return throw_illegal(L, "too many key parts");
	struct key_part parts[PART_MAX];
	for (int i = 0; i < count; i++) {
		lua_rawgeti(L, 2, i + 1);
		read_part(L, i + 1, &parts[i]);
		lua_pop(L, 1);
	}
	to_key_def(L, 1)->def = key_def_new(parts, count);
	return to_key_def(L, 1)->def != NULL ? 0 : lua_throw(L);
}

/* Methods ------------------------------------------------------------------------ */

static const struct key_def *check_key_def(lua_State *L)
{
	return to_key_def(L, 1)->def;
}

/** The array of the tuple at `idx`, from which the key can be taken. */
static const char *check_tuple(lua_State *L, int idx)
{
	const char *data = lua_tuple_data(lua_check_tuple(L, idx, "a tuple expected"), NULL);
	if (tuple_raw_check_key(data, check_key_def(L)) != 0)
		lua_throw(L);
	return data;
}

/** The key in the tuple at `idx`: its parts and their count. */
static const char *check_key(lua_State *L, int idx, bool is_full, uint32_t *part_count)
{
	const char *key = lua_tuple_data(lua_check_tuple(L, idx, "a tuple expected"), NULL);
	*part_count = mp_decode_array(&key);
	if (key_validate(check_key_def(L), key, *part_count, is_full, true) != 0)
		lua_throw(L);
	return key;
}

static int key_def_extract(lua_State *L)
{
	const char *data = check_tuple(L, 2);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	const char *key = tuple_extract_key_raw(data, check_key_def(L), region, &size);
	if (key == NULL)
		return lua_throw(L);
	struct buf *out = lua_scratch_get();
	buf_append(out, key, size);
	region_truncate(region, mark);
	lua_push_new_tuple(L, tuple_format_default, 0, out->data, buf_end(out));
	lua_scratch_put(out);
	return 1;
}

static int push_order(lua_State *L, int rc)
{
	lua_pushinteger(L, (rc > 0) - (rc < 0));
	return 1;
}

static int key_def_compare(lua_State *L)
{
	const char *a = check_tuple(L, 2), *b = check_tuple(L, 3);
	return push_order(L, tuple_compare_raw(a, b, check_key_def(L)));
}

static int key_def_compare_with_key(lua_State *L)
{
	uint32_t part_count;
	const char *data = check_tuple(L, 2);
	const char *key = check_key(L, 3, false, &part_count);
	return push_order(L, tuple_compare_raw_with_key(data, key, part_count,
							check_key_def(L)));
}

static int key_def_compare_keys(lua_State *L)
{
	uint32_t a_count, b_count;
	const char *a = check_key(L, 2, false, &a_count);
	const char *b = check_key(L, 3, false, &b_count);
	return push_order(L, key_compare(a, b, a_count < b_count ? a_count : b_count,
					 check_key_def(L)));
}

static int key_def_validate_key(lua_State *L)
{
	uint32_t part_count;
	check_key(L, 2, false, &part_count);
	return 0;
}

static int key_def_validate_full_key(lua_State *L)
{
	uint32_t part_count;
	check_key(L, 2, true, &part_count);
	return 0;
}

static int key_def_validate_tuple(lua_State *L)
{
	check_tuple(L, 2);
	return 0;
}

/** (empty definition, first, second) */
static int key_def_merge_two(lua_State *L)
{
	to_key_def(L, 1)->def = key_def_merge(to_key_def(L, 2)->def, to_key_def(L, 3)->def);
	return 0;
}

static int key_def_totable(lua_State *L)
{
	lua_push_key_parts(L, check_key_def(L));
	return 1;
}

/* Also for merger.lua -------------------------------------------------------------- */

/** (text) raises IllegalParams. */
static int raise_illegal(lua_State *L)
{
	return throw_illegal(L, luaL_checkstring(L, 1));
}

/** Raises the error that a function called by FFI has set. */
static int raise(lua_State *L)
{
	return lua_throw(L);
}

void lua_key_def_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"make", key_def_make}, {"merge", key_def_merge_two},
		{"extract_key", key_def_extract}, {"compare", key_def_compare},
		{"compare_with_key", key_def_compare_with_key},
		{"compare_keys", key_def_compare_keys},
		{"validate_key", key_def_validate_key},
		{"validate_full_key", key_def_validate_full_key},
		{"validate_tuple", key_def_validate_tuple}, {"totable", key_def_totable},
		{"raise_illegal", raise_illegal}, {"raise", raise},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.key_def", functions);
}
