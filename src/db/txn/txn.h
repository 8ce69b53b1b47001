/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Transactions: a list of statements that are visible in memory at once and are
 * undone newest first on rollback.
 *
 * A transaction is held by the fiber that began it, in a slot, and can be
 * detached from it. A memtx transaction may not yield: when its fiber does, all
 * is undone at once and what follows fails with ER_TRANSACTION_YIELD.
 *
 * Statements nest (a trigger may change other spaces): sub_level counts how deep.
 * A statement that fails undoes itself and what its triggers did, only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/region.h"
#include "core/trigger.h"
#include "db/wal/xrow.h"

struct space;
struct tuple;
struct fiber;

enum { TXN_SUB_STMT_MAX = 3 };

struct txn_stmt {
	struct list link;
	/** Lives while the statement can be undone; space_id is good to the transaction's end. */
	struct space *space;
	uint32_t space_id;
	/** IPROTO_INSERT, ...: what was asked for. */
	uint32_t type;
	/** Counted. What the statement replaced and what it put; either may be NULL. */
	struct tuple *old_tuple, *new_tuple;
	/** Undo in every index of the space; false once undone or for views and the like. */
	bool has_engine_change;
	/** The journal's row, or NULL (a temporary space, nothing changed). */
	bool has_row;
	struct xrow_header row;
	/**
	 * Schema changes hang what they must do here (struct trigger, event: the
	 * statement): on_commit is run first to last, and what undoes the newest is
	 * put at the head of on_rollback. They do not yield.
	 */
	struct list on_commit, on_rollback;
};

struct txn_savepoint {
	struct list link;
	/** The last statement before it, or NULL. */
	struct txn_stmt *stmt;
	int sub_level;
	/** Unique among all savepoints of the process. */
	int64_t id;
};

struct txn {
	int64_t id;
	struct region region;
	struct list stmts;
	struct list savepoints;
	/** Open statements, innermost last: where each began, to undo it alone. */
	struct txn_stmt *sub_stmt_begin[TXN_SUB_STMT_MAX + 1];
	int sub_level;
	bool is_autocommit;
	/** A yield has undone it; only rollback (or the failing commit) is left. */
	bool is_aborted;
	uint32_t row_count;
	/**
	 * Triggers of scripts: box.on_commit, box.on_rollback; event: the transaction,
	 * whose `stmts` are there still. They run in the fiber, which has no current
	 * transaction any more: they may start one and yield. A failure is logged.
	 * Each trigger's `destroy` is called in the end.
	 */
	struct list on_commit, on_rollback;
	struct fiber *fiber;
	/** In the pool: the next one. */
	struct txn *next_free;
};

void txn_init(void);

/** The fiber's transaction, or NULL. */
struct txn *txn_current(void);

/** Called before a read in memtx: from here on the fiber's transaction may not yield. */
void txn_on_read(void);

/**
 * Begins one for the current fiber. NULL: ER_ACTIVE_TRANSACTION. Neither yields nor runs triggers.
 */
struct txn *txn_begin(bool is_autocommit);

/**
 * Writes the transaction and ends it. -1 with the error set: all is undone, the
 * transaction is gone. ER_COMMIT_IN_SUB_STMT leaves it. Yields where there is
 * something to write; runs triggers.
 */
int txn_commit(struct txn *txn);

/** Is there nothing to commit: no statement, no trigger? Then txn_commit() just ends it. */
bool txn_is_trivial(const struct txn *txn);

/** Undoes all, newest first, and ends the transaction. Runs triggers. */
void txn_rollback(struct txn *txn);

/**
 * Opens a statement on a space; begins an autocommit transaction where there is
 * none. `type` is the request's. NULL: ER_SUB_STMT_MAX, ER_TRANSACTION_YIELD, ...
 */
struct txn *txn_stmt_begin(struct space *space, uint32_t type);

/** The innermost open statement; NULL where a yield has undone all. */
struct txn_stmt *txn_stmt_current(struct txn *txn);

/** Are there no statements before the innermost open one? */
bool txn_is_first_stmt(const struct txn *txn);

/**
 * Closes the statement: makes its row from `request` (NULL, or one with a header:
 * no row), runs on_replace triggers, commits an autocommit one. On failure it is
 * undone. Yields where it commits.
 */
int txn_stmt_commit(struct txn *txn, const struct request *request);

/** Undoes the innermost statement and ends an autocommit transaction. */
void txn_stmt_rollback(struct txn *txn);

/**
 * NULL: ER_NO_TRANSACTION, OutOfMemory. Valid while the transaction lives and it is
 * not rolled back over.
 */
struct txn_savepoint *txn_savepoint_new(struct txn *txn);

/** Finds a savepoint by its id and checks it is still valid. NULL: ER_NO_SUCH_SAVEPOINT. */
struct txn_savepoint *txn_savepoint_by_id(struct txn *txn, int64_t id);

/**
 * Undoes what came after it, newest first; later savepoints are gone, this one stays.
 * -1: ER_NO_SUCH_SAVEPOINT.
 */
int txn_rollback_to_savepoint(struct txn *txn, struct txn_savepoint *svp);

/* What modules and scripts call (names as in the reference's module interface). */
bool box_txn(void);
int64_t box_txn_id(void);
int box_txn_begin(void);
int box_txn_commit(void);
int box_txn_rollback(void);
