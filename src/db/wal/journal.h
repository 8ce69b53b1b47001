/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The journal as transactions see it: an entry goes in, the fiber parks, and
 * comes back when the entry's fate is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"
#include "db/wal/xrow.h"

struct fiber;

/** One transaction on its way to the log. Lives on the committing fiber's side until done. */
struct journal_entry {
	struct list link;
	struct xrow_header *rows;
	uint32_t row_count;
	/** Set by the journal: 0 written, -1 failed. */
	int result;
	bool is_done;
	/**
	 * Rolls the memory changes back; called for each entry of a failed batch, newest
	 * first, before any fiber wakes. May not yield. NULL: there is nothing to undo.
	 */
	void (*on_failure)(struct journal_entry *entry);
	void *arg;
	struct fiber *fiber;
};

/**
 * Gives the entry's rows LSNs, time and transaction number, puts them into the
 * batch of this loop turn and waits until the batch is written (and synced, by
 * wal_mode). 0, or -1 with ER_WAL_IO set, after on_failure was called. A cancel
 * does not end the wait. Yields.
 */
int journal_write(struct journal_entry *entry);
