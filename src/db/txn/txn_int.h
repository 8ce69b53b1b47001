/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of this folder share: statements of a transaction.
 */
#pragma once

#include "db/txn/txn.h"

struct journal_entry;

/** Undoes all; from now on everything but rollback fails with the code. */
void txn_abort(struct txn *txn, unsigned code);

/**
 * Runs triggers of the transaction and then those of `all` of them on statements. The error
 * that is being reported, if any, outlives them.
 */
void txn_run_triggers(struct txn *txn, struct list *own, struct list *all, struct list *stmts);

/** Are there triggers of this kind to run for the transaction? */
bool txn_has_any(const struct txn *txn, const struct list *own, const struct list *all);

/** Runs those before the commit, as if within a statement. -1: the transaction has to go. */
int txn_run_before_commit(struct txn *txn);

/** Undoes and removes the statements behind `last` (NULL: all), newest first. */
void txn_undo_to(struct txn *txn, struct txn_stmt *last);

/** Undoes all statements, newest first; the list stays for rollback triggers. */
void txn_undo_all(struct txn *txn);

/** Gives the statement's tuples back. */
void txn_stmt_release(struct txn_stmt *stmt);

/** The journal rows in order, one behind the other; `row_count` of them. NULL: OutOfMemory. */
struct xrow_header *txn_collect_rows(struct txn *txn);

/** Called by the journal where an entry of a transaction fails; `arg` is the transaction. */
void txn_on_journal_failure(struct journal_entry *entry);

/** Is there anything to run at its end? */
bool txn_has_triggers(const struct txn *txn);

/** Ends a detached transaction by the journal's result. Yields where there are triggers. */
void txn_end(struct txn *txn, int result);

/** Sends a detached transaction to the journal and leaves it. -1: it was not taken. */
int txn_submit(struct txn *txn, bool may_wait);
