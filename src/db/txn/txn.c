/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of a transaction: begin, commit through the journal, rollback, and
 * what happens when its fiber yields or ends.
 *
 *     (none) --begin--> OPEN --commit--> WRITING --written--> (none)
 *                        |  \                \---failed-----> undone, (none)
 *              yield, timeout  \--rollback--> undone, (none)
 *                        v
 *                     ABORTED (undone) --commit or rollback--> (none)
 *
 * Structures and their regions go to a free list and are used again, so that an
 * empty transaction costs a few nanoseconds and a short one allocates nothing.
 */
#include "db/txn/txn.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn_int.h"
#include "db/wal/journal.h"

int txn_slot;
static int64_t txn_id_last;
static struct txn *txn_pool;

struct list txn_all_before_commit = {&txn_all_before_commit, &txn_all_before_commit};
struct list txn_all_on_commit = {&txn_all_on_commit, &txn_all_on_commit};
struct list txn_all_on_rollback = {&txn_all_on_rollback, &txn_all_on_rollback};

double txn_timeout_default;
void (*txn_describe_yield)(struct fiber *f, char *text, size_t size);

/** What an idle region may keep, in bytes: more goes back to the system. */
enum { TXN_REGION_KEPT_MAX = 128 * 1024 };

/** A fiber ended (its function returned) with its transaction open. */
static void txn_on_fiber_end(struct fiber *f, void *value)
{
	txn_rollback(value);
	assert(f->slot[txn_slot] == NULL);
}

void txn_init(void)
{
	static bool is_done;
	if (is_done)
		return;
	is_done = true;
	txn_slot = fiber_slot_new(txn_on_fiber_end);
}

void txn_abort(struct txn *txn, unsigned code)
{
	/* The statements stay in their list, for rollback triggers. */
	txn_undo_all(txn);
	list_create(&txn->savepoints);
	if (txn->fiber != NULL)
		txn->fiber->on_yield = NULL;
	txn->is_aborted = txn->needs_check = true;
	txn->abort_code = code;
}

/** Keeps what yielded for the error. */
static void note_yield(struct txn *txn)
{
	char text[256] = "";
	if (txn_describe_yield != NULL)
		txn_describe_yield(txn->fiber, text, sizeof(text));
	if (text[0] != '\0')
		txn->abort_place = region_memdup(&txn->region, text, strlen(text) + 1);
}

/** Undone at once when its fiber yields: nobody may see changes that can still go away. */
static void txn_on_yield(struct fiber *f)
{
	struct txn *txn = f->slot[txn_slot];
	txn_abort(txn, ER_TRANSACTION_YIELD);
	note_yield(txn);
}

void txn_allow_yield(struct txn *txn)
{
	txn->fiber->on_yield = NULL;
}

void txn_forbid_yield(struct txn *txn)
{
	txn->fiber->on_yield = txn_on_yield;
}

/** Sets the error of a transaction that was aborted. */
static void set_abort_error(const struct txn *txn)
{
	client_error(txn->abort_code);
	if (txn->abort_place != NULL)
		error_set_string(diag_last(), "yielded_in", txn->abort_place);
}

int txn_check_slow(struct txn *txn)
{
	if (!txn->is_aborted && txn->deadline > 0 && loop_monotonic() >= txn->deadline)
		txn_abort(txn, ER_TRANSACTION_TIMEOUT);
	if (!txn->is_aborted)
		return 0;
	set_abort_error(txn);
	return -1;
}

int txn_on_read(void)
{
	struct txn *txn = txn_current();
	if (txn == NULL)
		return 0;
	if (txn_check(txn) != 0)
		return -1;
	txn_forbid_yield(txn);
	return 0;
}

static struct txn *txn_alloc(void)
{
	struct txn *txn = xmalloc(sizeof(*txn));
	region_create(&txn->region);
	list_create(&txn->stmts);
	list_create(&txn->savepoints);
	list_create(&txn->on_commit);
	list_create(&txn->on_rollback);
	txn->sub_level = 0;
	txn->row_count = 0;
	txn->is_aborted = txn->is_read_only = txn->needs_check = txn->keeps_region = false;
	txn->abort_place = NULL;
	txn->deadline = 0;
	return txn;
}

void txn_set_timeout(struct txn *txn, double timeout)
{
	assert(txn->deadline == 0 && timeout > 0);
	txn->deadline = loop_monotonic() + timeout;
	txn->needs_check = true;
}

/* A pooled structure is in the state that txn_begin() leaves, save for what is set there. */
struct txn *txn_begin(bool is_autocommit)
{
	struct fiber *f = fiber();
	if (f->slot[txn_slot] != NULL) {
		client_error(ER_ACTIVE_TRANSACTION);
		return NULL;
	}
	struct txn *txn = txn_pool;
	if (txn != NULL)
		txn_pool = txn->next;
	else
		txn = txn_alloc();
	txn->id = ++txn_id_last;
	txn->is_autocommit = is_autocommit;
	txn->fiber = f;
	f->slot[txn_slot] = txn;
	if (txn_timeout_default > 0 && !is_autocommit)
		txn_set_timeout(txn, txn_timeout_default);
	return txn;
}

/** Takes the transaction from its fiber: no statement joins it any more. */
static void txn_detach(struct txn *txn)
{
	txn->fiber->on_yield = NULL;
	txn->fiber->slot[txn_slot] = NULL;
}

void txn_suspend(struct txn *txn)
{
	txn->is_bound = txn->fiber->on_yield == txn_on_yield;
	txn_detach(txn);
	txn->fiber = NULL;
}

void txn_resume(struct txn *txn)
{
	assert(txn_current() == NULL);
	txn->fiber = fiber();
	txn->fiber->slot[txn_slot] = txn;
	if (txn->is_bound)
		txn_forbid_yield(txn);
}

void txn_disturb(struct txn *txn)
{
	if (txn->is_bound)
		txn_abort(txn, ER_TRANSACTION_YIELD);
	txn->is_bound = false;
}

/** Do the triggers of all transactions run for this one? */
static bool txn_is_for_all(const struct txn *txn)
{
	return db_is_configured && (!txn->is_autocommit || !list_empty(&txn->stmts));
}

bool txn_has_any(const struct txn *txn, const struct list *own, const struct list *all)
{
	return !list_empty(own) || (!list_empty(all) && txn_is_for_all(txn));
}

void txn_run_triggers(struct txn *txn, struct list *own, struct list *all, struct list *stmts)
{
	if (!txn_has_any(txn, own, all))
		return;
	struct txn_event event = {.txn = txn, .stmts = stmts};
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	if (trigger_run(own, &event) != 0)
		diag_log();
	if (txn_is_for_all(txn) && trigger_run(all, &event) != 0)
		diag_log();
	diag_move(&saved, diag_get());
}

/** Back to the state in which txn_alloc() made it. */
static void txn_clear(struct txn *txn)
{
	struct txn_stmt *stmt;
	list_foreach_entry(stmt, &txn->stmts, link)
		txn_stmt_release(stmt);
	list_create(&txn->stmts);
	list_create(&txn->savepoints);
	txn->row_count = 0;
	txn->is_aborted = txn->is_read_only = txn->needs_check = txn->keeps_region = false;
	txn->abort_place = NULL;
	txn->deadline = 0;
	if (region_used(&txn->region) > TXN_REGION_KEPT_MAX)
		region_reset(&txn->region);
	else
		region_truncate(&txn->region, 0);
}

static void txn_free(struct txn *txn)
{
	assert(txn->fiber == NULL || txn->fiber->slot[txn_slot] != txn);
	if (!list_empty(&txn->on_commit))
		trigger_destroy_all(&txn->on_commit);
	if (!list_empty(&txn->on_rollback))
		trigger_destroy_all(&txn->on_rollback);
	if (region_used(&txn->region) > 0 || txn->needs_check)
		txn_clear(txn);
	txn->sub_level = 0;
	txn->next = txn_pool;
	txn_pool = txn;
}

/**
 * All is in the journal (or there was nothing to write). Changes of the schema are completed
 * first: scripts' triggers may yield, and changes that follow would be completed before.
 */
static void txn_complete(struct txn *txn)
{
	struct txn_stmt *stmt;
	list_foreach_entry(stmt, &txn->stmts, link) {
		if (!list_empty(&stmt->on_commit))
			trigger_run(&stmt->on_commit, stmt);
	}
	txn_run_triggers(txn, &txn->on_commit, &txn_all_on_commit, &txn->stmts);
	txn_free(txn);
}

void txn_on_journal_failure(struct journal_entry *entry)
{
	/* Scripts that follow the schema run in the committing fiber, not in this one. */
	schema_defer_notices();
	txn_undo_all(entry->arg);
}

static int txn_write(struct txn *txn)
{
	struct journal_entry entry = {
		.row_count = txn->row_count,
		.on_failure = txn_on_journal_failure,
		.arg = txn,
		.fiber = txn->fiber,
	};
	list_create(&entry.link);
	entry.rows = txn_collect_rows(txn);
	if (entry.rows == NULL)
		return -1;
	return journal_write(&entry);
}

/** The journal has failed, or refused: what is left to do behind txn_on_journal_failure(). */
static void txn_complete_failed(struct txn *txn)
{
	txn_undo_all(txn);
	schema_send_notices();
	txn_run_triggers(txn, &txn->on_rollback, &txn_all_on_rollback, &txn->stmts);
	txn_free(txn);
}

/** Can it be committed? An aborted one is ended. Runs triggers. */
static int txn_prepare(struct txn *txn)
{
	if (txn->sub_level > 0) {
		client_error(ER_COMMIT_IN_SUB_STMT);
		return -1;
	}
	if (txn_check(txn) != 0 || txn_run_before_commit(txn) != 0) {
		/* Triggers leave the error alone. */
		txn_rollback(txn);
		return -1;
	}
	return 0;
}

int txn_commit(struct txn *txn)
{
	if (txn_prepare(txn) != 0)
		return -1;
	txn_detach(txn);
	if (txn->row_count > 0 && txn_write(txn) != 0) {
		txn_complete_failed(txn);
		return -1;
	}
	txn_complete(txn);
	return 0;
}

bool txn_has_triggers(const struct txn *txn)
{
	if (txn_has_any(txn, &txn->on_commit, &txn_all_on_commit) ||
	    txn_has_any(txn, &txn->on_rollback, &txn_all_on_rollback))
		return true;
	const struct txn_stmt *stmt;
	list_foreach_entry(stmt, &txn->stmts, link) {
		if (!list_empty(&stmt->on_commit) || !list_empty(&stmt->on_rollback))
			return true;
	}
	return false;
}

void txn_end(struct txn *txn, int result)
{
	if (result == 0)
		txn_complete(txn);
	else
		txn_complete_failed(txn);
}

int txn_commit_async(struct txn *txn, enum txn_wait wait)
{
	if (wait == TXN_WAIT_COMPLETE)
		return txn_commit(txn);
	if (txn_prepare(txn) != 0)
		return -1;
	txn_detach(txn);
	/* The fiber may end before its transaction. */
	txn->fiber = NULL;
	if (txn->row_count == 0) {
		txn_complete(txn);
	} else if (txn_submit(txn, wait == TXN_WAIT_SUBMIT) != 0) {
		txn_complete_failed(txn);
		return -1;
	}
	return 0;
}

static int add_memory(struct fiber *f, void *arg)
{
	const struct txn *txn = f->slot[txn_slot];
	if (txn != NULL)
		*(size_t *)arg += sizeof(*txn) + region_used(&txn->region);
	return 0;
}

size_t txn_memory(void)
{
	size_t sum = 0;
	fiber_foreach(add_memory, &sum);
	return sum;
}

bool txn_ends_quietly(bool has_row)
{
	if (txn_current() != NULL)
		return true;
	return (!has_row || journal_is_off()) && list_empty(&txn_all_before_commit) &&
		list_empty(&txn_all_on_commit) && list_empty(&txn_all_on_rollback);
}

bool txn_is_trivial(const struct txn *txn)
{
	return txn->sub_level == 0 && !txn->needs_check && list_empty(&txn->stmts) &&
		list_empty(&txn->on_commit) && list_empty(&txn->on_rollback) &&
		list_empty(&txn_all_before_commit) && list_empty(&txn_all_on_commit) &&
		list_empty(&txn_all_on_rollback);
}

void txn_rollback(struct txn *txn)
{
	txn_undo_all(txn);
	txn_detach(txn);
	txn_run_triggers(txn, &txn->on_rollback, &txn_all_on_rollback, &txn->stmts);
	txn_free(txn);
}
