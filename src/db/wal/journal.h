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

enum {
	/** What may be on its way to the log, in bytes, unless wal_queue_max_size tells. */
	JOURNAL_QUEUE_SIZE_MAX = 16 * 1024 * 1024,
};

/** One transaction on its way to the log. Its owner's until done. */
struct journal_entry {
	struct list link;
	struct xrow_header *rows;
	uint32_t row_count;
	/** Set by the journal: 0 written, -1 failed. */
	int result;
	bool is_done;
	/** The file ends behind it; it has no rows. */
	bool is_barrier;
	/**
	 * Rolls the memory changes back; called for each entry of a failed batch, newest
	 * first, before any fiber wakes. May not yield. NULL: there is nothing to undo.
	 */
	void (*on_failure)(struct journal_entry *entry);
	/**
	 * For journal_submit(): the entry's fate is known. Called in the order of commits,
	 * in the loop's fiber, may not yield; may free the entry. NULL: the fiber is woken.
	 */
	void (*on_done)(struct journal_entry *entry);
	void *arg;
	/* The journal's own. */
	struct fiber *fiber;
	size_t size;
	bool *is_out;
};

/**
 * Gives the entry's rows LSNs, time and transaction number, puts them into the
 * batch of this loop turn and waits until the batch is written (and synced, by
 * wal_mode). 0, or -1 with ER_WAL_IO set, after on_failure was called. A cancel
 * does not end the wait. Yields.
 */
int journal_write(struct journal_entry *entry);

/** Is nothing written (wal_mode 'none'), so that journal_write() neither yields nor fails? */
bool journal_is_off(void);

/**
 * The same without waiting for the write: `on_done` tells. 0: taken, and maybe done
 * already. Where the queue is full, yields until there is room if it `may_wait`. -1 with
 * an error set, after on_failure was called, where it was not taken: then on_done is not.
 */
int journal_submit(struct journal_entry *entry, bool may_wait);
