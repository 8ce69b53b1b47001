/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows that compiled code puts without leaving it: flat tables, where that calls nobody's
 * function and waits for no log, as inside of a transaction. Lua goes through the table
 * (row.lua), and each value comes here by FFI, then the statement. That takes half of the
 * time of the way through the C interface (index.c), which is there for anything else.
 *
 * There is one row at a time. While Lua makes one, a finalizer may begin another: so each
 * has a ticket, and only the last one's is good.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/tuple/tuple.h"
#include "lua/box/tuple.h"
#include "net/stat.h"

enum {
	/** The most that a number, or what stands before a string or an array, takes. */
	VALUE_SIZE_MAX = 9,
};

static struct {
	uint32_t ticket;
	/** So many values of the array that was begun last, and arrays, are still to come. */
	uint32_t values, arrays;
	bool is_spoilt;
	/** Behind all values. */
	char *end;
	char data[LUA_TUPLE_COPY_MAX];
} row;

/* All of these are FFI: they neither yield nor run Lua. */

/** A ticket for a row of the space; 0: it can't be put in this way. */
uint32_t tarn_row_begin(uint32_t space_id)
{
	if (!db_is_plain_change(space_id))
		return 0;
	row.end = row.data;
	row.values = 0;
	row.arrays = 1;
	row.is_spoilt = false;
	if (++row.ticket == 0)
		row.ticket = 1;
	return row.ticket;
}

/** It is no row of this kind: tarn_row_end() will say so. */
void tarn_row_spoil(void)
{
	row.is_spoilt = true;
}

/** Is there room for a value with so many bytes besides its head? */
static bool has_room(size_t size)
{
	if (size + VALUE_SIZE_MAX <= (size_t)(row.data + sizeof(row.data) - row.end))
		return true;
	row.is_spoilt = true;
	return false;
}

/** The same for the next one of the array. */
static bool takes_value(size_t size)
{
	row.is_spoilt |= row.values == 0;
	row.values--;
	return has_room(size);
}

static void put_array(uint32_t count)
{
	row.is_spoilt |= row.values != 0;
	if (has_room(0))
		row.end = mp_encode_array(row.end, count);
}

/** An array begins, of so many values that are none. */
void tarn_row_array(uint32_t count)
{
	row.is_spoilt |= row.arrays == 0;
	row.arrays--;
	put_array(count);
	row.values = count;
}

/** Behind the row: an array of so many arrays begins. */
void tarn_row_arrays(uint32_t count)
{
	row.is_spoilt |= row.arrays != 0;
	put_array(count);
	row.arrays = count;
}

void tarn_row_number(double value)
{
	if (takes_value(0))
		row.end = mp_encode_number(row.end, value);
	/* An option says what becomes of others. */
	row.is_spoilt |= !isfinite(value);
}

void tarn_row_string(const char *data, uint32_t len)
{
	if (takes_value(len))
		row.end = mp_encode_str(row.end, data, len);
}

void tarn_row_boolean(bool value)
{
	if (takes_value(0))
		row.end = mp_encode_bool(row.end, value);
}

void tarn_row_nil(void)
{
	if (takes_value(0))
		row.end = mp_encode_nil(row.end);
}

/** How many bytes there are, when nothing is still to come; 0: it can't be put in this way. */
uint32_t tarn_row_end(uint32_t ticket)
{
	bool is_whole = row.values == 0 && row.arrays == 0 && !row.is_spoilt;
	return is_whole && ticket == row.ticket ? row.end - row.data : 0;
}

/** What a change of these functions returns. */
enum { ROW_DONE = 0, ROW_OTHER_WAY = 1, ROW_FAILED = -1 };

static int failed(void)
{
	/* Garbage may have the memory that was missing: the other way collects it. */
	if (error_is(diag_last(), &type_OutOfMemory))
		return ROW_OTHER_WAY;
	stat_count(STAT_ERROR, 1);
	return ROW_FAILED;
}

/**
 * Puts the row (`type`: IPROTO_INSERT or IPROTO_REPLACE) and copies it to `out`, which has room
 * for it.
 */
int tarn_row_put(uint32_t ticket, uint32_t type, uint32_t space_id, struct lua_tuple *out)
{
	if (tarn_row_end(ticket) == 0 || !db_is_plain_change(space_id))
		return ROW_OTHER_WAY;
	bool is_insert = type == IPROTO_INSERT;
	struct tuple *tuple = NULL;
	int rc = (is_insert ? db_insert : db_replace)(space_id, row.data, row.end, &tuple);
	if (rc != 0 && failed() == ROW_OTHER_WAY)
		return ROW_OTHER_WAY;
	stat_count(is_insert ? STAT_INSERT : STAT_REPLACE, 1);
	if (rc != 0)
		return ROW_FAILED;
	assert(tuple->bsize == row.end - row.data);
	lua_tuple_fill(out, tuple);
	tuple_unref(tuple);
	return ROW_DONE;
}

/** Upserts the row, which is the first `size` bytes; the operations are behind it. */
int tarn_row_upsert(uint32_t ticket, uint32_t space_id, uint32_t size)
{
	if (tarn_row_end(ticket) == 0 || !db_is_plain_change(space_id))
		return ROW_OTHER_WAY;
	const char *ops = row.data + size;
	int rc = db_upsert(space_id, 0, row.data, ops, ops, row.end, 1, NULL);
	if (rc != 0 && failed() == ROW_OTHER_WAY)
		return ROW_OTHER_WAY;
	stat_count(STAT_UPSERT, 1);
	return rc == 0 ? ROW_DONE : ROW_FAILED;
}
