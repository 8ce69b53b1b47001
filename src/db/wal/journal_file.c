/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file that the journal writes to at present: made with the first batch, named
 * after the state it begins at, and closed when it is large enough or a snapshot
 * begins. A clean stop leaves a file that begins at the last state: it tells the next
 * start that those before it hold no more than that.
 */
#include "db/wal/journal_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "db/wal/wal_int.h"

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

static int journal_file_begin(struct journal_file *f)
{
	/* Not one that is moved aside now. */
	if (f->has_vclock && vclock_compare(&f->vclock, &wal_vclock) != 0) {
		f->has_prev_vclock = true;
		f->prev_vclock = f->vclock;
	}
	struct xlog_meta meta = {
		.type = XLOG_XLOG,
		.instance_uuid = instance_uuid,
		.vclock = wal_vclock,
		.has_prev_vclock = f->has_prev_vclock,
		.prev_vclock = f->prev_vclock,
	};
	char *path = xlog_path(f->dir, vclock_sum(&wal_vclock), XLOG_XLOG);
	int rc = move_aside(path);
	if (rc == 0)
		rc = xlog_file_create(&f->file, path, &meta);
	xfree(path);
	if (rc != 0)
		return -1;
	if (xlog_file_publish(&f->file, f->is_synced) != 0) {
		xlog_file_discard(&f->file);
		return -1;
	}
	f->vclock = wal_vclock;
	f->has_vclock = true;
	return 0;
}

/** Syncs and closes a descriptor. */
static int sync_fd(void *arg)
{
	int fd = (int)(intptr_t)arg;
	if (sys->fdatasync(fd) != 0)
		say_syserror("can't sync a journal file that is full");
	sys->close(fd);
	return 0;
}

static void sync_done(void *arg, int result)
{
	(void)arg;
	(void)result;
}

int journal_file_end(struct journal_file *f)
{
	if (!xlog_file_is_open(&f->file))
		return 0;
	/* The next file's rows have the numbers of those that failed. */
	if (xlog_file_mend(&f->file, f->is_synced) != 0)
		return -1;
	if (f->is_synced) {
		if (xlog_file_close(&f->file, true) != 0)
			diag_log();
		return 0;
	}
	/* A loss of power may cost the newest file's end, and no other's: they follow it. */
	void *fd = (void *)(intptr_t)xlog_file_end(&f->file);
	if (fiber_is_tx())
		worker_post(sync_fd, fd, sync_done);
	else
		sync_fd(fd);
	return 0;
}

/** Is there a file that begins at wal_vclock? */
static bool has_newest(const struct journal_file *f)
{
	struct stat st;
	char *path = xlog_path(f->dir, vclock_sum(&wal_vclock), XLOG_XLOG);
	bool yesno = stat(path, &st) == 0;
	xfree(path);
	return yesno;
}

void journal_file_close(struct journal_file *f)
{
	if (!xlog_file_is_open(&f->file) && !has_newest(f) && journal_file_begin(f) != 0)
		diag_log();
	if (xlog_file_is_open(&f->file) && xlog_file_close(&f->file, f->is_synced) != 0)
		diag_log();
}

/** Makes the file, or one behind it, ready for a write. */
static int journal_file_prepare(struct journal_file *f)
{
	if (xlog_file_is_open(&f->file)) {
		if (xlog_file_mend(&f->file, f->is_synced) != 0)
			return -1;
		if (!f->file.is_ended)
			return 0;
		say_warn("'%s' takes no more rows: a write that failed could not be cut off",
			 f->file.path);
		if (journal_file_end(f) != 0)
			return -1;
	}
	return journal_file_begin(f);
}

static int try_append(struct journal_file *f, const struct buf *data)
{
	if (journal_file_prepare(f) != 0)
		return -1;
	return xlog_file_append(&f->file, data->data, data->size, f->is_synced);
}

/** Has the last call failed for the lack of room? */
static bool is_disk_full(void)
{
	int error = diag_last()->saved_errno;
	return error == ENOSPC || error == EDQUOT;
}

int journal_file_append(struct journal_file *f, const struct buf *data)
{
	int rc;
	do {
		rc = try_append(f, data);
	} while (rc != 0 && is_disk_full() && gc_make_room());
	return rc;
}
