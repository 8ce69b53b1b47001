/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hints of strings from any byte on: a tree that knows that all keys of a block
 * begin alike takes its hints from behind that.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "data/mp.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple_field.h"

/**
 * The bits of a hint that a key of its first `part_count` parts leaves open: tuples that equal
 * the key have any there.
 */
static inline hint_t hint_open_bits(hint_t hint, uint32_t part_count, const struct key_def *def)
{
	return def->hint_is_pair && part_count == 1 && hint >> 63 == 0 ? UINT32_MAX : 0;
}

/** Does the hint alone tell whether a tuple's first `part_count` parts equal those it is of? */
static inline bool hint_settles(hint_t hint, uint32_t part_count, const struct key_def *def)
{
	if (!def->hint_is_pair)
		return def->hint_is_exact && part_count == 1 && hint != UINT64_MAX;
	return hint >> 63 == 0 &&
		(part_count == 1 || (part_count == 2 && (uint32_t)hint != UINT32_MAX));
}

/** The bytes of a key's first part. */
struct hint_bytes {
	/** NULL: nil, or no such field. */
	const char *data;
	uint32_t len;
};

/** The first eight bytes, the first of them weighing most; zeros behind the end. */
static inline hint_t hint_of_prefix(const char *data, uint32_t len)
{
	uint64_t v = 0;
	if (len >= 8)
		memcpy(&v, data, 8);
	else
		memcpy(&v, data, len);
	return mp_bswap_u64(v);
}

/** The hint of a nullable part's value, so that nil has one below. */
static inline hint_t hint_above_nil(hint_t hint)
{
	return hint < UINT64_MAX ? hint + 1 : UINT64_MAX;
}

/** For a definition with `hint_is_bytes`. */
static inline struct hint_bytes key_hint_bytes(const char *key)
{
	struct hint_bytes bytes = {NULL, 0};
	if (key == NULL || mp_typeof(*key) == MP_NIL)
		return bytes;
	bytes.len = mp_decode_strbinl(&key);
	bytes.data = key;
	return bytes;
}

static inline struct hint_bytes tuple_hint_bytes(const struct tuple *tuple,
						 const struct key_def *def)
{
	return key_hint_bytes(tuple_field_by_part(tuple, &def->parts[0]));
}

/** The hint from byte `skip` on; a value that is not nil has so many bytes. */
static inline hint_t hint_from_bytes(struct hint_bytes bytes, uint32_t skip,
				     const struct key_def *def)
{
	if (bytes.data == NULL)
		return 0;
	assert(bytes.len >= skip);
	hint_t hint = hint_of_prefix(bytes.data + skip, bytes.len - skip);
	return def->parts[0].is_nullable ? hint_above_nil(hint) : hint;
}

/** How many bytes, up to `max`, two values have in common at their beginning. */
static inline uint32_t hint_bytes_common(struct hint_bytes a, struct hint_bytes b, uint32_t max)
{
	uint32_t n = 0;
	if (a.data == NULL || b.data == NULL)
		return 0;
	max = max < a.len ? max : a.len;
	max = max < b.len ? max : b.len;
	while (n < max && a.data[n] == b.data[n])
		n++;
	return n;
}
