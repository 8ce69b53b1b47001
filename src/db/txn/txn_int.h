/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of this folder share: statements of a transaction.
 */
#pragma once

#include "db/txn/txn.h"

/** From now on the transaction is undone when its fiber yields. */
void txn_forbid_yield(struct txn *txn);

/** Undoes and removes the statements behind `last` (NULL: all), newest first. */
void txn_undo_to(struct txn *txn, struct txn_stmt *last);

/** Undoes all statements, newest first; the list stays for rollback triggers. */
void txn_undo_all(struct txn *txn);

/** Gives the statement's tuples back. */
void txn_stmt_release(struct txn_stmt *stmt);

/** The journal rows in order, one behind the other; `row_count` of them. NULL: OutOfMemory. */
struct xrow_header *txn_collect_rows(struct txn *txn);
