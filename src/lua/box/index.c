/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Data from scripts: reads and changes of a space through one of its indexes.
 * Functions take the numbers of space and index first; the methods that scripts
 * call, with their options, are in index.lua and space.lua.
 *
 * Arguments are encoded into a scratch buffer of the call's own. A statement that
 * commits yields while the buffer is in use, so it is never shared.
 */
#include "core/buf.h"
#include "data/base64.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/db_page.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "lua/box/tuple.h"
#include "net/stat.h"

/** The longest string that tarn_index_get_string() takes; index.lua knows it, too. */
enum { TARN_INDEX_KEY_MAX = 256 };

static int fail(lua_State *L)
{
	stat_count(STAT_ERROR, 1);
	return lua_throw(L);
}

/** `result` of a finished statement, or the error. The scratch buffer goes back first. */
static int finish(lua_State *L, struct buf *scratch, int rc, struct tuple *result)
{
	lua_scratch_put(scratch);
	return rc != 0 ? fail(L) : lua_box_push_counted(L, result);
}

/**
 * The same for changes, with an empty tuple at `room` and the size of its body behind
 * it: the result is copied there where it fits, which spares a call of Lua to make one.
 */
static int finish_in(lua_State *L, int room, struct buf *scratch, int rc, struct tuple *result)
{
	struct lua_tuple *out = (struct lua_tuple *)lua_to_tuple(L, room);
	if (rc != 0 || result == NULL || out == NULL ||
	    result->bsize > (uint32_t)lua_tointeger(L, room + 1))
		return finish(L, scratch, rc, result);
	lua_scratch_put(scratch);
	lua_tuple_fill(out, result);
	tuple_unref(result);
	lua_pushvalue(L, room);
	return 1;
}

/**
 * [raises, runs finalizers] A change failed: was it for memory that large tuples take which only
 * garbage refers to? They are collected, and the change is worth another try.
 */
static bool is_worth_retrying(lua_State *L)
{
	enum { HELD_MIN = 64 * 1024 };
	if (!error_is(diag_last(), &type_OutOfMemory) || lua_tuple_held() < HELD_MIN)
		return false;
	size_t held = lua_tuple_held();
	lua_gc(L, LUA_GCCOLLECT, 0);
	return lua_tuple_held() < held;
}

/* Changes: (space, [index, [key,]] value, room, room's size) --------------- */

static int insert_or_replace(lua_State *L, const char *usage, enum stat_id counter,
			     int (*change)(uint32_t, const char *, const char *, struct tuple **))
{
	uint32_t space_id = lua_box_uint(L, 1, usage);
	struct buf *b = lua_scratch_get();
	lua_encode_array(L, 2, b);
	struct tuple *result = NULL;
	stat_count(counter, 1);
	int rc = change(space_id, b->data, buf_end(b), &result);
	if (rc != 0 && is_worth_retrying(L))
		rc = change(space_id, b->data, buf_end(b), &result);
	return finish_in(L, 3, b, rc, result);
}

static int insert(lua_State *L)
{
	return insert_or_replace(L, "Usage space:insert(tuple)", STAT_INSERT, db_insert);
}

static int replace(lua_State *L)
{
	return insert_or_replace(L, "Usage space:replace(tuple)", STAT_REPLACE, db_replace);
}

/** A table or a tuple: what has the form of an array. */
static bool is_array(lua_State *L, int idx)
{
	return lua_istable(L, idx) || lua_to_tuple(L, idx) != NULL;
}

static int update(lua_State *L)
{
	static const char usage[] = "Usage index:update(key, ops)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	if (!is_array(L, 4))
		return luaL_error(L, "%s", usage);
	struct buf *b = lua_scratch_get();
	lua_encode_key(L, 3, b);
	size_t key_size = b->size;
	lua_encode_array(L, 4, b);
	struct tuple *result = NULL;
	stat_count(STAT_UPDATE, 1);
	int rc = db_update(space_id, index_id, b->data, b->data + key_size, b->data + key_size,
			   buf_end(b), 1, &result);
	if (rc != 0 && is_worth_retrying(L))
		rc = db_update(space_id, index_id, b->data, b->data + key_size,
			       b->data + key_size, buf_end(b), 1, &result);
	return finish_in(L, 5, b, rc, result);
}

static int upsert(lua_State *L)
{
	static const char usage[] = "Usage space:upsert(tuple_key, ops)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	if (!is_array(L, 2) || !is_array(L, 3))
		return luaL_error(L, "%s", usage);
	struct buf *b = lua_scratch_get();
	lua_encode_array(L, 2, b);
	size_t tuple_size = b->size;
	lua_encode_array(L, 3, b);
	struct tuple *result = NULL;
	stat_count(STAT_UPSERT, 1);
	int rc = db_upsert(space_id, 0, b->data, b->data + tuple_size, b->data + tuple_size,
			   buf_end(b), 1, &result);
	if (result != NULL)
		tuple_unref(result);
	lua_scratch_put(b);
	return rc != 0 ? fail(L) : 0;
}

static int delete(lua_State *L)
{
	static const char usage[] = "Usage space:delete(key)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	struct buf *b = lua_scratch_get();
	lua_encode_key(L, 3, b);
	struct tuple *result = NULL;
	stat_count(STAT_DELETE, 1);
	int rc = db_delete(space_id, index_id, b->data, buf_end(b), &result);
	return finish_in(L, 4, b, rc, result);
}

static int truncate(lua_State *L)
{
	return db_truncate(lua_box_uint(L, 1, "Usage space:truncate()")) == 0 ? 0 : lua_throw(L);
}

/* Reads ------------------------------------------------------------------- */

static int one_by_key(lua_State *L, const char *usage,
		      int (*read)(uint32_t, uint32_t, const char *, const char *, struct tuple **))
{
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	struct buf *b = lua_scratch_get();
	lua_encode_search_key(L, 3, b);
	struct tuple *result = NULL;
	int rc = read(space_id, index_id, b->data, buf_end(b), &result);
	return finish(L, b, rc, result);
}

static int get(lua_State *L)
{
	stat_count(STAT_SELECT, 1);
	return one_by_key(L, "Usage index:get(key)", db_index_get);
}

static int min(lua_State *L)
{
	return one_by_key(L, "usage index.min(space_id, index_id, key)", db_index_min);
}

static int max(lua_State *L)
{
	return one_by_key(L, "usage index.max(space_id, index_id, key)", db_index_max);
}

static int random_tuple(lua_State *L)
{
	static const char usage[] = "usage index.random(space_id, index_id, rnd)";
	struct tuple *result = NULL;
	if (db_index_random(lua_box_uint(L, 1, usage), lua_box_uint(L, 2, usage),
			    lua_box_uint(L, 3, usage), &result) != 0)
		return lua_throw(L);
	return lua_box_push_counted(L, result);
}

/** (space, index, key, iterator) */
static int count(lua_State *L)
{
	static const char usage[] = "usage index.count(space_id, index_id, iterator, key)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	uint32_t iterator = lua_box_uint(L, 4, usage);
	struct buf *b = lua_scratch_get();
	lua_encode_search_key(L, 3, b);
	int64_t n = db_index_count(space_id, index_id, iterator, b->data, buf_end(b));
	lua_scratch_put(b);
	if (n < 0)
		return lua_throw(L);
	lua_push_int64(L, n);
	return 1;
}

static int number_of(lua_State *L, int64_t (*read)(uint32_t, uint32_t))
{
	static const char usage[] = "usage: (space_id, index_id)";
	int64_t n = read(lua_box_uint(L, 1, usage), lua_box_uint(L, 2, usage));
	if (n < 0)
		return lua_throw(L);
	lua_push_int64(L, n);
	return 1;
}

static int len(lua_State *L)
{
	return number_of(L, db_index_len);
}

static int bsize(lua_State *L)
{
	return number_of(L, db_index_bsize);
}

/** The rows of a select, in a port that this frees whatever happens. */
static int push_rows(lua_State *L)
{
	struct port *port = lua_touserdata(L, 1);
	uint32_t n = port_c_count(port), size;
	const char *data;
	struct tuple *tuples[LUA_SET_TUPLES_MAX];
	lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
	for (uint32_t done = 0; done < n;) {
		uint32_t count = 0;
		for (; count < LUA_SET_TUPLES_MAX && done + count < n; count++)
			tuples[count] = port_c_at(port, done + count, &data, &size);
		lua_set_tuples(L, (int)done + 1, tuples, count);
		done += count;
	}
	return 1;
}

static int push_rows_ref = LUA_NOREF;

/**
 * Encodes what a select begins behind: a tuple, or a position in base64; nothing for nil.
 * False with an error for anything else.
 */
static bool encode_after(lua_State *L, int idx, struct buf *b, bool *is_tuple)
{
	*is_tuple = is_array(L, idx);
	if (*is_tuple) {
		lua_encode_array(L, idx, b);
	} else if (lua_type(L, idx) == LUA_TSTRING) {
		size_t len;
		const char *text = lua_tolstring(L, idx, &len);
		page_decode_position(text, len, b);
	} else if (!lua_isnoneornil(L, idx)) {
		client_error(ER_ITERATOR_POSITION);
		return false;
	}
	return true;
}

/** A page that begins behind what encode_after() put into the buffer, from `key_size` on. */
static void page_create(lua_State *L, int idx, struct select_page *page, const struct buf *b,
			size_t key_size, bool is_tuple)
{
	*page = (struct select_page){.is_tuple = is_tuple};
	if (!lua_isnoneornil(L, idx)) {
		page->after = b->data + key_size;
		page->after_end = b->data + b->size;
	}
}

/** Pushes a position in base64, nil where there is none; gives the buffer back. */
static void push_position(lua_State *L, struct buf *position)
{
	size_t size = position->size;
	if (size == 0) {
		lua_pushnil(L);
	} else {
		char *text = buf_reserve(position, base64_encoded_size(size));
		lua_pushlstring(L, text, base64_encode(position->data, size, text));
	}
	lua_scratch_put(position);
}

/** (space, index, tuple) -> its position */
static int tuple_pos(lua_State *L)
{
	static const char usage[] = "Usage index:tuple_pos(tuple)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	if (!is_array(L, 3))
		return luaL_error(L, "%s", usage);
	struct buf *b = lua_scratch_get(), *position = lua_scratch_get();
	lua_encode_array(L, 3, b);
	int rc = db_index_tuple_position(space_id, index_id, b->data, buf_end(b), position);
	if (rc == 0) {
		lua_scratch_put(b);
		push_position(L, position);
		return 1;
	}
	lua_scratch_put(position);
	lua_scratch_put(b);
	return lua_throw(L);
}

/** Pushes a table of the rows, or raises; the port is destroyed either way. */
static int push_port(lua_State *L, struct port *port)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, push_rows_ref);
	lua_pushlightuserdata(L, port);
	int rc = lua_pcall(L, 1, 1, 0);
	port_destroy(port);
	return rc == 0 ? 1 : lua_error(L);
}

/** A select that begins behind a tuple, or tells the position of its last one. */
static int select_page(lua_State *L, uint32_t space_id, uint32_t index_id, uint32_t iterator,
		       uint32_t offset, uint32_t limit)
{
	struct port port;
	struct select_page page;
	bool is_tuple;
	struct buf *b = lua_scratch_get();
	struct buf *position = lua_toboolean(L, 8) ? lua_scratch_get() : NULL;
	lua_encode_search_key(L, 3, b);
	size_t key_size = b->size;
	stat_count(STAT_SELECT, 1);
	int rc = -1;
	if (encode_after(L, 7, b, &is_tuple)) {
		page_create(L, 7, &page, b, key_size, is_tuple);
		page.position = position;
		rc = db_select(space_id, index_id, iterator, offset, limit, b->data,
			       b->data + key_size, &page, &port);
	}
	if (rc != 0 && position != NULL)
		lua_scratch_put(position);
	lua_scratch_put(b);
	if (rc != 0)
		return fail(L);
	push_port(L, &port);
	if (position == NULL)
		return 1;
	push_position(L, position);
	return 2;
}

/** (space, index, key, iterator, offset, limit, after, fetch_pos) -> rows[, position] */
static int select_rows(lua_State *L)
{
	static const char usage[] = "Usage index:select(iterator, offset, limit, key)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	uint32_t iterator = lua_box_uint(L, 4, usage);
	uint32_t offset = lua_box_uint(L, 5, "offset must be a number");
	uint32_t limit = lua_box_uint(L, 6, "limit must be a number");
	if (lua_gettop(L) > 6)
		return select_page(L, space_id, index_id, iterator, offset, limit);
	struct buf *b = lua_scratch_get();
	lua_encode_search_key(L, 3, b);
	struct port port;
	stat_count(STAT_SELECT, 1);
	int rc = db_select(space_id, index_id, iterator, offset, limit, b->data, buf_end(b), NULL,
			   &port);
	lua_scratch_put(b);
	return rc == 0 ? push_port(L, &port) : fail(L);
}

/* FFI: point reads -------------------------------------------------------- */

/** What the functions below return; above 1: the size of a tuple that has no room in `out`. */
enum { GET_FOUND = 0, GET_NONE = 1, GET_FAILED = -1 };

/**
 * Copies a tuple into `out`, which has `size` bytes of body. The functions below are
 * called by FFI: they neither yield nor run Lua, and hold nothing when they return.
 */
static int copy_tuple(const struct tuple *tuple, struct lua_tuple *out, uint32_t size)
{
	if (tuple->bsize > size || tuple->bsize > LUA_TUPLE_COPY_MAX)
		return (int)tuple->bsize;
	lua_tuple_fill(out, (struct tuple *)tuple);
	return GET_FOUND;
}

static int get_copy(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		    struct lua_tuple *out, uint32_t size)
{
	struct tuple *tuple = NULL;
	stat_count(STAT_SELECT, 1);
	if (db_index_get(space_id, index_id, key, key_end, &tuple) != 0) {
		stat_count(STAT_ERROR, 1);
		return GET_FAILED;
	}
	if (tuple == NULL)
		return GET_NONE;
	int rc = copy_tuple(tuple, out, size);
	tuple_unref(tuple);
	return rc;
}

int tarn_index_get_number(uint32_t space_id, uint32_t index_id, double key, struct lua_tuple *out,
			  uint32_t size)
{
	char data[16], *end = mp_encode_number(mp_encode_array(data, 1), key);
	return get_copy(space_id, index_id, data, end, out, size);
}

int tarn_index_get_string(uint32_t space_id, uint32_t index_id, const char *key, uint32_t len,
			  struct lua_tuple *out, uint32_t size)
{
	char data[TARN_INDEX_KEY_MAX + 8], *end = mp_encode_array(data, 1);
	end = mp_encode_str(end, key, len);
	return get_copy(space_id, index_id, data, end, out, size);
}

/* Iterators --------------------------------------------------------------- */

static const char iterator_mt[] = "tarn.index.iterator";

/** The state of a scan, in a userdata. */
struct scan {
	struct iterator *it;
	/** The next tuple, counted, where there was no room for it. */
	struct tuple *pending;
};

static void scan_close(struct scan *scan)
{
	if (scan->pending != NULL)
		tuple_unref(scan->pending);
	if (scan->it != NULL)
		db_iterator_free(scan->it);
	scan->pending = NULL;
	scan->it = NULL;
}

/** Finds the next tuple: it is pending then. GET_NONE closes the scan. */
static int scan_step(struct scan *scan)
{
	if (scan->pending != NULL)
		return GET_FOUND;
	if (scan->it == NULL)
		return GET_NONE;
	if (db_iterator_next(scan->it, &scan->pending) != 0)
		return GET_FAILED;
	if (scan->pending != NULL)
		return GET_FOUND;
	scan_close(scan);
	return GET_NONE;
}

/** FFI: neither yields nor runs Lua. */
int tarn_index_next(void *state, struct lua_tuple *out, uint32_t size)
{
	struct scan *scan = state;
	int rc = scan_step(scan);
	if (rc != GET_FOUND)
		return rc;
	rc = copy_tuple(scan->pending, out, size);
	if (rc == GET_FOUND) {
		tuple_unref(scan->pending);
		scan->pending = NULL;
	}
	return rc;
}

static struct scan *check_scan(lua_State *L, int idx)
{
	struct scan *scan = lua_touserdata(L, idx);
	if (scan != NULL && lua_getmetatable(L, idx)) {
		luaL_getmetatable(L, iterator_mt);
		if (lua_rawequal(L, -1, -2)) {
			lua_pop(L, 2);
			return scan;
		}
	}
	luaL_error(L, "usage: next(param, state)");
	return NULL;
}

/** (state) -> the pending tuple, of any size */
static int iterator_pending(lua_State *L)
{
	struct scan *scan = check_scan(L, 1);
	struct tuple *tuple = scan->pending;
	scan->pending = NULL;
	return lua_box_push_counted(L, tuple);
}

/** (space, index, key, iterator, after) -> the state of a scan */
static int iterator_new(lua_State *L)
{
	static const char usage[] = "usage index.iterator(space_id, index_id, key, iterator)";
	uint32_t space_id = lua_box_uint(L, 1, usage);
	uint32_t index_id = lua_box_uint(L, 2, usage);
	uint32_t type = lua_box_uint(L, 4, usage);
	lua_settop(L, 5);
	struct scan *scan = lua_newuserdata(L, sizeof(*scan));
	scan->it = NULL;
	scan->pending = NULL;
	luaL_getmetatable(L, iterator_mt);
	lua_setmetatable(L, -2);
	stat_count(STAT_SELECT, 1);
	struct buf *b = lua_scratch_get();
	lua_encode_search_key(L, 3, b);
	size_t key_size = b->size;
	bool is_tuple;
	if (encode_after(L, 5, b, &is_tuple)) {
		struct select_page page;
		page_create(L, 5, &page, b, key_size, is_tuple);
		scan->it = db_index_iterator(space_id, index_id, type, b->data,
					     b->data + key_size, &page);
	}
	lua_scratch_put(b);
	return scan->it != NULL ? 1 : fail(L);
}

static int iterator_gc(lua_State *L)
{
	scan_close(lua_touserdata(L, 1));
	return 0;
}

static int iterator_tostring(lua_State *L)
{
	lua_pushliteral(L, "<iterator state>");
	return 1;
}

/* Start-up ---------------------------------------------------------------- */

static void init_iterator(lua_State *L)
{
	luaL_newmetatable(L, iterator_mt);
	lua_pushcfunction(L, iterator_gc);
	lua_setfield(L, -2, "__gc");
	lua_pushcfunction(L, iterator_tostring);
	lua_setfield(L, -2, "__tostring");
	/* How index.lua knows a state: what getmetatable() gives. */
	lua_pushliteral(L, "index iterator");
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

void lua_index_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"insert", insert}, {"replace", replace}, {"update", update}, {"upsert", upsert},
		{"delete", delete}, {"truncate", truncate}, {"get", get}, {"min", min},
		{"max", max}, {"random", random_tuple}, {"count", count}, {"len", len},
		{"bsize", bsize}, {"tuple_pos", tuple_pos}, {"select", select_rows},
		{"iterator", iterator_new}, {"iterator_pending", iterator_pending}, {NULL, NULL},
	};
	init_iterator(L);
	push_rows_ref = lua_box_ref(L, push_rows);
	lua_new_module(L, "tarn.index", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "row.lua", "tarn.box.row");
	lua_load_embedded(L, "index.lua", "tarn.box.index");
}
