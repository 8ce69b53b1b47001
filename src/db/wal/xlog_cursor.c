/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reading journal and snapshot files.
 *
 * What is read is not trusted: every length is compared with the size of the
 * file before memory is taken, every block has its checksum.
 *
 * A block that can't be read is either the torn end of a last write, or damage.
 * It is damage where a whole block, or an end marker that ends the file, stands
 * anywhere behind it: a last write that was cut has nothing behind it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "core/memory.h"
#include "core/region.h"
#include "core/sys.h"
#include "db/error.h"
#include "db/wal/xlog.h"

enum { XLOG_READ_SIZE = 1024 * 1024 };

/**
 * Makes `size` bytes at `offset` available at once. The range is inside the file
 * as it was when opened. NULL with SystemError or XlogError.
 */
static const char *cursor_map(struct xlog_cursor *c, off_t offset, size_t size)
{
	assert(offset >= 0 && offset + (off_t)size <= c->file_size);
	off_t in_end = c->_in_offset + (off_t)c->_in.size;
	if (offset >= c->_in_offset && offset + (off_t)size <= in_end)
		return c->_in.data + (offset - c->_in_offset);
	if (offset < c->_in_offset || offset >= in_end)
		buf_truncate(&c->_in, 0);
	else
		buf_consume(&c->_in, offset - c->_in_offset);
	c->_in_offset = offset;
	size_t want = size > XLOG_READ_SIZE ? size : XLOG_READ_SIZE;
	if ((off_t)want > c->file_size - offset)
		want = c->file_size - offset;
	while (c->_in.size < want) {
		size_t room = want - c->_in.size;
		ssize_t n = sys->pread(c->_fd, buf_reserve(&c->_in, room), room,
				       offset + (off_t)c->_in.size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			diag_set_errno(SystemError, "%s: can't read at offset %lld", c->path,
				       (long long)offset);
			return NULL;
		}
		if (n == 0) {
			diag_set(XlogError, "%s: the file became shorter while it was read",
				 c->path);
			return NULL;
		}
		c->_in.size += n;
	}
	return c->_in.data;
}

static int cursor_read_meta(struct xlog_cursor *c)
{
	if (c->file_size == 0) {
		diag_set(XlogError, "%s: the file is empty", c->path);
		return -1;
	}
	size_t size = c->file_size < XLOG_META_SIZE_MAX ? c->file_size : XLOG_META_SIZE_MAX;
	const char *data = cursor_map(c, 0, size);
	if (data == NULL)
		return -1;
	const char *reason;
	ssize_t header = xlog_meta_parse(&c->meta, data, size, &reason);
	if (header < 0) {
		diag_set(XlogError, "%s: %s", c->path, reason);
		return -1;
	}
	c->good_offset = header;
	return 0;
}

int xlog_cursor_open(struct xlog_cursor *c, const char *path)
{
	memset(c, 0, sizeof(*c));
	c->_fd = sys->open(path, O_RDONLY | O_CLOEXEC, 0);
	if (c->_fd < 0) {
		diag_set_errno(SystemError, "failed to open '%s'", path);
		return -1;
	}
	c->path = xstrdup(path);
	struct stat st;
	if (sys->fstat(c->_fd, &st) != 0) {
		diag_set_errno(SystemError, "failed to stat '%s'", path);
		goto fail;
	}
	c->file_size = st.st_size;
	if (cursor_read_meta(c) != 0)
		goto fail;
	return 0;
fail:
	xlog_cursor_close(c);
	return -1;
}

int xlog_cursor_pin(const struct xlog_cursor *c)
{
	return fcntl(c->_fd, F_DUPFD_CLOEXEC, 0);
}

void xlog_cursor_close(struct xlog_cursor *c)
{
	sys->close(c->_fd);
	c->_fd = -1;
	xfree(c->path);
	buf_free(&c->_in);
	buf_free(&c->_raw);
}

enum block_result { BLOCK_OK, BLOCK_BAD, BLOCK_IO_ERROR };

/** Reads the fixed header at `offset` and maps the whole block. */
static enum block_result block_map(struct xlog_cursor *c, off_t offset, struct xlog_block *block,
				   const char **data)
{
	off_t left = c->file_size - offset;
	if (left < XLOG_FIXHEADER_SIZE) {
		c->reason = "the file ends inside a block's header";
		return BLOCK_BAD;
	}
	const char *p = cursor_map(c, offset, XLOG_FIXHEADER_SIZE);
	if (p == NULL)
		return BLOCK_IO_ERROR;
	c->reason = xlog_block_parse(block, p);
	if (c->reason != NULL)
		return BLOCK_BAD;
	if (block->size > (uint64_t)(left - XLOG_FIXHEADER_SIZE)) {
		c->reason = "the file ends inside a block";
		return BLOCK_BAD;
	}
	p = cursor_map(c, offset, XLOG_FIXHEADER_SIZE + block->size);
	if (p == NULL)
		return BLOCK_IO_ERROR;
	*data = p + XLOG_FIXHEADER_SIZE;
	return BLOCK_OK;
}

static enum block_result block_read(struct xlog_cursor *c, off_t offset)
{
	struct xlog_block block;
	const char *data;
	enum block_result rc = block_map(c, offset, &block, &data);
	if (rc != BLOCK_OK)
		return rc;
	const char *rows;
	size_t rows_size;
	c->reason = xlog_block_unpack(&block, data, &c->_raw, &rows, &rows_size);
	if (c->reason != NULL)
		return BLOCK_BAD;
	c->_row = rows;
	c->_row_end = rows + rows_size;
	c->block_offset = offset;
	c->good_offset = offset + XLOG_FIXHEADER_SIZE + (off_t)block.size;
	return BLOCK_OK;
}

static bool is_marker(const char *data)
{
	return memcmp(data, xlog_marker, XLOG_MARKER_SIZE) == 0;
}

/** Whether a block that can be read, or the marker at the file's end, is at `offset`. */
static enum block_result probe(struct xlog_cursor *c, off_t offset)
{
	const char *p = cursor_map(c, offset, XLOG_MARKER_SIZE);
	if (p == NULL)
		return BLOCK_IO_ERROR;
	if (is_marker(p))
		return offset + XLOG_MARKER_SIZE == c->file_size ? BLOCK_OK : BLOCK_BAD;
	struct xlog_block block;
	const char *data, *reason = c->reason, *rows;
	size_t rows_size;
	enum block_result rc = block_map(c, offset, &block, &data);
	if (rc == BLOCK_OK &&
	    xlog_block_unpack(&block, data, &c->_raw, &rows, &rows_size) != NULL)
		rc = BLOCK_BAD;
	c->reason = reason;
	return rc;
}

/**
 * Looks behind `offset` for something that can be read: its offset, the file's
 * size where there is none, -1 with an error where the file can't be read.
 */
static off_t find_good(struct xlog_cursor *c, off_t offset)
{
	while (++offset + XLOG_MARKER_SIZE <= c->file_size) {
		size_t size = c->file_size - offset;
		if (size > XLOG_READ_SIZE / 2)
			size = XLOG_READ_SIZE / 2;
		const char *p = cursor_map(c, offset, size);
		if (p == NULL)
			return -1;
		/* All three magic numbers begin with this byte. */
		const char *hit = memchr(p, xlog_marker[0], size);
		if (hit == NULL) {
			offset += size - 1;
			continue;
		}
		offset += hit - p;
		if (offset + XLOG_MARKER_SIZE > c->file_size)
			break;
		enum block_result rc = probe(c, offset);
		if (rc == BLOCK_IO_ERROR)
			return -1;
		if (rc == BLOCK_OK)
			return offset;
	}
	return c->file_size;
}

/** A block is bad: torn end, or damage? */
static int judge_bad(struct xlog_cursor *c)
{
	off_t next = find_good(c, c->good_offset);
	if (next < 0)
		return -1;
	if (next == c->file_size) {
		c->end = XLOG_END_TORN;
		const char *p = cursor_map(c, c->good_offset, 1);
		if (p == NULL)
			return -1;
		c->is_torn_block = *p == xlog_marker[0];
		return 1;
	}
	diag_set(XlogError, "%s: damaged at offset %lld: %s", c->path,
		 (long long)c->good_offset, c->reason);
	return -1;
}

int xlog_cursor_next_block(struct xlog_cursor *c)
{
	bool is_closed = false;
	c->_row = c->_row_end = NULL;
	c->reason = NULL;
	c->end = XLOG_END_NONE;
	while (c->file_size - c->good_offset >= XLOG_MARKER_SIZE) {
		const char *p = cursor_map(c, c->good_offset, XLOG_MARKER_SIZE);
		if (p == NULL)
			return -1;
		if (!is_marker(p))
			break;
		/* Rows may follow: a closed file can be continued. */
		c->good_offset += XLOG_MARKER_SIZE;
		is_closed = true;
	}
	if (c->good_offset == c->file_size) {
		c->end = is_closed ? XLOG_END_CLOSED : XLOG_END_OPEN;
		return 1;
	}
	switch (block_read(c, c->good_offset)) {
	case BLOCK_OK:
		return 0;
	case BLOCK_BAD:
		return judge_bad(c);
	default:
		return -1;
	}
}

off_t xlog_cursor_skip(struct xlog_cursor *c)
{
	off_t from = c->good_offset;
	off_t next = find_good(c, from);
	c->good_offset = next < 0 ? c->file_size : next;
	return c->good_offset - from;
}

int xlog_cursor_keep_rows(struct xlog_cursor *c, struct region *region)
{
	size_t size = c->_row_end - c->_row;
	char *copy = region_memdup(region, c->_row, size);
	if (copy == NULL)
		return -1;
	c->_row = copy;
	c->_row_end = copy + size;
	return 0;
}

int xlog_cursor_next_row(struct xlog_cursor *c, struct xrow_header *row)
{
	if (c->_row == c->_row_end)
		return 1;
	const char *begin = c->_row;
	if (xrow_decode_next(row, &c->_row, c->_row_end) != 0) {
		c->_row = c->_row_end;
		struct error *cause = diag_last();
		error_ref(cause);
		diag_set(XlogError, "%s: damaged at offset %lld: a row can't be read: %s", c->path,
			 (long long)c->block_offset, cause->message);
		error_unref(cause);
		return -1;
	}
	assert(c->_row > begin);
	(void)begin;
	return 0;
}
