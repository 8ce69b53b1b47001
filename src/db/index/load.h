/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bulk load: an index is filled with all rows of a space at once. Entries are
 * gathered with their hints, sorted, and put side by side:
 *
 *     tx or a worker:  index_load_gather(), index_load_sort()
 *     tx:              index->vtab->load_reserve()
 *     tx or a worker:  index->vtab->load()
 *
 * A worker may do its steps while tx goes on, if the rows come from a frozen view.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "db/index/index.h"
#include "db/tuple/hint.h"

struct index_entry {
	hint_t hint;
	struct tuple *tuple;
};

struct index_load {
	struct index *index;
	/** HASH: hints are hashes. */
	bool is_by_hash;
	struct index_entry *entries;
	size_t count, capacity;
	/** Strings: what all have in common at their beginning; hints are of what is behind. */
	struct hint_bytes first;
	uint32_t skip;
};

/** Can the index be filled this way? Otherwise rows go in one by one. */
static inline bool index_can_load(const struct index *index)
{
	return index->vtab->load != NULL;
}

/** Begins to gather; `expected` is how many entries there will be, or 0. */
void index_load_create(struct index_load *load, struct index *index, size_t expected);
void index_load_destroy(struct index_load *load);

/** Adds one row. -1: OutOfMemory. */
int index_load_add(struct index_load *load, struct tuple *tuple);

/**
 * Adds what an iterator has, which is not freed; the tuples stay alive until the load. Calls
 * `check` (where not NULL) for each. -1: its error, the iterator's, or OutOfMemory.
 */
int index_load_gather(struct index_load *load, struct iterator *it,
		      int (*check)(struct tuple *tuple, void *arg), void *arg);

/** Sorts the entries. -1: ER_TUPLE_FOUND, OutOfMemory. */
int index_load_sort(struct index_load *load);

/** Puts the entries into the index one by one, in tx. -1: OutOfMemory. */
int index_load_each(const struct index_load *load);

/** Puts sorted entries into the index, in tx. -1: OutOfMemory. */
int index_load_put(const struct index_load *load);

/** Sorts and loads, in tx. -1: ER_TUPLE_FOUND, OutOfMemory; the index is empty then. */
int index_load_finish(struct index_load *load);
