/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tests of recovery: files are made with the writer, and what would be applied to the
 * database is kept in a list.
 */
#pragma once

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/sys.h"
#include "db/db.h"
#include "db/error.h"
#include "db/wal/wal_int.h"

/* The database -------------------------------------------------------- */

static int64_t applied[1000];
static int applied_count;
/** The row with this LSN can't be applied. */
static int64_t bad_lsn;

bool db_is_configured;

int db_recover_row(const struct xrow_header *row)
{
	if (row->lsn == bad_lsn) {
		client_error(ER_TUPLE_FOUND, "pk", "test");
		return -1;
	}
	/* The body is a copy of the LSN: it must have outlived its block. */
	assert_int_equal(row->body_size, 8);
	assert_memory_equal(row->body + 3, "lsn:", 4);
	assert_int_equal(row->body[7], row->lsn % 100);
	applied[applied_count++] = row->lsn;
	return 0;
}

int db_recover_snapshot_row(const struct xrow_header *row)
{
	return db_recover_row(row);
}

void db_recover_begin(bool is_forced)
{
	(void)is_forced;
}

int db_recover_snapshot_end(void)
{
	return 0;
}

int db_recover_end(void)
{
	return 0;
}

void db_recover_abort(void)
{
}

/* The directory ------------------------------------------------------- */

static char dir[64];
static const struct uuid uuid_ours = {{1, 2, 3}};
static struct recovery_result result;

static inline int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/tarn_recovery_XXXXXX");
	applied_count = 0;
	bad_lsn = -1;
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static inline int teardown(void **state)
{
	(void)state;
	char command[128];
	diag_clear(diag_get());
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static inline int setup_all(void **state)
{
	(void)state;
	fiber_init();
	log_set_level(LOG_FATAL);
	return 0;
}

static inline int teardown_all(void **state)
{
	(void)state;
	xlog_block_thread_free();
	fiber_free();
	return 0;
}

static inline void file_open_as(struct xlog_file *f, enum xlog_type type, int64_t signature,
			 const struct uuid *uuid)
{
	struct xlog_meta meta;
	memset(&meta, 0, sizeof(meta));
	meta.type = type;
	meta.instance_uuid = *uuid;
	vclock_set(&meta.vclock, 1, signature);
	char *path = xlog_path(dir, signature, type);
	assert_int_equal(xlog_file_create(f, path, &meta), 0);
	assert_int_equal(xlog_file_publish(f, false), 0);
	xfree(path);
}

static inline void file_open(struct xlog_file *f, enum xlog_type type, int64_t signature)
{
	file_open_as(f, type, signature, &uuid_ours);
}

static inline void put_row(struct buf *out, int64_t lsn, int64_t tsn, bool is_commit)
{
	char body[9] = "\x81\x21\xa5lsn:";
	body[7] = (char)(lsn % 100);
	struct xrow_header row = {.type = IPROTO_INSERT, .replica_id = 1, .lsn = lsn, .tsn = tsn,
				  .tm = 1, .is_commit = is_commit, .body = body, .body_size = 8};
	xrow_encode(&row, out);
}

/** One block with rows `from` to `to` of the transaction `tsn`; the last commits where asked. */
static inline void put_block(struct xlog_file *f, int64_t from, int64_t to, int64_t tsn, bool commit)
{
	struct buf out = BUF_INIT;
	size_t mark = xlog_block_begin(&out);
	for (int64_t lsn = from; lsn <= to; lsn++)
		put_row(&out, lsn, tsn, commit && lsn == to);
	xlog_block_end(&out, mark, 1);
	assert_int_equal(xlog_file_append(f, out.data, out.size, false), 0);
	buf_free(&out);
}

static inline void put_rows(struct xlog_file *f, int64_t from, int64_t to)
{
	for (int64_t lsn = from; lsn <= to; lsn++)
		put_block(f, lsn, lsn, lsn, true);
}

/** A snapshot at `signature`, which has no rows. */
static inline void make_snapshot(int64_t signature)
{
	struct xlog_file f;
	file_open(&f, XLOG_SNAP, signature);
	assert_int_equal(xlog_file_close(&f, false), 0);
}

/** A journal with rows of their own behind `signature` up to `to`. */
static inline void make_journal(int64_t signature, int64_t to)
{
	struct xlog_file f;
	file_open(&f, XLOG_XLOG, signature);
	put_rows(&f, signature + 1, to);
	assert_int_equal(xlog_file_close(&f, false), 0);
}

static inline void file_drop(struct xlog_file *f)
{
	sys->close(f->fd);
	xfree(f->path);
}

/** A checksum over names and bytes of all files, to see that none was changed. */
static inline uint64_t directory_sum(void)
{
	char command[256], line[64];
	snprintf(command, sizeof(command), "cd %s && cat /dev/null $(ls | sort) | cksum", dir);
	FILE *p = popen(command, "r");
	assert_non_null(fgets(line, sizeof(line), p));
	pclose(p);
	DIR *d = opendir(dir);
	uint64_t sum = strtoull(line, NULL, 10);
	while (readdir(d) != NULL)
		sum += UINT64_C(1) << 40;
	closedir(d);
	return sum;
}

static inline int recover_quickly(bool force, const struct uuid *wanted)
{
	struct recovery_config config = {.memtx_dir = dir, .wal_dir = dir, .force_recovery = force,
					 .instance_uuid = *wanted};
	applied_count = 0;
	return recovery_run(&config, &result);
}

static inline int recover_with(bool force, const struct uuid *wanted)
{
	uint64_t before = directory_sum();
	int rc = recover_quickly(force, wanted);
	assert_int_equal(directory_sum(), before);
	return rc;
}

static inline int recover(void)
{
	return recover_with(false, &uuid_nil);
}

static inline void assert_applied(int64_t from, int64_t to)
{
	assert_int_equal(applied_count, to - from + 1);
	for (int i = 0; i < applied_count; i++)
		assert_int_equal(applied[i], from + i);
	assert_int_equal(vclock_get(&wal_vclock, 1), to);
}

static inline void assert_error(const struct error_type *type, const char *text)
{
	assert_true(error_is(diag_last(), type));
	if (strstr(diag_last()->message, text) == NULL)
		fail_msg("no '%s' in '%s'", text, diag_last()->message);
}
