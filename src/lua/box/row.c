/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows that compiled code puts without leaving it: flat tables, where that calls nobody's
 * function and waits for no log, as inside of a transaction. Lua goes through the table
 * (row.lua), and each value comes here by FFI, then the statement. That takes half of the
 * time of the way through the C interface (index.c), which is there for anything else.
 *
 * Compiled code is made anew for each shape of a row: the kinds of its values. So a space
 * whose rows have many shapes, or mostly none, is left to the other way for good.
 *
 * There is one row at a time. While Lua makes one, a finalizer may begin another: so each
 * has a ticket, and only the last one's is good.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/map.h"
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

/** What a value is, in the shape of a row. */
enum row_kind { ROW_ARRAY = 1, ROW_ARRAYS, ROW_NUMBER, ROW_STRING, ROW_BOOLEAN, ROW_NIL };

static struct {
	uint32_t ticket, space_id;
	uint64_t shape;
	/** So many values of the array that was begun last, and arrays, are still to come. */
	uint32_t values, arrays;
	bool is_spoilt;
	/** Behind all values. */
	char *end;
	char data[LUA_TUPLE_COPY_MAX];
} row;

/* Shapes ------------------------------------------------------------------ */

enum {
	/** So many shapes have the rows of a space, and those of all. */
	SPACE_SHAPES_MAX = 8, SHAPES_MAX = 128, SHAPE_SLOTS = 256,
	/** And so many rows of a space may have none. */
	SPACE_SPOILT_MAX = 64,
};

/** Shapes that were seen, by hash. A free slot has no count. */
static struct row_shape {
	uint64_t shape;
	uint32_t space_id, count;
} shapes[SHAPE_SLOTS];
static unsigned shape_count;

/** Ids of spaces that are left to the other way. */
static struct map_u64 varied;

static struct row_shape *shape_slot(uint32_t space_id, uint64_t shape)
{
	uint64_t hash = (shape ^ space_id) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned i = hash >> 56;
	while (shapes[i].count > 0 && (shapes[i].shape != shape || shapes[i].space_id != space_id))
		i = (i + 1) % SHAPE_SLOTS;
	return &shapes[i];
}

static unsigned shape_count_of(uint32_t space_id)
{
	unsigned count = 0;
	for (unsigned i = 0; i < SHAPE_SLOTS; i++)
		count += shapes[i].count > 0 && shapes[i].space_id == space_id;
	return count;
}

/** Is there compiled code for such rows, or may there be? 0: the shape of those that have none. */
static bool shape_is_welcome(uint32_t space_id, uint64_t shape)
{
	struct row_shape *slot = shape_slot(space_id, shape);
	bool is_new = slot->count == 0;
	if (!is_new && (shape != 0 || slot->count < SPACE_SPOILT_MAX)) {
		slot->count += shape == 0;
		return true;
	}
	if (!is_new || shape_count == SHAPES_MAX || shape_count_of(space_id) == SPACE_SHAPES_MAX) {
		map_u64_put(&varied, space_id, &varied);
		return false;
	}
	*slot = (struct row_shape){shape, space_id, 1};
	shape_count++;
	return true;
}

static inline void shape_add(enum row_kind kind)
{
	row.shape = (row.shape + kind) * UINT64_C(0x2545f4914f6cdd1d);
}

/* Rows -------------------------------------------------------------------- */

/* All of these are FFI: they neither yield nor run Lua. */

/** A ticket for a row of the space; 0: it can't be put in this way. */
uint32_t tarn_row_begin(uint32_t space_id)
{
	if (varied.count > 0 && map_u64_get(&varied, space_id) != NULL)
		return 0;
	if (!db_is_plain_change(space_id))
		return 0;
	row.space_id = space_id;
	row.shape = 0;
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
static bool takes_value(enum row_kind kind, size_t size)
{
	shape_add(kind);
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
	shape_add(ROW_ARRAY);
}

/** Behind the row: an array of so many arrays begins. */
void tarn_row_arrays(uint32_t count)
{
	row.is_spoilt |= row.arrays != 0;
	put_array(count);
	row.arrays = count;
	shape_add(ROW_ARRAYS);
}

void tarn_row_number(double value)
{
	if (takes_value(ROW_NUMBER, 0))
		row.end = mp_encode_number(row.end, value);
	/* An option says what becomes of others. */
	row.is_spoilt |= !isfinite(value);
}

void tarn_row_string(const char *data, uint32_t len)
{
	if (takes_value(ROW_STRING, len))
		row.end = mp_encode_str(row.end, data, len);
}

void tarn_row_boolean(bool value)
{
	if (takes_value(ROW_BOOLEAN, 0))
		row.end = mp_encode_bool(row.end, value);
}

void tarn_row_nil(void)
{
	if (takes_value(ROW_NIL, 0))
		row.end = mp_encode_nil(row.end);
}

static bool is_whole(uint32_t ticket)
{
	return ticket == row.ticket && row.values == 0 && row.arrays == 0 && !row.is_spoilt;
}

/** Nothing is to come any more. Can what there is be put in this way? */
static bool is_fit(uint32_t ticket)
{
	bool has_shape = is_whole(ticket);
	return ticket == row.ticket &&
		shape_is_welcome(row.space_id, has_shape ? row.shape : 0) && has_shape;
}

/** How many bytes the row has, which ends here; 0: it can't be put in this way. */
uint32_t tarn_row_end(uint32_t ticket)
{
	return is_fit(ticket) ? row.end - row.data : 0;
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
	if (!is_whole(ticket) || !db_is_plain_change(space_id))
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
	if (!is_fit(ticket) || !db_is_plain_change(space_id))
		return ROW_OTHER_WAY;
	const char *ops = row.data + size;
	int rc = db_upsert(space_id, 0, row.data, ops, ops, row.end, 1, NULL);
	if (rc != 0 && failed() == ROW_OTHER_WAY)
		return ROW_OTHER_WAY;
	stat_count(STAT_UPSERT, 1);
	return rc == 0 ? ROW_DONE : ROW_FAILED;
}
