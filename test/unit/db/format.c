/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuple formats: what they accept, their errors, the field map, and names. And the
 * life of tuples while a read view is open.
 */
#include "db/error.h"
#include "index_model.h"

static void assert_error(uint32_t code, const char *message)
{
	assert_non_null(diag_last());
	assert_int_equal(diag_last()->code, code);
	assert_string_equal(diag_last()->message, message);
	diag_clear(diag_get());
}

/** Makes a tuple of raw bytes; with `error` it must fail so. */
static void try_tuple(struct tuple_format *format, const char *data, size_t size, uint32_t code,
		      const char *error)
{
	struct tuple *tuple = tuple_new(format, data, data + size);
	assert_int_equal(tuple_format_validate(format, data, data + size), code != 0 ? -1 : 0);
	if (code != 0) {
		assert_null(tuple);
		assert_error(code, error);
		return;
	}
	assert_non_null(tuple);
	assert_int_equal(tuple->bsize, size);
	assert_memory_equal(tuple_data(tuple), data, size);
	const char *field = data;
	uint32_t count = mp_decode_array(&field);
	assert_int_equal(tuple_field_count(tuple), count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(tuple_field(tuple, i) - tuple_data(tuple), field - data);
		mp_next(&field);
	}
	assert_null(tuple_field(tuple, count));
	assert_null(tuple_field(tuple, UINT32_MAX));
	tuple_unref(tuple);
}

#define GOOD(format, data) try_tuple((format), (data), sizeof(data) - 1, 0, NULL)
#define BAD(format, data, code, error) \
	try_tuple((format), (data), sizeof(data) - 1, (code), (error))

static struct field_def four_fields[] = {
	{"id", FIELD_TYPE_UNSIGNED, false, COLL_NONE, NULL},
	{"n", FIELD_TYPE_NUMBER, true, COLL_NONE, NULL},
	{"s", FIELD_TYPE_STRING, true, COLL_NONE, NULL},
	{"x", FIELD_TYPE_SCALAR, false, COLL_NONE, NULL},
};

static void test_checks(void **state)
{
	struct key_part part = key_part_of(5, FIELD_TYPE_INTEGER, true);
	struct key_def *key = key_def_new(&part, 1);
	struct tuple_format *f = tuple_format_new(&key, 1, four_fields, 4, 0);
	assert_non_null(f);
	assert_int_equal(f->min_field_count, 4);
	assert_int_equal(f->field_count, 6);
	GOOD(f, "\x94\x01\x02\xa1" "a\x03");
	GOOD(f, "\x94\x01\xc0\xc0\x03");
	GOOD(f, "\x95\x01\xc0\xc0\x03\x90");
	GOOD(f, "\x96\x01\xc0\xc0\x03\x90\xd0\x80");
	GOOD(f, "\x97\x01\xc0\xc0\x03\x90\xc0\x80");
	BAD(f, "\x90", ER_FIELD_MISSING, "Tuple field 1 required by space format is missing");
	BAD(f, "\x91\x01", ER_FIELD_MISSING, "Tuple field 4 required by space format is missing");
	BAD(f, "\x92\x01\xa1x", ER_FIELD_TYPE, "Tuple field 2 type does not match one required "
	    "by operation: expected number");
	BAD(f, "\x94\x01\xc0\xc0\xc0", ER_FIELD_TYPE, "Tuple field 4 type does not match one "
	    "required by operation: expected scalar");
	BAD(f, "\x96\x01\xc0\xc0\x03\x90\xa1x", ER_FIELD_TYPE, "Tuple field 6 type does not match "
	    "one required by operation: expected integer");
	BAD(f, "\x01", ER_TUPLE_NOT_ARRAY, "Tuple/Key must be MsgPack array");
	tuple_format_unref(f);
	key_def_delete(key);
}

static void test_exact_count(void **state)
{
	struct tuple_format *f = tuple_format_new(NULL, 0, four_fields, 1, 2);
	GOOD(f, "\x92\x01\x02");
	BAD(f, "\x91\x01", ER_EXACT_FIELD_COUNT, "Tuple field count 1 does not match space field "
	    "count 2");
	BAD(f, "\x93\xa1x\x02\x03", ER_EXACT_FIELD_COUNT, "Tuple field count 3 does not match "
	    "space field count 2");
	tuple_format_unref(f);
}

static void test_size(void **state)
{
	struct tuple_format *f = tuple_format_new(NULL, 0, NULL, 0, 0);
	size_t size = 1048590;
	char *data = calloc(1, size), *p = mp_encode_array(data, 2);
	p = mp_encode_uint(p, 1);
	p = mp_encode_binl(p, size - 20) + size - 20;
	assert_null(tuple_new(f, data, p));
	assert_error(ER_MEMTX_MAX_TUPLE_SIZE, "Failed to allocate 1048591 bytes for tuple: tuple "
		     "is too large. Check 'memtx_max_tuple_size' configuration option.");
	struct tuple *tuple = tuple_new(tuple_format_default, data, p);
	assert_non_null(tuple);
	tuple_unref(tuple);
	tuple_memory.limit = tuple_memory.used + 1000;
	p = mp_encode_array(data, 1);
	p = mp_encode_binl(p, 5000) + 5000;
	assert_null(tuple_new(f, data, p));
	assert_true(error_is(diag_last(), &type_OutOfMemory));
	diag_clear(diag_get());
	tuple_memory.limit = SIZE_MAX;
	free(data);
	tuple_format_unref(f);
}

static void test_key_types(void **state)
{
	struct field_def field = {"a", FIELD_TYPE_STRING, false, COLL_NONE, NULL};
	struct key_part part = key_part_of(0, FIELD_TYPE_UNSIGNED, false);
	struct key_def *keys[2] = {key_def_new(&part, 1)};
	assert_null(tuple_format_new(keys, 1, &field, 1, 0));
	assert_error(ER_FORMAT_MISMATCH_INDEX_PART, "Field 1 has type 'string' in space format, "
		     "but type 'unsigned' in index definition");
	part.type = FIELD_TYPE_STRING;
	keys[1] = key_def_new(&part, 1);
	assert_null(tuple_format_new(keys, 2, NULL, 0, 0));
	assert_error(ER_INDEX_PART_TYPE_MISMATCH, "Field 1 has type 'unsigned' in one index, but "
		     "type 'string' in another");
	key_def_delete(keys[1]);
	/* The narrower of two types holds, and nil only where all allow it. */
	part.type = FIELD_TYPE_SCALAR;
	part.is_nullable = true;
	keys[1] = key_def_new(&part, 1);
	struct tuple_format *f = tuple_format_new(keys, 2, NULL, 0, 0);
	assert_int_equal(f->fields[0].type, FIELD_TYPE_UNSIGNED);
	assert_false(f->fields[0].is_nullable);
	tuple_format_unref(f);
	key_def_delete(keys[0]);
	key_def_delete(keys[1]);
}

static void test_dictionary(void **state)
{
	const struct tuple_dictionary *dict = tuple_dictionary_intern(four_fields, 4);
	assert_ptr_equal(tuple_dictionary_intern(four_fields, 4), dict);
	assert_ptr_not_equal(tuple_dictionary_intern(four_fields, 3), dict);
	assert_ptr_equal(tuple_dictionary_by_id(dict->id), dict);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tuple_dictionary_find(dict, four_fields[i].name,
						       strlen(four_fields[i].name)), i);
	assert_int_equal(tuple_dictionary_find(dict, "zz", 2), -1);
	assert_int_equal(tuple_dictionary_find(dict, "", 0), -1);
	const struct tuple_dictionary *empty = tuple_dictionary_intern(NULL, 0);
	assert_int_equal(empty->id, 0);
	assert_ptr_equal(tuple_dictionary_by_id(0), empty);
	assert_int_equal(tuple_dictionary_find(empty, "id", 2), -1);
	assert_null(tuple_dictionary_by_id(1000000));
}

static void test_type_names(void **state)
{
	for (int type = 0; type < field_type_MAX; type++)
		assert_int_equal(field_type_by_name(field_type_names[type],
						    strlen(field_type_names[type])), type);
	assert_int_equal(field_type_by_name("num", 3), FIELD_TYPE_UNSIGNED);
	assert_int_equal(field_type_by_name("STR", 3), FIELD_TYPE_STRING);
	assert_int_equal(field_type_by_name("int", 3), FIELD_TYPE_INTEGER);
	assert_int_equal(field_type_by_name("*", 1), FIELD_TYPE_ANY);
	assert_int_equal(field_type_by_name("strin", 5), field_type_MAX);
	assert_int_equal(field_type_by_name("", 0), field_type_MAX);
}

/** Formats are many at a time and their numbers are used again. */
static void test_format_limit(void **state)
{
	static struct tuple_format *formats[70000];
	size_t count = 0;
	while ((formats[count] = tuple_format_new(NULL, 0, NULL, 0, 0)) != NULL)
		count++;
	assert_error(ER_TUPLE_FORMAT_LIMIT, "Tuple format limit reached: 65536");
	uint16_t id = formats[500]->id;
	tuple_format_unref(formats[500]);
	formats[500] = tuple_format_new(NULL, 0, NULL, 0, 0);
	assert_int_equal(formats[500]->id, id);
	while (count > 0)
		tuple_format_unref(formats[--count]);
}

static void test_read_view(void **state)
{
	struct tuple_format *f = tuple_format_new(NULL, 0, NULL, 0, 0);
	size_t used = tuple_memory.used;
	struct tuple *tuple = make_tuple(f, 1, 2);
	tuple_read_view_open();
	tuple_read_view_open();
	tuple_unref(tuple);
	assert_int_equal(tuple_id(tuple), 1);
	tuple_read_view_close();
	assert_int_equal(tuple_id(tuple), 1);
	assert_true(tuple_memory.used > used);
	/* The format lives as long as its last tuple. */
	tuple_format_unref(f);
	tuple_read_view_close();
	assert_int_equal(tuple_memory.used, used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_exact_count),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_key_types),
		cmocka_unit_test(test_dictionary),
		cmocka_unit_test(test_type_names),
		cmocka_unit_test(test_format_limit),
		cmocka_unit_test(test_read_view),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
