/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Extraction of keys: paths are read and interned, followed in rows with and without
 * slots of the field map, and made into the key tuples of multikey indexes.
 */
#include "db/error.h"
#include "db/index/row_keys.h"
#include "db/tuple/field_path.h"
#include "db/tuple/tuple_field.h"
#include "index_model.h"
#include "json_mp.h"

static const struct field_path_text *path_of(const char *text)
{
	bool is_any_twice;
	return field_path_intern(text, strlen(text), &is_any_twice);
}

static struct key_part part_of(uint32_t fieldno, enum field_type type, const char *path,
			       bool is_nullable)
{
	struct key_part part = key_part_of(fieldno, type, is_nullable);
	if (path != NULL) {
		part.path = path_of(path)->path;
		part.path_text = path;
	}
	return part;
}

static struct tuple *row_of(struct tuple_format *format, const char *json)
{
	char data[1024], *end = data;
	json_to_mp(json, &end);
	return tuple_new(format, data, end);
}

/* Paths ------------------------------------------------------------------------ */

static void test_paths(void **state)
{
	const struct field_path_text *a = path_of("a.b[3]"), *b = path_of(".a[\"b\"][3]");
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(a->path, b->path);
	assert_string_equal(b->text, ".a[\"b\"][3]");
	assert_string_equal(a->path->text, "[\"a\"][\"b\"][3]");
	assert_int_equal(a->path->step_count, 3);
	assert_int_equal(a->path->any_step, PATH_NO_ANY);
	assert_ptr_equal(path_of("a.b[3]"), a);
	assert_int_equal(path_of("x[*].y")->path->any_step, 1);
	assert_true(field_path_same_array(path_of("x[*].y")->path, path_of("['x'][*]")->path));
	assert_false(field_path_same_array(path_of("x[*].y")->path, path_of("z[*].y")->path));
	static const char *const wrong[] = {"", "a..b", "a[", "[0]", "a b", "[x]", "\"a\"", "a[*"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_null(path_of(wrong[i]));
	bool is_any_twice;
	assert_null(field_path_intern("[*][*]", 6, &is_any_twice));
	assert_true(is_any_twice);
}

static void test_deep_paths(void **state)
{
	char text[PATH_STEP_MAX * 3 + 4];
	for (int i = 0; i <= PATH_STEP_MAX; i++)
		memcpy(text + i * 3, "[1]", 4);
	assert_null(path_of(text));
	text[PATH_STEP_MAX * 3] = '\0';
	assert_int_equal(path_of(text)->path->step_count, PATH_STEP_MAX);
}

/* Formats and fields ----------------------------------------------------------- */

static void test_slots(void **state)
{
	struct key_part parts[] = {
		part_of(1, FIELD_TYPE_UNSIGNED, "a.b", false),
		part_of(1, FIELD_TYPE_STRING, "c[2]", true),
		part_of(2, FIELD_TYPE_UNSIGNED, NULL, false),
	};
	struct key_def *def = key_def_new(parts, 3);
	struct tuple_format *format = tuple_format_new(&def, 1, NULL, 0, 0);
	assert_int_equal(format->path_count, 2);
	struct tuple *row = row_of(format, "[0, {'a': {'x': 1, 'b': 7}, 'c': [1, 'two']}, 9]");
	struct tuple *plain = row_of(tuple_format_default,
				     "[0, {'a': {'x': 1, 'b': 7}, 'c': [1, 'two']}, 9]");
	/* By the slot and by walking: the same place. */
	for (int i = 0; i < 3; i++) {
		const char *a = tuple_field_by_part(row, &parts[i]);
		const char *b = tuple_field_by_part(plain, &parts[i]);
		assert_int_equal(a - tuple_data(row), b - tuple_data(plain));
		assert_int_equal(tuple_raw_part(tuple_data(row), &parts[i]) - tuple_data(row),
				 a - tuple_data(row));
	}
	assert_int_equal(tuple_compare(row, plain, def), 0);
	assert_int_equal(tuple_hash(row, def), tuple_hash(plain, def));
	tuple_unref(plain);
	tuple_unref(row);

	struct tuple *without = row_of(format, "[0, {'a': {'b': 8}}, 9]");
	assert_null(tuple_field_by_part(without, &parts[1]));
	assert_true(tuple_key_has_null(without, def));
	uint32_t size;
	const char *key = tuple_extract_key(without, def, &fiber()->region, &size);
	char expected[32], *end = expected;
	json_to_mp("[8, null, 9]", &end);
	assert_int_equal(size, end - expected);
	assert_memory_equal(key, expected, size);
	key = tuple_extract_key_raw(tuple_data(without), def, &fiber()->region, &size);
	assert_memory_equal(key, expected, size);
	tuple_unref(without);
	tuple_format_unref(format);
	key_def_delete(def);
}

static void check_refused(struct tuple_format *format, const char *json, unsigned code,
			  const char *text)
{
	assert_null(row_of(format, json));
	assert_int_equal(diag_last()->code, code);
	assert_string_equal(diag_last()->message, text);
}

static void test_checks(void **state)
{
	struct key_part parts[] = {
		part_of(1, FIELD_TYPE_UNSIGNED, "a.b", false),
		part_of(2, FIELD_TYPE_STRING, "[*].k", false),
	};
	struct key_def *one = key_def_new(&parts[0], 1), *many = key_def_new(&parts[1], 1);
	struct key_def *defs[] = {one, many};
	struct tuple_format *format = tuple_format_new(defs, 2, NULL, 0, 0);
	static const char *const good[] = {
		"[0, {'a': {'b': 1}}]", "[0, {'a': {'b': 1}}, []]",
		"[0, {'z': 1, 'a': {'b': 1}}, [{'k': 'x'}, {'k': '', 'l': 1}]]",
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		tuple_unref(row_of(format, good[i]));
	check_refused(format, "[0]", ER_FIELD_MISSING,
		      "Tuple field [2][\"a\"][\"b\"] required by space format is missing");
	check_refused(format, "[0, 5]", ER_FIELD_TYPE, "Tuple field 2 type does not match one "
		      "required by operation: expected map");
	check_refused(format, "[0, {'a': {'b': 'x'}}]", ER_FIELD_TYPE, "Tuple field "
		      "[2][\"a\"][\"b\"] type does not match one required by operation: expected "
		      "unsigned");
	check_refused(format, "[0, {'a': {'b': 1}}, [{'k': 'x'}, {}]]", ER_FIELD_MISSING,
		      "Tuple field [3][*][\"k\"] required by space format is missing");
	check_refused(format, "[0, {'a': {'b': 1}}, [{'k': 'x'}, 5]]", ER_FIELD_TYPE,
		      "Tuple field [3][*] type does not match one required by operation: expected "
		      "map");
	struct tuple_format *narrow = tuple_format_new(defs, 1, NULL, 0, 0);
	assert_true(tuple_format_is_wider(narrow, format));
	assert_false(tuple_format_is_wider(format, narrow));
	tuple_format_unref(narrow);
	tuple_format_unref(format);
	key_def_delete(one);
	key_def_delete(many);
}

static void test_conflicts(void **state)
{
	struct key_part parts[] = {
		part_of(1, FIELD_TYPE_UNSIGNED, "a.b", false),
		part_of(1, FIELD_TYPE_UNSIGNED, "a", false),
		part_of(1, FIELD_TYPE_UNSIGNED, "a[1]", false),
		part_of(1, FIELD_TYPE_UNSIGNED, "[1]", false),
		part_of(1, FIELD_TYPE_STRING, "a.b", false),
		part_of(2, FIELD_TYPE_UNSIGNED, "[*]", false),
		part_of(2, FIELD_TYPE_UNSIGNED, "[2]", false),
	};
	static const struct { int a, b; unsigned code; } conflicts[] = {
		{0, 1, ER_INDEX_PART_TYPE_MISMATCH}, {0, 2, ER_INDEX_PART_TYPE_MISMATCH},
		{0, 3, ER_INDEX_PART_TYPE_MISMATCH}, {0, 4, ER_INDEX_PART_TYPE_MISMATCH},
		{5, 6, ER_MULTIKEY_INDEX_MISMATCH},
	};
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		struct key_def *defs[] = {key_def_new(&parts[conflicts[i].a], 1),
					  key_def_new(&parts[conflicts[i].b], 1)};
		assert_null(tuple_format_new(defs, 2, NULL, 0, 0));
		assert_int_equal(diag_last()->code, conflicts[i].code);
		key_def_delete(defs[0]);
		key_def_delete(defs[1]);
	}
}

/* Key tuples --------------------------------------------------------------------- */

/** The key tuples that are made of a row. */
static void check_keys(const struct index *index, struct tuple_format *format, const char *json,
		       const char *const *expected, uint32_t count)
{
	struct tuple *row = row_of(format, json);
	struct tuple_format *key_format = tuple_format_new(NULL, 0, NULL, 0, 0);
	key_format->account = &index_memory;
	struct row_keys *keys = row_keys_new(index, key_format, row);
	assert_non_null(keys);
	assert_int_equal(keys->count, count);
	for (uint32_t i = 0; i < count; i++) {
		char data[64], *end = data;
		json_to_mp(expected[i], &end);
		assert_ptr_equal(key_tuple_row(keys->keys[i]), row);
		assert_int_equal(keys->keys[i]->bsize, end - data);
		assert_memory_equal(tuple_data(keys->keys[i]), data, end - data);
	}
	row_keys_delete(keys);
	tuple_format_unref(key_format);
	tuple_unref(row);
}

static void test_keys(void **state)
{
	struct key_part pk_part = key_part_of(0, FIELD_TYPE_UNSIGNED, false);
	struct key_part parts[] = {
		part_of(1, FIELD_TYPE_UNSIGNED, "[*].a", false),
		part_of(1, FIELD_TYPE_STRING, "[*].b", true),
	};
	struct key_def *pk = key_def_new(&pk_part, 1), *def = key_def_new(parts, 2);
	struct index_def *index_def = index_def_new(512, 1, "m", 1, INDEX_TREE, false, true, def, pk);
	struct index index = {.def = index_def, .space_name = "s"};
	struct key_def *defs[] = {pk, def};
	struct tuple_format *format = tuple_format_new(defs, 2, NULL, 0, 0);
	static const char *const two[] = {"[1, 'x', 7]", "[2, null, 7]"};
	check_keys(&index, format, "[7, [{'a': 1, 'b': 'x'}, {'a': 2}]]", two, 2);
	check_keys(&index, format, "[7, []]", NULL, 0);
	check_keys(&index, format, "[7]", NULL, 0);
	index_def_delete(index_def);

	parts[1].exclude_null = true;
	struct key_def *excluding = key_def_new(parts, 2);
	index.def = index_def_new(512, 1, "m", 1, INDEX_TREE, false, true, excluding, pk);
	check_keys(&index, format, "[7, [{'a': 1, 'b': 'x'}, {'a': 2}]]", two, 1);
	index_def_delete(index.def);
	tuple_format_unref(format);
	key_def_delete(excluding);
	key_def_delete(def);
	key_def_delete(pk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_deep_paths),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_keys),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
