/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Key definitions: which fields make a key, how two tuples or a tuple and a key
 * compare, and the hints that spare most comparisons the look at the tuple.
 *
 * A key is given as the MessagePack values of its parts one behind the other,
 * without the array's header, and their count; it may be partial.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/tuple/format.h"

struct coll;
struct tuple;
struct region;

struct key_part {
	/** From 0. */
	uint32_t fieldno;
	enum field_type type;
	bool is_nullable;
	/** Rows in which the part is nil or missing are not in the index. */
	bool exclude_null;
	/** Greater values come first. */
	bool is_desc;
	uint32_t coll_id;
	/** The collation's; NULL where bytes are compared. Set and counted by key definitions. */
	struct coll *coll;
	/** The place inside the field; NULL: the field itself. */
	const struct field_path *path;
	/** As the user wrote it; lives for good. */
	const char *path_text;
};

/** A part without a collation. */
static inline struct key_part key_part_of(uint32_t fieldno, enum field_type type, bool is_nullable)
{
	return (struct key_part){.fieldno = fieldno, .type = type, .is_nullable = is_nullable,
				 .coll_id = COLL_NONE};
}

/**
 * A comparison hint: hint(a) < hint(b) implies a < b; equal hints say nothing. That of a key
 * with few parts is the least that any tuple which equals it may have.
 */
typedef uint64_t hint_t;
enum { HINT_NONE = 0 };

struct key_def {
	/** Comparators, chosen once for the parts (see key_def_new). */
	int (*_compare)(const struct tuple *a, const struct tuple *b, const struct key_def *def);
	int (*_compare_with_key)(const struct tuple *tuple, const char *key, uint32_t part_count,
				 const struct key_def *def);
	hint_t (*_tuple_hint)(const struct tuple *tuple, const struct key_def *def);
	hint_t (*_key_hint)(const char *key, uint32_t part_count, const struct key_def *def);
	uint32_t part_count;
	/** Parts that make a tuple unique, for a merged definition; else part_count. */
	uint32_t unique_part_count;
	bool has_nullable;
	/** A part has a collator. */
	bool has_coll;
	bool has_path;
	bool has_exclude_null;
	bool has_desc;
	/** A part's path has `[*]`: a tuple has a key for each element of that array. */
	bool is_multikey;
	/** The parts are those of what a function returns, not of the tuple. */
	bool is_func;
	/** Equal hints other than UINT64_MAX mean equal first parts. */
	bool hint_is_exact;
	/** Hints tell of the first two parts: see hint.h. */
	bool hint_is_pair;
	/** Hints are the first bytes of a string: see hint.h. */
	bool hint_is_bytes;
	struct key_part parts[];
};

/** Parts are copied. NULL: ER_NO_SUCH_COLLATION, ER_UNSUPPORTED (a part's type has no order). */
struct key_def *key_def_new(const struct key_part *parts, uint32_t part_count);
/** The same for what a function returns; cannot fail otherwise. */
struct key_def *key_def_new_func(const struct key_part *parts, uint32_t part_count);
struct key_def *key_def_dup(const struct key_def *def);
void key_def_delete(struct key_def *def);

/**
 * The parts of `first`, then those of `second` that are not among them: how a
 * non-unique index orders equal keys by the primary one.
 */
struct key_def *key_def_merge(const struct key_def *first, const struct key_def *second);

bool key_def_equal(const struct key_def *a, const struct key_def *b);

/** Is it the same place of a row? */
static inline bool key_part_same_place(const struct key_part *a, const struct key_part *b)
{
	return a->fieldno == b->fieldno && a->path == b->path;
}

/** Below zero, zero, above zero. */
static inline int tuple_compare(const struct tuple *a, const struct tuple *b,
				const struct key_def *def)
{
	return def->_compare(a, b, def);
}

/** Compares the tuple's first `part_count` parts with the key. */
static inline int tuple_compare_with_key(const struct tuple *tuple, const char *key,
					 uint32_t part_count, const struct key_def *def)
{
	return def->_compare_with_key(tuple, key, part_count, def);
}

/** The same for MessagePack arrays, of which parts are looked up by walking. */
int tuple_compare_raw(const char *a, const char *b, const struct key_def *def);
int tuple_compare_raw_with_key(const char *data, const char *key, uint32_t part_count,
			       const struct key_def *def);

/** Compares the first `part_count` parts of two keys. */
int key_compare(const char *a, const char *b, uint32_t part_count, const struct key_def *def);

static inline hint_t tuple_hint(const struct tuple *tuple, const struct key_def *def)
{
	return def->_tuple_hint(tuple, def);
}

static inline hint_t key_hint(const char *key, uint32_t part_count, const struct key_def *def)
{
	return part_count == 0 ? HINT_NONE : def->_key_hint(key, part_count, def);
}

/** Equal keys hash alike, whatever their encoding (1 and 1.0). */
uint32_t tuple_hash(const struct tuple *tuple, const struct key_def *def);
uint32_t key_hash(const char *key, const struct key_def *def);

/** The key of a tuple as a MessagePack array on the region. NULL: OutOfMemory. */
const char *tuple_extract_key(const struct tuple *tuple, const struct key_def *def,
			      struct region *region, uint32_t *size);

/** The same of a MessagePack array. */
const char *tuple_extract_key_raw(const char *data, const struct key_def *def,
				  struct region *region, uint32_t *size);

/** What a part (without `[*]`) has for its value in a MessagePack array, or NULL. */
const char *tuple_raw_part(const char *data, const struct key_part *part);

/**
 * Can a key be taken from a MessagePack array? -1: ER_TUPLE_NOT_ARRAY, ER_FIELD_MISSING,
 * ER_KEY_PART_TYPE.
 */
int tuple_raw_check_key(const char *data, const struct key_def *def);

/** Is the tuple left out of an index, for nil in a part with `exclude_null`? */
bool tuple_key_is_excluded(const struct tuple *tuple, const struct key_def *def);

/** Has the tuple a nil or no value in a nullable part? */
bool tuple_key_has_null(const struct tuple *tuple, const struct key_def *def);

/**
 * Checks a key's parts against the definition: count at most that of the parts
 * (exactly, where `is_exact`), types. -1: ER_KEY_PART_COUNT, ER_EXACT_MATCH,
 * ER_KEY_PART_TYPE. `allow_nil` accepts nil in nullable parts.
 */
int key_validate(const struct key_def *def, const char *key, uint32_t part_count, bool is_exact,
		 bool allow_nil);
