/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Batches and entries of the journal: see the header. Batches are used again, with
 * their buffers.
 */
#include "db/wal/journal_batch.h"

#include <assert.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "db/wal/journal.h"
#include "db/wal/wal_int.h"

enum {
	/** A batch's buffer is given back when it has grown over this. */
	BUF_KEPT_MAX = 4 * 1024 * 1024,
	/** Of a row beside its body, about. */
	ROW_HEADER_SIZE = 48,
};

static struct list recycled = LIST_INIT(recycled);

struct journal_batch *journal_batch_new(void)
{
	struct journal_batch *b;
	if (!list_empty(&recycled)) {
		b = list_shift_entry(&recycled, struct journal_batch, link);
	} else {
		b = xcalloc(1, sizeof(*b));
		list_create(&b->entries);
	}
	b->is_sealed = false;
	b->queued_ns = 0;
	return b;
}

void journal_batch_recycle(struct journal_batch *b)
{
	assert(list_empty(&b->entries));
	if (b->data.capacity > BUF_KEPT_MAX)
		buf_free(&b->data);
	b->data.size = 0;
	list_add(&recycled, &b->link);
}

void journal_batch_free_recycled(void)
{
	while (!list_empty(&recycled)) {
		struct journal_batch *b = list_shift_entry(&recycled, struct journal_batch, link);
		buf_free(&b->data);
		xfree(b);
	}
}

void journal_batch_put(struct journal_batch *b, struct journal_entry *entry,
		       struct vclock *assigned)
{
	assert(!b->is_sealed);
	journal_assign(entry, assigned);
	journal_encode(entry, assigned, &b->data);
	list_add_tail(&b->entries, &entry->link);
	b->vclock = *assigned;
	b->is_sealed = entry->is_barrier;
}

size_t journal_batch_row_count(const struct journal_batch *b)
{
	size_t count = 0;
	struct journal_entry *entry;
	list_foreach_entry(entry, &b->entries, link)
		count += entry->row_count;
	return count;
}

size_t journal_entry_size(const struct journal_entry *entry)
{
	size_t size = 0;
	for (uint32_t i = 0; i < entry->row_count; i++)
		size += ROW_HEADER_SIZE + entry->rows[i].body_size;
	return size;
}

void journal_entry_done(struct journal_entry *entry, int result)
{
	entry->result = result;
	entry->is_done = true;
	if (entry->on_done != NULL)
		entry->on_done(entry);
	else
		fiber_wakeup(entry->fiber);
}

void journal_entry_leave(struct journal_entry *entry)
{
	if (entry->is_out == NULL)
		return;
	*entry->is_out = true;
	entry->is_out = NULL;
	fiber_wakeup(entry->fiber);
}

int journal_entry_fail(struct journal_entry *entry)
{
	if (entry->on_failure != NULL)
		entry->on_failure(entry);
	entry->result = -1;
	entry->is_done = true;
	return -1;
}

void journal_entries_undo(struct list *entries)
{
	struct journal_entry *entry;
	list_foreach_entry_reverse(entry, entries, link) {
		if (entry->on_failure != NULL)
			entry->on_failure(entry);
	}
}

size_t journal_entries_count(const struct list *entries)
{
	size_t count = 0;
	for (const struct list *link = entries->next; link != entries; link = link->next)
		count++;
	return count;
}
