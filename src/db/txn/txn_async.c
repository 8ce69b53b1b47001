/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Commits that nobody waits for. When the journal is done with one, it ends at once
 * where nothing is to be run; else one fiber, kept for that, ends it, since triggers may
 * yield.
 */
#include "core/fiber.h"
#include "db/txn/txn_int.h"
#include "db/wal/journal.h"

/** Those that wait for the fiber, oldest first. */
static struct txn *first, **last = &first;
/** NULL until there was use of it. */
static struct fiber *completer;
static bool is_waiting;

static int completer_func(va_list args)
{
	(void)args;
	fiber_set_cancellable(false);
	for (;;) {
		struct txn *txn = first;
		if (txn == NULL) {
			is_waiting = true;
			fiber_yield();
			is_waiting = false;
			continue;
		}
		first = txn->next;
		if (first == NULL)
			last = &first;
		txn_end(txn, txn->entry->result);
	}
	return 0;
}

static void complete_later(struct txn *txn)
{
	txn->next = NULL;
	*last = txn;
	last = &txn->next;
	if (is_waiting)
		fiber_wakeup(completer);
}

static void on_done(struct journal_entry *entry)
{
	struct txn *txn = entry->arg;
	/* What has failed may have changed the schema back, which scripts hear of. */
	if (entry->result != 0 || txn_has_triggers(txn))
		complete_later(txn);
	else
		txn_end(txn, entry->result);
}

/** The fiber is made before it is needed: where there is no memory for it, the commit fails. */
static int completer_start(void)
{
	if (completer != NULL)
		return 0;
	completer = fiber_new("txn_complete", completer_func);
	if (completer == NULL)
		return -1;
	completer->flags |= FIBER_IS_SYSTEM;
	fiber_wakeup(completer);
	return 0;
}

int txn_submit(struct txn *txn, bool may_wait)
{
	struct journal_entry *entry = region_alloc(&txn->region, sizeof(*entry));
	if (entry == NULL || completer_start() != 0)
		return -1;
	*entry = (struct journal_entry){
		.row_count = txn->row_count,
		.on_failure = txn_on_journal_failure,
		.on_done = on_done,
		.arg = txn,
	};
	list_create(&entry->link);
	txn->entry = entry;
	entry->rows = txn_collect_rows(txn);
	return entry->rows == NULL ? -1 : journal_submit(entry, may_wait);
}
