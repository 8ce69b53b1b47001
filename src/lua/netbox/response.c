/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Answers of net.box as Lua values. A body was checked to be well-formed when it came, but
 * not what is in it: a server may send anything.
 */
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/iproto_const.h"
#include "db/tuple/format.h"
#include "lua/box/tuple.h"
#include "lua/bridge.h"
#include "lua/netbox/netbox.h"

static int ref_object_from_raw;

const char *netbox_find(const char *map, const char *end, uint64_t key)
{
	if (map == end || mp_typeof(*map) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(&map); count > 0; count--) {
		bool is_it = mp_typeof(*map) == MP_UINT;
		if (is_it)
			is_it = mp_decode_uint(&map) == key;
		else
			mp_next(&map);
		if (is_it)
			return map;
		mp_next(&map);
	}
	return NULL;
}

static const char *find(struct netbox_request *r, uint64_t key)
{
	return netbox_find(r->body.data, r->body.data + r->body.size, key);
}

/** The array that is the data; NULL where there is none. */
static const char *find_data(struct netbox_request *r)
{
	const char *data = find(r, IPROTO_DATA);
	return data != NULL && mp_typeof(*data) == MP_ARRAY ? data : NULL;
}

/** Pushes a value, or a tuple where it is one that has a format; moves *data behind it. */
static void push_value(lua_State *L, struct netbox_request *r, const char **data)
{
	if (!r->has_formats) {
		lua_decode(L, data, &lua_codec_default);
		return;
	}
	struct lua_codec codec = lua_codec_default;
	codec.formats = &r->formats;
	lua_decode(L, data, &codec);
}

/** Pushes a tuple, or a plain value where it is no array; moves *data behind it. */
static void push_tuple(lua_State *L, struct netbox_request *r, const char **data)
{
	if (mp_typeof(**data) != MP_ARRAY) {
		push_value(L, r, data);
		return;
	}
	const char *begin = *data;
	mp_next(data);
	lua_push_new_tuple(L, tuple_format_default, r->dict, begin, *data);
}

/** Pushes the value as a msgpack object, which knows of no formats. */
static void push_raw(lua_State *L, struct netbox_request *r, const char *data)
{
	const char *end = data;
	mp_next(&end);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_object_from_raw);
	if (r->has_formats) {
		struct buf *plain = lua_scratch_get();
		format_map_strip(plain, data, end);
		lua_pushlstring(L, plain->data, plain->size);
		lua_scratch_put(plain);
	} else {
		lua_pushlstring(L, data, end - data);
	}
	lua_call(L, 1, 1);
}

/** [raises] Reads the formats of the answer's tuples, where it has some. */
static void read_formats(lua_State *L, struct netbox_request *r)
{
	if (!r->may_have_formats || r->has_formats)
		return;
	const char *formats = find(r, IPROTO_TUPLE_FORMATS);
	if (formats == NULL)
		return;
	if (format_map_read(&r->formats, formats) != 0)
		lua_throw(L);
	r->has_formats = true;
}

/* By method ------------------------------------------------------------------------- */

static int push_nothing(lua_State *L, bool as_list)
{
	if (!as_list)
		return 0;
	lua_pushnil(L);
	return 1;
}

static int decode_values(lua_State *L, struct netbox_request *r, const char *data, bool as_list)
{
	if (as_list) {
		push_value(L, r, &data);
		return 1;
	}
	uint32_t count = mp_decode_array(&data);
	luaL_checkstack(L, count < INT32_MAX ? (int)count + LUA_MINSTACK : INT32_MAX,
			"too many results");
	for (uint32_t i = 0; i < count; i++)
		push_value(L, r, &data);
	return (int)count;
}

static void push_tuples(lua_State *L, struct netbox_request *r, const char *data)
{
	enum { PREALLOC_MAX = 1 << 16 };
	uint32_t count = mp_decode_array(&data);
	lua_createtable(L, count < PREALLOC_MAX ? (int)count : PREALLOC_MAX, 0);
	for (uint32_t i = 1; i <= count; i++) {
		push_tuple(L, r, &data);
		lua_rawseti(L, -2, (int)i);
	}
}

static int decode_select(lua_State *L, struct netbox_request *r, const char *data, bool as_list)
{
	if (r->return_raw)
		push_raw(L, r, data);
	else
		push_tuples(L, r, data);
	const char *position = find(r, IPROTO_POSITION);
	if (position == NULL)
		return 1;
	lua_decode(L, &position, &lua_codec_default);
	if (!as_list)
		return 2;
	lua_createtable(L, 2, 0);
	lua_insert(L, -3);
	lua_rawseti(L, -3, 2);
	lua_rawseti(L, -2, 1);
	return 1;
}

static int decode_one(lua_State *L, struct netbox_request *r, const char *data, bool as_list)
{
	uint32_t count = mp_decode_array(&data);
	if (r->method == NETBOX_GET && count > 1) {
		client_error(ER_MORE_THAN_ONE_TUPLE);
		return lua_throw(L);
	}
	if (count == 0)
		return push_nothing(L, as_list);
	if (r->return_raw)
		push_raw(L, r, data);
	else
		push_tuple(L, r, &data);
	return 1;
}

static int decode_first_value(lua_State *L, struct netbox_request *r, const char *data,
			      bool as_list)
{
	if (mp_decode_array(&data) == 0)
		return push_nothing(L, as_list);
	push_value(L, r, &data);
	return 1;
}

/* SQL --------------------------------------------------------------------------------- */

/** Pushes the list of columns or parameters. */
static void push_columns(lua_State *L, const char *data)
{
	static const char *const names[] = {
		"name", "type", "collation", "is_nullable", "is_autoincrement", "span",
	};
	if (mp_typeof(*data) != MP_ARRAY) {
		lua_newtable(L);
		return;
	}
	uint32_t count = mp_decode_array(&data);
	lua_newtable(L);
	for (uint32_t i = 1; i <= count; i++) {
		const char *end = data;
		mp_next(&end);
		lua_newtable(L);
		for (unsigned key = 0; key < sizeof(names) / sizeof(names[0]); key++) {
			const char *value = netbox_find(data, end, key);
			if (value == NULL)
				continue;
			lua_decode(L, &value, &lua_codec_default);
			lua_setfield(L, -2, names[key]);
		}
		lua_rawseti(L, -2, (int)i);
		data = end;
	}
}

static void push_sql_info(lua_State *L, const char *info)
{
	const char *end = info;
	mp_next(&end);
	lua_newtable(L);
	const char *count = netbox_find(info, end, 0), *ids = netbox_find(info, end, 1);
	if (ids != NULL) {
		lua_decode(L, &ids, &lua_codec_default);
		lua_setfield(L, -2, "autoincrement_ids");
	}
	if (count != NULL) {
		lua_decode(L, &count, &lua_codec_default);
		lua_setfield(L, -2, "row_count");
	}
}

static void set_value(lua_State *L, struct netbox_request *r, unsigned key, const char *name)
{
	const char *value = find(r, key);
	if (value == NULL)
		return;
	lua_decode(L, &value, &lua_codec_default);
	lua_setfield(L, -2, name);
}

static void set_columns(lua_State *L, struct netbox_request *r, unsigned key, const char *name)
{
	const char *value = find(r, key);
	if (value == NULL)
		return;
	push_columns(L, value);
	lua_setfield(L, -2, name);
}

static int decode_sql(lua_State *L, struct netbox_request *r)
{
	const char *info = find(r, IPROTO_SQL_INFO), *data = find_data(r);
	if (info != NULL) {
		push_sql_info(L, info);
		return 1;
	}
	lua_newtable(L);
	set_value(L, r, IPROTO_STMT_ID, "stmt_id");
	set_value(L, r, IPROTO_BIND_COUNT, "param_count");
	set_columns(L, r, IPROTO_BIND_METADATA, "params");
	set_columns(L, r, IPROTO_METADATA, "metadata");
	if (data != NULL && r->method == NETBOX_EXECUTE) {
		if (r->return_raw)
			push_raw(L, r, data);
		else
			push_tuples(L, r, data);
		lua_setfield(L, -2, "rows");
	}
	return 1;
}

static int decode_id(lua_State *L, struct netbox_request *r)
{
	lua_newtable(L);
	set_value(L, r, IPROTO_VERSION, "version");
	set_value(L, r, IPROTO_FEATURES, "features");
	set_value(L, r, IPROTO_AUTH_TYPE, "auth_type");
	return 1;
}

/* ---------------------------------------------------------------------------------------- */

static int decode_data(lua_State *L, struct netbox_request *r, const char *data, bool as_list)
{
	switch (r->method) {
	case NETBOX_CALL:
	case NETBOX_EVAL:
	case NETBOX_WATCH_ONCE:
		if (r->return_raw) {
			push_raw(L, r, data);
			return 1;
		}
		return decode_values(L, r, data, as_list);
	case NETBOX_COUNT: return decode_first_value(L, r, data, as_list);
	case NETBOX_SELECT_RAW: return decode_values(L, r, data, true);
	case NETBOX_SELECT:
	case NETBOX_CALL_16: return decode_select(L, r, data, as_list);
	default: return decode_one(L, r, data, as_list);
	}
}

int netbox_decode(lua_State *L, struct netbox_request *r, bool as_list)
{
	if (r->ibuf != NULL) {
		lua_pushnumber(L, (lua_Number)r->written);
		return 1;
	}
	const char *data;
	switch (r->method) {
	case NETBOX_PING:
	case NETBOX_AUTH:
	case NETBOX_UPSERT:
	case NETBOX_UNPREPARE:
	case NETBOX_BEGIN:
	case NETBOX_COMMIT:
	case NETBOX_ROLLBACK: return push_nothing(L, as_list);
	case NETBOX_EXECUTE:
	case NETBOX_PREPARE: return decode_sql(L, r);
	case NETBOX_ID: return decode_id(L, r);
	default:
		data = find_data(r);
		read_formats(L, r);
		return data != NULL ? decode_data(L, r, data, as_list) : push_nothing(L, as_list);
	}
}

void netbox_decode_push(lua_State *L, struct netbox_request *r, uint32_t i)
{
	uint64_t header[2];
	if (i < r->push_last)
		r->push_last = r->push_last_pos = 0;
	const char *p = r->pushes.data + r->push_last_pos;
	for (;; r->push_last++) {
		memcpy(header, p, sizeof(header));
		if (r->push_last == i)
			break;
		p += sizeof(header) + header[0];
	}
	r->push_last_pos = p - r->pushes.data;
	p += sizeof(header);
	const char *data = netbox_find(p, p + header[0], IPROTO_DATA);
	if (header[1] > 0)
		lua_pushnumber(L, (lua_Number)header[1]);
	else if (data != NULL && mp_typeof(*data) == MP_ARRAY && mp_decode_array(&data) > 0)
		lua_decode(L, &data, &lua_codec_default);
	else
		lua_push_null(L);
}

void netbox_response_init(lua_State *L)
{
	lua_getglobal(L, "require");
	lua_pushliteral(L, "msgpack");
	lua_call(L, 1, 1);
	lua_getfield(L, -1, "object_from_raw");
	ref_object_from_raw = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_pop(L, 1);
}
