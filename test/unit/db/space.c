/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Statements over several indexes, their undoing, and changes of the schema.
 */
#include "db_test.h"

enum { T = 600 };

static int setup(void **state)
{
	(void)state;
	make_space(T, "t");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	drop_space(T);
	return 0;
}

static unsigned add_index(const char *rest)
{
	char text[256];
	snprintf(text, sizeof(text), "[%u, %s]", T, rest);
	return insert(SPACE_INDEX, text);
}

static void test_dml(void **state)
{
	(void)state;
	assert_ok(insert(T, "[1, 'a']"));
	assert_ok(insert(T, "[2, 'b']"));
	assert_error(insert(T, "[1, 'c']"), ER_TUPLE_FOUND,
		     "Duplicate key exists in unique index 'pk' in space 't'");
	assert_ok(replace(T, "[1, 'c']"));
	assert_string_equal(rows(T), "[1, 'c'] [2, 'b']");
	assert_ok(del(T, "[2]"));
	assert_ok(del(T, "[5]"));
	assert_ok(update(T, "[1]", "[['=', 2, 'd'], ['!', -1, 7]]"));
	assert_string_equal(rows(T), "[1, 'd', 7]");
	assert_error(update(T, "[1]", "[['=', 1, 5]]"), ER_CANT_UPDATE_PRIMARY_KEY,
		     "Attempt to modify a tuple field which is part of index 'pk' in space 't'");
	assert_ok(upsert(T, "[3, 1]", "[['+', 2, 1]]"));
	assert_ok(upsert(T, "[3, 1]", "[['+', 2, 1]]"));
	assert_string_equal(rows(T), "[1, 'd', 7] [3, 2]");
	assert_error(insert(T, "['x']"), ER_FIELD_TYPE, "Tuple field 1 type does not match one "
		     "required by operation: expected unsigned");
	assert_error(del(T, "[1, 2]"), ER_EXACT_MATCH,
		     "Invalid key part count in an exact match (expected 1, got 2)");
	assert_error(insert(999, "[1]"), ER_NO_SUCH_SPACE, "Space '999' does not exist");
}

static void test_secondary(void **state)
{
	(void)state;
	assert_ok(insert(T, "[1, 'b']"));
	assert_ok(insert(T, "[2, 'a']"));
	assert_ok(add_index("1, 'sk', 'tree', {'unique': true}, [[1, 'string']]"));
	assert_string_equal(rows_by(T, 1), "[2, 'a'] [1, 'b']");
	/* A duplicate in the second index leaves the first as it was. */
	assert_int_equal(insert(T, "[3, 'a']"), ER_TUPLE_FOUND);
	assert_int_equal(replace(T, "[1, 'a']"), ER_TUPLE_FOUND);
	assert_string_equal(rows(T), "[1, 'b'] [2, 'a']");
	assert_ok(replace(T, "[1, 'c']"));
	assert_string_equal(rows_by(T, 1), "[2, 'a'] [1, 'c']");
	/* One that can't be built leaves nothing. */
	assert_ok(insert(T, "[3, 'd', 5]"));
	assert_error(add_index("2, 'x', 'tree', {'unique': true}, [[2, 'unsigned']]"),
		     ER_FIELD_MISSING, "Tuple field 3 required by space format is missing");
	assert_null(space_index(space_by_id(T), 2));
	assert_ok(add_index("2, 'x', 'tree', {'unique': true}, "
			    "[{'field': 2, 'type': 'unsigned', 'is_nullable': true}]"));
	assert_ok(del(SPACE_INDEX, "[600, 2]"));
	assert_error(del(SPACE_INDEX, "[600, 0]"), ER_DROP_PRIMARY_KEY,
		     "Can't drop primary key in space 't' while secondary keys exist");
	/* Another order of the primary key orders the others anew. */
	assert_ok(replace(SPACE_INDEX, "[600, 1, 'sk', 'tree', {'unique': false}, "
			  "[[1, 'string']]]"));
	assert_ok(replace(T, "[7, 'a']"));
	assert_ok(replace(SPACE_INDEX, "[600, 0, 'pk', 'hash', {'unique': true}, "
			  "[[0, 'unsigned']]]"));
	assert_string_equal(rows_by(T, 1), "[2, 'a'] [7, 'a'] [1, 'c'] [3, 'd', 5]");
}

static void test_undo(void **state)
{
	(void)state;
	assert_ok(add_index("1, 'sk', 'tree', {'unique': false}, [[1, 'unsigned']]"));
	assert_ok(insert(T, "[1, 10]"));
	assert_ok(insert(T, "[2, 20]"));
	size_t bsize = space_by_id(T)->bsize;
	assert_non_null(txn_begin(false));
	assert_ok(replace(T, "[1, 11]"));
	assert_ok(del(T, "[2]"));
	assert_ok(insert(T, "[3, 5]"));
	assert_ok(replace(T, "[1, 12, 'long']"));
	assert_ok(del(T, "[1]"));
	assert_string_equal(rows_by(T, 1), "[3, 5]");
	txn_rollback(txn_current());
	assert_string_equal(rows(T), "[1, 10] [2, 20]");
	assert_string_equal(rows_by(T, 1), "[1, 10] [2, 20]");
	assert_int_equal(space_by_id(T)->bsize, bsize);
	assert_null(txn_current());
}

static void test_journal_failure(void **state)
{
	(void)state;
	assert_ok(insert(T, "[1]"));
	journal_fails(true);
	assert_int_equal(insert(T, "[2]"), ER_LOADING);
	assert_int_equal(del(T, "[1]"), ER_LOADING);
	assert_int_equal(insert(SPACE_SPACE, "[601, 1, 'u', 'memtx', 0, {}, []]"), ER_LOADING);
	journal_fails(false);
	assert_string_equal(rows(T), "[1]");
	assert_null(space_by_id(601));
	assert_null(space_by_name("u", 1));
}

static void test_ddl_rollback(void **state)
{
	(void)state;
	assert_ok(insert(T, "[1, 5]"));
	struct space *space = space_by_id(T);
	assert_non_null(txn_begin(false));
	assert_ok(add_index("1, 'sk', 'tree', {'unique': true}, [[1, 'unsigned']]"));
	assert_ok(insert(T, "[2, 6]"));
	assert_int_equal(insert(T, "[3, 6]"), ER_TUPLE_FOUND);
	assert_ok(replace(SPACE_SPACE, "[600, 1, 'renamed', 'memtx', 0, {}, []]"));
	assert_error(replace(SPACE_SPACE, "[600, 1, 't', 'memtx', 2, {}, []]"),
		     ER_MULTISTATEMENT_TRANSACTION, "Can not perform space format check in a "
		     "multi-statement transaction");
	assert_ok(insert(SPACE_SPACE, "[601, 1, 'u', 'memtx', 0, {}, [{'name': 'a'}]]"));
	assert_ok(insert(SPACE_INDEX, "[601, 0, 'pk', 'tree', {}, [[0, 'unsigned']]]"));
	assert_ok(insert(601, "[1]"));
	assert_int_equal(insert(SPACE_INDEX, "[601, 1, 'sk', 'tree', {}, [[0, 'unsigned']]]"),
			 ER_MULTISTATEMENT_TRANSACTION);
	assert_ok(del(601, "[1]"));
	assert_ok(replace(SPACE_SPACE, "[601, 1, 'v', 'memtx', 0, {}, []]"));
	assert_non_null(space_by_name("v", 1));
	assert_ok(del(SPACE_INDEX, "[601, 0]"));
	assert_ok(del(SPACE_SPACE, "[601]"));
	assert_null(space_by_id(601));
	txn_rollback(txn_current());
	assert_null(space_by_id(601));
	assert_null(space_by_name("u", 1));
	assert_null(space_by_name("v", 1));
	assert_ptr_equal(space_by_id(T), space);
	assert_null(space_index(space, 1));
	assert_string_equal(rows(T), "[1, 5]");
	assert_ok(insert(T, "[3, 5]"));
}

static void test_truncate(void **state)
{
	(void)state;
	assert_ok(add_index("1, 'sk', 'tree', {'unique': false}, [[1, 'unsigned']]"));
	assert_ok(insert(T, "[1, 5]"));
	assert_ok(insert(T, "[2, 6]"));
	assert_non_null(txn_begin(false));
	assert_ok(insert(T, "[3, 7]"));
	assert_int_equal(db_truncate(T), 0);
	assert_ok(insert(T, "[4, 8]"));
	assert_string_equal(rows_by(T, 1), "[4, 8]");
	txn_rollback(txn_current());
	assert_string_equal(rows_by(T, 1), "[1, 5] [2, 6]");
	uint32_t version = schema_version;
	assert_int_equal(db_truncate(T), 0);
	assert_int_equal(schema_version, version);
	assert_string_equal(rows(T), "");
	assert_int_equal(space_by_id(T)->bsize, 0);
	assert_int_equal(db_truncate(SPACE_SPACE), -1);
	assert_int_equal(diag_last()->code, ER_TRUNCATE_SYSTEM_SPACE);
}

static void test_iterator_survives(void **state)
{
	(void)state;
	assert_ok(add_index("1, 'sk', 'tree', {'unique': true}, [[0, 'unsigned']]"));
	assert_ok(insert(T, "[1]"));
	assert_ok(insert(T, "[2]"));
	const char *end, *key = mp("[]", &end);
	struct iterator *it = db_index_iterator(T, 1, ITER_ALL, key, end, NULL);
	struct iterator *pk = db_index_iterator(T, 0, ITER_ALL, key, end, NULL);
	struct tuple *tuple;
	assert_int_equal(db_iterator_next(it, &tuple), 0);
	assert_non_null(tuple);
	tuple_unref(tuple);
	assert_ok(del(SPACE_INDEX, "[600, 1]"));
	assert_int_equal(db_iterator_next(it, &tuple), 0);
	assert_null(tuple);
	assert_int_equal(db_iterator_next(pk, &tuple), 0);
	assert_non_null(tuple);
	tuple_unref(tuple);
	assert_int_equal(db_truncate(T), 0);
	assert_int_equal(db_iterator_next(pk, &tuple), 0);
	assert_null(tuple);
	db_iterator_free(it);
	db_iterator_free(pk);
}

/** A statement that runs into a limit of memory has no effect, however far it came. */
static void try_limit(struct mem_account *account)
{
	char text[64];
	size_t limit = account->limit;
	unsigned failures = 0;
	for (unsigned key = 100; key < 1000; key++) {
		unsigned code = ER_MEMORY_ISSUE;
		for (size_t extra = 0; code != 0; extra += 16) {
			size_t rows_before = db_index_len(T, 0);
			size_t used = account->used + account->partner->used;
			account->limit = used + extra;
			snprintf(text, sizeof(text), "[%u, %u, 'text']", key, key);
			code = insert(T, text);
			account->limit = limit;
			if (code == 0)
				break;
			failures++;
			assert_int_equal(code, ER_MEMORY_ISSUE);
			for (uint32_t iid = 0; iid < 3; iid++) {
				struct index *index = space_index(space_by_id(T), iid);
				assert_int_equal(db_index_len(T, iid), rows_before);
				assert_true(index->vtab->check(index));
			}
		}
	}
	assert_true(failures > 0);
	for (unsigned key = 100; key < 1000; key++) {
		snprintf(text, sizeof(text), "[%u]", key);
		assert_ok(del(T, text));
	}
}

static void test_out_of_memory(void **state)
{
	(void)state;
	assert_ok(add_index("1, 'sk', 'tree', {'unique': false}, [[1, 'unsigned']]"));
	assert_ok(add_index("2, 'h', 'hash', {'unique': true}, [[1, 'unsigned']]"));
	/* Indexes first: they keep what they got. */
	try_limit(&index_memory);
	try_limit(&tuple_memory);
	assert_string_equal(rows(T), "");
}

static void test_system_spaces(void **state)
{
	(void)state;
	assert_string_equal(row(SPACE_SPACE, "[272]"), "[272, 1, '_schema', 'memtx', 0, {}, "
			    "[{'type': 'string', 'name': 'key'}, "
			    "{'type': 'any', 'name': 'value', 'is_nullable': true}]]");
	assert_string_equal(row(SPACE_INDEX, "[312, 2]"), "[312, 2, 'object', 'tree', "
			    "{'unique': false}, [[2, 'string'], [3, 'scalar']]]");
	assert_string_equal(row(SPACE_COLLATION, "[276]"), "[276, 'unicode_zh__zhuyin_s3', 1, "
			    "'ICU', 'zh_u_co_zhuyin', {'strength': 'tertiary'}]");
	assert_string_equal(row(SPACE_USER, "[0]"), "[0, 1, 'guest', 'user', "
			    "{'chap-sha1': 'vhvewKp0tNyweZQ+cFKAlsyphfg='}]");
	assert_string_equal(row(SPACE_VUSER, "[1]"), "[1, 1, 'admin', 'user', {}]");
	assert_int_equal(db_index_len(SPACE_FUNC, 0), 67);
	assert_int_equal(db_index_len(SPACE_PRIV, 0), 82);
	assert_int_equal(db_index_len(SPACE_VSPACE, 0), -1);
	assert_error(del(SPACE_INDEX, "[272, 0]"), ER_LAST_DROP,
		     "Can't drop the primary key in a system space, space '_schema'");
	assert_error(insert(SPACE_VSPACE, "[1]"), ER_VIEW_IS_RO, "View '_vspace' is read-only");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dml, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secondary, setup, teardown),
		cmocka_unit_test_setup_teardown(test_undo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_journal_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ddl_rollback, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_iterator_survives, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
		cmocka_unit_test(test_system_spaces),
	};
	test_db_start();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_db_stop();
	return failed;
}
