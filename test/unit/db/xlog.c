/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Journal and snapshot files: what is written is read back; a file cut at any
 * byte, or with any bit of its end flipped, is told from a good one, and never
 * gives a row that was not written.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "core/sys.h"
#include "db/error.h"
#include "db/wal/xlog.h"

static char dir[64];
static char path[128];

static int setup(void **state)
{
	(void)state;
	fiber_init();
	strcpy(dir, "/tmp/tarn_xlog_XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/00000000000000000000.xlog", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(dir);
	xlog_block_thread_free();
	diag_clear(diag_get());
	fiber_free();
	return 0;
}

/** The body of the row with an LSN: some kinds are large, or do not pack. */
static size_t make_body(int64_t lsn, char *body)
{
	size_t len = lsn % 7 == 0 ? 3000 : lsn % 11 == 0 ? 5000 : lsn % 20;
	unsigned seed = (unsigned)lsn;
	body[0] = '\x81';
	body[1] = '\x21';
	body[2] = '\xc5';
	body[3] = (char)(len >> 8);
	body[4] = (char)len;
	for (size_t i = 0; i < len; i++)
		body[5 + i] = lsn % 7 == 0 ? (char)rand_r(&seed) : 'x';
	return len + 5;
}

static void append_row(struct buf *out, int64_t lsn)
{
	char body[8192];
	struct xrow_header row = {.type = IPROTO_INSERT, .replica_id = 1, .lsn = lsn, .tsn = lsn,
				  .tm = 1, .is_commit = true, .body = body};
	row.body_size = make_body(lsn, body);
	size_t mark = xlog_block_begin(out);
	xrow_encode(&row, out);
	xlog_block_end(out, mark, 3);
}

static void make_meta(struct xlog_meta *meta)
{
	memset(meta, 0, sizeof(*meta));
	meta->type = XLOG_XLOG;
	memset(&meta->instance_uuid, 7, sizeof(meta->instance_uuid));
	meta->has_prev_vclock = true;
	vclock_set(&meta->prev_vclock, 1, 5);
	vclock_set(&meta->vclock, 1, 10);
	vclock_set(&meta->vclock, 31, 2);
}

/** Writes blocks 1 to `count`; `offsets[i]` is where block i + 1 begins. */
static void write_file(int count, off_t *offsets, bool close)
{
	struct xlog_meta meta;
	struct xlog_file f;
	struct buf out = BUF_INIT;
	make_meta(&meta);
	assert_int_equal(xlog_file_create(&f, path, &meta), 0);
	assert_int_equal(xlog_file_publish(&f, true), 0);
	for (int i = 0; i < count; i++) {
		offsets[i] = f.offset;
		append_row(&out, i + 1);
		assert_int_equal(xlog_file_append(&f, out.data, out.size, false), 0);
		buf_truncate(&out, 0);
	}
	offsets[count] = f.offset;
	if (close) {
		assert_int_equal(xlog_file_close(&f, true), 0);
	} else {
		sys->close(f.fd);
		xfree(f.path);
	}
	buf_free(&out);
}

static char *read_whole(size_t *size)
{
	FILE *f = fopen(path, "rb");
	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	char *data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static void write_whole(const char *data, size_t size)
{
	/* Without O_TRUNC: a file that was truncated is flushed when it is closed. */
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, 0), size);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

/** Reads rows, which must be 1, 2, 3, ... with their bodies. Returns what next_block did last. */
static int read_rows(struct xlog_cursor *c, int *count)
{
	int rc;
	*count = 0;
	while ((rc = xlog_cursor_next_block(c)) == 0) {
		struct xrow_header row;
		while (xlog_cursor_next_row(c, &row) == 0) {
			char body[8192];
			size_t size = make_body(++*count, body);
			assert_int_equal(row.lsn, *count);
			assert_int_equal(row.body_size, size);
			assert_memory_equal(row.body, body, size);
		}
	}
	return rc;
}

static void round_trip(void **state)
{
	(void)state;
	off_t offsets[101];
	for (int closed = 0; closed <= 1; closed++) {
		struct xlog_meta want;
		struct xlog_cursor c;
		int count;
		write_file(100, offsets, closed);
		make_meta(&want);
		assert_int_equal(xlog_cursor_open(&c, path), 0);
		assert_int_equal(c.meta.type, XLOG_XLOG);
		assert_true(uuid_equal(&c.meta.instance_uuid, &want.instance_uuid));
		assert_int_equal(vclock_compare(&c.meta.vclock, &want.vclock), 0);
		assert_true(c.meta.has_prev_vclock);
		assert_int_equal(vclock_compare(&c.meta.prev_vclock, &want.prev_vclock), 0);
		assert_int_equal(read_rows(&c, &count), 1);
		assert_int_equal(count, 100);
		assert_int_equal(c.end, closed ? XLOG_END_CLOSED : XLOG_END_OPEN);
		xlog_cursor_close(&c);
	}
}

static void continued_after_a_marker(void **state)
{
	(void)state;
	off_t offsets[11];
	write_file(10, offsets, true);
	size_t size;
	char *data = read_whole(&size);
	struct buf all = BUF_INIT;
	buf_append(&all, data, size);
	append_row(&all, 11);
	buf_append(&all, xlog_marker, XLOG_MARKER_SIZE);
	write_whole(all.data, all.size);
	struct xlog_cursor c;
	int count;
	assert_int_equal(xlog_cursor_open(&c, path), 0);
	assert_int_equal(read_rows(&c, &count), 1);
	assert_int_equal(count, 11);
	assert_int_equal(c.end, XLOG_END_CLOSED);
	xlog_cursor_close(&c);
	buf_free(&all);
	free(data);
}

/** How many whole blocks are before `size`. */
static int blocks_before(const off_t *offsets, int count, size_t size)
{
	int n = 0;
	while (n < count && offsets[n + 1] <= (off_t)size)
		n++;
	return n;
}

static void cut_anywhere(void **state)
{
	(void)state;
	enum { COUNT = 60 };
	off_t offsets[COUNT + 1];
	write_file(COUNT, offsets, true);
	size_t size;
	char *data = read_whole(&size);
	for (size_t cut = size - 4096; cut < size; cut++) {
		struct xlog_cursor c;
		int count;
		write_whole(data, cut);
		assert_int_equal(xlog_cursor_open(&c, path), 0);
		assert_int_equal(read_rows(&c, &count), 1);
		int whole = blocks_before(offsets, COUNT, cut);
		assert_int_equal(count, whole);
		assert_int_equal(c.good_offset, offsets[whole]);
		assert_int_equal(c.end, offsets[whole] == (off_t)cut ? XLOG_END_OPEN :
				 XLOG_END_TORN);
		xlog_cursor_close(&c);
	}
	free(data);
}

static void cut_inside_the_header(void **state)
{
	(void)state;
	off_t offsets[2];
	write_file(1, offsets, true);
	size_t size;
	char *data = read_whole(&size);
	for (off_t cut = 0; cut < offsets[0]; cut++) {
		struct xlog_cursor c;
		write_whole(data, cut);
		assert_int_equal(xlog_cursor_open(&c, path), -1);
		assert_true(error_is(diag_last(), &type_XlogError));
		assert_non_null(strstr(diag_last()->message, path));
	}
	free(data);
}

/** A flipped bit: no wrong row, an error in the middle, a torn end in an open file's last block. */
static void flip_any_bit(void **state)
{
	(void)state;
	enum { COUNT = 20 };
	off_t offsets[COUNT + 1];
	write_file(COUNT, offsets, false);
	size_t size;
	char *data = read_whole(&size);
	int step = 0;
	for (off_t at = offsets[0]; at < (off_t)size; at++) {
		struct xlog_cursor c;
		int count;
		char saved = data[at];
		data[at] ^= 1 << (step++ % 8);
		write_whole(data, size);
		assert_int_equal(xlog_cursor_open(&c, path), 0);
		int rc = read_rows(&c, &count);
		int hit = blocks_before(offsets, COUNT, at);
		if (rc == 1 && c.end == XLOG_END_OPEN) {
			/* Bytes that say nothing: the padding of the header. */
			assert_in_range(at - offsets[hit], 7, XLOG_FIXHEADER_SIZE - 1);
			assert_int_equal(count, COUNT);
		} else if (hit == COUNT - 1) {
			assert_int_equal(rc, 1);
			assert_int_equal(c.end, XLOG_END_TORN);
			assert_int_equal(count, COUNT - 1);
		} else {
			char place[64];
			snprintf(place, sizeof(place), "damaged at offset %lld",
				 (long long)offsets[hit]);
			assert_int_equal(rc, -1);
			assert_int_equal(count, hit);
			assert_non_null(strstr(diag_last()->message, place));
			assert_int_equal(xlog_cursor_skip(&c), offsets[hit + 1] - offsets[hit]);
		}
		xlog_cursor_close(&c);
		data[at] = saved;
	}
	free(data);
}

static void garbage_tail(void **state)
{
	(void)state;
	enum { COUNT = 5 };
	off_t offsets[COUNT + 1];
	write_file(COUNT, offsets, false);
	size_t size;
	char *data = read_whole(&size);
	data = realloc(data, size + 100000);
	for (int kind = 0; kind < 3; kind++) {
		for (int i = 0; i < 100000; i++)
			data[size + i] = kind == 0 ? 0 : kind == 1 ? '\xd5' : (char)rand();
		write_whole(data, size + 100000);
		struct xlog_cursor c;
		int count;
		assert_int_equal(xlog_cursor_open(&c, path), 0);
		assert_int_equal(read_rows(&c, &count), 1);
		assert_int_equal(count, COUNT);
		assert_int_equal(c.end, XLOG_END_TORN);
		assert_int_equal(c.file_size - c.good_offset, 100000);
		xlog_cursor_close(&c);
	}
	free(data);
}

/** Headers made of other headers: none may harm the parser. */
static void any_header(void **state)
{
	(void)state;
	struct xlog_meta meta;
	make_meta(&meta);
	struct buf out = BUF_INIT;
	xlog_meta_encode(&meta, &out);
	srand(1);
	char *data = malloc(out.size);
	for (int i = 0; i < 100000; i++) {
		memcpy(data, out.data, out.size);
		for (int j = rand() % 4; j >= 0; j--)
			data[rand() % out.size] = (char)rand();
		const char *reason;
		struct xlog_meta got;
		if (xlog_meta_parse(&got, data, rand() % (out.size + 1), &reason) < 0)
			assert_non_null(reason);
	}
	free(data);
	buf_free(&out);
}

static void lists_names(void **state)
{
	(void)state;
	static const char *names[] = {
		"00000000000000000010.xlog", "00000000000000000002.xlog", "2.xlog",
		"00000000000000000003.snap", "00000000000000000004.xlog.inprogress",
		"0000000000000000000a.xlog", "99999999999999999999.xlog",
	};
	char name[200];
	unlink(path);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		fclose(fopen(name, "w"));
	}
	struct xlog_list list;
	assert_int_equal(xlog_list_read(&list, dir, XLOG_XLOG), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.signature[0], 2);
	assert_int_equal(list.signature[1], 10);
	xlog_list_free(&list);
	xlog_remove_unfinished(dir, XLOG_XLOG);
	snprintf(name, sizeof(name), "%s/%s", dir, names[4]);
	assert_int_not_equal(access(name, F_OK), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		unlink(name);
	}
	assert_int_equal(xlog_list_read(&list, "/nonexistent", XLOG_XLOG), -1);
	assert_non_null(strstr(diag_last()->message, "/nonexistent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(continued_after_a_marker),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(cut_inside_the_header),
		cmocka_unit_test(flip_any_bit),
		cmocka_unit_test(garbage_tail),
		cmocka_unit_test(any_header),
		cmocka_unit_test(lists_names),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
