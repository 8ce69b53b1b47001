/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the journal works with: batches, which one write takes each, and what becomes of
 * the entries in them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/list.h"
#include "data/vclock.h"

struct journal_entry;

struct journal_batch {
	struct list link;
	struct buf data;
	/** journal_entry, oldest first. */
	struct list entries;
	/** What will have been written with this batch. */
	struct vclock vclock;
	/** Takes no entries any more; the file ends behind it. */
	bool is_sealed;
	/** When it was begun while another was written, or 0. */
	uint64_t queued_ns;
	/** How long its write took. */
	uint64_t duration_ns;
};

/** An empty one, in no list: maybe one that was recycled. */
struct journal_batch *journal_batch_new(void);

/** It has no entries any more. */
void journal_batch_recycle(struct journal_batch *batch);

/** Frees all that were recycled. */
void journal_batch_free_recycled(void);

/** Numbers the entry's rows behind `assigned`, which moves, and appends them and the entry. */
void journal_batch_put(struct journal_batch *batch, struct journal_entry *entry,
		       struct vclock *assigned);

size_t journal_batch_row_count(const struct journal_batch *batch);

/** An estimate of what the entry's rows take in a batch, in bytes. */
size_t journal_entry_size(const struct journal_entry *entry);

/** Its fate is known: tells the owner, who may free it. */
void journal_entry_done(struct journal_entry *entry, int result);

/** Lets the fiber go that waits in journal_submit(), if any. */
void journal_entry_leave(struct journal_entry *entry);

/** Refuses an entry, with the last error: its changes are undone as those of a failed write. -1. */
int journal_entry_fail(struct journal_entry *entry);

/** Undoes the changes of a list's entries, newest first. */
void journal_entries_undo(struct list *entries);

size_t journal_entries_count(const struct list *entries);
