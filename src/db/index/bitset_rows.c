/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers for rows: see the header. The hash table has linear probing; what is taken
 * out is closed by moving those behind it back.
 */
#include "db/index/bitset_rows.h"

#include <assert.h>
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"
#include "db/index/index_private.h"

enum { ROWS_MIN = 16, ROWS_MAX = 1u << 30 };

void bitset_rows_create(struct bitset_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->free = BITSET_ROW_NONE;
}

void bitset_rows_destroy(struct bitset_rows *rows, struct mem_account *account)
{
	mem_free(account, rows->rows, rows->capacity * sizeof(*rows->rows));
	mem_free(account, rows->places, rows->place_count * sizeof(*rows->places));
}

size_t bitset_rows_bsize(const struct bitset_rows *rows)
{
	return rows->capacity * sizeof(*rows->rows) + rows->place_count * sizeof(*rows->places);
}

static uint32_t rows_home(const struct bitset_rows *rows, const struct tuple *tuple)
{
	return index_mix_seed((uintptr_t)tuple) & (rows->place_count - 1);
}

/** The place of the tuple, or the free one where it would go. */
static uint32_t rows_place(const struct bitset_rows *rows, const struct tuple *tuple)
{
	uint32_t place = rows_home(rows, tuple);
	while (rows->places[place] != 0 && rows->rows[rows->places[place] - 1].tuple != tuple)
		place = (place + 1) & (rows->place_count - 1);
	return place;
}

static void rows_unplace(struct bitset_rows *rows, uint32_t place)
{
	uint32_t mask = rows->place_count - 1;
	for (uint32_t next = (place + 1) & mask; rows->places[next] != 0;
	     next = (next + 1) & mask) {
		uint32_t home = rows_home(rows, rows->rows[rows->places[next] - 1].tuple);
		if (((next - home) & mask) < ((next - place) & mask))
			continue;
		rows->places[place] = rows->places[next];
		place = next;
	}
	rows->places[place] = 0;
}

static void *rows_alloc(struct mem_account *account, size_t size, bool is_forced)
{
	return is_forced ? mem_alloc_forced(account, size) : mem_alloc(account, size);
}

/** Twice the room for numbers, and twice as many places as numbers. */
static int rows_grow(struct bitset_rows *rows, struct mem_account *account, bool is_forced)
{
	struct bitset_rows old = *rows;
	if (old.capacity == ROWS_MAX) {
		diag_set(OutOfMemory, "Too many rows in a BITSET index");
		return -1;
	}
	uint32_t capacity = old.capacity > 0 ? old.capacity * 2 : ROWS_MIN;
	void *numbers = rows_alloc(account, capacity * sizeof(*rows->rows), is_forced);
	if (numbers == NULL)
		return -1;
	uint32_t *places = rows_alloc(account, 2 * capacity * sizeof(*places), is_forced);
	if (places == NULL) {
		mem_free(account, numbers, capacity * sizeof(*rows->rows));
		return -1;
	}
	memset(places, 0, 2 * capacity * sizeof(*places));
	rows->rows = numbers;
	if (old.used > 0)
		memcpy(rows->rows, old.rows, old.used * sizeof(*rows->rows));
	rows->capacity = capacity;
	rows->places = places;
	rows->place_count = 2 * capacity;
	for (uint32_t i = 0; i < old.place_count; i++) {
		if (old.places[i] != 0)
			places[rows_place(rows, rows->rows[old.places[i] - 1].tuple)] =
				old.places[i];
	}
	bitset_rows_destroy(&old, account);
	return 0;
}

int bitset_rows_reserve(struct bitset_rows *rows, struct mem_account *account, bool is_forced)
{
	if (rows->free != BITSET_ROW_NONE || rows->used < rows->capacity)
		return 0;
	return rows_grow(rows, account, is_forced);
}

uint32_t bitset_rows_add(struct bitset_rows *rows, struct tuple *tuple)
{
	uint32_t n = rows->free;
	if (n != BITSET_ROW_NONE)
		rows->free = rows->rows[n].next_free;
	else
		n = rows->used++;
	assert(n < rows->capacity);
	rows->rows[n].tuple = tuple;
	rows->places[rows_place(rows, tuple)] = n + 1;
	rows->count++;
	return n;
}

uint32_t bitset_rows_find(const struct bitset_rows *rows, const struct tuple *tuple)
{
	uint32_t place = rows_place(rows, tuple);
	assert(rows->places[place] != 0);
	return rows->places[place] - 1;
}

void bitset_rows_replace(struct bitset_rows *rows, uint32_t n, struct tuple *tuple)
{
	rows_unplace(rows, rows_place(rows, rows->rows[n].tuple));
	rows->rows[n].tuple = tuple;
	rows->places[rows_place(rows, tuple)] = n + 1;
}

void bitset_rows_remove(struct bitset_rows *rows, uint32_t n)
{
	rows_unplace(rows, rows_place(rows, rows->rows[n].tuple));
	rows->rows[n].next_free = rows->free;
	rows->free = n;
	rows->count--;
}
