/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The index interface: a table of functions for each kind of index, so that
 * another kind or engine can be built from this header alone. No function yields.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "db/index/rtree.h"
#include "db/tuple/key_def.h"

struct region;
struct tuple;
struct index;
struct mem_account;
struct index_load;
struct func;

enum index_type { INDEX_TREE, INDEX_HASH, INDEX_BITSET, INDEX_RTREE, index_type_MAX };
extern const char *index_type_names[index_type_MAX];	/* "TREE", ... */

/** Numbers are the protocol's. */
enum iterator_type {
	ITER_EQ = 0, ITER_REQ, ITER_ALL, ITER_LT, ITER_LE, ITER_GE, ITER_GT,
	ITER_BITS_ALL_SET, ITER_BITS_ANY_SET, ITER_BITS_ALL_NOT_SET,
	ITER_OVERLAPS, ITER_NEIGHBOR, ITER_NP, ITER_PP,
	iterator_type_MAX,
};
extern const char *iterator_type_names[iterator_type_MAX];	/* "EQ", ... */

/** What may be in the way of a new tuple. */
enum dup_replace_mode {
	/** Insert: nothing with an equal key. */
	DUP_INSERT,
	/** Replace: whatever is there with an equal key; if `old_tuple` is given, only that. */
	DUP_REPLACE,
	/** Replace in a secondary index: an equal key only if it is `old_tuple`. */
	DUP_REPLACE_OR_INSERT,
};

struct index_def {
	uint32_t space_id;
	uint32_t iid;
	char *name;
	enum index_type type;
	bool is_unique;
	/** Store hints in the tree. */
	bool hint;
	/** Of an RTREE index. */
	uint32_t dimension;
	enum rtree_distance distance;
	/** As the user defined it. */
	struct key_def *key_def;
	/**
	 * What orders the entries: for a non-unique or nullable index with the primary's parts
	 * behind.
	 */
	struct key_def *cmp_def;
	/** Functional: the number of the function; else 0. */
	uint32_t func_id;
	/** NULL where it is not known yet: such an index is empty and can't be read. */
	struct func *func;
};

/**
 * `cmp_def` is made from the two; `pk_def` is NULL for the primary index itself. Everything is
 * copied.
 */
struct index_def *index_def_new(uint32_t space_id, uint32_t iid, const char *name, size_t name_len,
				enum index_type type, bool is_unique, bool hint,
				const struct key_def *key_def, const struct key_def *pk_def);
/** Orders entries by another primary key: NULL for the primary index itself. */
void index_def_set_pk(struct index_def *def, const struct key_def *pk_def);
/** Makes the index functional; keeps the function (which may be NULL) in memory. */
void index_def_set_func(struct index_def *def, uint32_t func_id, struct func *func);
struct index_def *index_def_dup(const struct index_def *def);
void index_def_delete(struct index_def *def);

struct iterator {
	/**
	 * The next tuple in `*tuple` (borrowed: reference it to keep it), NULL at the
	 * end. The index may change between calls: the iterator goes on behind the
	 * last tuple it returned. Allocate nothing: cannot fail for memtx.
	 */
	int (*next)(struct iterator *it, struct tuple **tuple);
	void (*free)(struct iterator *it);
	/**
	 * Lets an iterator that was not asked for a tuple yet begin behind a position: a key
	 * with all parts of `cmp_def`, copied. What it is the key of need not be there. NULL
	 * where the index has no order. -1: ER_ITERATOR_POSITION, it is not among what the
	 * iterator is for.
	 */
	int (*seek)(struct iterator *it, const char *position);
	/**
	 * The position of what it returned last, an array on the region. NULL where the tuple
	 * itself tells it, by `cmp_def`. Only before anything changes.
	 */
	const char *(*position)(struct iterator *it, struct region *region, uint32_t *size);
	struct index *index;
	/** Owner's check: the space and index it was made for still exist (see db.h). */
	uint64_t schema_version;
	uint32_t space_id, index_id;
};

struct index_vtab {
	void (*destroy)(struct index *index);
	/**
	 * Frees about `count` blocks of an index that is to be destroyed; nothing else is done
	 * with it then. True where the rest is small. NULL: it is always small enough.
	 */
	bool (*destroy_some)(struct index *index, size_t count);
	size_t (*size)(struct index *index);
	/** Bytes of the index itself, tuples not counted. */
	size_t (*bsize)(struct index *index);
	/** NULL where empty or the key has no match. Key may be partial. For TREE only. */
	int (*min)(struct index *index, const char *key, uint32_t part_count,
		   struct tuple **result);
	int (*max)(struct index *index, const char *key, uint32_t part_count,
		   struct tuple **result);
	/** NULL where the kind of index does not have it. */
	int (*random)(struct index *index, uint32_t seed, struct tuple **result);
	int64_t (*count)(struct index *index, enum iterator_type type, const char *key,
			 uint32_t part_count);
	/** By a full key of a unique index; NULL result where there is none. Borrowed. */
	int (*get)(struct index *index, const char *key, uint32_t part_count,
		   struct tuple **result);
	/**
	 * Puts `new_tuple` (NULL: delete) in the place of `old_tuple` (NULL: insert).
	 * `*result` is the tuple that left the index, or NULL. -1 with ER_TUPLE_FOUND or
	 * OutOfMemory: nothing has changed. Does not touch references: the space holds one
	 * for each tuple of its primary index.
	 */
	int (*replace)(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
		       enum dup_replace_mode mode, struct tuple **result);
	/**
	 * An iterator, freed by its `free`. Key parts are copied. NULL: OutOfMemory,
	 * ER_UNSUPPORTED_INDEX_FEATURE.
	 */
	struct iterator *(*iterator)(struct index *index, enum iterator_type type, const char *key,
				     uint32_t part_count);
	/**
	 * A frozen view: an iterator over the tuples as they are now, in the index's order,
	 * whatever happens to the index later. `next` and only `next` may be called from another
	 * thread; `free` in tx. The caller holds tuple_read_view_open() meanwhile. For kinds of
	 * index that can be primary.
	 */
	struct iterator *(*frozen_view)(struct index *index);
	/**
	 * Bulk load of an empty index that nobody uses yet (load.h); both are NULL where rows go
	 * in one by one. `load_reserve` takes the memory that `count` entries need, in tx; -1:
	 * OutOfMemory. `load` puts the entries, which are sorted; any thread. False: they don't fit,
	 * which a HASH index alone may say, and it is empty; index_load_each() is for that.
	 */
	int (*load_reserve)(struct index *index, size_t count);
	bool (*load)(struct index *index, const struct index_load *load);
	/**
	 * Debug: checks every invariant of the structure; false and a log line where one is
	 * broken.
	 */
	bool (*check)(struct index *index);
};

struct index {
	const struct index_vtab *vtab;
	struct index_def *def;
	/** For messages. */
	const char *space_name;
	/** Of a deferred index: what it will be. */
	const struct index_vtab *_real_vtab;
};

struct buf;

/** How functional indexes reach their functions; owned by db/schema, which sets it. */
struct index_func_vtab {
	/** Keeps a function in memory, and lets it go. */
	void (*pin)(struct func *func);
	void (*unpin)(struct func *func);
	/**
	 * Calls the index's function for a row. Appends the keys that it returns, each a
	 * checked MessagePack array, and tells their count. -1: ER_FUNC_INDEX_FUNC,
	 * ER_FUNC_INDEX_FORMAT.
	 */
	int (*keys)(const struct index *index, struct tuple *row, struct buf *out,
		    uint32_t *count);
};
extern const struct index_func_vtab *index_func_vtab;

/** Memory of all indexes. */
extern struct mem_account index_memory;

/**
 * While it is set, index changes pass the limit of memory and do not fail: for
 * undoing a statement, which must not. Deletions never fail anyway.
 */
extern bool index_is_undoing;

/**
 * Makes an empty index of the definition's type; the definition is copied. NULL: OutOfMemory,
 * ER_INDEX_TYPE.
 */
struct index *index_new(const struct index_def *def, const char *space_name);
void index_delete(struct index *index);

/**
 * Defers an empty index: changes pass it by, and looks into it fail with ER_LOADING, until
 * index_undefer(). Whoever does that fills it.
 */
void index_defer(struct index *index);
void index_undefer(struct index *index);

/** Deferred indexes are being filled: changes that would pass them by fail with ER_LOADING. */
extern bool index_deferred_is_closed;

static inline bool index_is_deferred(const struct index *index)
{
	return index->_real_vtab != NULL;
}

/**
 * Adds the names of index and space, and the key (parts one behind the other), to the last error,
 * which is about the key. Returns -1.
 */
int index_explain_key(const struct index *index, const char *key, uint32_t part_count);

/**
 * Checks the key of a select, count, min or max, in the reference's order: ER_KEY_PART_COUNT,
 * ER_PARTIAL_KEY, ER_KEY_PART_TYPE. That the index has the type of iterator is checked by
 * its `iterator` (ER_UNSUPPORTED_INDEX_FEATURE).
 */
int index_check_key(const struct index *index, enum iterator_type type, const char *key,
		    uint32_t part_count);
