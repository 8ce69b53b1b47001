/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checkpoints: a snapshot of all memtx spaces, written by a worker thread from
 * frozen views while tx goes on.
 *
 *     tx:      freeze views, note the vclock -> journal_rotate() -> wait -> drop views, collect
 *     worker:                                                       write
 *
 * The views hold what is in memory, so also transactions that are on their way
 * to the journal. journal_rotate() waits for them; where one fails, what was
 * frozen is wrong and the checkpoint fails, too.
 *
 * The file gets its name when it is whole and synced, so that every .snap there
 * is can be trusted; then older ones go (gc.c).
 */
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/sequence.h"
#include "db/schema/space.h"
#include "db/schema/space_build.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "db/wal/wal_int.h"
#include "db/wal/xlog_packer.h"

enum {
	/** Higher levels take longer, and blocks of rows do not get smaller by them. */
	SNAP_ZSTD_LEVEL = 1,
	/** Of a row beside its tuple. */
	SNAP_ROW_HEADER_MAX = 64,
	/** Rows between two looks at the flag that asks the worker to stop. */
	CHECK_STOP_ROWS = 1024,
};

struct view {
	uint32_t space_id;
	bool is_local;
	struct iterator *it;
};

struct checkpoint {
	struct xlog_meta meta;
	/** In order of space ids. */
	struct view *views;
	size_t count, capacity;
	char *path;
	double tm;
	/* The worker's. */
	/** When it began, by the monotonic clock. */
	double start;
	struct xlog_file file;
	struct xlog_packer *packer;
	uint64_t lsn;
};

static struct {
	/** Borrowed while the instance runs, else NULL. */
	const char *memtx_dir;
	bool is_running;
	/** Bytes that may be written in a second; 0: any number. */
	_Atomic double rate_limit;
	/** Asks the worker to give up. */
	atomic_bool stop;
	/** The newest snapshot's vclock. */
	bool has_last;
	struct vclock last;
	/** Who waits for the end of the one that runs, or NULL. */
	struct fiber *waiter;
} state;

/* The worker: writing ------------------------------------------------- */

static void put_row(struct checkpoint *c, const struct view *view, const struct tuple *tuple)
{
	uint32_t size;
	const char *data = tuple_data_range(tuple, &size);
	struct buf *rows = xlog_packer_rows(c->packer);
	char *begin = buf_reserve(rows, SNAP_ROW_HEADER_MAX + size);
	char *p = mp_encode_map(begin, 2 + (c->lsn != 0) + view->is_local);
	p = mp_encode_uint(p, IPROTO_REQUEST_TYPE);
	p = mp_encode_uint(p, IPROTO_INSERT);
	if (view->is_local) {
		p = mp_encode_uint(p, IPROTO_GROUP_ID);
		p = mp_encode_uint(p, GROUP_LOCAL);
	}
	if (c->lsn != 0) {
		p = mp_encode_uint(p, IPROTO_LSN);
		p = mp_encode_uint(p, c->lsn);
	}
	p = mp_encode_uint(p, IPROTO_TIMESTAMP);
	p = mp_encode_double(p, c->tm);
	p = mp_encode_map(p, 2);
	p = mp_encode_uint(p, IPROTO_SPACE_ID);
	p = mp_encode_uint(p, view->space_id);
	p = mp_encode_uint(p, IPROTO_TUPLE);
	memcpy(p, data, size);
	rows->size += p + size - begin;
	c->lsn++;
}

static bool is_asked_to_stop(void)
{
	return atomic_load_explicit(&state.stop, memory_order_relaxed);
}

/** Waits until what was written is no more than the limit allows. */
static void keep_rate(struct checkpoint *c)
{
	/* A change of the limit, or the end, takes effect within so many seconds. */
	const double slice = 0.1;
	double limit;
	while ((limit = state.rate_limit) > 0 && !is_asked_to_stop()) {
		double early = c->file.offset / limit - (clock_monotonic() - c->start);
		if (early <= 0)
			break;
		early = early < slice ? early : slice;
		struct timespec ts = {.tv_nsec = (long)(early * 1e9)};
		nanosleep(&ts, NULL);
	}
}

static int write_view(struct checkpoint *c, struct view *view)
{
	struct tuple *tuple;
	int rc;
	while ((rc = view->it->next(view->it, &tuple)) == 0 && tuple != NULL) {
		put_row(c, view, tuple);
		if (xlog_packer_size(c->packer) >= XLOG_SNAP_BLOCK_SIZE) {
			if (xlog_packer_next(c->packer, &c->file) != 0)
				return -1;
			keep_rate(c);
		}
		if (c->lsn % CHECK_STOP_ROWS == 0 && is_asked_to_stop()) {
			diag_set(FiberIsCancelled, "the instance stops");
			return -1;
		}
	}
	return rc;
}

static int write_all(struct checkpoint *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (write_view(c, &c->views[i]) != 0)
			return -1;
	}
	return xlog_packer_finish(c->packer, &c->file);
}

static int write_file(void *arg)
{
	struct checkpoint *c = arg;
	say_info("saving snapshot `%s" XLOG_INPROGRESS "'", c->path);
	c->start = clock_monotonic();
	if (xlog_file_create(&c->file, c->path, &c->meta) != 0)
		return -1;
	c->packer = xlog_packer_new(SNAP_ZSTD_LEVEL);
	int rc = write_all(c);
	xlog_packer_delete(c->packer);
	if (rc != 0)
		xlog_file_discard(&c->file);
	else
		rc = xlog_file_finish(&c->file);
	if (rc == 0)
		say_info("done");
	return rc;
}

/* tx: views ----------------------------------------------------------- */

static int add_view(struct space *space, void *arg)
{
	struct checkpoint *c = arg;
	const struct space_def *def = space->def;
	if (def->is_temporary || space->index_count == 0 || strcmp(def->engine_name, "memtx") != 0)
		return 0;
	struct index *pk = space->index[0];
	struct iterator *it = pk->vtab->frozen_view(pk);
	if (it == NULL)
		return -1;
	if (c->count == c->capacity) {
		c->capacity = c->capacity == 0 ? 32 : c->capacity * 2;
		c->views = xrealloc(c->views, c->capacity * sizeof(*c->views));
	}
	c->views[c->count++] = (struct view){
		.space_id = def->id, .is_local = def->is_local, .it = it,
	};
	return 0;
}

static void close_views(struct checkpoint *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->views[i].it->free(c->views[i].it);
	xfree(c->views);
	xfree(c->path);
	tuple_read_view_close();
}

static int open_views(struct checkpoint *c, const struct vclock *vclock)
{
	memset(c, 0, sizeof(*c));
	c->meta.type = XLOG_SNAP;
	c->meta.instance_uuid = instance_uuid;
	c->meta.vclock = *vclock;
	c->file = (struct xlog_file)XLOG_FILE_CLOSED;
	c->path = xlog_path(state.memtx_dir, vclock_sum(vclock), XLOG_SNAP);
	c->tm = loop_time();
	tuple_read_view_open();
	if (space_foreach(add_view, c) == 0)
		return 0;
	close_views(c);
	return -1;
}

/* The face ------------------------------------------------------------ */

int checkpoint_first(void)
{
	struct checkpoint c;
	if (open_views(&c, &wal_vclock) != 0)
		return -1;
	int rc = write_file(&c);
	if (rc == 0)
		checkpoint_note(&c.meta.vclock);
	close_views(&c);
	return rc;
}

/** Views, journal, file: in this order. */
static int checkpoint_run(void)
{
	/* This may yield; from here to the freezing of the views nothing does. */
	if (sequence_flush() != 0)
		return -1;
	/* The row of an index that is being built need not stay. */
	if (space_builds_wait() != 0)
		return -1;
	const struct vclock vclock = journal_vclock();
	if (state.has_last && vclock_compare(&state.last, &vclock) == 0)
		return 0;
	struct checkpoint c;
	uint64_t bytes = journal_bytes();
	if (open_views(&c, &vclock) != 0)
		return -1;
	int rc = journal_rotate();
	if (rc == 0)
		rc = worker_call(write_file, &c);
	if (rc == 0) {
		checkpoint_note(&c.meta.vclock);
		journal_note_checkpoint(bytes);
	}
	close_views(&c);
	if (rc == 0)
		gc_run();
	return rc;
}

bool checkpoint_is_running(void)
{
	return state.is_running;
}

int checkpoint_make(void)
{
	if (state.memtx_dir == NULL) {
		client_error(ER_LOADING);
		return -1;
	}
	if (state.is_running) {
		client_error(ER_CHECKPOINT_IN_PROGRESS);
		return -1;
	}
	if (fiber_may_yield() != 0)
		return -1;
	state.is_running = true;
	/* An open transaction must not be in the snapshot: a yield undoes it. */
	if (txn_current() != NULL)
		fiber_reschedule();
	int rc = checkpoint_run();
	state.is_running = false;
	if (state.waiter != NULL)
		fiber_wakeup(state.waiter);
	return rc;
}

void checkpoint_set_rate_limit(double bytes_per_second)
{
	state.rate_limit = bytes_per_second;
}

void checkpoint_note(const struct vclock *vclock)
{
	state.last = *vclock;
	state.has_last = true;
}

void checkpoint_start(const char *memtx_dir, const char *wal_dir)
{
	assert(state.memtx_dir == NULL);
	state.memtx_dir = memtx_dir;
	gc_start(memtx_dir, wal_dir);
	state.has_last = false;
	atomic_store(&state.stop, false);
}

void checkpoint_stop(void)
{
	atomic_store(&state.stop, true);
	state.waiter = fiber();
	while (state.is_running)
		fiber_yield();
	state.waiter = NULL;
	state.memtx_dir = NULL;
	gc_stop();
}
