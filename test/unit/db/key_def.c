/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Comparators, hints, hashes and extraction of keys against a slow model that
 * goes part by part with the general order of scalars.
 */
#include "core/region.h"
#include "db/error.h"
#include "db/tuple/hint.h"
#include "index_model.h"

/* Random fields ---------------------------------------------------------- */

static char *random_integer(char *p, bool is_signed)
{
	static const uint64_t bases[] = {0, 127, 255, 65535, 4294967295ull, 1ull << 53, INT64_MAX,
					 UINT64_MAX - 4};
	uint64_t value = bases[random_below(8)] + random_below(4);
	if (is_signed && random_below(2) && value <= INT64_MAX)
		return mp_encode_int(p, -(int64_t)value - 1);
	if (random_below(6) > 0)
		return mp_encode_uint(p, value);
	/* More bytes than it needs. */
	p = mp_store_u8(p, 0xcf);
	return mp_store_u64(p, value);
}

static char *random_double(char *p)
{
	static const double values[] = {0, -0.0, 0.5, 1, 1.5, -1, 9007199254740992.0, 1e20, -1e20};
	return mp_encode_double(p, values[random_below(9)]);
}

static char *random_string(char *p, bool is_bin)
{
	char text[16];
	size_t len = random_below(12);
	for (size_t i = 0; i < len; i++)
		text[i] = random_below(3) ? 'a' + random_below(2) : random_below(2) * 255;
	return is_bin ? mp_encode_bin(p, text, len) : mp_encode_str(p, text, len);
}

static char *random_field(char *p, enum field_type type)
{
	switch (type) {
	case FIELD_TYPE_UNSIGNED:
		return random_integer(p, false);
	case FIELD_TYPE_INTEGER:
		return random_integer(p, true);
	case FIELD_TYPE_DOUBLE:
		return random_double(p);
	case FIELD_TYPE_NUMBER:
		return random_below(2) ? random_double(p) : random_integer(p, true);
	case FIELD_TYPE_BOOLEAN:
		return mp_encode_bool(p, random_below(2));
	case FIELD_TYPE_STRING:
		return random_string(p, false);
	case FIELD_TYPE_VARBINARY:
		return random_string(p, true);
	case FIELD_TYPE_UUID:
		p = mp_encode_extl(p, MP_EXT_UUID, 16);
		memset(p, 0, 16);
		p[random_below(16)] = random_below(3);
		return p + 16;
	default: {
		static const enum field_type types[] = {FIELD_TYPE_NUMBER, FIELD_TYPE_BOOLEAN,
							FIELD_TYPE_STRING, FIELD_TYPE_VARBINARY};
		return random_field(p, types[random_below(4)]);
	}
	}
}

/* The model -------------------------------------------------------------- */

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static const char *field_or_nil(const struct tuple *tuple, uint32_t fieldno)
{
	const char *field = tuple_field(tuple, fieldno);
	return field != NULL ? field : "\xc0";
}

static int model_compare(const struct tuple *a, const struct tuple *b, const struct key_def *def)
{
	for (uint32_t i = 0; i < def->part_count; i++) {
		int rc = mp_compare_scalar(field_or_nil(a, def->parts[i].fieldno),
					   field_or_nil(b, def->parts[i].fieldno));
		if (rc != 0)
			return sign(rc);
	}
	return 0;
}

static int model_compare_key(const struct tuple *tuple, const char *key, uint32_t part_count,
			     const struct key_def *def)
{
	for (uint32_t i = 0; i < part_count; i++) {
		int rc = mp_compare_scalar(field_or_nil(tuple, def->parts[i].fieldno), key);
		if (rc != 0)
			return sign(rc);
		mp_next(&key);
	}
	return 0;
}

/** A tuple with fields that suit the parts; the nullable ones may be nil or absent. */
static struct tuple *random_tuple(struct tuple_format *format, const struct key_def *def)
{
	char data[512], *p = data;
	uint32_t count = format->min_field_count +
		random_below(format->field_count - format->min_field_count + 2);
	p = mp_encode_array(p, count);
	for (uint32_t fieldno = 0; fieldno < count; fieldno++) {
		const struct key_part *part = NULL;
		for (uint32_t i = 0; i < def->part_count; i++)
			if (def->parts[i].fieldno == fieldno)
				part = &def->parts[i];
		if (part == NULL)
			p = mp_encode_str(p, "filler", 6);
		else if (part->is_nullable && random_below(3) == 0)
			p = mp_encode_nil(p);
		else
			p = random_field(p, part->type);
	}
	assert_int_equal(mp_check_whole(data, p), 0);
	struct tuple *tuple = tuple_new(format, data, p);
	assert_non_null(tuple);
	return tuple;
}

static void check_pair(const struct tuple *a, const struct tuple *b, const struct key_def *def)
{
	int expected = model_compare(a, b, def);
	assert_int_equal(sign(tuple_compare(a, b, def)), expected);
	hint_t a_hint = tuple_hint(a, def), b_hint = tuple_hint(b, def);
	if (a_hint < b_hint)
		assert_int_equal(expected, -1);
	if (a_hint == b_hint && hint_settles(a_hint, def->part_count, def))
		assert_int_equal(expected, 0);
	if (expected == 0)
		assert_int_equal(tuple_hash(a, def), tuple_hash(b, def));
}

static void check_key(const struct tuple *a, const struct tuple *b, const struct key_def *def)
{
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	const char *key = tuple_extract_key(b, def, region, &size);
	assert_non_null(key);
	assert_int_equal(mp_check_whole(key, key + size), 0);
	assert_int_equal(mp_decode_array(&key), def->part_count);
	for (uint32_t n = 0; n <= def->part_count; n++) {
		int expected = model_compare_key(a, key, n, def);
		assert_int_equal(sign(tuple_compare_with_key(a, key, n, def)), expected);
		if (n == 0)
			continue;
		hint_t hint = key_hint(key, n, def), open_bits = hint_open_bits(hint, n, def);
		hint_t a_hint = tuple_hint(a, def);
		if (a_hint < hint)
			assert_int_equal(expected, -1);
		if (a_hint > (hint | open_bits))
			assert_int_equal(expected, 1);
		if ((a_hint & ~open_bits) == hint && hint_settles(hint, n, def))
			assert_int_equal(expected, 0);
	}
	assert_int_equal(key_validate(def, key, def->part_count, true, true), 0);
	assert_int_equal(key_hash(key, def), tuple_hash(b, def));
	region_truncate(region, mark);
}

static void check_def(const struct key_part *parts, uint32_t part_count)
{
	enum { TUPLE_COUNT = 40 };
	struct key_def *def = key_def_new(parts, part_count);
	assert_non_null(def);
	struct tuple_format *format = tuple_format_new(&def, 1, NULL, 0, 0);
	assert_non_null(format);
	struct tuple *tuples[TUPLE_COUNT];
	for (int i = 0; i < TUPLE_COUNT; i++)
		tuples[i] = random_tuple(format, def);
	for (int i = 0; i < TUPLE_COUNT; i++)
		for (int j = 0; j < TUPLE_COUNT; j++) {
			check_pair(tuples[i], tuples[j], def);
			check_key(tuples[i], tuples[j], def);
		}
	for (int i = 0; i < TUPLE_COUNT; i++)
		tuple_unref(tuples[i]);
	tuple_format_unref(format);
	key_def_delete(def);
}

static const enum field_type key_types[] = {
	FIELD_TYPE_UNSIGNED, FIELD_TYPE_STRING, FIELD_TYPE_NUMBER, FIELD_TYPE_DOUBLE,
	FIELD_TYPE_INTEGER, FIELD_TYPE_BOOLEAN, FIELD_TYPE_VARBINARY, FIELD_TYPE_SCALAR,
	FIELD_TYPE_UUID,
};
enum { KEY_TYPE_COUNT = sizeof(key_types) / sizeof(key_types[0]) };

static void test_one_part(void **state)
{
	for (int type = 0; type < KEY_TYPE_COUNT; type++)
		for (uint32_t fieldno = 0; fieldno < 3; fieldno++)
			for (int is_nullable = 0; is_nullable < 2; is_nullable++) {
				struct key_part part = key_part_of(fieldno, key_types[type],
								   is_nullable);
				check_def(&part, 1);
			}
}

static void test_many_parts(void **state)
{
	for (int round = 0; round < 300; round++) {
		struct key_part parts[4] = {{0}};
		uint32_t count = 1 + random_below(4), shift = random_below(3);
		bool may_be_nil = random_below(2);
		for (uint32_t i = 0; i < count; i++) {
			parts[i].fieldno = shift == 2 ? (i * 3 + 1) % 5 : i + shift;
			parts[i].type = key_types[random_below(KEY_TYPE_COUNT)];
			/* Two numbers at the beginning have hints of their own. */
			if (round % 3 == 0 && i < 2)
				parts[i].type = FIELD_TYPE_UNSIGNED;
			parts[i].is_nullable = may_be_nil && random_below(2);
			parts[i].coll_id = COLL_NONE;
		}
		check_def(parts, count);
	}
}

static void test_merge(void **state)
{
	struct key_part first[] = {key_part_of(3, FIELD_TYPE_STRING, true),
				   key_part_of(1, FIELD_TYPE_UNSIGNED, false)};
	struct key_part second[] = {key_part_of(1, FIELD_TYPE_UNSIGNED, false),
				    key_part_of(0, FIELD_TYPE_UNSIGNED, false)};
	struct key_def *a = key_def_new(first, 2), *b = key_def_new(second, 2);
	struct key_def *merged = key_def_merge(a, b);
	assert_int_equal(merged->part_count, 3);
	assert_int_equal(merged->unique_part_count, 2);
	assert_int_equal(merged->parts[2].fieldno, 0);
	assert_true(merged->has_nullable);
	struct key_def *copy = key_def_dup(merged);
	assert_true(key_def_equal(copy, merged));
	assert_false(key_def_equal(a, b));
	key_def_delete(a);
	key_def_delete(b);
	key_def_delete(merged);
	key_def_delete(copy);
}

static void assert_error(uint32_t code, const char *message)
{
	assert_non_null(diag_last());
	assert_int_equal(diag_last()->code, code);
	assert_string_equal(diag_last()->message, message);
	diag_clear(diag_get());
}

static void test_key_validate(void **state)
{
	struct key_part parts[] = {key_part_of(0, FIELD_TYPE_UNSIGNED, false),
				   key_part_of(1, FIELD_TYPE_STRING, true)};
	struct key_def *def = key_def_new(parts, 2);
	const char *good = "\x01\xa1x", *with_nil = "\x01\xc0", *bad = "\xa1x\x01";
	assert_int_equal(key_validate(def, good, 2, true, false), 0);
	assert_int_equal(key_validate(def, good, 1, false, false), 0);
	assert_int_equal(key_validate(def, good, 0, false, false), 0);
	assert_int_equal(key_validate(def, with_nil, 2, false, true), 0);
	assert_int_equal(key_validate(def, with_nil, 2, true, false), -1);
	assert_error(ER_KEY_PART_TYPE, "Supplied key type of part 1 does not match index part "
		     "type: expected string");
	assert_int_equal(key_validate(def, bad, 1, false, true), -1);
	assert_error(ER_KEY_PART_TYPE, "Supplied key type of part 0 does not match index part "
		     "type: expected unsigned");
	assert_int_equal(key_validate(def, good, 1, true, true), -1);
	assert_error(ER_EXACT_MATCH, "Invalid key part count in an exact match (expected 2, got 1)");
	assert_int_equal(key_validate(def, good, 3, false, true), -1);
	assert_error(ER_KEY_PART_COUNT, "Invalid key part count (expected [0..2], got 3)");
	key_def_delete(def);
}

static void test_unsupported(void **state)
{
	struct key_part part = key_part_of(0, FIELD_TYPE_STRING, false);
	part.coll_id = 2000;
	assert_null(key_def_new(&part, 1));
	assert_error(ER_NO_SUCH_COLLATION, "Collation '#2000' does not exist");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_part),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_key_validate),
		cmocka_unit_test(test_unsupported),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
