/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers for the rows of a BITSET index: from a number to its tuple and back. Numbers
 * of rows that left are given out again, the last first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tuple;
struct mem_account;

enum { BITSET_ROW_NONE = UINT32_MAX };

struct bitset_rows {
	/** By number; of a free number, the next free one. */
	union bitset_row { struct tuple *tuple; uint32_t next_free; } *rows;
	/** Numbers that were ever given out, and for how many there is room. */
	uint32_t used, capacity;
	uint32_t free;
	uint32_t count;
	/** A hash table from tuples to numbers; 0: free, else the number and 1. */
	uint32_t *places;
	uint32_t place_count;
};

void bitset_rows_create(struct bitset_rows *rows);
void bitset_rows_destroy(struct bitset_rows *rows, struct mem_account *account);
size_t bitset_rows_bsize(const struct bitset_rows *rows);

/** Room for one more. -1: OutOfMemory; never where `is_forced`. */
int bitset_rows_reserve(struct bitset_rows *rows, struct mem_account *account, bool is_forced);

/** The number for a new tuple, after bitset_rows_reserve(). */
uint32_t bitset_rows_add(struct bitset_rows *rows, struct tuple *tuple);

/** The number of a tuple that is there. */
uint32_t bitset_rows_find(const struct bitset_rows *rows, const struct tuple *tuple);

/** Puts another tuple under the number. */
void bitset_rows_replace(struct bitset_rows *rows, uint32_t n, struct tuple *tuple);
void bitset_rows_remove(struct bitset_rows *rows, uint32_t n);
