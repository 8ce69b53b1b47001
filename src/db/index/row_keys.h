/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Indexes in which a row has any number of keys: multikey ones, with a key for each
 * element of an array, and functional ones, whose keys a function returns.
 *
 * The index is a TREE of *key tuples*. A key tuple has the values of the parts that
 * order the index, and knows its row:
 *
 *     struct tuple | row | [key's parts..., primary key's parts...]
 *
 * so its parts are its fields in order, and the tree needs to know nothing of paths or
 * functions. The keys of one row that are equal are one entry.
 */
#pragma once

#include "db/index/index.h"
#include "db/tuple/tuple.h"

/** The key tuples of one row. */
struct row_keys {
	uint32_t count;
	struct tuple *keys[];
};

struct key_tuple {
	struct tuple base;
	/** Borrowed: alive for as long as the key is in the index. */
	struct tuple *row;
};

_Static_assert(sizeof(struct key_tuple) == 24, "the array behind it begins at once");

static inline struct tuple *key_tuple_row(const struct tuple *key)
{
	return ((const struct key_tuple *)key)->row;
}

/**
 * The keys of a row, made of the values at `[*]` or by calling the index's function. NULL:
 * OutOfMemory (never while index_is_undoing), ER_FUNC_INDEX_FUNC, ER_FUNC_INDEX_FORMAT.
 */
struct row_keys *row_keys_new(const struct index *index, struct tuple_format *format,
			      struct tuple *row);
/** Gives back its references. */
void row_keys_delete(struct row_keys *keys);
