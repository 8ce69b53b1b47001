/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Methods of tuples that decode or encode whole tuples, and box.tuple.new. Texts of
 * errors are those observed of the reference.
 */
#include <assert.h>
#include <string.h>

#include "core/fiber.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "lua/bridge_impl.h"
#include "lua/box/tuple.h"

static int throw_text(lua_State *L, const char *text)
{
	lua_pushstring(L, text);
	return lua_error(L);
}

const struct lua_tuple *lua_check_tuple(lua_State *L, int idx, const char *usage)
{
	const struct lua_tuple *t = lua_to_tuple(L, idx);
	if (t == NULL)
		throw_text(L, usage);
	return t;
}

/* Decoding --------------------------------------------------------------------- */

/** A bound of a range: the argument at `idx` where there is one, else `otherwise`. */
static lua_Number check_bound(lua_State *L, int idx, lua_Number otherwise, const char *error)
{
	if (lua_isnoneornil(L, idx))
		return otherwise;
	if (lua_type(L, idx) != LUA_TNUMBER) {
		lua_pushfstring(L, "attempt to compare %s with number", luaL_typename(L, idx));
		lua_error(L);
	}
	lua_Number bound = lua_tonumber(L, idx);
	if (bound < 1)
		throw_text(L, error);
	return bound;
}

/**
 * The range of fields (from 0, `end` behind the last) that arguments at `idx` and after ask for.
 */
static void check_range(lua_State *L, int idx, uint32_t count, uint32_t *begin, uint32_t *end)
{
	lua_Number from = check_bound(L, idx, 1, "tuple.totable: invalid second argument");
	lua_Number to = check_bound(L, idx + 1, count, "tuple.totable: invalid third argument");
	*begin = *end = 0;
	if (!(from <= to && from <= count))
		return; /* nothing, as for a NaN */
	*begin = (uint32_t)from - 1;
	*end = to > count ? count : (uint32_t)to;
}

static void skip(const char **data, uint32_t count)
{
	while (count-- > 0)
		mp_next(data);
}

/** totable(tuple[, from[, to]]) */
static int tuple_totable(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "Usage: tuple:totable([from[, to]])");
	const char *p = lua_tuple_data(t, NULL);
	uint32_t begin, end;
	check_range(L, 2, mp_decode_array(&p), &begin, &end);
	skip(&p, begin);
	lua_createtable(L, end - begin, 0);
	for (uint32_t i = 1; i <= end - begin; i++) {
		lua_decode(L, &p, &lua_codec_default);
		lua_rawseti(L, -2, i);
	}
	lua_getfield(L, LUA_REGISTRYINDEX, LUA_ARRAY_MT);
	lua_setmetatable(L, -2);
	return 1;
}

static int push_fields(lua_State *L, const char *p, uint32_t begin, uint32_t end)
{
	luaL_checkstack(L, end - begin + 8, "too many fields");
	skip(&p, begin);
	for (uint32_t i = begin; i < end; i++)
		lua_decode(L, &p, &lua_codec_default);
	return end - begin;
}

/** unpack(tuple[, from[, to]]) */
static int tuple_unpack(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "Usage: tuple:totable([from[, to]])");
	const char *p = lua_tuple_data(t, NULL);
	uint32_t begin, end;
	check_range(L, 2, mp_decode_array(&p), &begin, &end);
	return push_fields(L, p, begin, end);
}

/** The tuple in argument 1. [raises] */
static const struct lua_tuple *tuple_arg(lua_State *L)
{
	const struct lua_tuple *t = lua_to_tuple(L, 1);
	if (t == NULL)
		luaL_error(L, "Invalid argument #1 (box.tuple expected, got %s)",
			   luaL_typename(L, 1));
	return t;
}

/** slice(tuple, start[, end]): from 0, negative ones count from the end. */
static int tuple_slice(lua_State *L)
{
	const struct lua_tuple *t = tuple_arg(L);
	int args = lua_gettop(L);
	if (args < 2 || args > 3 || lua_type(L, 2) != LUA_TNUMBER ||
	    (args == 3 && lua_type(L, 3) != LUA_TNUMBER))
		return throw_text(L, "tuple.slice(): bad arguments");
	const char *p = lua_tuple_data(t, NULL);
	int64_t count = mp_decode_array(&p);
	int64_t start = lua_tointeger(L, 2);
	if (start < 0)
		start += count;
	if (start < 0 || start >= count)
		return throw_text(L, "tuple.slice(): start >= field count");
	int64_t end = args == 3 ? lua_tointeger(L, 3) : count;
	if (end < 0)
		end += count;
	else if (end == 0)
		end = UINT32_MAX;
	if (end > count)
		return throw_text(L, "tuple.slice(): end > field count");
	if (end <= start)
		return throw_text(L, "tuple.slice(): start must be less than end");
	return push_fields(L, p, start, end);
}

/** tomap(tuple[, {names_only = boolean}]) */
static int tuple_tomap(lua_State *L)
{
	static const char usage[] = "Usage: tuple:tomap(opts)";
	int args = lua_gettop(L);
	if (args < 1 || args > 2 || (args == 2 && !lua_istable(L, 2)))
		return throw_text(L, usage);
	const struct lua_tuple *t = tuple_arg(L);
	bool names_only = false;
	if (args == 2) {
		lua_getfield(L, 2, "names_only");
		if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
			return throw_text(L, usage);
		names_only = lua_toboolean(L, -1);
	}
	const struct tuple_dictionary *dict = tuple_dictionary_by_id(t->dict);
	const char *p = lua_tuple_data(t, NULL);
	uint32_t count = mp_decode_array(&p);
	uint32_t named = count < dict->name_count ? count : dict->name_count;
	lua_createtable(L, names_only ? 0 : count, named);
	for (uint32_t i = 0; i < (names_only ? named : count); i++) {
		lua_decode(L, &p, &lua_codec_default);
		if (i < named) {
			lua_pushvalue(L, -1);
			lua_setfield(L, -3, dict->names[i]);
		}
		if (names_only)
			lua_pop(L, 1);
		else
			lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

/** decode(tuple, field's number from 1): for those that tuple.lua does not decode itself. */
static int tuple_decode(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "a tuple expected");
	struct lua_field field;
	if (lua_tuple_field(t, lua_tonumber(L, 2), &field) != FIELD_OTHER)
		return 0;
	lua_decode(L, &field.data, &lua_codec_default);
	return 1;
}

/** The array at the top: names by their numbers. Makes {name = number} of a dictionary's id. */
static int tuple_names(lua_State *L)
{
	const struct tuple_dictionary *dict = tuple_dictionary_by_id(luaL_checkinteger(L, 1));
	lua_newtable(L);
	for (uint32_t i = 0; dict != NULL && i < dict->name_count; i++) {
		lua_pushinteger(L, i + 1);
		lua_setfield(L, -2, dict->names[i]);
	}
	return 1;
}

static int tuple_tostring(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "a tuple expected");
	struct buf *out = lua_scratch_get();
	mp_print(out, lua_tuple_data(t, NULL));
	lua_pushlstring(L, out->data, out->size);
	lua_scratch_put(out);
	return 1;
}

static int tuple_count(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "a tuple expected");
	const char *p = lua_tuple_data(t, NULL);
	lua_pushinteger(L, mp_decode_array(&p));
	return 1;
}

/* Paths -------------------------------------------------------------------------- */

/** A step of a path: a name, or a number from 1 (then `name` is NULL). */
struct step {
	const char *name;
	size_t len;
	uint64_t number;
};

static bool is_plain(char c)
{
	return c != '.' && c != '[' && c != ']' && c != '\0';
}

/** Reads `[12]`, `["name"]` or `['name']`, behind the bracket. */
static bool read_bracket(const char **p, const char *end, struct step *step)
{
	const char *s = *p;
	if (s < end && (*s == '"' || *s == '\'')) {
		const char *close = memchr(s + 1, *s, end - s - 1);
		if (close == NULL || close == s + 1)
			return false;
		*step = (struct step){.name = s + 1, .len = close - s - 1};
		s = close + 1;
	} else {
		*step = (struct step){0};
		for (; s < end && *s >= '0' && *s <= '9' && step->number < UINT32_MAX; s++)
			step->number = step->number * 10 + (*s - '0');
		if (step->number == 0)
			return false;
	}
	if (s >= end || *s != ']')
		return false;
	*p = s + 1;
	return true;
}

/** Reads the next step; false where the path is not well-formed. */
static bool read_step(const char **p, const char *end, bool is_first, struct step *step)
{
	if (**p == '[') {
		(*p)++;
		return read_bracket(p, end, step);
	}
	if (**p == '.')
		(*p)++;
	else if (!is_first)
		return false;
	const char *s = *p;
	while (s < end && is_plain(*s))
		s++;
	*step = (struct step){.name = *p, .len = s - *p};
	*p = s;
	return step->len > 0;
}

/** Goes into a container; NULL where there is no such element. */
static const char *enter(const char *value, const struct step *step)
{
	uint32_t len;
	if (step->name == NULL) {
		if (mp_typeof(*value) != MP_ARRAY || step->number > mp_decode_array(&value))
			return NULL;
		skip(&value, step->number - 1);
		return value;
	}
	if (mp_typeof(*value) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(&value); count > 0; count--) {
		if (mp_typeof(*value) == MP_STR) {
			const char *key = mp_decode_str(&value, &len);
			if (len == step->len && memcmp(key, step->name, len) == 0)
				return value;
		} else {
			mp_next(&value);
		}
		mp_next(&value);
	}
	return NULL;
}

/** The field that a path's first step names. */
static const char *enter_tuple(const struct lua_tuple *t, const struct step *step)
{
	if (step->name == NULL)
		return enter(lua_tuple_data(t, NULL), step);
	int fieldno = tuple_dictionary_find(tuple_dictionary_by_id(t->dict), step->name, step->len);
	struct step by_number = {.number = (uint64_t)fieldno + 1};
	return fieldno >= 0 ? enter(lua_tuple_data(t, NULL), &by_number) : NULL;
}

/** path(tuple, "a.b[1]['c']"): the value there, or nil. */
static int tuple_path(lua_State *L)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, "a tuple expected");
	size_t len;
	const char *p = luaL_checklstring(L, 2, &len), *end = p + len;
	const char *value = NULL;
	for (bool is_first = true; p < end; is_first = false) {
		struct step step;
		if (!read_step(&p, end, is_first, &step))
			return 0;
		value = is_first ? enter_tuple(t, &step) : enter(value, &step);
		if (value == NULL)
			return 0;
	}
	if (value == NULL)
		return 0;
	lua_decode(L, &value, &lua_codec_default);
	return 1;
}

/* Making --------------------------------------------------------------------------- */

/** new(table or tuple), new(values...) */
static int tuple_new_lua(lua_State *L)
{
	int count = lua_gettop(L);
	struct buf *out = lua_scratch_get();
	if (count == 1 && (lua_istable(L, 1) || lua_to_tuple(L, 1) != NULL)) {
		lua_encode_array(L, 1, out);
	} else {
		mp_put_array(out, count);
		for (int i = 1; i <= count; i++)
			lua_encode(L, i, out, &lua_codec_tuple);
	}
	lua_push_new_tuple(L, tuple_format_default, 0, out->data, buf_end(out));
	lua_scratch_put(out);
	return 1;
}

static int tuple_is(lua_State *L)
{
	lua_pushboolean(L, lua_to_tuple(L, 1) != NULL);
	return 1;
}

/** transform(tuple, start, count, values...): cuts fields out and puts others in. */
static int tuple_transform(lua_State *L)
{
	static const char usage[] = "tuple.transform(): bad arguments";
	const struct lua_tuple *t = tuple_arg(L);
	int args = lua_gettop(L);
	if (args < 3)
		return throw_text(L, usage);
	uint32_t size;
	const char *p = lua_tuple_data(t, &size), *end = p + size;
	int64_t count = mp_decode_array(&p);
	int64_t start = lua_tointeger(L, 2), cut = lua_tointeger(L, 3);
	if (start == 0 || start < -count)
		return throw_text(L, "tuple.transform(): offset is out of bound");
	start = start > 0 ? start - 1 : count + start;
	if (start > count)
		start = count;
	if (cut < 0)
		return throw_text(L, "tuple.transform(): len is negative");
	if (cut > count - start)
		cut = count - start;
	struct buf *out = lua_scratch_get();
	mp_put_array(out, count - cut + (args - 3));
	const char *head = p;
	skip(&p, start);
	buf_append(out, head, p - head);
	skip(&p, cut);
	for (int i = 4; i <= args; i++)
		lua_encode(L, i, out, &lua_codec_tuple);
	buf_append(out, p, end - p);
	lua_push_new_tuple(L, tuple_format_default, 0, out->data, buf_end(out));
	lua_scratch_put(out);
	return 1;
}

typedef const char *(*change)(const char *ops, const char *ops_end, const char *row,
			      const char *row_end, const struct tuple_dictionary *dict,
			      const struct tuple_format *format, int index_base, struct region *region,
			      uint32_t *new_size, uint64_t *column_mask);

/** Applies operations to a tuple and pushes the new one. */
static int tuple_change(lua_State *L, change execute, const char *usage)
{
	const struct lua_tuple *t = lua_check_tuple(L, 1, usage);
	if (!lua_istable(L, 2))
		return throw_text(L, usage);
	struct buf *ops = lua_scratch_get();
	lua_encode_search_key(L, 2, ops);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	uint64_t mask;
	struct tuple_format *format = lua_tuple_format(t);
	uint32_t old_size;
	const char *old = lua_tuple_data(t, &old_size);
	const char *row = execute(ops->data, buf_end(ops), old, old + old_size,
				  tuple_dictionary_by_id(t->dict), format, 1, region, &size, &mask);
	bool is_good = row != NULL && tuple_format_validate(format, row, row + size) == 0;
	if (is_good) {
		buf_truncate(ops, 0);
		buf_append(ops, row, size);
	}
	region_truncate(region, mark);
	if (!is_good) {
		lua_scratch_put(ops);
		return lua_throw(L);
	}
	lua_push_new_tuple(L, format, t->dict, ops->data, buf_end(ops));
	lua_scratch_put(ops);
	return 1;
}

static int tuple_update(lua_State *L)
{
	return tuple_change(L, update_execute, "Usage: tuple:update({ { op, field, arg}+ })");
}

static int tuple_upsert(lua_State *L)
{
	return tuple_change(L, upsert_execute, "Usage: tuple:upsert({ { op, field, arg}+ })");
}

void lua_tuple_methods_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"totable", tuple_totable}, {"unpack", tuple_unpack}, {"slice", tuple_slice},
		{"tomap", tuple_tomap}, {"decode", tuple_decode}, {"names", tuple_names},
		{"tostring", tuple_tostring}, {"count", tuple_count}, {"path", tuple_path},
		{"new", tuple_new_lua}, {"is", tuple_is}, {"transform", tuple_transform},
		{"update", tuple_update}, {"upsert", tuple_upsert},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.tuple", functions);
	lua_pop(L, 1);
}
