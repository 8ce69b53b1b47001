/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Transactions: a list of statements that are visible in memory at once and are
 * undone newest first on rollback.
 *
 * A transaction is held by the fiber that began it, in a slot, and can be
 * detached from it. A memtx transaction may not yield: when its fiber does, all
 * is undone at once and what follows, reads too, fails with ER_TRANSACTION_YIELD.
 * One that has yielded before its first statement may live longer than it was
 * given: then it is aborted as well, with ER_TRANSACTION_TIMEOUT.
 *
 * Statements nest (a trigger may change other spaces): sub_level counts how deep.
 * A statement that fails undoes itself and what its triggers did, only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fiber.h"
#include "core/list.h"
#include "core/region.h"
#include "core/trigger.h"
#include "db/wal/xrow.h"

struct space;
struct tuple;
struct journal_entry;

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
	/** It had one, though it may be undone now: triggers of the transaction see it. */
	bool is_logged;
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
	/** What the transaction's region had then: what came later goes with a rollback. */
	size_t region_used;
	/** Unique among all savepoints of the process. */
	int64_t id;
};

struct txn {
	int64_t id;
	struct region region;
	struct list stmts;
	struct list savepoints;
	/** Open statements, innermost last: where each began, to undo it alone. */
	struct txn_stmt *sub_stmt_begin[TXN_SUB_STMT_MAX + 2];
	/** The open statements themselves; NULL where triggers of a rollback run. */
	struct txn_stmt *sub_stmt[TXN_SUB_STMT_MAX + 2];
	int sub_level;
	bool is_autocommit;
	/** All is undone; only rollback (or the failing commit) is left. */
	bool is_aborted;
	/** A function that may only look at data runs: statements are refused. */
	bool is_read_only;
	/** It is aborted or has a deadline: look twice. */
	bool needs_check;
	/** Others have memory in the region: it stays to the end. */
	bool keeps_region;
	/** The error of what comes after the abort. */
	unsigned abort_code;
	/** What yielded, in the region, or NULL. */
	const char *abort_place;
	/** By the loop's monotonic clock; 0: none. */
	double deadline;
	uint32_t row_count;
	/**
	 * Triggers of scripts: box.on_commit, box.on_rollback; event: struct txn_event.
	 * At the transaction's end they run in the fiber, which has no current
	 * transaction any more: they may start one and yield. On rollback to a savepoint
	 * the transaction is open, as if a statement ran. A failure is logged. Each
	 * trigger's `destroy` is called in the end.
	 */
	struct list on_commit, on_rollback;
	struct fiber *fiber;
	/** Suspended, it has statements or reads that others may not come between. */
	bool is_bound;
	/** In the pool, or among those that end without their fiber: the next one. */
	struct txn *next;
	/** Of a commit that nobody waits for. */
	struct journal_entry *entry;
};

/**
 * Triggers of all transactions, beside those of their own; event: struct txn_event. Not run
 * while files are read, nor for a single statement that has changed nothing. Those of
 * `before_commit` run as if within a statement: they may change data, not end the transaction;
 * a failure, or a yield, rolls it back. The others are like those of struct txn.
 */
extern struct list txn_all_before_commit, txn_all_on_commit, txn_all_on_rollback;

/** What a transaction's end, or a rollback to a savepoint, tells the triggers. */
struct txn_event {
	struct txn *txn;
	/** struct txn_stmt, in their order: those that are committed or undone. */
	struct list *stmts;
};

/** Seconds that a transaction may take where it says nothing else; 0: any time. */
extern double txn_timeout_default;

/**
 * For the layer of scripts: writes what in the fiber is about to yield, for the error's
 * field `yielded_in`; an empty text where it can't tell. May not yield, nor run scripts.
 */
extern void (*txn_describe_yield)(struct fiber *f, char *text, size_t size);

void txn_init(void);

/** Where a fiber has its transaction. Hidden, so that its address is known when linking. */
extern __attribute__((visibility("hidden"))) int txn_slot;

/** The fiber's transaction, or NULL. */
static inline struct txn *txn_current(void)
{
	return fiber()->slot[txn_slot];
}

/** For txn_check(). */
int txn_check_slow(struct txn *txn);

/** -1 with an error where the transaction has been aborted, or its time is over. */
static inline int txn_check(struct txn *txn)
{
	return txn->needs_check ? txn_check_slow(txn) : 0;
}

/**
 * Called before a read in memtx: from here on the fiber's transaction may not yield. -1 with
 * an error where it has been aborted.
 */
int txn_on_read(void);

/**
 * Begins one for the current fiber. NULL: ER_ACTIVE_TRANSACTION. Neither yields nor runs triggers.
 */
struct txn *txn_begin(bool is_autocommit);

/** The most that it may take from now on, in seconds. Not for one that has a limit already. */
void txn_set_timeout(struct txn *txn, double timeout);

/**
 * Writes the transaction and ends it. -1 with the error set: all is undone, the
 * transaction is gone. ER_COMMIT_IN_SUB_STMT leaves it. Yields where there is
 * something to write; runs triggers.
 */
int txn_commit(struct txn *txn);

enum txn_wait {
	/** Until it is written. */
	TXN_WAIT_COMPLETE,
	/** Until it is on its way to the log: yields only where the log's queue is full. */
	TXN_WAIT_SUBMIT,
	/** Never: fails where the queue is full. */
	TXN_WAIT_NONE,
};

/**
 * The same for those who do not wait for the end: what comes of it, the transaction's
 * triggers see, in a fiber of their own. -1: as txn_commit().
 */
int txn_commit_async(struct txn *txn, enum txn_wait wait);

/**
 * Takes the transaction from its fiber, for a while: some fiber that has none takes it by
 * txn_resume(). Before anybody else's code runs meanwhile, txn_disturb() is called.
 */
void txn_suspend(struct txn *txn);
void txn_resume(struct txn *txn);

/** Others go on before the suspended transaction does, which is like a yield inside it. */
void txn_disturb(struct txn *txn);

/** Bytes that the open transactions of all fibers hold beside their tuples. */
size_t txn_memory(void);

/**
 * Does a statement that begins now neither yield nor run triggers at its end: is there a
 * transaction that it joins, or nothing of the kind in a commit of its own? `has_row`: it is for
 * the log.
 */
bool txn_ends_quietly(bool has_row);

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

/**
 * Puts the innermost open statement, which has changed nothing yet, behind what triggers did
 * within it, so that it is undone, and written, in the order of the changes. Savepoints that
 * they made are gone.
 */
void txn_stmt_put_last(struct txn *txn);

/** Are there no statements before the innermost open one? */
bool txn_is_first_stmt(const struct txn *txn);
/** Is the innermost open one the only statement so far? */
bool txn_is_single_stmt(const struct txn *txn);

/**
 * What may yield inside a statement goes between these two: others see what the statement
 * has changed so far, though it may still be undone.
 */
void txn_allow_yield(struct txn *txn);
void txn_forbid_yield(struct txn *txn);

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
 * Undoes what came after it, newest first, and runs on_rollback triggers on it; later
 * savepoints are gone, this one stays. -1: ER_NO_SUCH_SAVEPOINT, ER_SUB_STMT_MAX.
 */
int txn_rollback_to_savepoint(struct txn *txn, struct txn_savepoint *svp);

/** Is there nothing but data to undo behind the savepoint: no trigger of a script, no schema? */
bool txn_savepoint_is_trivial(const struct txn *txn, const struct txn_savepoint *svp);

/* What modules and scripts call (names as in the reference's module interface). */
bool box_txn(void);
int64_t box_txn_id(void);
int box_txn_begin(void);
int box_txn_commit(void);
int box_txn_rollback(void);
/** Seconds, above 0. -1: no transaction, or ER_ACTIVE_TIMER where it has a timeout. */
int box_txn_set_timeout(double timeout);
/** One of box.txn_isolation_level. -1: no transaction, or no such level. */
int box_txn_set_isolation(uint32_t level);
void *box_txn_alloc(size_t size);
struct txn_savepoint *box_txn_savepoint(void);
int box_txn_rollback_to_savepoint(struct txn_savepoint *savepoint);
