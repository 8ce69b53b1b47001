/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Group commit.
 *
 * Entries are encoded into the newest batch. The loop's hook, which runs when
 * no fiber is ready, writes the batches in order: in this thread, or by a worker
 * where a write has to wait for the device (wal_mode 'fsync', or a device that
 * turned slow). Commits that come meanwhile go to the next batch. Where a single
 * entry is all there would be at the end of the turn, its fiber writes it at once.
 *
 *     journal_write()      batch_start()           batch_done()
 *     OPEN --------> QUEUED ---------> WRITING --------------> free
 *
 * What batches may hold is bounded (wal_queue_max_size): entries beyond that wait,
 * and are put into a batch, in their order, as batches are done.
 *
 * Invariants:
 *
 *  1. At most one batch is WRITING, and it is older than all that are queued.
 *  2. Only the last queued batch takes entries, unless it is sealed.
 *  3. wal_vclock is what has been written; `assigned` is that plus all entries
 *     in batches. Without batches they are equal.
 *  4. While a worker writes, it alone touches `file`, and tx does not change
 *     wal_vclock.
 *  5. A batch that fails takes all later ones with it, and the entries that wait,
 *     since their changes were made on top of its own: memory is undone newest
 *     first, then LSNs are given out again from wal_vclock.
 *  6. No entry goes into a batch while others wait: order of change is order in
 *     the log. A cancel ends no wait, so an entry that was taken is written, or
 *     fails with those before it.
 */
#include "db/wal/journal.h"

#include <assert.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/sys.h"
#include "core/ticks.h"
#include "core/worker.h"
#include "db/error.h"
#include "db/wal/journal_batch.h"
#include "db/wal/journal_file.h"
#include "db/wal/journal_report.h"
#include "db/wal/journal_speed.h"
#include "db/wal/wal_int.h"

enum {
	/** A batch this large is written without waiting for the end of the turn. */
	BATCH_SIZE_MAX = 256 * 1024,
};

static struct {
	bool is_open, is_bootstrapping, is_failing;
	enum wal_mode mode;
	int64_t file_size_max;
	struct vclock assigned;
	/** Batches that wait, oldest first. */
	struct list queue;
	/** Entries that wait for room, oldest first. */
	struct list waiting;
	/** What all entries in batches take, and may take, in bytes. */
	size_t queue_size, queue_size_max;
	/** With a worker, or NULL. */
	struct journal_batch *writing;
	struct journal_file file;
	struct journal_speed speed;
	/** Nanoseconds in a tick. */
	double tick_ns;
	/** Who waits for `writing` to come back, or NULL. */
	struct fiber *closer;
	/** Written since journal_note_checkpoint(), and from where on to tell. */
	uint64_t bytes, bytes_limit;
	void (*on_limit)(void);
	/** Seconds from which on a write is told of. */
	double too_long;
} journal = {
	.file.file = XLOG_FILE_CLOSED,
	.queue_size_max = JOURNAL_QUEUE_SIZE_MAX,
	.bytes_limit = UINT64_MAX,
	.too_long = 0.5,
};

struct vclock wal_vclock;
struct uuid instance_uuid, replicaset_uuid;
uint32_t instance_id;

/* Batches ------------------------------------------------------------- */

static struct journal_batch *batch_new(void)
{
	struct journal_batch *b = journal_batch_new();
	if (journal.writing != NULL)
		b->queued_ns = clock_monotonic_ns();
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

/* Writing a batch: in tx or in a worker ------------------------------- */

static int batch_write(void *arg)
{
	struct journal_batch *b = arg;
	uint64_t start = ticks_now();
	int rc = 0;
	if (b->data.size > 0)
		rc = journal_file_append(&journal.file, &b->data);
	if (rc == 0 && (b->is_sealed || journal.file.file.offset >= journal.file_size_max))
		rc = journal_file_end(&journal.file);
	b->duration_ns = (ticks_now() - start) * journal.tick_ns;
	return rc;
}

/* What becomes of entries --------------------------------------------- */

/** Takes the oldest entry out. */
static void batch_finish_entry(struct journal_batch *b, int result)
{
	struct journal_entry *entry = list_shift_entry(&b->entries, struct journal_entry, link);
	journal.queue_size -= entry->size;
	journal_entry_done(entry, result);
}

/** How many commits are on their way? */
static size_t count_commits(void)
{
	size_t count = journal_entries_count(&journal.waiting);
	struct journal_batch *b;
	list_foreach_entry(b, &journal.queue, link)
		count += journal_entries_count(&b->entries);
	return count;
}

/** Undoes the batch and all that came behind it (invariant 5). */
static void batch_fail(struct journal_batch *failed)
{
	list_add(&journal.queue, &failed->link);
	journal_report_failure(count_commits());
	struct journal_batch *b;
	struct list waiting;
	list_create(&waiting);
	list_splice_tail(&waiting, &journal.waiting);
	journal.is_failing = true;
	journal_entries_undo(&waiting);
	list_foreach_entry_reverse(b, &journal.queue, link)
		journal_entries_undo(&b->entries);
	journal.is_failing = false;
	journal.assigned = wal_vclock;
	while (!list_empty(&journal.queue)) {
		b = list_shift_entry(&journal.queue, struct journal_batch, link);
		while (!list_empty(&b->entries))
			batch_finish_entry(b, -1);
		journal_batch_recycle(b);
	}
	while (!list_empty(&waiting)) {
		struct journal_entry *entry =
			list_shift_entry(&waiting, struct journal_entry, link);
		journal_entry_leave(entry);
		journal_entry_done(entry, -1);
	}
}

/** Tells of a batch that took long, from its first entry on. */
static void note_too_long(const struct journal_batch *b)
{
	uint64_t ns = b->queued_ns != 0 ? clock_monotonic_ns() - b->queued_ns : b->duration_ns;
	if (ns * 1e-9 > journal.too_long)
		say_warn("too long WAL write: %zu rows at LSN %lld: %.3f sec", journal_batch_row_count(b),
			 (long long)vclock_get(&b->vclock, instance_id), ns * 1e-9);
}

/** Counts what was written towards the next checkpoint. */
static void note_size(const struct journal_batch *b)
{
	journal.bytes += b->data.size;
	if (journal.bytes > journal.bytes_limit && journal.on_limit != NULL)
		journal.on_limit();
}

static void admit_waiting(void);

static void batch_done(void *arg, int result)
{
	struct journal_batch *b = arg;
	if (journal.writing == b) {
		journal.writing = NULL;
		if (journal.closer != NULL)
			fiber_wakeup(journal.closer);
	}
	if (journal.mode == WAL_WRITE)
		journal_speed_note(&journal.speed, b->duration_ns);
	if (result != 0) {
		batch_fail(b);
		return;
	}
	journal_report_success();
	note_too_long(b);
	note_size(b);
	wal_vclock = b->vclock;
	while (!list_empty(&b->entries))
		batch_finish_entry(b, 0);
	journal_batch_recycle(b);
	if (!list_empty(&journal.waiting))
		admit_waiting();
}

/** Starts the oldest batch; `may_wait`: in this thread even where that takes long. */
static void batch_start(bool may_wait)
{
	struct journal_batch *b = list_shift_entry(&journal.queue, struct journal_batch, link);
	if (!may_wait && (journal.mode == WAL_FSYNC || journal.speed.is_slow)) {
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

static int entry_refuse(struct journal_entry *entry, unsigned code)
{
	int rc = journal_entry_fail(entry);
	client_error(code);
	return rc;
}

/** No journal is kept: the rows count as written. */
static int entry_pass(struct journal_entry *entry)
{
	if (!journal.is_bootstrapping) {
		journal_assign(entry, &journal.assigned);
		wal_vclock = journal.assigned;
	}
	entry->result = 0;
	entry->is_done = true;
	return 0;
}

/** Is there room for one more? A single entry of any size always has it. */
static bool has_room(void)
{
	return list_empty(&journal.waiting) && journal.queue_size <= journal.queue_size_max;
}

static void batch_put(struct journal_batch *b, struct journal_entry *entry)
{
	journal_batch_put(b, entry, &journal.assigned);
	journal.queue_size += entry->size;
}

/** Puts those that wait into batches as far as there is room, and lets go who wait for no more. */
static void admit_waiting(void)
{
	while (!list_empty(&journal.waiting) && journal.queue_size <= journal.queue_size_max) {
		struct journal_entry *entry =
			list_shift_entry(&journal.waiting, struct journal_entry, link);
		batch_put(batch_current(), entry);
		journal_entry_leave(entry);
	}
}

/** Puts the entry into a batch, or among those that wait. */
static void entry_submit(struct journal_entry *entry)
{
	entry->fiber = fiber();
	entry->is_done = false;
	entry->size = journal_entry_size(entry);
	if (!has_room()) {
		list_add_tail(&journal.waiting, &entry->link);
		return;
	}
	struct journal_batch *b = batch_current();
	batch_put(b, entry);
	if (b->data.size >= BATCH_SIZE_MAX)
		journal_flush(false);
}

/** Is the fiber the only one that has something to do, and the entry all there is to write? */
static bool may_write_in_place(void)
{
	return journal.mode == WAL_WRITE && !journal.speed.is_slow && journal.writing == NULL &&
		list_empty(&journal.queue) && has_room() &&
		xlog_file_is_open(&journal.file.file) && fiber_yield_in_place();
}

/** Submits the entry and waits until its fate is known. */
static void entry_execute(struct journal_entry *entry)
{
	bool is_in_place = may_write_in_place();
	entry_submit(entry);
	if (is_in_place) {
		journal_flush(true);
		assert(entry->is_done);
		return;
	}
	/* It may be done at once: those who came first go first. */
	if (entry->is_done)
		fiber_reschedule();
	while (!entry->is_done)
		fiber_yield();
}

static int entry_result(const struct journal_entry *entry)
{
	if (entry->result != 0)
		client_error(ER_WAL_IO);
	return entry->result;
}

/** What every entry goes through. 0: it is to be submitted; 1: that is done; -1: refused. */
static int entry_begin(struct journal_entry *entry)
{
	if (journal.is_bootstrapping) {
		entry_pass(entry);
		return 1;
	}
	if (!journal.is_open)
		return entry_refuse(entry, ER_LOADING);
	if (journal.is_failing)
		return entry_refuse(entry, ER_WAL_IO);
	if (journal.mode == WAL_NONE) {
		entry_pass(entry);
		return 1;
	}
	return 0;
}

bool journal_is_off(void)
{
	return journal.mode == WAL_NONE && journal.is_open && !journal.is_bootstrapping &&
		!journal.is_failing;
}

int journal_write(struct journal_entry *entry)
{
	int rc = entry_begin(entry);
	if (rc != 0)
		return rc > 0 ? 0 : -1;
	if (fiber_may_yield() != 0)
		return journal_entry_fail(entry);
	entry_execute(entry);
	return entry_result(entry);
}

int journal_submit(struct journal_entry *entry, bool may_wait)
{
	assert(entry->on_done != NULL);
	int rc = entry_begin(entry);
	if (rc > 0)
		entry->on_done(entry);
	if (rc != 0)
		return rc > 0 ? 0 : -1;
	bool fits = has_room();
	if (!fits && !may_wait) {
		client_error(ER_WAL_IO);
		struct error *cause =
			error_new(&type_ClientError, ER_WAL_IO, __FILE__, __LINE__,
				  "The queue of the log is full (wal_queue_max_size)");
		diag_last()->cause = cause;
		return journal_entry_fail(entry);
	}
	if (!fits && fiber_may_yield() != 0)
		return journal_entry_fail(entry);
	/* The owner may free the entry once it is done: `is_out` lives here. */
	bool is_out = false;
	entry->is_out = fits ? NULL : &is_out;
	entry_submit(entry);
	while (!fits && !is_out)
		fiber_yield();
	return 0;
}

/* The life of the journal --------------------------------------------- */

struct vclock journal_vclock(void)
{
	struct vclock vclock = journal.assigned;
	struct journal_entry *entry;
	list_foreach_entry(entry, &journal.waiting, link)
		journal_count(entry, &vclock);
	return vclock;
}

size_t journal_memory(void)
{
	size_t sum = journal.queue_size;
	if (!journal.is_open)
		return 0;
	struct journal_entry *entry;
	list_foreach_entry(entry, &journal.waiting, link)
		sum += entry->size;
	return sum;
}

void journal_set_queue_size_max(size_t size)
{
	journal.queue_size_max = size;
	if (journal.is_open)
		admit_waiting();
}

void journal_set_too_long(double seconds)
{
	journal.too_long = seconds;
}

void journal_set_size_limit(uint64_t bytes, void (*on_limit)(void))
{
	journal.bytes_limit = bytes;
	journal.on_limit = on_limit;
}

uint64_t journal_bytes(void)
{
	return journal.bytes;
}

void journal_note_checkpoint(uint64_t bytes)
{
	journal.bytes -= bytes;
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
	struct journal_entry barrier = {.is_barrier = true};
	entry_execute(&barrier);
	return entry_result(&barrier);
}

void journal_open(const struct journal_config *config)
{
	assert(!journal.is_open);
	journal.file.dir = config->dir;
	journal.file.is_synced = config->mode == WAL_FSYNC;
	journal.mode = config->mode;
	journal.file_size_max = config->file_size_max;
	journal.assigned = wal_vclock;
	journal.file.has_vclock = config->prev_vclock != NULL;
	if (config->prev_vclock != NULL)
		journal.file.vclock = *config->prev_vclock;
	journal.file.has_prev_vclock = false;
	list_create(&journal.queue);
	list_create(&journal.waiting);
	journal.queue_size = 0;
	journal.bytes = 0;
	journal.speed = (struct journal_speed){.is_slow = false};
	journal.tick_ns = ticks_unit() * 1e9;
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
	while (!list_empty(&journal.queue) || !list_empty(&journal.waiting))
		journal_flush(true);
	journal.is_open = false;
	loop_set_hook(LOOP_HOOK_JOURNAL, NULL);
	if (journal.mode != WAL_NONE)
		journal_file_close(&journal.file);
	journal_batch_free_recycled();
	xlog_block_thread_free();
}
