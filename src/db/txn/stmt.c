/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Statements of a transaction: how they open, nest, close and are undone; and
 * savepoints, which are places in the list of statements.
 *
 * A statement that is open at depth n (from 1) begins behind
 * sub_stmt_begin[n - 1]; everything behind that is undone where it fails. The list
 * is in the order in which the space was changed, and so are the journal's rows:
 * what triggers do before the statement's own change stands before it, what they do
 * after it, behind.
 */
#include <assert.h>
#include <stddef.h>

#include "core/fiber.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn_int.h"

static int64_t savepoint_id_last;

static struct txn_stmt *txn_stmt_last(struct txn *txn)
{
	return list_empty(&txn->stmts) ? NULL :
		list_last_entry(&txn->stmts, struct txn_stmt, link);
}

static struct txn_stmt *txn_stmt_new(struct txn *txn, struct space *space, uint32_t type)
{
	struct txn_stmt *stmt = region_alloc(&txn->region, sizeof(*stmt));
	if (stmt == NULL)
		return NULL;
	stmt->space = space;
	stmt->space_id = space_id(space);
	stmt->type = type;
	stmt->old_tuple = stmt->new_tuple = NULL;
	stmt->has_engine_change = stmt->has_row = stmt->is_logged = false;
	list_create(&stmt->on_commit);
	list_create(&stmt->on_rollback);
	list_add_tail(&txn->stmts, &stmt->link);
	return stmt;
}

void txn_stmt_release(struct txn_stmt *stmt)
{
	if (stmt->old_tuple != NULL)
		tuple_unref(stmt->old_tuple);
	if (stmt->new_tuple != NULL)
		tuple_unref(stmt->new_tuple);
	stmt->old_tuple = stmt->new_tuple = NULL;
}

static void txn_stmt_undo(struct txn *txn, struct txn_stmt *stmt)
{
	if (!list_empty(&stmt->on_rollback))
		trigger_run(&stmt->on_rollback, stmt);
	list_create(&stmt->on_rollback);
	list_create(&stmt->on_commit);
	if (stmt->has_engine_change) {
		stmt->has_engine_change = false;
		stmt->space->vtab->undo(stmt->space, stmt->old_tuple, stmt->new_tuple);
	}
	if (stmt->has_row) {
		stmt->has_row = false;
		txn->row_count--;
	}
	stmt->space = NULL;
}

void txn_undo_to(struct txn *txn, struct txn_stmt *last)
{
	struct txn_stmt *stmt;
	while ((stmt = txn_stmt_last(txn)) != last) {
		assert(stmt != NULL);
		txn_stmt_undo(txn, stmt);
		txn_stmt_release(stmt);
		list_del(&stmt->link);
	}
}

void txn_undo_all(struct txn *txn)
{
	struct txn_stmt *stmt;
	list_foreach_entry_reverse(stmt, &txn->stmts, link) {
		if (stmt->space != NULL)
			txn_stmt_undo(txn, stmt);
	}
}

struct xrow_header *txn_collect_rows(struct txn *txn)
{
	struct txn_stmt *stmt = NULL;
	if (txn->row_count == 1) {
		list_foreach_entry(stmt, &txn->stmts, link) {
			if (stmt->has_row)
				return &stmt->row;
		}
	}
	struct xrow_header *rows = region_alloc(&txn->region, txn->row_count * sizeof(*rows));
	if (rows == NULL)
		return NULL;
	struct xrow_header *row = rows;
	list_foreach_entry(stmt, &txn->stmts, link) {
		if (stmt->has_row)
			*row++ = stmt->row;
	}
	assert(row == rows + txn->row_count);
	return rows;
}

struct txn *txn_stmt_begin(struct space *space, uint32_t type)
{
	struct txn *txn = txn_current();
	bool is_own = txn == NULL;
	if (is_own) {
		txn = txn_begin(true);
		if (txn == NULL)
			return NULL;
	} else if (txn_check(txn) != 0) {
		return NULL;
	} else if (txn->is_read_only) {
		client_error(ER_UNSUPPORTED, "Function of a constraint or default",
			     "changing data");
		return NULL;
	} else if (txn->sub_level > TXN_SUB_STMT_MAX) {
		client_error(ER_SUB_STMT_MAX);
		return NULL;
	}
	struct txn_stmt *last = txn_stmt_last(txn);
	struct txn_stmt *stmt = txn_stmt_new(txn, space, type);
	if (stmt == NULL) {
		if (is_own)
			txn_rollback(txn);
		return NULL;
	}
	txn->sub_stmt[txn->sub_level] = stmt;
	txn->sub_stmt_begin[txn->sub_level++] = last;
	txn_forbid_yield(txn);
	return txn;
}

struct txn_stmt *txn_stmt_current(struct txn *txn)
{
	assert(txn->sub_level > 0);
	return txn->is_aborted ? NULL : txn->sub_stmt[txn->sub_level - 1];
}

bool txn_is_first_stmt(const struct txn *txn)
{
	return txn->sub_level == 1 && txn->sub_stmt_begin[0] == NULL;
}

bool txn_is_single_stmt(const struct txn *txn)
{
	return txn_is_first_stmt(txn) && !list_empty(&txn->stmts) &&
		txn->stmts.next == txn->stmts.prev;
}

/** Savepoints made inside a statement, which is at this depth or deeper, end with it. */
static void txn_drop_inner_savepoints(struct txn *txn, int sub_level)
{
	while (!list_empty(&txn->savepoints)) {
		struct txn_savepoint *svp =
			list_last_entry(&txn->savepoints, struct txn_savepoint, link);
		if (svp->sub_level < sub_level)
			break;
		list_del(&svp->link);
	}
}

void txn_stmt_put_last(struct txn *txn)
{
	struct txn_stmt *stmt = txn_stmt_current(txn);
	assert(stmt != NULL && !stmt->has_engine_change && !stmt->has_row);
	if (stmt == txn_stmt_last(txn))
		return;
	txn_drop_inner_savepoints(txn, txn->sub_level);
	list_del(&stmt->link);
	list_add_tail(&txn->stmts, &stmt->link);
}

static int txn_stmt_make_row(struct txn *txn, struct txn_stmt *stmt, const struct request *request)
{
	const struct space_def *def = stmt->space->def;
	if (request == NULL || request->header != NULL || def->is_temporary)
		return 0;
	stmt->row = (struct xrow_header){
		.type = request->type,
		.group_id = def->is_local ? 1 : 0,
	};
	if (request->type != IPROTO_NOP) {
		stmt->row.body = request_encode(request, &txn->region, &stmt->row.body_size);
		if (stmt->row.body == NULL)
			return -1;
	}
	stmt->has_row = stmt->is_logged = true;
	txn->row_count++;
	return 0;
}

int txn_stmt_commit(struct txn *txn, const struct request *request)
{
	struct txn_stmt *stmt = txn_stmt_current(txn);
	if (stmt == NULL)
		goto aborted;
	if (txn_stmt_make_row(txn, stmt, request) != 0)
		goto fail;
	if (stmt->old_tuple != NULL || stmt->new_tuple != NULL) {
		struct space *space = stmt->space;
		if (space->on_system_change != NULL && space->on_system_change(txn, stmt) != 0)
			goto fail;
		if (!list_empty(&space->on_replace) && trigger_run(&space->on_replace, txn) != 0)
			goto fail;
		if (txn->is_aborted)
			goto aborted;
	}
	txn->sub_level--;
	if (!list_empty(&txn->savepoints))
		txn_drop_inner_savepoints(txn, txn->sub_level + 1);
	if (txn->is_autocommit && txn->sub_level == 0)
		return txn_commit(txn);
	return 0;
aborted:
	txn_check(txn);
fail:
	txn_stmt_rollback(txn);
	return -1;
}

void txn_stmt_rollback(struct txn *txn)
{
	assert(txn->sub_level > 0);
	txn->sub_level--;
	if (!txn->is_aborted)
		txn_undo_to(txn, txn->sub_stmt_begin[txn->sub_level]);
	txn_drop_inner_savepoints(txn, txn->sub_level + 1);
	if (txn->is_autocommit && txn->sub_level == 0)
		txn_rollback(txn);
}

struct txn_savepoint *txn_savepoint_new(struct txn *txn)
{
	if (txn == NULL) {
		client_error(ER_NO_TRANSACTION);
		return NULL;
	}
	if (txn_check(txn) != 0)
		return NULL;
	struct txn_savepoint *svp = region_alloc(&txn->region, sizeof(*svp));
	if (svp == NULL)
		return NULL;
	svp->stmt = txn_stmt_last(txn);
	svp->sub_level = txn->sub_level;
	svp->id = ++savepoint_id_last;
	svp->region_used = region_used(&txn->region);
	list_add_tail(&txn->savepoints, &svp->link);
	return svp;
}

struct txn_savepoint *txn_savepoint_by_id(struct txn *txn, int64_t id)
{
	if (txn_check(txn) != 0)
		return NULL;
	struct txn_savepoint *svp;
	list_foreach_entry_reverse(svp, &txn->savepoints, link) {
		if (svp->id == id && svp->sub_level == txn->sub_level)
			return svp;
	}
	client_error(ER_NO_SUCH_SAVEPOINT);
	return NULL;
}

bool txn_savepoint_is_trivial(const struct txn *txn, const struct txn_savepoint *svp)
{
	if (txn_has_any(txn, &txn->on_rollback, &txn_all_on_rollback))
		return false;
	const struct txn_stmt *stmt;
	list_foreach_entry_reverse(stmt, &txn->stmts, link) {
		if (stmt == svp->stmt)
			break;
		if (!list_empty(&stmt->on_rollback))
			return false;
	}
	return true;
}

/** Undoes the statements behind `last` and moves them to `undone`, in their order. */
static void txn_undo_into(struct txn *txn, struct txn_stmt *last, struct list *undone)
{
	struct txn_stmt *stmt;
	while ((stmt = txn_stmt_last(txn)) != last) {
		txn_stmt_undo(txn, stmt);
		list_del(&stmt->link);
		list_add(undone, &stmt->link);
	}
}

/** Triggers run as if they were part of a statement: they can't end the transaction. */
static void txn_enter_triggers(struct txn *txn, struct txn_stmt *last)
{
	txn->sub_stmt[txn->sub_level] = NULL;
	txn->sub_stmt_begin[txn->sub_level++] = last;
}

static void txn_leave_triggers(struct txn *txn)
{
	txn->sub_level--;
	txn_drop_inner_savepoints(txn, txn->sub_level + 1);
}

int txn_run_before_commit(struct txn *txn)
{
	static struct list none = {&none, &none};
	if (!txn_has_any(txn, &none, &txn_all_before_commit))
		return 0;
	struct txn_event event = {.txn = txn, .stmts = &txn->stmts};
	bool is_autocommit = txn->is_autocommit;
	txn->is_autocommit = false;
	txn_enter_triggers(txn, txn_stmt_last(txn));
	int rc = trigger_run(&txn_all_before_commit, &event);
	txn_leave_triggers(txn);
	txn->is_autocommit = is_autocommit;
	return rc != 0 ? -1 : txn_check(txn);
}

/** Undoes the statements behind `last` and shows them to triggers. */
static void txn_undo_with_triggers(struct txn *txn, struct txn_stmt *last)
{
	struct list undone;
	list_create(&undone);
	txn_undo_into(txn, last, &undone);
	txn_enter_triggers(txn, last);
	txn_run_triggers(txn, &txn->on_rollback, &txn_all_on_rollback, &undone);
	txn_leave_triggers(txn);
	struct txn_stmt *stmt;
	list_foreach_entry(stmt, &undone, link)
		txn_stmt_release(stmt);
}

int txn_rollback_to_savepoint(struct txn *txn, struct txn_savepoint *svp)
{
	if (txn_check(txn) != 0)
		return -1;
	if (svp->sub_level != txn->sub_level) {
		client_error(ER_NO_SUCH_SAVEPOINT);
		return -1;
	}
	if (txn->sub_level > TXN_SUB_STMT_MAX + 1) {
		client_error(ER_SUB_STMT_MAX);
		return -1;
	}
	while (list_last_entry(&txn->savepoints, struct txn_savepoint, link) != svp)
		list_del(txn->savepoints.prev);
	if (!txn_has_any(txn, &txn->on_rollback, &txn_all_on_rollback) ||
	    txn_stmt_last(txn) == svp->stmt)
		txn_undo_to(txn, svp->stmt);
	else
		txn_undo_with_triggers(txn, svp->stmt);
	/* What triggers changed meanwhile belongs to the transaction and has its memory there. */
	if (!txn->keeps_region && !txn->is_aborted && txn_stmt_last(txn) == svp->stmt)
		region_truncate(&txn->region, svp->region_used);
	return 0;
}
