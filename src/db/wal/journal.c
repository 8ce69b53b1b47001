/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Group commit.
 *
 * Entries are encoded into the newest batch. The loop's hook, which runs when
 * no fiber is ready, writes the batches in order: in this thread, or by a worker
 * where a write has to wait for the device (wal_mode 'fsync', or a device that
 * turned slow). Commits that come meanwhile go to the next batch.
 *
 *     journal_write()      batch_start()           batch_done()
 *     OPEN --------> QUEUED ---------> WRITING --------------> free
 *
 * Invariants:
 *
 *  1. At most one batch is WRITING, and it is older than all that are queued.
 *  2. Only the last queued batch takes entries, unless it is sealed.
 *  3. wal_vclock is what has been written; `assigned` is that plus all entries
 *     in batches. Without batches they are equal.
 *  4. While a worker writes, it alone touches `file` and `file_vclock`, and tx
 *     does not change wal_vclock.
 *  5. A batch that fails takes all later ones with it, since their changes were
 *     made on top of its own: memory is undone newest first, then LSNs are
 *     given out again from wal_vclock.
 */
#include "db/wal/journal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "db/error.h"
#include "db/wal/wal_int.h"

enum {
	/** A batch this large is written without waiting for the end of the turn. */
	BATCH_SIZE_MAX = 256 * 1024,
	/** A batch's buffer is given back when it has grown over this. */
	BATCH_BUF_KEPT_MAX = 4 * 1024 * 1024,
	/** In this thread, speed counts more than size: a reader does not care. */
	JOURNAL_ZSTD_LEVEL = 1,
	/** A write that took longer marks the device as slow ... */
	SLOW_WRITE_NS = 10 * 1000 * 1000,
	/** ... until so many writes in a row took less than this. */
	FAST_WRITE_NS = 1000 * 1000,
	FAST_WRITE_COUNT = 16,
};

struct journal_batch {
	struct list link;
	struct buf data;
	/** journal_entry, oldest first. */
	struct list entries;
	/** What will have been written with this batch. */
	struct vclock vclock;
	/** Takes no entries any more; the file ends behind it. */
	bool is_sealed;
	/** Result of the write. */
	uint64_t duration_ns;
};

static struct {
	bool is_open, is_bootstrapping, is_failing;
	const char *dir;
	enum wal_mode mode;
	int64_t file_size_max;
	struct vclock assigned;
	/** Batches that wait, oldest first. */
	struct list queue;
	/** With a worker, or NULL. */
	struct journal_batch *writing;
	struct list free;
	struct xlog_file file;
	/** Where the current file began, or the last one. */
	struct vclock file_vclock;
	bool has_file_vclock;
	bool is_slow;
	int fast_writes;
	/** Who waits for `writing` to come back, or NULL. */
	struct fiber *closer;
} journal = {.file = XLOG_FILE_CLOSED};

struct vclock wal_vclock;
struct uuid instance_uuid, replicaset_uuid;
uint32_t instance_id;

/* Batches ------------------------------------------------------------- */

static struct journal_batch *batch_new(void)
{
	struct journal_batch *b;
	if (!list_empty(&journal.free)) {
		b = list_shift_entry(&journal.free, struct journal_batch, link);
	} else {
		b = xcalloc(1, sizeof(*b));
		list_create(&b->entries);
	}
	b->is_sealed = false;
	list_add_tail(&journal.queue, &b->link);
	return b;
}

/** The batch that takes entries now. */
static struct journal_batch *batch_current(void)
{
	if (!list_empty(&journal.queue)) {
		struct journal_batch *last =
			list_last_entry(&journal.queue, struct journal_batch, link);
		if (!last->is_sealed)
			return last;
	}
	return batch_new();
}

static void batch_recycle(struct journal_batch *b)
{
	assert(list_empty(&b->entries));
	if (b->data.capacity > BATCH_BUF_KEPT_MAX)
		buf_free(&b->data);
	b->data.size = 0;
	list_add(&journal.free, &b->link);
}

/* Writing a batch: in tx or in a worker ------------------------------- */

/** Is this a journal without a row and without damage? */
static bool is_empty_journal(const char *path)
{
	struct xlog_cursor c;
	bool is_empty = false;
	if (xlog_cursor_open(&c, path) == 0) {
		is_empty = xlog_cursor_next_block(&c) == 1 && c.end != XLOG_END_TORN;
		xlog_cursor_close(&c);
	}
	diag_clear(diag_get());
	return is_empty;
}

/**
 * A file of this name can't hold a row that was recovered, or the signature
 * would be past it. If it is not just empty, it holds a torn write, or what
 * force_recovery skipped, and is kept under another name.
 */
static int move_aside(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0 || is_empty_journal(path))
		return 0;
	char *aside = xasprintf("%s.torn", path);
	for (int i = 1; stat(aside, &st) == 0; i++) {
		xfree(aside);
		aside = xasprintf("%s.torn.%d", path, i);
	}
	int rc = sys->rename(path, aside);
	if (rc != 0)
		diag_set_errno(SystemError, "failed to rename '%s'", path);
	else
		say_warn("'%s' has no row that could be read: it is now '%s'", path, aside);
	xfree(aside);
	return rc;
}

static int file_begin(void)
{
	bool sync = journal.mode == WAL_FSYNC;
	struct xlog_meta meta = {
		.type = XLOG_XLOG,
		.instance_uuid = instance_uuid,
		.vclock = wal_vclock,
		.has_prev_vclock = journal.has_file_vclock,
		.prev_vclock = journal.file_vclock,
	};
	char *path = xlog_path(journal.dir, vclock_sum(&wal_vclock), XLOG_XLOG);
	int rc = move_aside(path);
	if (rc == 0)
		rc = xlog_file_create(&journal.file, path, &meta);
	xfree(path);
	if (rc != 0)
		return -1;
	if (xlog_file_publish(&journal.file, sync) != 0) {
		xlog_file_discard(&journal.file);
		return -1;
	}
	journal.file_vclock = wal_vclock;
	journal.has_file_vclock = true;
	return 0;
}

/** Closes the file. All rows in it are safe already: a failure is only told. */
static void file_end(void)
{
	if (xlog_file_is_open(&journal.file) &&
	    xlog_file_close(&journal.file, journal.mode == WAL_FSYNC) != 0)
		diag_log();
}

static int batch_write(void *arg)
{
	struct journal_batch *b = arg;
	uint64_t start = clock_monotonic_ns();
	int rc = 0;
	if (b->data.size > 0) {
		if (!xlog_file_is_open(&journal.file))
			rc = file_begin();
		if (rc == 0)
			rc = xlog_file_append(&journal.file, b->data.data, b->data.size,
					      journal.mode == WAL_FSYNC);
	}
	if (rc == 0 && (b->is_sealed || journal.file.offset >= journal.file_size_max))
		file_end();
	b->duration_ns = clock_monotonic_ns() - start;
	return rc;
}

/* What becomes of entries --------------------------------------------- */

/** Takes the oldest entry out and wakes its fiber. */
static void entry_finish(struct journal_batch *b, int result)
{
	struct journal_entry *entry = list_shift_entry(&b->entries, struct journal_entry, link);
	entry->result = result;
	entry->is_done = true;
	fiber_wakeup(entry->fiber);
}

static void batch_undo(struct journal_batch *b)
{
	struct journal_entry *entry;
	list_foreach_entry_reverse(entry, &b->entries, link) {
		if (entry->on_failure != NULL)
			entry->on_failure(entry);
	}
}

/** Undoes the batch and all that are queued behind it (invariant 5). */
static void batch_fail(struct journal_batch *failed)
{
	diag_log();
	list_add(&journal.queue, &failed->link);
	struct journal_batch *b;
	journal.is_failing = true;
	list_foreach_entry_reverse(b, &journal.queue, link)
		batch_undo(b);
	journal.is_failing = false;
	journal.assigned = wal_vclock;
	while (!list_empty(&journal.queue)) {
		b = list_shift_entry(&journal.queue, struct journal_batch, link);
		while (!list_empty(&b->entries))
			entry_finish(b, -1);
		batch_recycle(b);
	}
}

/** Keeps track of how fast the device is. */
static void note_duration(const struct journal_batch *b)
{
	if (journal.mode == WAL_FSYNC)
		return;
	if (b->duration_ns > SLOW_WRITE_NS) {
		if (!journal.is_slow)
			say_warn("a write to the journal took %.3f s: worker threads write now",
				 b->duration_ns * 1e-9);
		journal.is_slow = true;
		journal.fast_writes = 0;
	} else if (journal.is_slow && b->duration_ns < FAST_WRITE_NS &&
		   ++journal.fast_writes == FAST_WRITE_COUNT) {
		journal.is_slow = false;
	}
}

static void batch_done(void *arg, int result)
{
	struct journal_batch *b = arg;
	if (journal.writing == b) {
		journal.writing = NULL;
		if (journal.closer != NULL)
			fiber_wakeup(journal.closer);
	}
	note_duration(b);
	if (result != 0) {
		batch_fail(b);
		return;
	}
	wal_vclock = b->vclock;
	while (!list_empty(&b->entries))
		entry_finish(b, 0);
	batch_recycle(b);
}

/** Starts the oldest batch; `may_wait`: in this thread even where that takes long. */
static void batch_start(bool may_wait)
{
	struct journal_batch *b = list_shift_entry(&journal.queue, struct journal_batch, link);
	if (!may_wait && (journal.mode == WAL_FSYNC || journal.is_slow)) {
		journal.writing = b;
		worker_post(batch_write, b, batch_done);
	} else {
		batch_done(b, batch_write(b));
	}
}

static void journal_flush(bool may_wait)
{
	while (journal.writing == NULL && !list_empty(&journal.queue))
		batch_start(may_wait);
}

static void journal_hook(void)
{
	journal_flush(false);
}

/* Taking entries ------------------------------------------------------ */

/** Numbers the rows. The transaction's number is the LSN of its first row that others get. */
static void entry_assign(struct journal_entry *entry, struct vclock *vclock)
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

static void entry_encode(struct journal_entry *entry, struct journal_batch *b)
{
	if (entry->row_count == 0)
		return;
	size_t mark = xlog_block_begin(&b->data);
	bool needs_end = entry_needs_end(entry);
	if (needs_end)
		entry->rows[entry->row_count - 1].is_commit = false;
	for (uint32_t i = 0; i < entry->row_count; i++)
		xrow_encode(&entry->rows[i], &b->data);
	if (needs_end) {
		struct xrow_header end = {
			.type = IPROTO_NOP,
			.replica_id = instance_id,
			.lsn = vclock_inc(&journal.assigned, instance_id),
			.tsn = entry->rows[0].tsn,
			.tm = entry->rows[0].tm,
			.is_commit = true,
		};
		xrow_encode(&end, &b->data);
	}
	xlog_block_end(&b->data, mark, JOURNAL_ZSTD_LEVEL);
}

/** Refuses an entry, with the last error: its changes are undone as those of a failed write. */
static int entry_fail(struct journal_entry *entry)
{
	if (entry->on_failure != NULL)
		entry->on_failure(entry);
	entry->result = -1;
	entry->is_done = true;
	return -1;
}

static int entry_refuse(struct journal_entry *entry, unsigned code)
{
	int rc = entry_fail(entry);
	client_error(code);
	return rc;
}

/** No journal is kept: the rows count as written. */
static int entry_pass(struct journal_entry *entry)
{
	if (!journal.is_bootstrapping) {
		entry_assign(entry, &journal.assigned);
		wal_vclock = journal.assigned;
	}
	entry->result = 0;
	entry->is_done = true;
	return 0;
}

static int entry_submit(struct journal_entry *entry, bool seal)
{
	struct journal_batch *b = batch_current();
	entry->fiber = fiber();
	entry->is_done = false;
	entry_assign(entry, &journal.assigned);
	entry_encode(entry, b);
	list_add_tail(&b->entries, &entry->link);
	b->vclock = journal.assigned;
	b->is_sealed = seal;
	if (b->data.size >= BATCH_SIZE_MAX) {
		journal_flush(false);
		/* Those who came first go first. */
		if (entry->is_done)
			fiber_reschedule();
	}
	while (!entry->is_done)
		fiber_yield();
	if (entry->result != 0)
		client_error(ER_WAL_IO);
	return entry->result;
}

int journal_write(struct journal_entry *entry)
{
	if (journal.is_bootstrapping)
		return entry_pass(entry);
	if (!journal.is_open)
		return entry_refuse(entry, ER_LOADING);
	if (journal.is_failing)
		return entry_refuse(entry, ER_WAL_IO);
	if (journal.mode == WAL_NONE)
		return entry_pass(entry);
	if (fiber_may_yield() != 0)
		return entry_fail(entry);
	return entry_submit(entry, false);
}

/* The life of the journal --------------------------------------------- */

const struct vclock *journal_vclock(void)
{
	return &journal.assigned;
}

void journal_set_bootstrapping(bool yesno)
{
	journal.is_bootstrapping = yesno;
}

int journal_rotate(void)
{
	assert(journal.is_open);
	if (journal.mode == WAL_NONE)
		return 0;
	struct journal_entry barrier = {.row_count = 0};
	return entry_submit(&barrier, true);
}

void journal_open(const struct journal_config *config)
{
	assert(!journal.is_open);
	journal.dir = config->dir;
	journal.mode = config->mode;
	journal.file_size_max = config->file_size_max;
	journal.assigned = wal_vclock;
	journal.has_file_vclock = config->prev_vclock != NULL;
	if (config->prev_vclock != NULL)
		journal.file_vclock = *config->prev_vclock;
	list_create(&journal.queue);
	list_create(&journal.free);
	journal.is_slow = false;
	journal.is_open = true;
	loop_set_hook(LOOP_HOOK_JOURNAL, journal_hook);
}

void journal_close(void)
{
	if (!journal.is_open)
		return;
	journal.closer = fiber();
	while (journal.writing != NULL)
		fiber_yield();
	journal.closer = NULL;
	journal_flush(true);
	journal.is_open = false;
	loop_set_hook(LOOP_HOOK_JOURNAL, NULL);
	file_end();
	while (!list_empty(&journal.free)) {
		struct journal_batch *b =
			list_shift_entry(&journal.free, struct journal_batch, link);
		buf_free(&b->data);
		xfree(b);
	}
	xlog_block_thread_free();
}
