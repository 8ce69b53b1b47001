/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Recovery: the newest snapshot, then the journals behind it. No file is
 * changed.
 *
 * Rows of a transaction are gathered until the one that commits it and are
 * applied together; what a journal's end leaves unfinished is dropped. Rows that
 * the snapshot or an earlier file had are passed over by their LSN.
 *
 * A journal may end in a torn write (its writer was killed or the power went):
 * that is told and dropped. If a later journal needs what was lost there, the
 * vclock it begins at shows the gap. Anything else that can't be read is an
 * error, unless force_recovery asks to skip it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/region.h"
#include "core/sys.h"
#include "db/db.h"
#include "db/error.h"
#include "db/tuple/tuple.h"
#include "db/wal/wal_int.h"
#include "db/wal/xlog_reader.h"

/** Rows of the journal that carry no data; numbers as in the manual, "Binary protocol". */
enum { ROW_RAFT = 30, ROW_CONFIRM = 40 };

/** Of files, between two times when other fibers run. */
enum { BREATHE_BYTES = 256 * 1024 };

/** Seconds between two lines about the progress. */
static const double progress_interval = 3;

/** How far recovery is. */
struct progress {
	/** Of all files that are read, and of those that have been. */
	int64_t bytes_total, bytes_done;
	/** Where in the file, or in all before it, other fibers ran last. */
	int64_t breathed;
	uint64_t rows;
	double started, reported;
};

struct wal_recovery_stat wal_recovery_stat;

struct recovery {
	const struct recovery_config *config;
	struct recovery_result *result;
	/** Rows of the transaction that is being gathered. */
	struct xrow_header *rows;
	uint32_t row_count, row_capacity;
	/** How many of them have their bodies in `region`: those of earlier blocks. */
	uint32_t kept_count;
	struct region region;
	struct progress progress;
	/** The file that is read now, and where the block begins whose rows are applied. */
	const char *path;
	off_t block_offset;
	/** Where the transaction begins that is being gathered. */
	off_t txn_offset;
	/** What to do about a damaged file of those that are read now. */
	const char *hint;
	/** The error is final: its text is complete. */
	bool has_failed;
	/** Of a load while another process writes: the files to read, open, by their order. */
	int *pins;
	const struct xlog_list *pinned;
};

static const char hint[] =
	"restore the file from a copy, or set force_recovery = true to skip what can't be read";
/** For the newest snapshot, where all that it holds can be had from older files. */
static const char older_hint[] =
	"move the file away: the previous snapshot and the journals after it recover everything";

/** Puts what to do behind the text of the last error. */
static void add_hint(const struct recovery *r)
{
	const struct error *e = diag_last();
	struct error *with_hint = error_new(e->type, e->code, __FILE__, __LINE__, "%s; %s",
					    e->message, r->hint);
	diag_set_error(with_hint);
	error_unref(with_hint);
}

/** The last error is about data: with force_recovery it is logged and passed over. */
static int forgive(struct recovery *r)
{
	if (r->has_failed)
		return -1;
	if (error_is(diag_last(), &type_XlogError)) {
		if (r->config->force_recovery) {
			diag_log();
			diag_clear(diag_get());
			return 0;
		}
		add_hint(r);
	}
	r->has_failed = true;
	return -1;
}

/* Rows ---------------------------------------------------------------- */

/**
 * Memory is no damage: the data is there, and is not passed over. `what` could not be done for
 * the lack of it.
 */
static int fail_for_memory(struct recovery *r, const char *what)
{
	struct error *cause = diag_last();
	error_ref(cause);
	diag_set(OutOfMemory, "%s: not enough memory to %s: %s; raise memtx_memory, now %zu bytes",
		 r->path, what, cause->message, tuple_memory.limit);
	error_unref(cause);
	r->has_failed = true;
	return -1;
}

static int fail_for_block_memory(struct recovery *r)
{
	char what[64];
	snprintf(what, sizeof(what), "recover the block at offset %lld",
		 (long long)r->block_offset);
	return fail_for_memory(r, what);
}

typedef int (*row_func)(const struct xrow_header *row);

/** Applies one row by `apply`. */
static int apply_row(struct recovery *r, row_func apply, const struct xrow_header *row)
{
	r->progress.rows++;
	if (row->type == IPROTO_NOP || row->type == ROW_RAFT || row->type == ROW_CONFIRM)
		return 0;
	if (apply(row) == 0)
		return 0;
	if (error_is(diag_last(), &type_OutOfMemory))
		return fail_for_block_memory(r);
	struct error *cause = diag_last();
	error_ref(cause);
	diag_set(XlogError, "%s: the row with LSN %" PRId64 " in the block at offset %lld can't "
		 "be applied: %s", r->path, row->lsn, (long long)r->block_offset, cause->message);
	error_unref(cause);
	int rc = forgive(r);
	if (rc == 0)
		wal_recovery_stat.skipped_rows++;
	return rc;
}

static void txn_clear(struct recovery *r)
{
	r->row_count = r->kept_count = 0;
	region_truncate(&r->region, 0);
}

static int txn_add(struct recovery *r, const struct xrow_header *row)
{
	if (row->replica_id >= VCLOCK_MAX) {
		diag_set(XlogError, "%s: damaged at offset %lld: instance id %u is too large",
			 r->path, (long long)r->block_offset, row->replica_id);
		return -1;
	}
	if (r->row_count == r->row_capacity) {
		r->row_capacity = r->row_capacity == 0 ? 16 : r->row_capacity * 2;
		r->rows = xrealloc(r->rows, r->row_capacity * sizeof(*r->rows));
	}
	if (r->row_count == 0)
		r->txn_offset = r->block_offset;
	r->rows[r->row_count++] = *row;
	return 0;
}

/** LSNs of an instance have no holes: were there one, rows would be missing from the file. */
static int check_lsn(struct recovery *r, const struct xrow_header *row)
{
	int64_t last = vclock_get(&wal_vclock, row->replica_id);
	if (row->lsn == last + 1)
		return 0;
	diag_set(XlogGapError, "%s: rows are missing before offset %lld: LSN %" PRId64 " of "
		 "instance %u follows %" PRId64, r->path, (long long)r->block_offset, row->lsn,
		 row->replica_id, last);
	return forgive(r);
}

static int txn_apply(struct recovery *r)
{
	for (uint32_t i = 0; i < r->row_count; i++) {
		const struct xrow_header *row = &r->rows[i];
		if (row->lsn <= vclock_get(&wal_vclock, row->replica_id))
			continue;
		if (check_lsn(r, row) != 0 || apply_row(r, db_recover_row, row) != 0)
			return -1;
		vclock_set(&wal_vclock, row->replica_id, row->lsn);
	}
	txn_clear(r);
	return 0;
}

/** The block is over, the transaction is not: takes copies of what is in the block. */
static int txn_keep_bodies(struct recovery *r)
{
	for (; r->kept_count < r->row_count; r->kept_count++) {
		struct xrow_header *row = &r->rows[r->kept_count];
		if (row->body == NULL)
			continue;
		row->body = region_memdup(&r->region, row->body, row->body_size);
		if (row->body == NULL)
			return -1;
	}
	return 0;
}

/* Files --------------------------------------------------------------- */

/** Tells now and then how far recovery is; lets timers and signals through. */
static void breathe(struct recovery *r, off_t offset)
{
	struct progress *p = &r->progress;
	if (p->bytes_done + offset - p->breathed < BREATHE_BYTES)
		return;
	p->breathed = p->bytes_done + offset;
	fiber_sleep(0);
	double now = loop_monotonic();
	if (now - p->reported < progress_interval)
		return;
	p->reported = now;
	double part = (double)(p->bytes_done + offset) / (p->bytes_total + 1);
	double left = part > 0 ? (now - p->started) * (1 - part) / part : 0;
	say_info("%.1fM rows processed, %.0f%%, about %.0f s to go", p->rows / 1e6, part * 100,
		 left);
}

/** Goes on behind damage, where that is wanted. */
static int skip_damage(struct recovery *r, struct xlog_cursor *c)
{
	if (forgive(r) != 0)
		return -1;
	off_t offset = c->good_offset;
	off_t skipped = xlog_cursor_skip(c);
	wal_recovery_stat.skipped_bytes += skipped;
	say_warn("%s: skipped %lld damaged bytes at offset %lld", c->path, (long long)skipped,
		 (long long)offset);
	return 0;
}

/** Applies the rows of a block and puts up with an error behind them. */
typedef int (*block_func)(struct recovery *r, const struct xlog_batch *batch,
			  const struct xlog_rows *block);

static int apply_batch(struct recovery *r, const struct xlog_batch *batch, block_func apply)
{
	for (size_t i = 0; i < batch->block_count; i++) {
		r->block_offset = batch->blocks[i].offset;
		if (apply(r, batch, &batch->blocks[i]) != 0)
			return -1;
		if (i + 1 == batch->block_count)
			breathe(r, batch->blocks[i].end);
	}
	return 0;
}

/** Applies each block up to the end of the file. */
static int read_blocks(struct recovery *r, struct xlog_cursor *c, block_func apply)
{
	struct xlog_reader *reader = xlog_reader_new(c);
	int rc;
	do {
		struct xlog_batch *batch = xlog_reader_next(reader);
		rc = apply_batch(r, batch, apply);
		if (rc != 0)
			break;
		rc = batch->rc;
		if (rc < 0) {
			diag_move(&batch->diag, diag_get());
			rc = skip_damage(r, c);
		}
	} while (rc == 0);
	xlog_reader_delete(reader);
	r->progress.bytes_done += c->file_size;
	return rc < 0 ? -1 : 0;
}

/** The error behind the rows of a block, if any, is the last one then. */
static int block_error(const struct xlog_rows *block)
{
	if (block->error == NULL)
		return 0;
	diag_set_error(block->error);
	return -1;
}

static int check_meta(const struct xlog_cursor *c, enum xlog_type type, int64_t signature)
{
	const struct xlog_meta *meta = &c->meta;
	if (meta->type != type)
		diag_set(XlogError, "%s: the file's type is %s, expected %s", c->path,
			 xlog_type_names[meta->type], xlog_type_names[type]);
	else if (vclock_sum(&meta->vclock) != signature)
		diag_set(XlogError, "%s: the name does not match the vclock in the file, whose "
			 "signature is %" PRId64, c->path, vclock_sum(&meta->vclock));
	else if (!uuid_is_nil(&instance_uuid) &&
		 !uuid_equal(&meta->instance_uuid, &instance_uuid))
		diag_set(XlogError, "%s: the file is of instance %s, expected %s", c->path,
			 uuid_str(&meta->instance_uuid), uuid_str(&instance_uuid));
	else
		return 0;
	return -1;
}

/* The snapshot -------------------------------------------------------- */

static int snapshot_block(struct recovery *r, const struct xlog_batch *batch,
			  const struct xlog_rows *block)
{
	for (size_t i = 0; i < block->count; i++) {
		if (apply_row(r, db_recover_snapshot_row, &batch->rows[block->begin + i]) != 0)
			return -1;
	}
	return block_error(block) == 0 ? 0 : forgive(r);
}

static int snapshot_read(struct recovery *r, struct xlog_cursor *c)
{
	const struct uuid *wanted = &r->config->instance_uuid;
	if (!uuid_is_nil(wanted) && !uuid_equal(wanted, &c->meta.instance_uuid)) {
		client_error(ER_INSTANCE_UUID_MISMATCH, uuid_str(wanted),
			     uuid_str(&c->meta.instance_uuid));
		return -1;
	}
	instance_uuid = c->meta.instance_uuid;
	if (read_blocks(r, c, snapshot_block) != 0)
		return -1;
	if (db_recover_snapshot_end() != 0)
		return error_is(diag_last(), &type_OutOfMemory) ?
			fail_for_memory(r, "build the last index") : -1;
	if (c->end != XLOG_END_CLOSED) {
		diag_set(XlogError, "%s: the snapshot is not whole: it has no end marker", c->path);
		if (forgive(r) != 0)
			return -1;
		wal_recovery_stat.skipped_bytes += c->file_size - c->good_offset;
	}
	wal_vclock = c->meta.vclock;
	r->result->is_snapshot_good = !r->config->force_recovery;
	r->result->snapshot_vclock = wal_vclock;
	return 0;
}

static int recover_snapshot(struct recovery *r, int64_t signature)
{
	struct xlog_cursor c;
	char *path = xlog_path(r->config->memtx_dir, signature, XLOG_SNAP);
	say_info("recovery start");
	say_info("recovering from `%s'", path);
	instance_uuid = uuid_nil;
	int rc = xlog_cursor_open(&c, path);
	xfree(path);
	if (rc == 0) {
		r->path = c.path;
		rc = check_meta(&c, XLOG_SNAP, signature);
		if (rc == 0)
			rc = snapshot_read(r, &c);
		else
			add_hint(r);
		xlog_cursor_close(&c);
	} else if (error_is(diag_last(), &type_XlogError)) {
		add_hint(r);
	}
	return rc;
}

/* Journals ------------------------------------------------------------ */

static int journal_rows(struct recovery *r, const struct xlog_batch *batch,
			const struct xlog_rows *block)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct xrow_header *row = &batch->rows[block->begin + i];
		if (txn_add(r, row) != 0 || (row->is_commit && txn_apply(r) != 0))
			return -1;
	}
	return block_error(block);
}

static int journal_block(struct recovery *r, const struct xlog_batch *batch,
			 const struct xlog_rows *block)
{
	if (journal_rows(r, batch, block) == 0)
		return txn_keep_bodies(r);
	txn_clear(r);
	return forgive(r);
}

/** Is all before this journal there? */
static int check_gap(struct recovery *r, const struct xlog_cursor *c)
{
	int order = vclock_compare(&c->meta.vclock, &wal_vclock);
	if (order == 0 || order == -1)
		return 0;
	char have[VCLOCK_STR_MAX], begins[VCLOCK_STR_MAX];
	vclock_to_string(&wal_vclock, have);
	vclock_to_string(&c->meta.vclock, begins);
	diag_set(XlogGapError, "Missing .xlog file between LSN %" PRId64 " %s and %" PRId64 " %s",
		 vclock_sum(&wal_vclock), have, vclock_sum(&c->meta.vclock), begins);
	if (!r->config->force_recovery) {
		say_error("restore the missing journals to '%s', or set force_recovery = true "
			  "to go on without them", r->config->wal_dir);
		return -1;
	}
	diag_log();
	for (uint32_t i = 0; i < VCLOCK_MAX; i++) {
		if (vclock_get(&c->meta.vclock, i) > vclock_get(&wal_vclock, i))
			vclock_set(&wal_vclock, i, vclock_get(&c->meta.vclock, i));
	}
	return 0;
}

/** Tells what the end of the file cost. */
static void report_end(struct recovery *r, const struct xlog_cursor *c)
{
	if (c->end == XLOG_END_TORN) {
		wal_recovery_stat.dropped_bytes += c->file_size - c->good_offset;
		wal_recovery_stat.dropped_transactions += c->is_torn_block;
		say_warn("%s: dropped %lld bytes of a torn last write at offset %lld (%s)", c->path,
			 (long long)(c->file_size - c->good_offset), (long long)c->good_offset,
			 c->reason);
	}
	if (r->row_count > 0) {
		wal_recovery_stat.dropped_transactions++;
		say_warn("%s: dropped the first %u rows of a transaction that was not finished",
			 c->path, r->row_count);
	}
	txn_clear(r);
}

static void pin(struct recovery_result *result, int fd)
{
	if (result->position.fd >= 0)
		close(result->position.fd);
	result->position.fd = fd;
}

void recovery_result_destroy(struct recovery_result *result)
{
	pin(result, -1);
}

/** The end of the file, for one who goes on from there later or for good. */
static void end_journal(struct recovery *r, const struct xlog_cursor *c, int64_t signature)
{
	r->result->position.signature = signature;
	r->result->position.offset = r->row_count > 0 ? r->txn_offset : c->good_offset;
	pin(r->result, r->config->is_following ? xlog_cursor_pin(c) : -1);
	if (r->config->is_following)
		txn_clear(r);
	else
		report_end(r, c);
	if (vclock_sum(&c->meta.vclock) < vclock_sum(&wal_vclock)) {
		r->result->has_prev_vclock = true;
		r->result->prev_vclock = c->meta.vclock;
	}
}

static int journal_read(struct recovery *r, struct xlog_cursor *c, int64_t signature)
{
	if (check_meta(c, XLOG_XLOG, signature) != 0) {
		if (forgive(r) != 0)
			return -1;
		wal_recovery_stat.skipped_files++;
		return 0;
	}
	if (check_gap(r, c) != 0)
		return -1;
	/* What was read before is not read again. */
	if (signature == r->result->position.signature)
		c->good_offset = r->result->position.offset;
	if (read_blocks(r, c, journal_block) != 0)
		return -1;
	end_journal(r, c, signature);
	return 0;
}

/** The descriptor of a journal that is kept open; -1: there is none. */
static int find_pin(const struct recovery *r, int64_t signature)
{
	if (signature == r->result->position.signature)
		return r->result->position.fd;
	for (size_t i = 0; r->pins != NULL && i < r->pinned->count; i++) {
		if (r->pinned->signature[i] == signature)
			return r->pins[i];
	}
	return -1;
}

/** Opens a journal; one that the other process has removed meanwhile, by its descriptor. */
static int open_journal(const struct recovery *r, struct xlog_cursor *c, const char *path,
			int64_t signature)
{
	if (xlog_cursor_open(c, path) == 0)
		return 0;
	int fd = find_pin(r, signature);
	if (fd < 0 || access(path, F_OK) == 0)
		return -1;
	char pinned[32];
	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", fd);
	return xlog_cursor_open(c, pinned);
}

/** Keeps the listed journals open, so that they can be read though the other process goes on. */
static void pin_journals(struct recovery *r, const struct xlog_list *journals)
{
	r->pins = xcalloc(journals->count + 1, sizeof(*r->pins));
	r->pinned = journals;
	for (size_t i = 0; i < journals->count; i++) {
		char *path = xlog_path(r->config->wal_dir, journals->signature[i], XLOG_XLOG);
		r->pins[i] = open(path, O_RDONLY | O_CLOEXEC);
		xfree(path);
	}
}

static void unpin_journals(struct recovery *r)
{
	for (size_t i = 0; r->pins != NULL && i < r->pinned->count; i++) {
		if (r->pins[i] >= 0)
			close(r->pins[i]);
	}
	xfree(r->pins);
}

static int recover_journal(struct recovery *r, int64_t signature, bool is_last)
{
	struct xlog_cursor c;
	char *path = xlog_path(r->config->wal_dir, signature, XLOG_XLOG);
	uint64_t blank_size = 0;
	bool is_new = signature != r->result->position.signature;
	if (is_new)
		say_info("recover from `%s'", path);
	int rc = open_journal(r, &c, path, signature);
	if (rc == 0) {
		r->path = c.path;
		rc = journal_read(r, &c, signature);
		xlog_cursor_close(&c);
	} else if (is_last && xlog_is_blank(path, &blank_size)) {
		if (!r->config->is_following) {
			wal_recovery_stat.dropped_bytes += blank_size;
			say_warn("%s: dropped %llu bytes: the file has no rows, nor a whole header",
				 path, (unsigned long long)blank_size);
		}
		diag_clear(diag_get());
		rc = 0;
	} else {
		rc = forgive(r);
		if (rc == 0)
			wal_recovery_stat.skipped_files++;
	}
	if (rc == 0 && is_new)
		say_info("done `%s'", path);
	xfree(path);
	return rc;
}

/** Index of the first journal that may have rows behind the snapshot. */
static size_t first_journal(const struct xlog_list *journals, int64_t signature)
{
	size_t i = 0;
	while (i + 1 < journals->count && journals->signature[i + 1] <= signature)
		i++;
	return i;
}

static int recover_journals(struct recovery *r, const struct xlog_list *journals)
{
	size_t i = first_journal(journals, vclock_sum(&wal_vclock));
	for (; i < journals->count; i++) {
		if (recover_journal(r, journals->signature[i], i + 1 == journals->count) != 0)
			return -1;
	}
	return 0;
}

/** Is there no older snapshot, or no journal that goes on from it? */
static bool is_newest_needed(const struct xlog_list *snapshots, const struct xlog_list *journals)
{
	return snapshots->count < 2 || journals->count == 0 ||
		journals->signature[0] > snapshots->signature[snapshots->count - 2];
}

static int64_t file_size(const char *dir, int64_t signature, enum xlog_type type)
{
	struct stat st;
	char *path = xlog_path(dir, signature, type);
	int64_t size = stat(path, &st) == 0 ? st.st_size : 0;
	xfree(path);
	return size;
}

/** Counts what there is to read. */
static void progress_begin(struct recovery *r, const struct xlog_list *snapshots,
			   const struct xlog_list *journals)
{
	struct progress *p = &r->progress;
	int64_t snapshot = snapshots->signature[snapshots->count - 1];
	p->bytes_total = file_size(r->config->memtx_dir, snapshot, XLOG_SNAP);
	for (size_t i = first_journal(journals, snapshot); i < journals->count; i++)
		p->bytes_total += file_size(r->config->wal_dir, journals->signature[i], XLOG_XLOG);
	p->started = p->reported = loop_monotonic();
}

static int recover_all(struct recovery *r, const struct xlog_list *snapshots,
		       const struct xlog_list *journals)
{
	if (snapshots->count == 0 && journals->count == 0)
		return 0;
	if (snapshots->count == 0) {
		say_error("directory '%s' has journals, but there is no snapshot in '%s': restore "
			  "one, or move the journals away to begin a new database",
			  r->config->wal_dir, r->config->memtx_dir);
		client_error(ER_MISSING_SNAPSHOT);
		return -1;
	}
	r->result->has_data = true;
	progress_begin(r, snapshots, journals);
	db_recover_begin(r->config->force_recovery);
	r->hint = is_newest_needed(snapshots, journals) ? hint : older_hint;
	if (recover_snapshot(r, snapshots->signature[snapshots->count - 1]) != 0)
		return -1;
	wal_tell_state("snapshot_recovered");
	r->hint = hint;
	if (recover_journals(r, journals) != 0)
		return -1;
	if (db_recover_end() == 0)
		return 0;
	if (!error_is(diag_last(), &type_OutOfMemory))
		return -1;
	r->path = r->config->memtx_dir;
	return fail_for_memory(r, "build secondary indexes");
}

static void recovery_end(struct recovery *r)
{
	region_destroy(&r->region);
	xfree(r->rows);
}

int recovery_run(const struct recovery_config *config, struct recovery_result *result)
{
	struct recovery r = {.config = config, .result = result};
	struct xlog_list snapshots, journals;
	memset(result, 0, sizeof(*result));
	result->position.signature = result->position.fd = -1;
	memset(&wal_recovery_stat, 0, sizeof(wal_recovery_stat));
	vclock_create(&wal_vclock);
	if (xlog_list_read(&snapshots, config->memtx_dir, XLOG_SNAP) != 0)
		return -1;
	if (xlog_list_read(&journals, config->wal_dir, XLOG_XLOG) != 0) {
		xlog_list_free(&snapshots);
		return -1;
	}
	region_create(&r.region);
	if (config->is_following)
		pin_journals(&r, &journals);
	int rc = recover_all(&r, &snapshots, &journals);
	unpin_journals(&r);
	if (rc != 0)
		db_recover_abort();
	recovery_end(&r);
	xlog_list_free(&snapshots);
	xlog_list_free(&journals);
	return rc;
}

int recovery_follow(const struct recovery_config *config, struct recovery_result *result)
{
	struct recovery r = {.config = config, .result = result, .hint = hint};
	struct xlog_list journals;
	if (xlog_list_read(&journals, config->wal_dir, XLOG_XLOG) != 0)
		return -1;
	size_t i = 0;
	while (i < journals.count && journals.signature[i] < result->position.signature)
		i++;
	/* Those behind the snapshot, where no journal was there yet. */
	if (result->position.signature < 0)
		i = first_journal(&journals, vclock_sum(&wal_vclock));
	region_create(&r.region);
	int rc = 0;
	/* Removed since, but not by us: its last rows come before those of the next. */
	if (result->position.fd >= 0 &&
	    (i == journals.count || journals.signature[i] != result->position.signature))
		rc = recover_journal(&r, result->position.signature, i == journals.count);
	for (; rc == 0 && i < journals.count; i++)
		rc = recover_journal(&r, journals.signature[i], i + 1 == journals.count);
	recovery_end(&r);
	xlog_list_free(&journals);
	return rc;
}
