/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `xlog`: journals and snapshots, row by row. A cursor is a userdata that
 * reads a block at a time and closes its file behind the last row.
 */
#include <stdbool.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple.h"
#include "db/wal/xlog.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** Rows of synchronous replication and of elections, which only the log has. */
enum { ROW_RAFT = 30, ROW_CONFIRM = 40, ROW_ROLLBACK = 41 };

struct cursor {
	struct xlog_cursor file;
	bool is_open;
	/** A block was begun. */
	bool has_block;
};

static struct lua_class cursor_class = {"tarn.xlog.cursor", NULL, LUA_NOREF};

static void cursor_close(struct cursor *c)
{
	if (c->is_open)
		xlog_cursor_close(&c->file);
	c->is_open = false;
}

/* Rows as tables ------------------------------------------------------- */

static const char *type_name(unsigned type)
{
	switch (type) {
	case ROW_RAFT:
		return "RAFT";
	case ROW_CONFIRM:
		return "CONFIRM";
	case ROW_ROLLBACK:
		return "ROLLBACK";
	default:
		return iproto_type_name(type);
	}
}

/** How the reference calls the keys of a body; NULL: by their number. */
static const char *body_key_name(uint64_t key)
{
	switch (key) {
	case IPROTO_SPACE_ID: return "space_id";
	case IPROTO_INDEX_ID: return "index_id";
	case IPROTO_LIMIT: return "limit";
	case IPROTO_OFFSET: return "offset";
	case IPROTO_ITERATOR: return "iterator";
	case IPROTO_INDEX_BASE: return "index_base";
	case IPROTO_KEY: return "key";
	case IPROTO_TUPLE: return "tuple";
	case IPROTO_FUNCTION_NAME: return "function_name";
	case IPROTO_USER_NAME: return "user_name";
	case IPROTO_EXPR: return "expr";
	case IPROTO_OPS: return "operations";
	case IPROTO_OPTIONS: return "options";
	default: return NULL;
	}
}

static void set_int(lua_State *L, const char *name, int64_t value)
{
	if (value == 0)
		return;
	lua_push_int64(L, value);
	lua_setfield(L, -2, name);
}

static void push_header(lua_State *L, const struct xrow_header *row)
{
	lua_createtable(L, 0, 8);
	const char *name = type_name(row->type);
	if (name != NULL)
		lua_pushstring(L, name);
	else
		lua_pushnumber(L, row->type);
	lua_setfield(L, -2, "type");
	set_int(L, "lsn", row->lsn);
	set_int(L, "replica_id", row->replica_id);
	set_int(L, "group_id", row->group_id);
	lua_pushnumber(L, row->tm);
	lua_setfield(L, -2, "timestamp");
	/* Not in the file where a row is a transaction of its own. */
	if (row->is_commit && row->tsn == row->lsn)
		return;
	set_int(L, "tsn", row->tsn);
	if (row->is_commit) {
		lua_pushboolean(L, true);
		lua_setfield(L, -2, "commit");
	}
}

/** Keys and tuples that are arrays are tuples to scripts. */
static void push_tuple(lua_State *L, const char **data)
{
	const char *begin = *data;
	mp_next(data);
	struct tuple *tuple = tuple_new(tuple_format_default, begin, *data);
	if (tuple == NULL)
		lua_throw(L);
	lua_box_push_counted(L, tuple);
}

static void push_body(lua_State *L, const struct xrow_header *row)
{
	const char *p = row->body;
	uint32_t count = mp_decode_map(&p);
	lua_createtable(L, 0, (int)count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = UINT64_MAX;
		const char *name = NULL;
		const char *at = p;
		if (mp_read_uint64(&p, &key))
			name = body_key_name(key);
		if (name != NULL) {
			lua_pushstring(L, name);
		} else {
			p = at;
			lua_decode(L, &p, &lua_codec_default);
		}
		if ((key == IPROTO_KEY || key == IPROTO_TUPLE) && mp_typeof(*p) == MP_ARRAY)
			push_tuple(L, &p);
		else
			lua_decode(L, &p, &lua_codec_default);
		lua_rawset(L, -3);
	}
}

static void push_row(lua_State *L, const struct xrow_header *row)
{
	lua_createtable(L, 0, 2);
	push_header(L, row);
	lua_setfield(L, -2, "HEADER");
	if (row->body == NULL)
		return;
	push_body(L, row);
	lua_setfield(L, -2, "BODY");
}

/* The functions ---------------------------------------------------------- */

/** 0: a row; 1: the end; -1: an error. */
static int cursor_step(struct cursor *c, struct xrow_header *row)
{
	for (;;) {
		int rc = c->has_block ? xlog_cursor_next_row(&c->file, row) : 1;
		if (rc <= 0)
			return rc;
		c->has_block = false;
		rc = xlog_cursor_next_block(&c->file);
		if (rc != 0)
			return rc;
		c->has_block = true;
	}
}

/** (cursor) -> lsn, row; nothing at the end. [raises] XlogError, SystemError */
static int cursor_next(lua_State *L)
{
	struct cursor *c = lua_class_check(L, 1, &cursor_class);
	struct xrow_header row;
	if (!c->is_open)
		return 0;
	int rc = cursor_step(c, &row);
	if (rc > 0)
		cursor_close(c);
	if (rc != 0)
		return rc > 0 ? 0 : lua_throw(L);
	lua_push_int64(L, row.lsn);
	push_row(L, &row);
	return 2;
}

/** (cursor) -> where a last write was cut off, its bytes; nothing where it was not */
static int cursor_torn(lua_State *L)
{
	struct cursor *c = lua_class_check(L, 1, &cursor_class);
	if (c->file.end != XLOG_END_TORN)
		return 0;
	lua_pushnumber(L, c->file.good_offset);
	lua_pushnumber(L, c->file.file_size - c->file.good_offset);
	return 2;
}

static int cursor_gc(lua_State *L)
{
	cursor_close(lua_class_check(L, 1, &cursor_class));
	return 0;
}

/** (path) -> cursor. [raises] XlogError, SystemError */
static int cursor_open(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1);
	struct cursor *c = lua_newuserdata(L, sizeof(*c));
	c->is_open = c->has_block = false;
	lua_class_set(L, &cursor_class);
	if (xlog_cursor_open(&c->file, path) != 0)
		return lua_throw(L);
	c->is_open = true;
	return 1;
}

void lua_xlog_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"open", cursor_open}, {"next", cursor_next}, {"torn", cursor_torn},
		{"close", cursor_gc}, {NULL, NULL},
	};
	lua_class_new(L, &cursor_class);
	lua_pushcfunction(L, cursor_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	lua_new_module(L, "tarn.xlog", funcs);
	lua_pop(L, 1);
}
