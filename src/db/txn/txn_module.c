/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What modules, and scripts by FFI, call of transactions: they work on the fiber's own.
 */
#include "core/fiber.h"
#include "db/error.h"
#include "db/txn/txn.h"

enum { ISOLATION_LEVEL_COUNT = 5 };

static struct txn *current_or_error(void)
{
	struct txn *txn = txn_current();
	if (txn == NULL)
		client_error(ER_NO_TRANSACTION);
	return txn;
}

/* Compiled code calls it in little more than a nanosecond: in one line of the cache, whatever grows. */
__attribute__((aligned(64))) bool box_txn(void)
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

int box_txn_set_timeout(double timeout)
{
	struct txn *txn = current_or_error();
	if (txn == NULL)
		return -1;
	if (!(timeout > 0)) {
		client_error(ER_ILLEGAL_PARAMS, "timeout must be a number greater than 0");
		return -1;
	}
	if (txn->deadline > 0) {
		client_error(ER_ACTIVE_TIMER);
		return -1;
	}
	txn_set_timeout(txn, timeout);
	return 0;
}

int box_txn_set_isolation(uint32_t level)
{
	if (current_or_error() == NULL)
		return -1;
	/* Transactions run one after the other: they give what any level asks for. */
	if (level < ISOLATION_LEVEL_COUNT)
		return 0;
	client_error(ER_ILLEGAL_PARAMS, "unknown isolation level");
	return -1;
}

void *box_txn_alloc(size_t size)
{
	struct txn *txn = current_or_error();
	if (txn == NULL)
		return NULL;
	txn->keeps_region = true;
	return region_alloc(&txn->region, size);
}

struct txn_savepoint *box_txn_savepoint(void)
{
	return txn_savepoint_new(txn_current());
}

int box_txn_rollback_to_savepoint(struct txn_savepoint *savepoint)
{
	struct txn *txn = current_or_error();
	if (txn == NULL)
		return -1;
	struct txn_savepoint *found;
	list_foreach_entry(found, &txn->savepoints, link) {
		if (found == savepoint)
			return txn_rollback_to_savepoint(txn, savepoint);
	}
	client_error(ER_NO_SUCH_SAVEPOINT);
	return -1;
}
