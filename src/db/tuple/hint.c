/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Comparison hints: 64 bits of a key's first part that order as it does.
 *
 *     unsigned, integer, boolean   the value, shifted to be unsigned; exact but
 *                                  for the largest, UINT64_MAX
 *     number, double, decimal      the nearest double's bits, in order
 *     string, varbinary, uuid      the first eight bytes
 *     string with a collation      the first eight bytes of its sort key
 *     datetime                     seconds, and most of the nanoseconds
 *     scalar                       three bits of class, 61 bits of the above
 *
 * Of a nullable part, nil has hint 0 and others one more than above. Of one in
 * descending order all bits of that are turned round.
 *
 * Where the first two parts are unsigned, and the second cannot be nil, a hint tells of both:
 *
 *     first below 2^31     0 | the first: 31 bits | the second, or 2^32 - 1 where it is more
 *     first above          1 | the first without its last bit
 *
 * So an index over few different numbers, which the primary key orders further, does not
 * look at rows either.
 */
#include "db/tuple/hint.h"

#include "data/coll.h"
#include "db/tuple/key_def_private.h"

static inline hint_t hint_string(const char *value, const struct coll *coll)
{
	bool is_str = mp_typeof(*value) == MP_STR;
	uint32_t len = mp_decode_strbinl(&value);
	if (coll != NULL && is_str)
		return coll_hint(coll, value, len);
	return hint_of_prefix(value, len);
}

static inline hint_t hint_integer(const char *value)
{
	const uint64_t middle = 1ull << 63;
	if (mp_typeof(*value) == MP_UINT) {
		uint64_t v = mp_decode_uint(&value);
		return v < middle ? v + middle : UINT64_MAX;
	}
	return (uint64_t)mp_decode_int(&value) + middle;
}

static inline hint_t hint_ext(const char *value)
{
	int8_t type;
	uint32_t len = mp_decode_extl(&value, &type);
	return hint_of_prefix(value, len);
}

static hint_t hint_scalar(const char *value, const struct coll *coll)
{
	enum mp_class class = mp_classof(value);
	hint_t inner = 0;
	switch (class) {
	case MP_CLASS_BOOL:
		inner = (uint64_t)mp_decode_bool(&value) << 3;
		break;
	case MP_CLASS_NUMBER:
		inner = mp_number_order_key(value);
		break;
	case MP_CLASS_STR:
	case MP_CLASS_BIN:
		inner = hint_string(value, coll);
		break;
	case MP_CLASS_UUID:
		inner = hint_ext(value);
		break;
	case MP_CLASS_DATETIME:
		inner = mp_datetime_order_key(value);
		break;
	default:
		break;
	}
	return (uint64_t)(class < 7 ? class : 7) << 61 | inner >> 3;
}

static inline hint_t hint_value(const char *value, const struct key_part *part)
{
	switch (part->type) {
	case FIELD_TYPE_UNSIGNED:
		return mp_decode_uint(&value);
	case FIELD_TYPE_INTEGER:
		return hint_integer(value);
	case FIELD_TYPE_BOOLEAN:
		return mp_decode_bool(&value);
	case FIELD_TYPE_NUMBER:
	case FIELD_TYPE_DOUBLE:
	case FIELD_TYPE_DECIMAL:
		return mp_number_order_key(value);
	case FIELD_TYPE_STRING:
	case FIELD_TYPE_VARBINARY:
		return hint_string(value, part->coll);
	case FIELD_TYPE_UUID:
		return hint_ext(value);
	case FIELD_TYPE_DATETIME:
		return mp_datetime_order_key(value);
	case FIELD_TYPE_SCALAR:
		return hint_scalar(value, part->coll);
	default:
		return HINT_NONE;
	}
}

static inline hint_t hint_nullable(const char *value, const struct key_part *part)
{
	if (value == NULL || mp_typeof(*value) == MP_NIL)
		return 0;
	return hint_above_nil(hint_value(value, part));
}

static hint_t tuple_hint_first_unsigned(const struct tuple *tuple, const struct key_def *def)
{
	const char *field = tuple_field_first(tuple);
	return mp_decode_uint(&field);
}

static hint_t key_hint_unsigned(const char *key, uint32_t part_count, const struct key_def *def)
{
	return mp_decode_uint(&key);
}

static hint_t tuple_hint_any(const struct tuple *tuple, const struct key_def *def)
{
	const struct key_part *part = &def->parts[0];
	return hint_value(tuple_field_by_part(tuple, part), part);
}

static hint_t key_hint_any(const char *key, uint32_t part_count, const struct key_def *def)
{
	return hint_value(key, &def->parts[0]);
}

static hint_t tuple_hint_nullable(const struct tuple *tuple, const struct key_def *def)
{
	const struct key_part *part = &def->parts[0];
	return hint_nullable(tuple_field_by_part(tuple, part), part);
}

static hint_t key_hint_nullable(const char *key, uint32_t part_count, const struct key_def *def)
{
	return hint_nullable(key, &def->parts[0]);
}

/* A first part whose greater values come first. */

static hint_t tuple_hint_desc(const struct tuple *tuple, const struct key_def *def)
{
	return ~tuple_hint_nullable(tuple, def);
}

static hint_t key_hint_desc(const char *key, uint32_t part_count, const struct key_def *def)
{
	return ~key_hint_nullable(key, part_count, def);
}

/* Pairs of unsigned parts. */

static inline hint_t hint_pair(uint64_t first, uint64_t second)
{
	if (first >> 31 != 0)
		return 1ull << 63 | first >> 1;
	return first << 32 | (second < UINT32_MAX ? second : UINT32_MAX);
}

static inline uint64_t pair_first(const char *value, const struct key_part *part)
{
	return part->is_nullable ? hint_nullable(value, part) : mp_decode_uint(&value);
}

static hint_t tuple_hint_pair(const struct tuple *tuple, const struct key_def *def)
{
	const char *second = tuple_field_by_part(tuple, &def->parts[1]);
	return hint_pair(pair_first(tuple_field_by_part(tuple, &def->parts[0]), &def->parts[0]),
			 mp_decode_uint(&second));
}

/** Of a key of the first part alone: the least that it may have, see hint_pair_open(). */
static hint_t key_hint_pair(const char *key, uint32_t part_count, const struct key_def *def)
{
	uint64_t first = pair_first(key, &def->parts[0]);
	if (part_count == 1)
		return hint_pair(first, 0);
	mp_next(&key);
	return hint_pair(first, mp_decode_uint(&key));
}

static bool key_def_is_pair(const struct key_def *def)
{
	return def->part_count > 1 && !def->parts[0].is_desc && !def->parts[1].is_desc &&
		def->parts[0].type == FIELD_TYPE_UNSIGNED &&
		def->parts[1].type == FIELD_TYPE_UNSIGNED && !def->parts[1].is_nullable;
}

void key_def_set_hints(struct key_def *def)
{
	const struct key_part *part = &def->parts[0];
	def->hint_is_pair = key_def_is_pair(def);
	def->hint_is_exact = !def->hint_is_pair && !part->is_desc &&
		(part->type == FIELD_TYPE_UNSIGNED || part->type == FIELD_TYPE_INTEGER ||
		 part->type == FIELD_TYPE_BOOLEAN);
	def->hint_is_bytes = part->coll == NULL && !part->is_desc &&
		(part->type == FIELD_TYPE_STRING || part->type == FIELD_TYPE_VARBINARY);
	if (def->hint_is_pair) {
		def->_tuple_hint = tuple_hint_pair;
		def->_key_hint = key_hint_pair;
	} else if (part->is_desc) {
		def->_tuple_hint = tuple_hint_desc;
		def->_key_hint = key_hint_desc;
	} else if (part->is_nullable) {
		def->_tuple_hint = tuple_hint_nullable;
		def->_key_hint = key_hint_nullable;
	} else if (part->type == FIELD_TYPE_UNSIGNED) {
		def->_tuple_hint = part->fieldno == 0 && part->path == NULL ?
			tuple_hint_first_unsigned : tuple_hint_any;
		def->_key_hint = key_hint_unsigned;
	} else {
		def->_tuple_hint = tuple_hint_any;
		def->_key_hint = key_hint_any;
	}
}
