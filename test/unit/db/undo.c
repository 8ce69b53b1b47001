/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Random transactions over data and schema, from a seed. However one is undone -
 * by a rollback, a savepoint, a failing statement, a failing journal, a yield -
 * everything is as it was: rows in each index, indexes, names, formats, sizes.
 *
 * Arguments: seed, number of transactions.
 */
#include <time.h>

#include "db_test.h"

enum { SPACE_FIRST = 600, SPACE_COUNT = 3, KEY_MAX = 12, OPS_MAX = 12, DEFAULT_ROUNDS = 1500 };

static uint64_t random_state;
static int rounds = DEFAULT_ROUNDS;

static unsigned rnd(unsigned bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % bound;
}

/* The whole state as text ------------------------------------------------------ */

static void dump_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text));
	buf_append(out, "\n", 1);
}

static void dump_space(struct buf *out, uint32_t id)
{
	char text[256];
	struct space *space = space_by_id(id);
	if (space == NULL)
		return;
	assert_ptr_equal(space_by_name(space_name(space), strlen(space_name(space))), space);
	snprintf(text, sizeof(text), "%u %s fields %u names %u bsize %zu", id, space_name(space),
		 space->def->field_count, space->format->dict->id, space->bsize);
	dump_text(out, text);
	for (uint32_t i = 0; i < space->index_count; i++) {
		struct index *index = space->index[i];
		assert_ptr_equal(space_index(space, index->def->iid), index);
		assert_string_equal(index->space_name, space_name(space));
		assert_true(index->vtab->check(index));
		dump_text(out, index->def->name);
		dump_text(out, rows_by(id, index->def->iid));
	}
}

/** Freed by the caller. */
static char *dump(void)
{
	struct buf out = BUF_INIT;
	for (uint32_t i = 0; i < SPACE_COUNT; i++)
		dump_space(&out, SPACE_FIRST + i);
	dump_text(&out, rows(SPACE_SPACE));
	dump_text(&out, rows(SPACE_INDEX));
	dump_text(&out, rows(SPACE_TRUNCATE));
	buf_append(&out, "", 1);
	return out.data;
}

/** Is the state what it was? Frees `before`. */
static void assert_same(char *before)
{
	char *now = dump();
	assert_string_equal(now, before);
	xfree(now);
	xfree(before);
}

/* Random statements: they may fail --------------------------------------------------- */

static void change_data(uint32_t id)
{
	char a[64], b[64];
	unsigned key = rnd(KEY_MAX);
	if (rnd(4) == 0)
		snprintf(a, sizeof(a), "[%u]", key);
	else
		snprintf(a, sizeof(a), "[%u, %u, '%c']", key, rnd(KEY_MAX), 'a' + rnd(4));
	switch (rnd(5)) {
	case 0:
		insert(id, a);
		break;
	case 1:
		replace(id, a);
		break;
	case 2:
		snprintf(a, sizeof(a), "[%u]", key);
		del(id, a);
		break;
	case 3:
		snprintf(a, sizeof(a), "[%u]", key);
		snprintf(b, sizeof(b), "[['=', 2, %u], ['=', 3, 'u']]", rnd(KEY_MAX));
		update(id, a, b);
		break;
	default:
		snprintf(b, sizeof(b), "[['=', 2, %u]]", rnd(KEY_MAX));
		upsert(id, a, b);
		break;
	}
}

static const char *const index_rows[] = {
	"[%u, 0, 'pk', 'tree', {}, [[0, 'unsigned']]]",
	"[%u, 0, 'pk', 'hash', {}, [[0, 'unsigned']]]",
	"[%u, 0, 'first', 'tree', {}, [[0, 'integer']]]",
	"[%u, 1, 'sk', 'tree', {'unique': true}, [[1, 'unsigned']]]",
	"[%u, 1, 'sk', 'tree', {'unique': false}, [[1, 'unsigned']]]",
	"[%u, 2, 'null', 'tree', {'unique': false}, "
		"[{'field': 2, 'type': 'string', 'is_nullable': true}]]",
	"[%u, 2, 'hash', 'hash', {'unique': true}, [[0, 'unsigned']]]",
	"[%u, 3, 'bits', 'bitset', {'unique': false}, [[1, 'unsigned']]]",
	"[%u, 4, 'word', 'tree', {'unique': false}, "
		"[{'field': 2, 'type': 'string', 'is_nullable': true, 'collation': 2}]]",
};
enum { INDEX_ROW_COUNT = sizeof(index_rows) / sizeof(index_rows[0]) };

static const char *const space_rows[] = {
	"[%u, 1, 'a%u', 'memtx', 0, {}, []]",
	"[%u, 1, 'b%u', 'memtx', 0, {}, []]",
	"[%u, 1, 'a%u', 'memtx', 0, {}, [{'name': 'id', 'type': 'unsigned'}]]",
	"[%u, 1, 'a%u', 'memtx', 0, {}, [{'name': 'key'}, {'name': 'value'}]]",
	"[%u, 1, 'a%u', 'memtx', 3, {}, []]",
	/* A name that another may have. */
	"[%u, 1, 'common', 'memtx', 0, {}, []]",
};

static void change_schema(uint32_t id)
{
	char text[256];
	switch (rnd(5)) {
	case 0:
		snprintf(text, sizeof(text), space_rows[rnd(6)], id, id);
		replace(SPACE_SPACE, text);
		break;
	case 1:
		snprintf(text, sizeof(text), index_rows[rnd(INDEX_ROW_COUNT)], id);
		replace(SPACE_INDEX, text);
		break;
	case 2:
		snprintf(text, sizeof(text), "[%u, %u]", id, rnd(5));
		del(SPACE_INDEX, text);
		break;
	case 3:
		snprintf(text, sizeof(text), "[%u]", id);
		if (rnd(3) == 0)
			del(SPACE_TRUNCATE, text);
		else
			del(SPACE_SPACE, text);
		break;
	default:
		if (db_truncate(id) != 0)
			return;
		break;
	}
}

static void change(void)
{
	uint32_t id = SPACE_FIRST + rnd(SPACE_COUNT);
	if (rnd(4) == 0)
		change_schema(id);
	else
		change_data(id);
}

/* Transactions ----------------------------------------------------------------------- */

static void try_savepoint(struct txn *txn)
{
	struct txn_savepoint *svp = txn_savepoint_new(txn);
	char *before = dump();
	for (unsigned n = rnd(OPS_MAX); n > 0; n--)
		change();
	assert_int_equal(txn_rollback_to_savepoint(txn, svp), 0);
	assert_same(before);
}

static void try_transaction(void)
{
	char *before = dump();
	struct txn *txn = txn_begin(false);
	for (unsigned n = rnd(OPS_MAX); n > 0; n--) {
		if (rnd(8) == 0)
			try_savepoint(txn);
		else
			change();
	}
	bool has_rows = txn->row_count > 0;
	switch (rnd(6)) {
	case 0:
		txn_rollback(txn);
		break;
	case 1:
		journal_fails(true);
		assert_int_equal(txn_commit(txn), has_rows ? -1 : 0);
		journal_fails(false);
		break;
	case 2:
		fiber_sleep(0);
		txn_commit(txn);
		break;
	default:
		assert_int_equal(txn_commit(txn), 0);
		xfree(before);
		return;
	}
	assert_same(before);
}

static void test_undo(void **state)
{
	(void)state;
	for (int i = 0; i < rounds; i++) {
		if (rnd(2) == 0) {
			try_transaction();
		} else {
			/* A statement of its own, which a failing journal undoes. */
			char *before = dump();
			bool fails = rnd(4) == 0;
			journal_fails(fails);
			change();
			journal_fails(false);
			if (fails)
				assert_same(before);
			else
				xfree(before);
		}
	}
}

static int run_all(va_list ap)
{
	(void)ap;
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_undo)};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	loop_stop();
	return failed;
}

int main(int argc, char **argv)
{
	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
	if (argc > 2)
		rounds = atoi(argv[2]);
	print_message("seed %llu\n", (unsigned long long)random_state);
	return test_db_run(run_all);
}
