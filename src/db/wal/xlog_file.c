/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writing journal and snapshot files. A file is made under an unfinished name
 * and gets its own when its header (a journal) or all of it (a snapshot) is
 * there. After a failed write it is cut back to the last good offset, so that
 * nothing of what was reported as failed can come back at recovery.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "core/diag.h"
#include "core/memory.h"
#include "core/sys.h"
#include "db/wal/xlog.h"

static char *unfinished_path(const char *path)
{
	return xasprintf("%s" XLOG_INPROGRESS, path);
}

/** Takes back what a failed write left. Keeps errno. */
static int file_cut(struct xlog_file *f)
{
	int saved_errno = errno;
	int rc = sys->ftruncate(f->fd, f->offset);
	f->is_dirty = rc != 0;
	if (rc == 0)
		errno = saved_errno;
	return rc;
}

static int file_write(struct xlog_file *f, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = sys->write(f->fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		data += n;
		size -= n;
	}
	return 0;
}

int xlog_file_append(struct xlog_file *f, const char *data, size_t size, bool sync)
{
	assert(xlog_file_is_open(f));
	if (f->is_dirty && file_cut(f) != 0) {
		diag_set_errno(SystemError, "%s: can't cut off a failed write", f->path);
		return -1;
	}
	if (file_write(f, data, size) != 0 || (sync && sys->fdatasync(f->fd) != 0)) {
		file_cut(f);
		diag_set_errno(SystemError, "%s: can't write %zu bytes at offset %lld", f->path,
			       size, (long long)f->offset);
		return -1;
	}
	f->offset += size;
	return 0;
}

int xlog_file_create(struct xlog_file *f, const char *path, const struct xlog_meta *meta)
{
	char *unfinished = unfinished_path(path);
	/* Appending: a file that is cut back is written on from its new end. */
	f->fd = sys->open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	f->offset = 0;
	f->is_dirty = false;
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
	f->is_dirty = false;
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

int xlog_file_close(struct xlog_file *f, bool sync)
{
	int rc = xlog_file_append(f, xlog_marker, XLOG_MARKER_SIZE, sync);
	sys->close(f->fd);
	file_forget(f);
	return rc;
}

int xlog_file_end(struct xlog_file *f)
{
	if (xlog_file_append(f, xlog_marker, XLOG_MARKER_SIZE, false) != 0)
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
