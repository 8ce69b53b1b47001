/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations: results and error texts, as the reference gives them (found
 * by running it), but for what our own code says beside each.
 */
#include "core/log.h"
#include "core/region.h"
#include "db/error.h"
#include "db/tuple/update.h"
#include "index_model.h"
#include "json_mp.h"

struct update_case {
	const char *ops;
	/** The row as printed, or the text of the error. */
	const char *expected;
};

static const char base_row[] =
	"[1, 10, 'hello', -3, 1.5, true, [1, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}, null]";

typedef const char *(*execute_func)(const char *, const char *, const char *, const char *,
				    const struct tuple_dictionary *, const struct tuple_format *,
				    int, struct region *, uint32_t *, uint64_t *);

static struct field_def names[] = {
	{"id", FIELD_TYPE_UNSIGNED, false, COLL_NONE, NULL},
	{"n", FIELD_TYPE_ANY, true, COLL_NONE, NULL},
	{"s", FIELD_TYPE_ANY, true, COLL_NONE, NULL},
};

static uint64_t column_mask;

/** Applies the operations to a row; the result as printed or the error's text. */
static const char *apply(execute_func execute, const char *row_text, const char *ops_text, int base)
{
	static char text[1024];
	char row[1024], ops[1024], *row_end = row, *ops_end = ops;
	json_to_mp(row_text, &row_end);
	json_to_mp(ops_text, &ops_end);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	const char *result = execute(ops, ops_end, row, row_end, tuple_dictionary_intern(names, 3), NULL,
				     base, region, &size, &column_mask);
	if (result != NULL) {
		assert_int_equal(mp_check_whole(result, result + size), 0);
		struct buf out = BUF_INIT;
		mp_print(&out, result);
		snprintf(text, sizeof(text), "%.*s", (int)out.size, out.data);
		buf_free(&out);
	} else {
		snprintf(text, sizeof(text), "%s", diag_last()->message);
		diag_clear(diag_get());
	}
	region_truncate(region, mark);
	return text;
}

static void run_cases(execute_func execute, const char *row, int base,
		      const struct update_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *result = apply(execute, row, cases[i].ops, base);
		if (strcmp(result, cases[i].expected) != 0)
			print_error("operations: %s\n", cases[i].ops);
		assert_string_equal(result, cases[i].expected);
	}
}

#define RUN(execute, row, base, cases) \
	run_cases((execute), (row), (base), (cases), sizeof(cases) / sizeof((cases)[0]))

static void test_form(void **state)
{
	static const struct update_case cases[] = {
		{"[]", base_row},
		{"5", "Tuple/Key must be MsgPack array"},
		{"[5]", "Illegal parameters, update operation must be an array {op,..}"},
		{"[[]]", "Illegal parameters, update operation must be an array {op,..}, got empty "
		 "array"},
		{"[['x', 2, 1]]", "Unknown UPDATE operation #1: \"x\""},
		{"[['', 2, 1]]", "Unknown UPDATE operation #1: \"\""},
		{"[['=', 2, 1], ['++', 2, 1]]", "Unknown UPDATE operation #2: \"++\""},
		{"[['+', 2]]", "Unknown UPDATE operation #1: wrong number of arguments, expected 3, "
		 "got 2"},
		{"[['+', 2, 1, 2]]", "Unknown UPDATE operation #1: wrong number of arguments, "
		 "expected 3, got 4"},
		{"[[':', 3, 1, 1]]", "Unknown UPDATE operation #1: wrong number of arguments, "
		 "expected 5, got 4"},
		{"[[1, 2, 3]]", "Illegal parameters, update operation name must be a string"},
		{"[['+', null, 1]]", "Illegal parameters, field id must be a number or a string"},
		{"[['+', 1.5, 1]]", "Illegal parameters, field id must be a number or a string"},
		{"[['=', 0, 1]]", "Field 0 was not found in the tuple"},
		{"[['=', -100, 1]]", "Field -100 was not found in the tuple"},
		/* All are read before any is applied. */
		{"[['=', 100, 1], ['+', 2, 'a']]", "Argument type in operation '+' on field 2 does "
		 "not match field type: expected a number"},
		{"[['=', 100, 1], ['x', 2, 'a']]", "Unknown UPDATE operation #2: \"x\""},
		{"[['=', 'zz', 1], ['x', 2, 'a']]", "Field 'zz' was not found in the tuple"},
		/* The number is ours: there it is of an earlier operation. */
		{"[['=', 4294967296, 1]]", "Argument type in operation '=' on field 1 does not match "
		 "field type: expected an integer"},
	};
	RUN(update_execute, base_row, 1, cases);
}

static void test_assign(void **state)
{
	static const struct update_case cases[] = {
		{"[['=', 2, 'x']]", "[1, 'x', 3]"},
		{"[['=', -1, 'x']]", "[1, 2, 'x']"},
		{"[['=', -3, 'x']]", "['x', 2, 3]"},
		{"[['=', 4, 'x']]", "[1, 2, 3, 'x']"},
		{"[['=', 4, 5], ['=', 5, 6]]", "[1, 2, 3, 5, 6]"},
		{"[['=', 5, 'x']]", "Field 5 was not found in the tuple"},
		{"[['=', -4, 'x']]", "Field -4 was not found in the tuple"},
		{"[['=', 2, 1], ['=', 2, 5]]", "[1, 5, 3]"},
		{"[['!', 1, 'x']]", "['x', 1, 2, 3]"},
		{"[['!', 4, 'x']]", "[1, 2, 3, 'x']"},
		{"[['!', 5, 'x']]", "Field 5 was not found in the tuple"},
		{"[['!', -1, 'x']]", "[1, 2, 3, 'x']"},
		{"[['!', -2, 'x']]", "[1, 2, 'x', 3]"},
		{"[['!', -4, 'x']]", "['x', 1, 2, 3]"},
		{"[['!', -5, 'x']]", "Field -5 was not found in the tuple"},
		{"[['!', 2, 5], ['!', 2, 6]]", "[1, 6, 5, 2, 3]"},
		{"[['#', 2, 1]]", "[1, 3]"},
		{"[['#', 2, 100]]", "[1]"},
		{"[['#', -1, 1]]", "[1, 2]"},
		{"[['#', 1, 4294967295]]", "[]"},
		{"[['#', 4, 1]]", "Field 4 was not found in the tuple"},
		{"[['#', 2, 0]]", "Field 2 UPDATE error: cannot delete 0 fields"},
		{"[['#', -3, 0]]", "Field -3 UPDATE error: cannot delete 0 fields"},
		{"[['#', 2, 4294967296]]", "Field 2 UPDATE error: cannot delete 0 fields"},
		{"[['#', 2, -1]]", "Argument type in operation '#' on field 2 does not match field "
		 "type: expected a positive integer"},
		{"[['#', 1, 3], ['!', 1, 'x'], ['=', 2, 'y']]", "['x', 'y']"},
	};
	RUN(update_execute, "[1, 2, 3]", 1, cases);
}

static void test_arithmetic(void **state)
{
	static const struct update_case cases[] = {
		{"[['+', 1, 5]]", "[15, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['-', 1, 11]]", "[-1, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['+', 2, 3]]", "[10, 0, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['+', 3, 1]]", "[10, -3, 2.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['+', 1, 0.1]]", "[10.1, -3, 1.5, 18446744073709551615, -9223372036854775808, "
		 "'a']"},
		{"[['-', 4, 18446744073709551615]]", "[10, -3, 1.5, 0, -9223372036854775808, 'a']"},
		{"[['+', 4, -9223372036854775808]]", "[10, -3, 1.5, 9223372036854775807, "
		 "-9223372036854775808, 'a']"},
		{"[['+', 5, 18446744073709551615]]", "[10, -3, 1.5, 18446744073709551615, "
		 "9223372036854775807, 'a']"},
		{"[['+', 4, 1]]", "Integer overflow when performing '+' operation on field 4"},
		{"[['-', 5, 1]]", "Integer overflow when performing '-' operation on field 5"},
		{"[['+', 6, 1]]", "Argument type in operation '+' on field 6 does not match field "
		 "type: expected a number"},
		{"[['+', -1, 1]]", "Argument type in operation '+' on field 6 does not match field "
		 "type: expected a number"},
		{"[['+', 100, 'a']]", "Argument type in operation '+' on field 100 does not match "
		 "field type: expected a number"},
		{"[['&', 1, 2]]", "[2, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['|', 1, 5]]", "[15, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['^', 1, 3]]", "[9, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']"},
		{"[['^', 4, 18446744073709551615]]", "[10, -3, 1.5, 0, -9223372036854775808, 'a']"},
		{"[['|', 2, 1]]", "Argument type in operation '|' on field 2 does not match field "
		 "type: expected a positive integer"},
		{"[['&', 1, -1]]", "Argument type in operation '&' on field 1 does not match field "
		 "type: expected a positive integer"},
		{"[['+', 1, 1], ['+', 1, 1]]", "Field 1 UPDATE error: double update of the same "
		 "field"},
		{"[['=', 1, 1], ['+', 1, 1]]", "Field 1 UPDATE error: double update of the same "
		 "field"},
		{"[['+', 1, 1], ['!', 1, 7], ['+', 2, 1]]", "Field 2 UPDATE error: double update of "
		 "the same field"},
		{"[['+', 1, 1], ['=', 1, 7]]", "[7, -3, 1.5, 18446744073709551615, "
		 "-9223372036854775808, 'a']"},
		{"[['!', -1, 5], ['+', -1, 6]]", "[10, -3, 1.5, 18446744073709551615, "
		 "-9223372036854775808, 'a', 11]"},
	};
	RUN(update_execute, "[10, -3, 1.5, 18446744073709551615, -9223372036854775808, 'a']", 1,
	    cases);
}

static void test_splice(void **state)
{
	static const struct update_case cases[] = {
		{"[[':', 1, 1, 1, 'X']]", "['Xello', 5]"},
		{"[[':', 1, -1, 1, 'X']]", "['helloX', 5]"},
		{"[[':', 1, -6, 1, 'X']]", "['Xello', 5]"},
		{"[[':', 1, -5, 1, 'X']]", "['hXllo', 5]"},
		{"[[':', 1, 6, 1, 'X']]", "['helloX', 5]"},
		{"[[':', 1, 100, 1, 'X']]", "['helloX', 5]"},
		{"[[':', 1, 2, 100, 'X']]", "['hX', 5]"},
		{"[[':', 1, 2, -1, 'X']]", "['hXo', 5]"},
		{"[[':', 1, 2, -100, 'X']]", "['hXello', 5]"},
		{"[[':', 1, 1, 5, '']]", "['', 5]"},
		{"[[':', 1, 0, 1, 'X']]", "SPLICE error on field 1: offset is out of bound"},
		{"[[':', 1, -7, 1, 'X']]", "SPLICE error on field 1: offset is out of bound"},
		{"[[':', 1, -2147483648, 1, 'X']]", "SPLICE error on field 1: offset is out of "
		 "bound"},
		{"[[':', 1, 1, -2147483648, 'X']]", "['Xhello', 5]"},
		{"[[':', 1, 2147483647, 2147483647, 'X']]", "['helloX', 5]"},
		{"[[':', 1, 2147483648, 1, 'X']]", "Argument type in operation ':' on field 1 does "
		 "not match field type: expected an integer"},
		{"[[':', 1, 1, 1.5, 'X']]", "Argument type in operation ':' on field 1 does not match "
		 "field type: expected an integer"},
		{"[[':', 1, 1, 1, 5]]", "Argument type in operation ':' on field 1 does not match "
		 "field type: expected a string"},
		{"[[':', 2, 1, 1, 'X']]", "Argument type in operation ':' on field 2 does not match "
		 "field type: expected a string"},
		{"[[':', 1, 1, 1, 'X'], [':', 1, 1, 1, 'Y']]", "Field 1 UPDATE error: double update of "
		 "the same field"},
	};
	RUN(update_execute, "['hello', 5]", 1, cases);
}

static void test_names(void **state)
{
	static const struct update_case cases[] = {
		{"[['=', 'n', 5]]", "[1, 5, 'x']"},
		{"[['+', 'n', 5]]", "[1, 15, 'x']"},
		{"[['#', 'n', 1]]", "[1, 'x']"},
		{"[['!', 'n', 7]]", "[1, 7, 10, 'x']"},
		{"[['=', '[\"n\"]', 5]]", "[1, 5, 'x']"},
		{"[['=', '.n', 5]]", "[1, 5, 'x']"},
		{"[['+', 'zz', 'a']]", "Field 'zz' was not found in the tuple"},
		{"[['=', '', 5]]", "Field '' was not found in the tuple"},
		{"[['+', 's', 5]]", "Argument type in operation '+' on field 's' does not match field "
		 "type: expected a number"},
		{"[['+', 'n', 1], ['+', 2, 1]]", "Field 2 UPDATE error: double update of the same "
		 "field"},
		{"[['+', 2, 1], ['+', 'n', 1]]", "Field 'n' UPDATE error: double update of the same "
		 "field"},
	};
	RUN(update_execute, "[1, 10, 'x']", 1, cases);
}

static void test_paths(void **state)
{
	static const struct update_case cases[] = {
		{"[['=', '[2][1]', 5]]", "[1, [5, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}]"},
		{"[['=', '[2][3].x', 5]]", "[1, [1, 2, {'x': 5}], {'a': 1, 'b': {'c': 2}}]"},
		{"[['=', '[2][4]', 5]]", "[1, [1, 2, {'x': 1}, 5], {'a': 1, 'b': {'c': 2}}]"},
		{"[['=', '[2][5]', 5]]", "Field ''[2][5]'' was not found in the tuple"},
		{"[['+', '[3].b.c', 5]]", "[1, [1, 2, {'x': 1}], {'a': 1, 'b': {'c': 7}}]"},
		{"[['=', '[3].b.d', 5]]", "[1, [1, 2, {'x': 1}], {'a': 1, 'b': {'d': 5, 'c': 2}}]"},
		{"[['=', '[3].z.d', 5]]", "Field ''[3].z.d'' was not found in the tuple"},
		{"[['!', '[2][1]', 5]]", "[1, [5, 1, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}]"},
		{"[['!', '[2][4]', 5]]", "[1, [1, 2, {'x': 1}, 5], {'a': 1, 'b': {'c': 2}}]"},
		{"[['!', '[3].q', 5]]", "[1, [1, 2, {'x': 1}], {'q': 5, 'a': 1, 'b': {'c': 2}}]"},
		{"[['!', '[3].a', 5]]", "Field '[3].a' UPDATE error: the key exists already"},
		{"[['#', '[2][1]', 2]]", "[1, [{'x': 1}], {'a': 1, 'b': {'c': 2}}]"},
		{"[['#', '[2][1]', 9]]", "[1, [], {'a': 1, 'b': {'c': 2}}]"},
		{"[['#', '[3].a', 1]]", "[1, [1, 2, {'x': 1}], {'b': {'c': 2}}]"},
		{"[['#', '[3].a', 2]]", "Field '[3].a' UPDATE error: can delete only 1 field from a "
		 "map in a row"},
		{"[['#', '[3].zz', 1]]", "Field ''[3].zz'' was not found in the tuple"},
		{"[['=', '[2].x', 1]]", "Field '[2].x' UPDATE error: can not access by key a non-map "
		 "field"},
		{"[['=', '[3][1]', 1]]", "Field '[3][1]' UPDATE error: can not access by index a "
		 "non-array field"},
		{"[['=', 'n[1]', 9]]", "[1, [9, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}]"},
		{"[['=', 'id.a', 9]]", "Field 'id.a' UPDATE error: can not access by key a non-map "
		 "field"},
		{"[['=', '[2', 9]]", "Field '[2' UPDATE error: invalid JSON in position 3"},
		{"[['=', '[2][0]', 9]]", "Field '[2][0]' UPDATE error: invalid JSON in position 5"},
		{"[['=', '[20]', 9]]", "Field ''[20]'' was not found in the tuple"},
		{"[['=', '[4]', 9]]", "[1, [1, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}, 9]"},
		{"[['=', '[4][1]', 9]]", "Field ''[4][1]'' was not found in the tuple"},
		{"[['=', '[2][3].x', 5], ['=', '[2][1]', 2]]", "[1, [2, 2, {'x': 5}], {'a': 1, 'b': "
		 "{'c': 2}}]"},
		{"[['+', '[3].a', 5], ['+', '[3].a', 1]]", "Field '[3].a' UPDATE error: double update "
		 "of the same field"},
		{"[['=', '[2][1]', 5], ['!', 2, 0]]", "[1, 0, [5, 2, {'x': 1}], {'a': 1, 'b': {'c': "
		 "2}}]"},
		/* The reference dies of these two. */
		{"[['=', 3, 1], ['+', '[3].a', 5]]", "Field ''[3].a'' was not found in the tuple"},
		{"[['=', 3, {'a': 7}], ['+', '[3].a', 5]]", "[1, [1, 2, {'x': 1}], {'a': 12}]"},
	};
	RUN(update_execute, "[1, [1, 2, {'x': 1}], {'a': 1, 'b': {'c': 2}}]", 1, cases);
}

static void test_base_zero(void **state)
{
	static const struct update_case cases[] = {
		{"[['=', 0, 5]]", "[5, 2, 'abc']"},
		{"[['=', 3, 5]]", "[1, 2, 'abc', 5]"},
		{"[['=', 4, 5]]", "Field 5 was not found in the tuple"},
		{"[['=', -1, 5]]", "[1, 2, 5]"},
		{"[[':', 2, 0, 1, 'X']]", "[1, 2, 'Xbc']"},
		{"[['=', '[2]', 5]]", "[1, 5, 'abc']"},
		{"[['#', 1, 0]]", "Field 2 UPDATE error: cannot delete 0 fields"},
	};
	RUN(update_execute, "[1, 2, 'abc']", 0, cases);
}

static void test_upsert(void **state)
{
	static const struct update_case cases[] = {
		{"[['+', 2, 1]]", "[1, 11, 'c']"},
		{"[['+', 3, 1]]", "[1, 10, 'c']"},
		{"[['+', 3, 1], ['=', 2, 7]]", "[1, 7, 'c']"},
		{"[['=', 2, 7], ['+', 3, 1]]", "[1, 7, 'c']"},
		{"[['=', 100, 1], ['+', 2, 1]]", "[1, 11, 'c']"},
		{"[['+', 2, 1], ['+', 2, 1]]", "[1, 11, 'c']"},
		{"[['+', 2, 18446744073709551615]]", "[1, 10, 'c']"},
		{"[[':', 2, 1, 1, 'z']]", "[1, 10, 'c']"},
		{"[['=', '[2].x', 1]]", "[1, 10, 'c']"},
		{"[['x', 2, 1]]", "Unknown UPDATE operation #1: \"x\""},
		{"[['+', 2, 'a']]", "Argument type in operation '+' on field 2 does not match field "
		 "type: expected a number"},
		{"[['=', 'zz', 1]]", "Field 'zz' was not found in the tuple"},
		{"[['=', 0, 1]]", "Field 0 was not found in the tuple"},
		{"[[':', 3, 0, 1, 'z']]", "SPLICE error on field 3: offset is out of bound"},
	};
	log_set_level(LOG_FATAL);
	RUN(upsert_execute, "[1, 10, 'c']", 1, cases);
	log_set_level(LOG_INFO);
}

static void assert_mask(const char *ops, uint64_t expected)
{
	apply(update_execute, "[1, 2, 3, 4]", ops, 1);
	assert_true(column_mask == expected);
}

static void test_column_mask(void **state)
{
	assert_mask("[]", 0);
	assert_mask("[['=', 2, 1]]", 1 << 1);
	assert_mask("[['=', 2, 1], ['+', 4, 1]]", 1 << 1 | 1 << 3);
	assert_mask("[['#', 2, 1]]", ~1ull);
	assert_mask("[['!', 3, 1]]", ~3ull);
	assert_mask("[['!', 1, 1]]", ~0ull);
}

static void test_limits(void **state)
{
	char *ops = malloc(4001 * 8 + 16);
	for (uint32_t count = 4000; count <= 4001; count++) {
		char *p = mp_encode_array(ops, count);
		for (uint32_t i = 0; i < count; i++)
			p = mempcpy(p, "\x93\xa1!\x02\x07", 5);
		uint32_t size;
		struct region *region = &fiber()->region;
		const char *row = "\x91\x01";
		const char *result = update_execute(ops, p, row, row + 2, NULL, NULL, 1, region, &size,
						    &column_mask);
		assert_int_equal(result != NULL, count == 4000);
		if (result != NULL) {
			assert_int_equal(mp_check_whole(result, result + size), 0);
			assert_int_equal(mp_decode_array(&result), 4001);
		} else {
			assert_string_equal(diag_last()->message, "Illegal parameters, too many "
					    "operations for update");
			diag_clear(diag_get());
		}
		region_truncate(region, 0);
	}
	free(ops);
}

static void test_check_ops(void **state)
{
	const char *good = "\x91\x93\xa1=\x02\x01", *bad = "\x91\x93\xa1?\x02\x01";
	struct region *region = &fiber()->region;
	size_t used = region_used(region);
	assert_int_equal(update_check_ops(good, good + 6, NULL, 1, region), 0);
	assert_int_equal(update_check_ops(bad, bad + 6, NULL, 1, region), -1);
	assert_int_equal(region_used(region), used);
	assert_int_equal(diag_last()->code, ER_UNKNOWN_UPDATE_OP);
	diag_clear(diag_get());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_assign),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_base_zero),
		cmocka_unit_test(test_upsert),
		cmocka_unit_test(test_column_mask),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_check_ops),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
