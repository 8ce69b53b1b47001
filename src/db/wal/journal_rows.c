/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A transaction's rows in the journal: their numbers, and the block they make, or blocks.
 */
#include "core/loop.h"
#include "db/wal/journal.h"
#include "db/wal/wal_int.h"

enum {
	/** In this thread, speed counts more than size: a reader does not care. */
	JOURNAL_ZSTD_LEVEL = 1,
};

size_t journal_block_size = (size_t)1024 * 1024 * 1024;

void journal_assign(struct journal_entry *entry, struct vclock *vclock)
{
	int64_t tsn = 0, local_tsn = 0;
	double now = loop_time();
	for (uint32_t i = 0; i < entry->row_count; i++) {
		struct xrow_header *row = &entry->rows[i];
		row->tm = now;
		row->replica_id = row->group_id == GROUP_LOCAL ? 0 : instance_id;
		row->lsn = vclock_inc(vclock, row->replica_id);
		row->is_commit = i + 1 == entry->row_count;
		int64_t *first = row->group_id == GROUP_LOCAL ? &local_tsn : &tsn;
		if (*first == 0)
			*first = row->lsn;
	}
	for (uint32_t i = 0; i < entry->row_count; i++)
		entry->rows[i].tsn = tsn != 0 ? tsn : local_tsn;
}

/**
 * Others do not get local rows: where one ends a transaction that has others,
 * an empty row carries the end mark instead, as in the reference.
 */
static bool entry_needs_end(const struct journal_entry *entry)
{
	const struct xrow_header *rows = entry->rows;
	uint32_t last = entry->row_count - 1;
	if (entry->row_count < 2 || rows[last].group_id != GROUP_LOCAL)
		return false;
	for (uint32_t i = 0; i < last; i++) {
		if (rows[i].group_id != GROUP_LOCAL)
			return true;
	}
	return false;
}

void journal_count(const struct journal_entry *entry, struct vclock *vclock)
{
	for (uint32_t i = 0; i < entry->row_count; i++)
		vclock_inc(vclock, entry->rows[i].group_id == GROUP_LOCAL ? 0 : instance_id);
	if (entry_needs_end(entry))
		vclock_inc(vclock, instance_id);
}

void journal_encode(struct journal_entry *entry, struct vclock *vclock, struct buf *out)
{
	if (entry->row_count == 0)
		return;
	size_t mark = xlog_block_begin(out);
	bool needs_end = entry_needs_end(entry);
	if (needs_end)
		entry->rows[entry->row_count - 1].is_commit = false;
	for (uint32_t i = 0; i < entry->row_count; i++) {
		if (out->size - mark >= journal_block_size) {
			xlog_block_end(out, mark, JOURNAL_ZSTD_LEVEL);
			mark = xlog_block_begin(out);
		}
		xrow_encode(&entry->rows[i], out);
	}
	if (needs_end) {
		struct xrow_header end = {
			.type = IPROTO_NOP,
			.replica_id = instance_id,
			.lsn = vclock_inc(vclock, instance_id),
			.tsn = entry->rows[0].tsn,
			.tm = entry->rows[0].tm,
			.is_commit = true,
		};
		xrow_encode(&end, out);
	}
	xlog_block_end(out, mark, JOURNAL_ZSTD_LEVEL);
}
