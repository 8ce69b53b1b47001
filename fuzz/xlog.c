/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Journals and snapshots. By the first byte an input is a whole file, or blocks' contents
 * that get a good text header and checksums, so that what stands in them is looked at.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#include "data/crc32c.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/wal/xlog.h"

enum { IS_BLOCKS = 1, IS_PACKED = 2, IS_SNAPSHOT = 4, ROWS_MAX = 1000 };

/** A block's header and its contents: two bytes of length, then so many, as the input has them. */
static const char *put_block(struct buf *out, const char *p, const char *end, bool is_packed)
{
	size_t size = (unsigned char)p[0] << 8 | (unsigned char)p[1];
	p += 2;
	if (size > (size_t)(end - p))
		size = end - p;
	char head[XLOG_FIXHEADER_SIZE] = {'\xd5', '\xba', '\x0b', is_packed ? '\xba' : '\xab'};
	char *h = mp_encode_uint(head + 4, size);
	h = mp_encode_uint(h, 0);
	h = mp_encode_uint(h, crc32c(0, p, size));
	mp_encode_strl(h, head + sizeof(head) - h - 1);
	buf_append(out, head, sizeof(head));
	buf_append(out, p, size);
	return p + size;
}

static void make_file(struct buf *out, const char *p, const char *end)
{
	if (p == end)
		return;
	int mode = *p++;
	if ((mode & IS_BLOCKS) == 0) {
		buf_append(out, p, end - p);
		return;
	}
	struct xlog_meta meta = {.type = mode & IS_SNAPSHOT ? XLOG_SNAP : XLOG_XLOG};
	memset(&meta.instance_uuid, 7, sizeof(meta.instance_uuid));
	xlog_meta_encode(&meta, out);
	while (end - p > 2)
		p = put_block(out, p, end, mode & IS_PACKED);
	buf_append(out, xlog_marker, sizeof(xlog_marker));
}

static void read_block(struct xlog_cursor *c)
{
	struct xrow_header row;
	int rc, rows = 0;
	while ((rc = xlog_cursor_next_row(c, &row)) == 0 && rows++ < ROWS_MAX) {
		struct request request;
		request_decode(&request, &row, request_keys_required(row.type));
	}
}

/** `is_ours`: the text header is make_file()'s, and hence good. */
static void read_file(const char *path, bool is_ours)
{
	uint64_t size;
	xlog_is_blank(path, &size);
	struct xlog_cursor c;
	if (xlog_cursor_open(&c, path) != 0) {
		FUZZ_CHECK(!is_ours);
		return;
	}
	int rc;
	off_t last = 0;
	while ((rc = xlog_cursor_next_block(&c)) != 1) {
		if (rc == 0) {
			read_block(&c);
		} else {
			if (xlog_cursor_skip(&c) == 0)
				break;
		}
		FUZZ_CHECK(c.good_offset > last && c.good_offset <= c.file_size);
		last = c.good_offset;
	}
	FUZZ_CHECK(rc != 1 || c.end != XLOG_END_NONE);
	xlog_cursor_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	if (fd < 0) {
		fiber_init();
		fd = memfd_create("xlog", MFD_CLOEXEC);
		FUZZ_CHECK(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	struct buf file = BUF_INIT;
	make_file(&file, (const char *)data, (const char *)data + size);
	FUZZ_CHECK(ftruncate(fd, 0) == 0 &&
		   pwrite(fd, file.data, file.size, 0) == (ssize_t)file.size);
	buf_free(&file);
	read_file(path, size > 0 && data[0] & IS_BLOCKS);
	fuzz_done();
	return 0;
}
