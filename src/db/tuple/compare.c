/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Comparators of tuples and keys, one for each frequent shape of a definition:
 *
 * - one unsigned part in the first field;
 * - one part in any field that cannot be nil;
 * - parts in the fields 0, 1, 2 ... that cannot be nil: both rows are walked
 *   once, side by side;
 * - any other.
 *
 * A nil, or a field that is not there, is below everything and equal to another.
 * Integers may be encoded in more bytes than they need, so encodings are never
 * compared byte for byte.
 */
#include <assert.h>
#include <string.h>

#include "data/coll.h"
#include "db/tuple/key_def_private.h"
#include "db/tuple/tuple_field.h"

static inline int compare_unsigned(const char *a, const char *b)
{
	uint8_t a0 = *a, b0 = *b;
	if ((a0 | b0) < 0x80)
		return a0 - b0;
	uint64_t av = mp_decode_uint(&a), bv = mp_decode_uint(&b);
	return (av > bv) - (av < bv);
}

static inline int compare_strings(const char *a, const char *b)
{
	uint32_t a_len = mp_decode_strl(&a), b_len = mp_decode_strl(&b);
	int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return rc != 0 ? rc : (a_len > b_len) - (a_len < b_len);
}

/** Two values that are not nil. */
static inline int compare_values(const char *a, const char *b, enum field_type type)
{
	switch (type) {
	case FIELD_TYPE_UNSIGNED:
		return compare_unsigned(a, b);
	case FIELD_TYPE_STRING:
		return compare_strings(a, b);
	case FIELD_TYPE_INTEGER:
	case FIELD_TYPE_NUMBER:
	case FIELD_TYPE_DOUBLE:
	case FIELD_TYPE_DECIMAL:
		return mp_compare_number(a, b);
	default:
		return mp_compare_scalar(a, b);
	}
}

/** The same, by the part's collation where it has one and both are strings. */
static inline int compare_collated(const char *a, const char *b, const struct key_part *part)
{
	if (part->coll == NULL || mp_typeof(*a) != MP_STR || mp_typeof(*b) != MP_STR)
		return compare_values(a, b, part->type);
	uint32_t a_len = mp_decode_strl(&a), b_len = mp_decode_strl(&b);
	return coll_compare(part->coll, a, a_len, b, b_len);
}

/** A comparison of values, turned round where greater ones come first. */
static inline int in_order(int rc, const struct key_part *part)
{
	return part->is_desc ? (rc < 0) - (rc > 0) : rc;
}

/** Two values, either of which may be nil or, as NULL, not there. */
static inline int compare_nullable(const char *a, const char *b, const struct key_part *part)
{
	bool a_nil = a == NULL || mp_typeof(*a) == MP_NIL;
	bool b_nil = b == NULL || mp_typeof(*b) == MP_NIL;
	if (a_nil || b_nil)
		return b_nil - a_nil;
	return compare_collated(a, b, part);
}

/* One unsigned part in the first field. */

static int compare_first_unsigned(const struct tuple *a, const struct tuple *b,
				  const struct key_def *def)
{
	return compare_unsigned(tuple_field_first(a), tuple_field_first(b));
}

static int compare_first_unsigned_with_key(const struct tuple *tuple, const char *key,
					   uint32_t part_count, const struct key_def *def)
{
	return part_count == 0 ? 0 : compare_unsigned(tuple_field_first(tuple), key);
}

/* One part that cannot be nil. */

static int compare_one(const struct tuple *a, const struct tuple *b, const struct key_def *def)
{
	const struct key_part *part = &def->parts[0];
	return compare_values(tuple_field_fast(a, part->fieldno),
			      tuple_field_fast(b, part->fieldno), part->type);
}

static int compare_one_with_key(const struct tuple *tuple, const char *key, uint32_t part_count,
				const struct key_def *def)
{
	const struct key_part *part = &def->parts[0];
	if (part_count == 0)
		return 0;
	return compare_values(tuple_field_fast(tuple, part->fieldno), key, part->type);
}

/* Parts in the first fields, in their order, none nil. */

static int compare_sequential(const struct tuple *a, const struct tuple *b,
			      const struct key_def *def)
{
	const char *a_field = tuple_field_first(a), *b_field = tuple_field_first(b);
	for (uint32_t i = 0;;) {
		int rc = compare_values(a_field, b_field, def->parts[i].type);
		if (rc != 0 || ++i == def->part_count)
			return rc;
		mp_next(&a_field);
		mp_next(&b_field);
	}
}

static int compare_sequential_with_key(const struct tuple *tuple, const char *key,
				       uint32_t part_count, const struct key_def *def)
{
	if (part_count == 0)
		return 0;
	const char *field = tuple_field_first(tuple);
	for (uint32_t i = 0;;) {
		int rc = compare_values(field, key, def->parts[i].type);
		if (rc != 0 || ++i == part_count)
			return rc;
		mp_next(&field);
		mp_next(&key);
	}
}

/* Any parts. */

static int compare_any(const struct tuple *a, const struct tuple *b, const struct key_def *def)
{
	for (uint32_t i = 0; i < def->part_count; i++) {
		const struct key_part *part = &def->parts[i];
		const char *a_field = tuple_field_by_part(a, part);
		const char *b_field = tuple_field_by_part(b, part);
		int rc = part->is_nullable ? compare_nullable(a_field, b_field, part) :
			compare_collated(a_field, b_field, part);
		if (rc != 0)
			return in_order(rc, part);
	}
	return 0;
}

static int compare_any_with_key(const struct tuple *tuple, const char *key, uint32_t part_count,
				const struct key_def *def)
{
	for (uint32_t i = 0; i < part_count; i++) {
		const struct key_part *part = &def->parts[i];
		const char *field = tuple_field_by_part(tuple, part);
		int rc = part->is_nullable ? compare_nullable(field, key, part) :
			compare_collated(field, key, part);
		if (rc != 0)
			return in_order(rc, part);
		if (i + 1 < part_count)
			mp_next(&key);
	}
	return 0;
}

int key_compare(const char *a, const char *b, uint32_t part_count, const struct key_def *def)
{
	for (uint32_t i = 0; i < part_count; i++) {
		int rc = compare_nullable(a, b, &def->parts[i]);
		if (rc != 0)
			return in_order(rc, &def->parts[i]);
		mp_next(&a);
		mp_next(&b);
	}
	return 0;
}

/* Without a tuple, whose parts were not checked to be there. */

int tuple_compare_raw(const char *a, const char *b, const struct key_def *def)
{
	int rc = 0;
	for (uint32_t i = 0; i < def->part_count && rc == 0; i++) {
		const struct key_part *part = &def->parts[i];
		rc = in_order(compare_nullable(tuple_raw_part(a, part), tuple_raw_part(b, part),
					       part), part);
	}
	return rc;
}

int tuple_compare_raw_with_key(const char *data, const char *key, uint32_t part_count,
			       const struct key_def *def)
{
	int rc = 0;
	for (uint32_t i = 0; i < part_count && rc == 0; i++) {
		const struct key_part *part = &def->parts[i];
		rc = in_order(compare_nullable(tuple_raw_part(data, part), key, part), part);
		mp_next(&key);
	}
	return rc;
}

static bool key_def_is_sequential(const struct key_def *def)
{
	for (uint32_t i = 0; i < def->part_count; i++)
		if (def->parts[i].fieldno != i)
			return false;
	return true;
}

void key_def_set_comparators(struct key_def *def)
{
	def->_compare = compare_any;
	def->_compare_with_key = compare_any_with_key;
	if (def->has_nullable || def->has_coll || def->has_path || def->has_desc)
		return;
	const struct key_part *part = &def->parts[0];
	if (def->part_count == 1) {
		bool is_first_unsigned = part->fieldno == 0 && part->type == FIELD_TYPE_UNSIGNED;
		def->_compare = is_first_unsigned ? compare_first_unsigned : compare_one;
		def->_compare_with_key = is_first_unsigned ? compare_first_unsigned_with_key :
			compare_one_with_key;
	} else if (key_def_is_sequential(def)) {
		def->_compare = compare_sequential;
		def->_compare_with_key = compare_sequential_with_key;
	}
}
