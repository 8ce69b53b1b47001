/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of a transaction: begin, commit through the journal, rollback, and
 * what happens when its fiber yields or ends.
 *
 *     (none) --begin--> OPEN --commit--> WRITING --written--> (none)
 *                        |  \                \---failed-----> undone, (none)
 *                      yield  \--rollback--> undone, (none)
 *                        v
 *                     ABORTED (undone) --commit or rollback--> (none)
 *
 * Structures and their regions go to a free list and are used again, so that an
 * empty transaction costs a few nanoseconds and a short one allocates nothing.
 */
#include "db/txn/txn.h"

#include <assert.h>
#include <stddef.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn_int.h"
#include "db/wal/journal.h"

static int txn_slot;
static int64_t txn_id_last;
static struct txn *txn_pool;

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

struct txn *txn_current(void)
{
	return fiber()->slot[txn_slot];
}

/** Undone at once when its fiber yields: nobody may see changes that can still go away. */
static void txn_on_yield(struct fiber *f)
{
	struct txn *txn = f->slot[txn_slot];
	f->on_yield = NULL;
	txn_undo_to(txn, NULL);
	list_create(&txn->savepoints);
	txn->is_aborted = true;
}

void txn_forbid_yield(struct txn *txn)
{
	txn->fiber->on_yield = txn_on_yield;
}

void txn_on_read(void)
{
	struct txn *txn = txn_current();
	if (txn != NULL && !txn->is_aborted)
		txn_forbid_yield(txn);
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
	txn->is_aborted = false;
	return txn;
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
		txn_pool = txn->next_free;
	else
		txn = txn_alloc();
	txn->id = ++txn_id_last;
	txn->is_autocommit = is_autocommit;
	txn->fiber = f;
	f->slot[txn_slot] = txn;
	return txn;
}

/** Takes the transaction from its fiber: no statement joins it any more. */
static void txn_detach(struct txn *txn)
{
	txn->fiber->on_yield = NULL;
	txn->fiber->slot[txn_slot] = NULL;
}

/** The error that is being reported, if any, outlives the triggers. */
static void txn_run_triggers(struct txn *txn, struct list *triggers)
{
	if (list_empty(triggers))
		return;
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	if (trigger_run(triggers, txn) != 0)
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
	txn->is_aborted = false;
	if (region_used(&txn->region) > TXN_REGION_KEPT_MAX)
		region_reset(&txn->region);
	else
		region_truncate(&txn->region, 0);
}

static void txn_free(struct txn *txn)
{
	assert(txn->fiber->slot[txn_slot] != txn);
	if (!list_empty(&txn->on_commit))
		trigger_destroy_all(&txn->on_commit);
	if (!list_empty(&txn->on_rollback))
		trigger_destroy_all(&txn->on_rollback);
	if (region_used(&txn->region) > 0 || txn->is_aborted)
		txn_clear(txn);
	txn->sub_level = 0;
	txn->next_free = txn_pool;
	txn_pool = txn;
}

/** All is in the journal (or there was nothing to write). */
static void txn_complete(struct txn *txn)
{
	txn_run_triggers(txn, &txn->on_commit);
	struct txn_stmt *stmt;
	list_foreach_entry(stmt, &txn->stmts, link) {
		if (!list_empty(&stmt->on_commit))
			trigger_run(&stmt->on_commit, stmt);
	}
	txn_free(txn);
}

/** The journal failed: called for each transaction of the batch, newest first. */
static void txn_on_journal_failure(struct journal_entry *entry)
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

int txn_commit(struct txn *txn)
{
	if (txn->sub_level > 0) {
		client_error(ER_COMMIT_IN_SUB_STMT);
		return -1;
	}
	if (txn->is_aborted) {
		txn_rollback(txn);
		client_error(ER_TRANSACTION_YIELD);
		return -1;
	}
	txn_detach(txn);
	if (txn->row_count > 0 && txn_write(txn) != 0) {
		txn_undo_all(txn);
		schema_send_notices();
		txn_run_triggers(txn, &txn->on_rollback);
		txn_free(txn);
		return -1;
	}
	txn_complete(txn);
	return 0;
}

bool txn_is_trivial(const struct txn *txn)
{
	return txn->sub_level == 0 && !txn->is_aborted && list_empty(&txn->stmts) &&
		list_empty(&txn->on_commit) && list_empty(&txn->on_rollback);
}

void txn_rollback(struct txn *txn)
{
	txn_undo_all(txn);
	txn_detach(txn);
	txn_run_triggers(txn, &txn->on_rollback);
	txn_free(txn);
}

bool box_txn(void)
{
	return txn_current() != NULL;
}

int64_t box_txn_id(void)
{
	struct txn *txn = txn_current();
	return txn != NULL ? txn->id : -1;
}

int box_txn_begin(void)
{
	return txn_begin(false) != NULL ? 0 : -1;
}

int box_txn_commit(void)
{
	struct txn *txn = txn_current();
	return txn != NULL ? txn_commit(txn) : 0;
}

int box_txn_rollback(void)
{
	struct txn *txn = txn_current();
	if (txn == NULL)
		return 0;
	if (txn->sub_level > 0) {
		client_error(ER_ROLLBACK_IN_SUB_STMT);
		return -1;
	}
	txn_rollback(txn);
	return 0;
}
