/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows that compiled code puts without leaving it: flat tables, inside of a
 * transaction, in a space where that calls nobody's function. Lua goes through the table
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
	/** Before the values: the array's head. */
	HEAD_SIZE = 3,
	/** The most that a number, or what stands before a string, takes. */
	VALUE_SIZE_MAX = 9,
};

static struct {
	uint32_t ticket, count;
	/** Behind the values. */
	char *end;
	bool is_spoilt;
	char data[LUA_TUPLE_COPY_MAX];
} row;

/* All of these are FFI: they neither yield nor run Lua. */

/** A ticket for a row of the space; 0: it can't be put in this way. */
uint32_t tarn_row_begin(uint32_t space_id)
{
	if (!db_is_plain_change(space_id))
		return 0;
	row.count = 0;
	row.end = row.data + HEAD_SIZE;
	row.is_spoilt = false;
	if (++row.ticket == 0)
		row.ticket = 1;
	return row.ticket;
}

/** Where the next value goes, of so many bytes at most; NULL: there is no room. */
static char *take_room(size_t size)
{
	if (size > (size_t)(row.data + sizeof(row.data) - row.end)) {
		row.is_spoilt = true;
		return NULL;
	}
	row.count++;
	return row.end;
}

void tarn_row_number(double value)
{
	char *to = take_room(VALUE_SIZE_MAX);
	if (to != NULL)
		row.end = mp_encode_number(to, value);
	/* An option says what becomes of others. */
	row.is_spoilt |= !isfinite(value);
}

void tarn_row_string(const char *data, uint32_t len)
{
	char *to = take_room((size_t)len + VALUE_SIZE_MAX);
	if (to != NULL)
		row.end = mp_encode_str(to, data, len);
}

void tarn_row_boolean(bool value)
{
	char *to = take_room(VALUE_SIZE_MAX);
	if (to != NULL)
		row.end = mp_encode_bool(to, value);
}

void tarn_row_nil(void)
{
	char *to = take_room(VALUE_SIZE_MAX);
	if (to != NULL)
		row.end = mp_encode_nil(to);
}

/** It is no row of this kind: tarn_row_end() will say so. */
void tarn_row_spoil(void)
{
	row.is_spoilt = true;
}

/** Where the row begins. */
static char *row_begin(void)
{
	return row.data + HEAD_SIZE - mp_sizeof_array(row.count);
}

/** The size of the row that is complete; 0: it can't be put in this way. */
uint32_t tarn_row_end(uint32_t ticket)
{
	if (ticket != row.ticket || row.is_spoilt)
		return 0;
	mp_encode_array(row_begin(), row.count);
	return row.end - row_begin();
}

/**
 * Puts it (`type`: IPROTO_INSERT or IPROTO_REPLACE) and copies it to `out`, which has room for it.
 * 0: done; 1: not done, it has to go the other way; -1: an error.
 */
int tarn_row_put(uint32_t ticket, uint32_t type, uint32_t space_id, struct lua_tuple *out)
{
	if (ticket != row.ticket || !db_is_plain_change(space_id))
		return 1;
	bool is_insert = type == IPROTO_INSERT;
	struct tuple *tuple = NULL;
	if ((is_insert ? db_insert : db_replace)(space_id, row_begin(), row.end, &tuple) != 0) {
		/* Garbage may have the memory that was missing: the other way collects it. */
		if (error_is(diag_last(), &type_OutOfMemory))
			return 1;
		stat_count(STAT_ERROR, 1);
	}
	stat_count(is_insert ? STAT_INSERT : STAT_REPLACE, 1);
	if (tuple == NULL)
		return -1;
	assert(tuple->bsize == row.end - row_begin());
	lua_tuple_fill(out, tuple);
	tuple_unref(tuple);
	return 0;
}
