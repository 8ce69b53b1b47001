/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writing journal and snapshot files. A file is made under an unfinished name
 * and gets its own when its header (a journal) or all of it (a snapshot) is
 * there. After a failed write it is cut back to the last good offset, so that
 * nothing of what was reported as failed can come back at recovery. Where it can't be
 * cut, the failed write is written over and the file takes nothing any more.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/sys.h"
#include "db/wal/xlog.h"

static char *unfinished_path(const char *path)
{
	return xasprintf("%s" XLOG_INPROGRESS, path);
}

static int file_write(struct xlog_file *f, const char *data, size_t size)
{
	off_t offset = f->offset;
	while (size > 0) {
		ssize_t n = sys->pwrite(f->fd, data, size, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		data += n;
		offset += n;
		size -= n;
	}
	return 0;
}

/**
 * Makes what is behind the good offset read like a write that was torn: the head of a block
 * that would be longer than the file, and zeros. No other block can be found there then.
 */
static int file_blot(struct xlog_file *f)
{
	struct stat st;
	if (sys->fstat(f->fd, &st) != 0)
		return -1;
	if (st.st_size <= f->offset)
		return 0;
	size_t size = st.st_size - f->offset;
	struct buf tail = BUF_INIT;
	xlog_block_put_torn(&tail, size);
	int rc = file_write(f, tail.data, size);
	buf_free(&tail);
	f->is_ended = f->is_ended || rc == 0;
	return rc;
}

/**
 * Takes back what a failed write left: cuts it off or, where that fails, too, writes over it
 * and ends the file. With `sync`, waits for the device. -1: errno says why.
 */
static int file_mend(struct xlog_file *f, bool sync)
{
	int rc = sys->ftruncate(f->fd, f->offset);
	if (rc != 0)
		rc = file_blot(f);
	if (rc == 0 && sync)
		rc = sys->fdatasync(f->fd);
	f->is_dirty = rc != 0;
	return rc;
}

int xlog_file_mend(struct xlog_file *f, bool sync)
{
	if (!f->is_dirty || file_mend(f, sync) == 0)
		return 0;
	diag_set_errno(SystemError, "%s: can't take back a write that failed at offset %lld",
		       f->path, (long long)f->offset);
	return -1;
}

int xlog_file_append(struct xlog_file *f, const char *data, size_t size, bool sync)
{
	assert(xlog_file_is_open(f) && !f->is_dirty && !f->is_ended);
	if (file_write(f, data, size) == 0 && (!sync || sys->fdatasync(f->fd) == 0)) {
		f->offset += size;
		return 0;
	}
	diag_set_errno(SystemError, "%s: can't write %zu bytes at offset %lld", f->path, size,
		       (long long)f->offset);
	f->is_dirty = true;
	if (file_mend(f, sync) != 0)
		say_syserror("%s: can't take back a write that failed at offset %lld: until that is "
			     "done, a restart may find it", f->path, (long long)f->offset);
	return -1;
}

int xlog_file_create(struct xlog_file *f, const char *path, const struct xlog_meta *meta)
{
	char *unfinished = unfinished_path(path);
	f->fd = sys->open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	f->offset = 0;
	f->is_dirty = f->is_ended = false;
	if (f->fd < 0) {
		diag_set_errno(SystemError, "failed to create '%s'", unfinished);
		f->fd = -1;
		xfree(unfinished);
		return -1;
	}
	xfree(unfinished);
	f->path = xstrdup(path);
	struct buf header = BUF_INIT;
	xlog_meta_encode(meta, &header);
	int rc = xlog_file_append(f, header.data, header.size, false);
	buf_free(&header);
	if (rc != 0)
		xlog_file_discard(f);
	return rc;
}

static void file_forget(struct xlog_file *f)
{
	xfree(f->path);
	f->path = NULL;
	f->fd = -1;
	f->offset = 0;
	f->is_dirty = f->is_ended = false;
}

void xlog_file_discard(struct xlog_file *f)
{
	char *unfinished = unfinished_path(f->path);
	sys->close(f->fd);
	sys->unlink(unfinished);
	xfree(unfinished);
	file_forget(f);
}

int xlog_file_publish(struct xlog_file *f, bool sync)
{
	char *unfinished = unfinished_path(f->path);
	int rc = -1;
	if (sync && sys->fsync(f->fd) != 0)
		diag_set_errno(SystemError, "failed to sync '%s'", unfinished);
	else if (sys->rename(unfinished, f->path) != 0)
		diag_set_errno(SystemError, "failed to rename '%s'", unfinished);
	else if (!sync || xlog_dir_sync(f->path) == 0)
		rc = 0;
	xfree(unfinished);
	return rc;
}

/** Writes the end marker, where the file can take it. */
static int file_mark_end(struct xlog_file *f, bool sync)
{
	if (xlog_file_mend(f, sync) != 0)
		return -1;
	return f->is_ended ? 0 : xlog_file_append(f, xlog_marker, XLOG_MARKER_SIZE, sync);
}

int xlog_file_close(struct xlog_file *f, bool sync)
{
	int rc = file_mark_end(f, sync);
	sys->close(f->fd);
	file_forget(f);
	return rc;
}

int xlog_file_end(struct xlog_file *f)
{
	if (file_mark_end(f, false) != 0)
		diag_log();
	int fd = f->fd;
	file_forget(f);
	return fd;
}

int xlog_file_finish(struct xlog_file *f)
{
	if (xlog_file_append(f, xlog_marker, XLOG_MARKER_SIZE, false) != 0 ||
	    xlog_file_publish(f, true) != 0) {
		xlog_file_discard(f);
		return -1;
	}
	sys->close(f->fd);
	file_forget(f);
	return 0;
}

int xlog_dir_sync(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == NULL ? xstrdup(".") :
		    slash == path ? xstrdup("/") : xstrndup(path, slash - path);
	int fd = sys->open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	int rc = fd < 0 ? -1 : sys->fsync(fd);
	if (rc != 0)
		diag_set_errno(SystemError, "failed to sync directory '%s'", dir);
	if (fd >= 0)
		sys->close(fd);
	xfree(dir);
	return rc;
}
