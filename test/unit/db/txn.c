/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Transactions: savepoints, nesting, triggers, yields, and what is left behind.
 */
#include "db_test.h"

#include "core/trigger.h"

enum { T = 600 };

static int setup(void **state)
{
	(void)state;
	make_space(T, "t");
	assert_ok(insert(T, "[1, 'a']"));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(txn_current());
	drop_space(T);
	return 0;
}

static void test_begin(void **state)
{
	(void)state;
	assert_int_equal(box_txn_begin(), 0);
	assert_true(box_txn());
	assert_int_equal(box_txn_begin(), -1);
	assert_int_equal(diag_last()->code, ER_ACTIVE_TRANSACTION);
	assert_int_equal(box_txn_commit(), 0);
	assert_int_equal(box_txn_id(), -1);
	assert_int_equal(box_txn_commit(), 0);
	assert_int_equal(box_txn_rollback(), 0);
	assert_null(txn_savepoint_new(NULL));
	assert_int_equal(diag_last()->code, ER_NO_TRANSACTION);
	/* An empty one is cheap: the structure is used again. */
	struct txn *txn = txn_begin(false);
	assert_int_equal(txn_commit(txn), 0);
	assert_ptr_equal(txn_begin(false), txn);
	txn_rollback(txn);
}

static void test_savepoints(void **state)
{
	(void)state;
	struct txn *txn = txn_begin(false);
	struct txn_savepoint *empty = txn_savepoint_new(txn);
	assert_ok(insert(T, "[2]"));
	struct txn_savepoint *two = txn_savepoint_new(txn);
	assert_ok(replace(T, "[1, 'b']"));
	assert_ok(del(T, "[2]"));
	int64_t late = txn_savepoint_new(txn)->id;
	assert_string_equal(rows(T), "[1, 'b']");
	assert_int_equal(txn_rollback_to_savepoint(txn, two), 0);
	assert_string_equal(rows(T), "[1, 'a'] [2]");
	assert_null(txn_savepoint_by_id(txn, late));
	assert_int_equal(diag_last()->code, ER_NO_SUCH_SAVEPOINT);
	assert_ptr_equal(txn_savepoint_by_id(txn, two->id), two);
	/* The same one again. */
	assert_ok(insert(T, "[3]"));
	assert_int_equal(txn_rollback_to_savepoint(txn, two), 0);
	assert_string_equal(rows(T), "[1, 'a'] [2]");
	assert_int_equal(txn_rollback_to_savepoint(txn, empty), 0);
	assert_string_equal(rows(T), "[1, 'a']");
	assert_int_equal(txn->row_count, 0);
	assert_int_equal(txn_commit(txn), 0);
}

/* Triggers ------------------------------------------------------------------ */

static int calls;

static int run_nested(struct trigger *trigger, void *event)
{
	(void)trigger;
	struct txn_stmt *stmt = txn_stmt_current(event);
	assert_int_equal(stmt->space_id, T);
	calls++;
	if (stmt->new_tuple == NULL)
		return 0;
	const char *field = tuple_field(stmt->new_tuple, 0);
	char text[32];
	snprintf(text, sizeof(text), "[%u]", (unsigned)mp_decode_uint(&field) + 1);
	return replace(T, text) == 0 ? 0 : -1;
}

static void test_nesting_limit(void **state)
{
	(void)state;
	struct trigger trigger;
	trigger_create(&trigger, run_nested, NULL, NULL);
	list_add(&space_by_id(T)->on_replace, &trigger.link);
	calls = 0;
	assert_error(replace(T, "[10]"), ER_SUB_STMT_MAX,
		     "Can not execute a nested statement: nesting limit reached");
	assert_int_equal(calls, 4);
	assert_string_equal(rows(T), "[1, 'a']");
	/* In a transaction, only the statement is undone. */
	struct txn *txn = txn_begin(false);
	assert_ok(del(T, "[1]"));
	assert_int_equal(replace(T, "[10]"), ER_SUB_STMT_MAX);
	assert_string_equal(rows(T), "");
	list_del(&trigger.link);
	assert_ok(insert(T, "[5]"));
	assert_int_equal(txn_commit(txn), 0);
	assert_string_equal(rows(T), "[5]");
}

static int run_commit(struct trigger *trigger, void *event)
{
	(void)trigger;
	assert_int_equal(txn_commit(event), -1);
	return -1;
}

static int run_rollback(struct trigger *trigger, void *event)
{
	(void)trigger;
	(void)event;
	return box_txn_rollback();
}

static int run_yield(struct trigger *trigger, void *event)
{
	(void)trigger;
	(void)event;
	fiber_sleep(0);
	return 0;
}

static void test_bad_triggers(void **state)
{
	(void)state;
	struct { trigger_func run; unsigned code; } cases[] = {
		{run_commit, ER_COMMIT_IN_SUB_STMT},
		{run_rollback, ER_ROLLBACK_IN_SUB_STMT},
		{run_yield, ER_TRANSACTION_YIELD},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trigger trigger;
		trigger_create(&trigger, cases[i].run, NULL, NULL);
		list_add(&space_by_id(T)->on_replace, &trigger.link);
		assert_int_equal(replace(T, "[2]"), cases[i].code);
		list_del(&trigger.link);
		list_add(&space_by_id(T)->before_replace, &trigger.link);
		assert_int_equal(replace(T, "[2]"), cases[i].code);
		assert_int_equal(del(T, "[1]"), cases[i].code);
		list_del(&trigger.link);
		assert_string_equal(rows(T), "[1, 'a']");
		assert_null(txn_current());
	}
}

/** What the next before_replace leaves: NULL deletes. */
static const char *wanted;

static int run_put(struct trigger *trigger, void *event)
{
	(void)trigger;
	struct txn_stmt *stmt = txn_stmt_current(event);
	struct tuple *tuple = NULL;
	if (wanted != NULL) {
		const char *end, *data = mp(wanted, &end);
		tuple = strcmp(wanted, "old") == 0 ? stmt->old_tuple :
			tuple_new(stmt->space->format, data, end);
		if (tuple == stmt->old_tuple)
			tuple_ref(tuple);
	}
	if (stmt->new_tuple != NULL)
		tuple_unref(stmt->new_tuple);
	stmt->new_tuple = tuple;
	return 0;
}

static void test_before_replace(void **state)
{
	(void)state;
	struct trigger trigger;
	trigger_create(&trigger, run_put, NULL, NULL);
	list_add(&space_by_id(T)->before_replace, &trigger.link);
	wanted = "[1, 'c']";
	assert_ok(replace(T, "[1, 'b']"));
	assert_string_equal(rows(T), "[1, 'c']");
	/* A deletion becomes a replacement, and the other way round. */
	wanted = "[1, 'd']";
	assert_ok(del(T, "[1]"));
	assert_string_equal(rows(T), "[1, 'd']");
	wanted = NULL;
	assert_ok(insert(T, "[2]"));
	assert_string_equal(rows(T), "[1, 'd']");
	assert_ok(update(T, "[1]", "[['=', 2, 'e']]"));
	assert_string_equal(rows(T), "");
	wanted = "[9]";
	assert_ok(insert(T, "[3]"));
	assert_string_equal(rows(T), "[9]");
	wanted = "[8]";
	assert_int_equal(replace(T, "[9]"), ER_CANT_UPDATE_PRIMARY_KEY);
	assert_ok(del(T, "[100]"));
	wanted = "[9, 1]";
	assert_ok(upsert(T, "[9]", "[['=', 2, 5]]"));
	assert_string_equal(rows(T), "[9, 1]");
	list_del(&trigger.link);
}

static char events[64];

static int run_event(struct trigger *trigger, void *event)
{
	struct txn_event *e = event;
	struct txn_stmt *stmt;
	strcat(events, trigger->data);
	list_foreach_entry(stmt, e->stmts, link)
		strcat(events, stmt->space_id == T ? "t" : "?");
	/* The transaction is over: another may begin, and yield. */
	assert_null(txn_current());
	fiber_sleep(0);
	return 0;
}

static void test_script_triggers(void **state)
{
	(void)state;
	struct trigger commit, rollback;
	trigger_create(&commit, run_event, "c", NULL);
	trigger_create(&rollback, run_event, "r", NULL);
	for (int i = 0; i < 3; i++) {
		events[0] = '\0';
		struct txn *txn = txn_begin(false);
		list_add(&txn->on_commit, &commit.link);
		list_add(&txn->on_rollback, &rollback.link);
		assert_ok(replace(T, "[1, 'b']"));
		assert_ok(del(T, "[1]"));
		if (i == 0) {
			txn_rollback(txn);
		} else if (i == 1) {
			journal_fails(true);
			assert_int_equal(txn_commit(txn), -1);
			assert_int_equal(diag_last()->code, ER_LOADING);
			journal_fails(false);
		} else {
			assert_int_equal(txn_commit(txn), 0);
		}
		assert_string_equal(events, i < 2 ? "rtt" : "ctt");
		assert_string_equal(rows(T), i < 2 ? "[1, 'a']" : "");
	}
}

/* Yields ---------------------------------------------------------------------- */

static int see_rows(va_list ap)
{
	assert_string_equal(rows(T), va_arg(ap, const char *));
	return 0;
}

static void test_yield(void **state)
{
	(void)state;
	/* Nothing was done: nothing is lost. */
	assert_int_equal(box_txn_begin(), 0);
	fiber_sleep(0);
	assert_ok(insert(T, "[2]"));
	assert_string_equal(rows(T), "[1, 'a'] [2]");
	fiber_sleep(0);
	/* All is gone, for everybody and at once. */
	assert_int_equal(in_fiber(see_rows, "[1, 'a']"), 0);
	assert_true(box_txn());
	assert_error(insert(T, "[3]"), ER_TRANSACTION_YIELD,
		     "Transaction has been aborted by a fiber yield");
	assert_null(box_txn_savepoint());
	assert_int_equal(diag_last()->code, ER_TRANSACTION_YIELD);
	assert_string_equal(rows(T), "Transaction has been aborted by a fiber yield");
	assert_int_equal(box_txn_commit(), -1);
	assert_int_equal(diag_last()->code, ER_TRANSACTION_YIELD);
	assert_false(box_txn());
	/* A read is enough. */
	assert_int_equal(box_txn_begin(), 0);
	assert_string_equal(rows(T), "[1, 'a']");
	fiber_sleep(0);
	assert_int_equal(insert(T, "[3]"), ER_TRANSACTION_YIELD);
	assert_int_equal(box_txn_rollback(), 0);
	assert_ok(insert(T, "[3]"));
}

static void test_yield_undoes_schema(void **state)
{
	(void)state;
	assert_int_equal(box_txn_begin(), 0);
	assert_ok(insert(SPACE_SPACE, "[601, 1, 'u', 'memtx', 0, {}, []]"));
	assert_ok(del(SPACE_INDEX, "[600, 0]"));
	assert_non_null(space_by_id(601));
	fiber_sleep(0);
	assert_null(space_by_id(601));
	assert_int_equal(box_txn_commit(), -1);
	assert_string_equal(rows(T), "[1, 'a']");
}

static void test_timeout(void **state)
{
	(void)state;
	assert_int_equal(box_txn_set_timeout(1), -1);
	assert_int_equal(diag_last()->code, ER_NO_TRANSACTION);
	assert_int_equal(box_txn_begin(), 0);
	assert_int_equal(box_txn_set_timeout(0), -1);
	assert_int_equal(diag_last()->code, ER_ILLEGAL_PARAMS);
	assert_int_equal(box_txn_set_timeout(0.001), 0);
	assert_int_equal(box_txn_set_timeout(1), -1);
	assert_int_equal(diag_last()->code, ER_ACTIVE_TIMER);
	fiber_sleep(0.002);
	assert_error(insert(T, "[2]"), ER_TRANSACTION_TIMEOUT,
		     "Transaction has been aborted by timeout");
	assert_string_equal(rows(T), "Transaction has been aborted by timeout");
	assert_int_equal(box_txn_commit(), -1);
	assert_int_equal(diag_last()->code, ER_TRANSACTION_TIMEOUT);
	assert_false(box_txn());
	/* Time that was enough. */
	assert_int_equal(box_txn_begin(), 0);
	assert_int_equal(box_txn_set_timeout(100), 0);
	assert_ok(insert(T, "[2]"));
	assert_int_equal(box_txn_commit(), 0);
	assert_string_equal(rows(T), "[1, 'a'] [2]");
	/* The next one has none. */
	assert_int_equal(box_txn_begin(), 0);
	assert_int_equal(box_txn_set_timeout(100), 0);
	box_txn_rollback();
	assert_int_equal(box_txn_begin(), 0);
	assert_int_equal(box_txn_set_timeout(100), 0);
	box_txn_rollback();
}

/* Savepoints and triggers -------------------------------------------------- */

static int run_in_savepoint(struct trigger *trigger, void *event)
{
	struct txn_event *e = event;
	struct txn_stmt *stmt;
	strcat(events, trigger->data);
	list_foreach_entry(stmt, e->stmts, link)
		strcat(events, stmt->new_tuple == NULL ? "d" : "i");
	if (txn_current() == NULL)
		return 0;
	/* It is undone already, and the transaction can't be ended here. */
	assert_string_equal(rows(T), "[1, 'a'] [2]");
	assert_int_equal(box_txn_commit(), -1);
	assert_int_equal(diag_last()->code, ER_COMMIT_IN_SUB_STMT);
	assert_int_equal(box_txn_rollback(), -1);
	assert_int_equal(diag_last()->code, ER_ROLLBACK_IN_SUB_STMT);
	return 0;
}

static void test_savepoint_triggers(void **state)
{
	(void)state;
	struct trigger rollback;
	trigger_create(&rollback, run_in_savepoint, "r", NULL);
	events[0] = '\0';
	struct txn *txn = txn_begin(false);
	list_add(&txn->on_rollback, &rollback.link);
	assert_ok(insert(T, "[2]"));
	struct txn_savepoint *svp = box_txn_savepoint();
	/* Nothing came after it: nothing to tell. */
	assert_int_equal(box_txn_rollback_to_savepoint(svp), 0);
	assert_string_equal(events, "");
	assert_ok(insert(T, "[3]"));
	assert_ok(del(T, "[1]"));
	struct txn_savepoint *later = box_txn_savepoint();
	assert_int_equal(box_txn_rollback_to_savepoint(svp), 0);
	assert_string_equal(events, "rid");
	assert_int_equal(box_txn_rollback_to_savepoint(later), -1);
	assert_int_equal(diag_last()->code, ER_NO_SUCH_SAVEPOINT);
	assert_int_equal(box_txn_rollback_to_savepoint(svp), 0);
	txn_rollback(txn);
	/* Then what was left. */
	assert_string_equal(events, "ridri");
	assert_string_equal(rows(T), "[1, 'a']");
}

static int leave_open(va_list ap)
{
	(void)ap;
	assert_int_equal(box_txn_begin(), 0);
	assert_ok(insert(T, "[2]"));
	return 0;
}

static void test_fiber_end(void **state)
{
	(void)state;
	assert_int_equal(in_fiber(leave_open, NULL), 0);
	assert_string_equal(rows(T), "[1, 'a']");
}

static int run_all(va_list ap)
{
	(void)ap;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_begin, setup, teardown),
		cmocka_unit_test_setup_teardown(test_savepoints, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nesting_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_triggers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before_replace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_script_triggers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_yield, setup, teardown),
		cmocka_unit_test_setup_teardown(test_yield_undoes_schema, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timeout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_savepoint_triggers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fiber_end, setup, teardown),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	loop_stop();
	return failed;
}

int main(void)
{
	return test_db_run(run_all);
}
