/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Old files: after a checkpoint, snapshots beyond those that are kept go, with the
 * journals that only they need. A backup holds its snapshot and all that comes
 * behind; after a start, journals may be held for a while, for other instances. Where
 * the disk is full, journals that the newest snapshot does not need go earlier.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "db/error.h"
#include "db/wal/wal_int.h"

static struct {
	/** Borrowed while the instance runs, else NULL. */
	const char *memtx_dir, *wal_dir;
	int keep_count;
	/** The snapshot that a backup is made of; -1: none is. Set by tx under the lock. */
	int64_t backup;
	/** Held while room is made, which a worker may do. */
	pthread_mutex_t lock;
	/** Seconds after the start in which journals stay, where there are other instances. */
	double delay;
	/** By the loop's clock. */
	double start;
	/** One runs, and whether another is wanted. */
	bool is_running, is_wanted;
	/** A fiber waits for the end of the delay. */
	bool is_waiting;
	/** Signalled when the delay is changed, and at the end. */
	struct fiber_cond changed;
} gc = {.keep_count = 2, .backup = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/** What the worker needs to know. */
struct gc_task {
	const char *memtx_dir, *wal_dir;
	size_t keep;
	int64_t backup;
	bool keep_journals;
};

/* The worker ---------------------------------------------------------- */

static int remove_file(const char *dir, int64_t signature, enum xlog_type type)
{
	char *path = xlog_path(dir, signature, type);
	int rc = sys->unlink(path) == 0 || errno == ENOENT ? 0 : -1;
	if (rc != 0)
		say_syserror("can't remove '%s'", path);
	else
		say_info("removed %s", path);
	xfree(path);
	return rc;
}

static void remove_files(const char *dir, const struct xlog_list *list, size_t count,
			 enum xlog_type type)
{
	for (size_t i = 0; i < count; i++)
		remove_file(dir, list->signature[i], type);
}

/** How many of the oldest journals hold nothing that comes after `signature`. */
static size_t count_obsolete_journals(const struct xlog_list *journals, int64_t signature)
{
	size_t count = 0;
	while (count + 1 < journals->count && journals->signature[count + 1] <= signature)
		count++;
	return count;
}

/** How many of the oldest snapshots nobody needs. */
static size_t count_obsolete_snapshots(const struct xlog_list *snapshots,
				       const struct gc_task *task)
{
	size_t count = snapshots->count > task->keep ? snapshots->count - task->keep : 0;
	while (task->backup >= 0 && count > 0 && snapshots->signature[count - 1] >= task->backup)
		count--;
	return count;
}

/** Runs in a worker: removing large files takes its time. */
static int collect(void *arg)
{
	const struct gc_task *task = arg;
	struct xlog_list snapshots, journals;
	if (xlog_list_read(&snapshots, task->memtx_dir, XLOG_SNAP) != 0)
		return -1;
	if (xlog_list_read(&journals, task->wal_dir, XLOG_XLOG) != 0) {
		xlog_list_free(&snapshots);
		return -1;
	}
	size_t count = count_obsolete_snapshots(&snapshots, task);
	if (count < snapshots.count && !task->keep_journals)
		remove_files(task->wal_dir, &journals,
			     count_obsolete_journals(&journals, snapshots.signature[count]),
			     XLOG_XLOG);
	remove_files(task->memtx_dir, &snapshots, count, XLOG_SNAP);
	xlog_list_free(&snapshots);
	xlog_list_free(&journals);
	return 0;
}

/* A full disk --------------------------------------------------------- */

/** Removes the oldest journal where neither the newest snapshot nor a backup needs it. */
static bool remove_oldest(const struct xlog_list *snapshots, const struct xlog_list *journals)
{
	if (snapshots->count == 0)
		return false;
	int64_t needed = snapshots->signature[snapshots->count - 1];
	if (gc.backup >= 0 && gc.backup < needed)
		needed = gc.backup;
	if (count_obsolete_journals(journals, needed) == 0)
		return false;
	say_crit("ran out of disk space, try to delete old WAL files");
	return remove_file(gc.wal_dir, journals->signature[0], XLOG_XLOG) == 0;
}

static bool make_room(void)
{
	struct xlog_list snapshots, journals;
	if (gc.memtx_dir == NULL || xlog_list_read(&snapshots, gc.memtx_dir, XLOG_SNAP) != 0)
		return false;
	bool is_removed = false;
	if (xlog_list_read(&journals, gc.wal_dir, XLOG_XLOG) == 0) {
		is_removed = remove_oldest(&snapshots, &journals);
		xlog_list_free(&journals);
	}
	xlog_list_free(&snapshots);
	return is_removed;
}

bool gc_make_room(void)
{
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	pthread_mutex_lock(&gc.lock);
	bool is_removed = make_room();
	pthread_mutex_unlock(&gc.lock);
	diag_move(&saved, diag_get());
	return is_removed;
}

/* The face ------------------------------------------------------------ */

bool gc_is_paused(void)
{
	return gc.memtx_dir != NULL && gc.delay > 0 && bootstrap_has_others() &&
	       loop_monotonic() < gc.start + gc.delay;
}

/** Collects what was kept until now. */
static int wait_func(va_list args)
{
	(void)args;
	fiber_set_cancellable(false);
	while (gc_is_paused()) {
		double left = gc.start + gc.delay - loop_monotonic();
		if (fiber_cond_wait_timeout(&gc.changed, left) != 0)
			diag_clear(diag_get());
	}
	gc.is_waiting = false;
	gc_run();
	return 0;
}

/** Journals stay for now: somebody has to come back for them. */
static void wait_for_delay(void)
{
	if (gc.is_waiting)
		return;
	struct fiber *f = fiber_new("gc", wait_func);
	if (f == NULL) {
		diag_log();
		return;
	}
	f->flags |= FIBER_IS_SYSTEM;
	gc.is_waiting = true;
	fiber_wakeup(f);
}

void gc_run(void)
{
	gc.is_wanted = true;
	if (gc.is_running)
		return;
	gc.is_running = true;
	while (gc.is_wanted && gc.memtx_dir != NULL) {
		gc.is_wanted = false;
		struct gc_task task = {
			.memtx_dir = gc.memtx_dir,
			.wal_dir = gc.wal_dir,
			.keep = gc.keep_count,
			.backup = gc.backup,
			.keep_journals = gc_is_paused(),
		};
		if (task.keep_journals)
			wait_for_delay();
		if (worker_call(collect, &task) != 0)
			diag_log();
	}
	gc.is_running = false;
}

/** The signature of a snapshot by its place from the newest, -1 where there is none. */
static int64_t find_snapshot(uint32_t back)
{
	struct xlog_list list;
	if (xlog_list_read(&list, gc.memtx_dir, XLOG_SNAP) != 0)
		return -1;
	int64_t signature = back < list.count ? list.signature[list.count - 1 - back] : -1;
	xlog_list_free(&list);
	if (signature < 0)
		client_error(ER_MISSING_SNAPSHOT);
	return signature;
}

char *backup_start(uint32_t back)
{
	if (gc.memtx_dir == NULL) {
		client_error(ER_LOADING);
		return NULL;
	}
	if (gc.backup >= 0) {
		client_error(ER_BACKUP_IN_PROGRESS);
		return NULL;
	}
	pthread_mutex_lock(&gc.lock);
	gc.backup = find_snapshot(back);
	pthread_mutex_unlock(&gc.lock);
	return gc.backup < 0 ? NULL : xlog_path(gc.memtx_dir, gc.backup, XLOG_SNAP);
}

void backup_stop(void)
{
	if (gc.backup < 0)
		return;
	pthread_mutex_lock(&gc.lock);
	gc.backup = -1;
	pthread_mutex_unlock(&gc.lock);
	gc_run();
}

int64_t backup_signature(void)
{
	return gc.backup;
}

void checkpoint_set_count(int count)
{
	gc.keep_count = count > 0 ? count : 1;
}

void gc_set_delay(double seconds)
{
	gc.delay = seconds;
	if (gc.is_waiting)
		fiber_cond_broadcast(&gc.changed);
}

void gc_start(const char *memtx_dir, const char *wal_dir)
{
	assert(gc.memtx_dir == NULL);
	gc.memtx_dir = memtx_dir;
	gc.wal_dir = wal_dir;
	gc.backup = -1;
	gc.start = loop_monotonic();
	if (!gc.is_waiting)
		fiber_cond_create(&gc.changed);
}

void gc_stop(void)
{
	gc.memtx_dir = gc.wal_dir = NULL;
	if (gc.is_waiting)
		fiber_cond_broadcast(&gc.changed);
}
