/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Recovery of directories that are whole, torn, damaged, or incomplete. The
 * database is a list of the LSNs that were applied.
 */
#include "recovery_test.h"

/* Tests --------------------------------------------------------------- */

static void nothing_there(void **state)
{
	(void)state;
	assert_int_equal(recover(), 0);
	assert_false(result.has_data);
}

static void no_directory(void **state)
{
	(void)state;
	struct recovery_config config = {.memtx_dir = "/nonexistent", .wal_dir = dir};
	assert_int_equal(recovery_run(&config, &result), -1);
	assert_error(&type_SystemError, "/nonexistent");
	config.memtx_dir = dir;
	config.wal_dir = "/nonexistent";
	assert_int_equal(recovery_run(&config, &result), -1);
	assert_error(&type_SystemError, "/nonexistent");
}

static void journals_without_a_snapshot(void **state)
{
	(void)state;
	make_journal(0, 5);
	assert_int_equal(recover(), -1);
	assert_int_equal(diag_last()->code, ER_MISSING_SNAPSHOT);
}

static void snapshot_and_journals(void **state)
{
	(void)state;
	make_snapshot(0);
	make_snapshot(7);
	make_journal(0, 5);
	make_journal(5, 12);
	make_journal(12, 20);
	assert_int_equal(recover(), 0);
	assert_true(result.has_data);
	assert_true(uuid_equal(&instance_uuid, &uuid_ours));
	assert_applied(8, 20);
	assert_true(result.has_prev_vclock);
	assert_int_equal(vclock_sum(&result.prev_vclock), 12);
	assert_int_equal(vclock_sum(&result.snapshot_vclock), 7);
}

static void rows_of_a_snapshot(void **state)
{
	(void)state;
	struct xlog_file f;
	file_open(&f, XLOG_SNAP, 50);
	put_block(&f, 1, 30, 0, true);
	assert_int_equal(xlog_file_close(&f, false), 0);
	assert_int_equal(recover(), 0);
	assert_int_equal(applied_count, 30);
	assert_int_equal(vclock_get(&wal_vclock, 1), 50);
}

static void snapshot_without_an_end(void **state)
{
	(void)state;
	struct xlog_file f;
	file_open(&f, XLOG_SNAP, 0);
	put_block(&f, 1, 3, 0, true);
	file_drop(&f);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, "00000000000000000000.snap: the snapshot is not whole");
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 3);
	assert_false(result.is_snapshot_good);
	assert_int_equal(wal_recovery_stat.skipped_bytes, 0);
	/* The same with a part of a block behind it. */
	file_open(&f, XLOG_SNAP, 0);
	put_block(&f, 1, 3, 0, true);
	off_t whole = f.offset;
	put_block(&f, 4, 6, 0, true);
	assert_int_equal(ftruncate(f.fd, whole + 30), 0);
	file_drop(&f);
	assert_int_equal(recover(), -1);
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 3);
	assert_int_equal(wal_recovery_stat.skipped_bytes, 30);
}

static void torn_end(void **state)
{
	(void)state;
	struct xlog_file f;
	make_snapshot(0);
	file_open(&f, XLOG_XLOG, 0);
	put_rows(&f, 1, 9);
	off_t whole = f.offset;
	put_rows(&f, 10, 10);
	off_t end = f.offset;
	for (off_t size = end - 1; size >= whole; size--) {
		assert_int_equal(ftruncate(f.fd, size), 0);
		assert_int_equal(recover(), 0);
		assert_applied(1, 9);
	}
	/* The next file goes on from what was left. */
	assert_int_equal(ftruncate(f.fd, whole + 5), 0);
	make_journal(9, 12);
	assert_int_equal(recover(), 0);
	assert_applied(1, 12);
	file_drop(&f);
}

static void gap(void **state)
{
	(void)state;
	make_snapshot(0);
	make_journal(0, 5);
	make_journal(7, 9);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogGapError,
		     "Missing .xlog file between LSN 5 {1: 5} and 7 {1: 7}");
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 7);
	assert_int_equal(vclock_get(&wal_vclock, 1), 9);
}

static void gap_behind_the_snapshot(void **state)
{
	(void)state;
	make_snapshot(3);
	make_journal(4, 5);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogGapError, "between LSN 3 {1: 3} and 4 {1: 4}");
}

static void rows_missing_in_a_file(void **state)
{
	(void)state;
	struct xlog_file f;
	make_snapshot(0);
	file_open(&f, XLOG_XLOG, 0);
	put_rows(&f, 1, 5);
	put_rows(&f, 7, 9);
	file_drop(&f);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogGapError, "LSN 7 of instance 1 follows 5");
	assert_error(&type_XlogGapError, "force_recovery");
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 8);
}

/** A journal of 20 rows with one flipped bit in the block of row 10. */
static off_t make_damage(void)
{
	struct xlog_file f;
	file_open(&f, XLOG_XLOG, 0);
	put_rows(&f, 1, 9);
	off_t offset = f.offset;
	put_rows(&f, 10, 20);
	int fd = sys->open(f.path, 2, 0);
	char c;
	assert_int_equal(pread(fd, &c, 1, offset + 25), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, offset + 25), 1);
	sys->close(fd);
	assert_int_equal(xlog_file_close(&f, false), 0);
	return offset;
}

static void damage_in_the_middle(void **state)
{
	(void)state;
	make_snapshot(0);
	off_t offset = make_damage();
	char text[256];
	snprintf(text, sizeof(text), "%s/00000000000000000000.xlog: damaged at offset %lld: the "
		 "block's checksum does not match", dir, (long long)offset);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, text);
	assert_error(&type_XlogError, "force_recovery = true");
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 19);
	assert_int_equal(vclock_get(&wal_vclock, 1), 20);
	assert_in_range(wal_recovery_stat.skipped_bytes, 40, 100);
	assert_int_equal(wal_recovery_stat.skipped_rows, 0);
}

static void transactions_are_whole(void **state)
{
	(void)state;
	struct xlog_file f;
	make_snapshot(0);
	file_open(&f, XLOG_XLOG, 0);
	put_block(&f, 1, 5, 1, true);
	/* Spread over three blocks. */
	put_block(&f, 6, 8, 6, false);
	put_block(&f, 9, 9, 6, false);
	put_block(&f, 10, 12, 6, true);
	assert_int_equal(recover(), 0);
	assert_applied(1, 12);
	put_block(&f, 13, 14, 13, false);
	assert_int_equal(recover(), 0);
	assert_applied(1, 12);
	/* What the unfinished one had was lost only if nobody needs it. */
	make_journal(12, 14);
	assert_int_equal(recover(), 0);
	assert_applied(1, 14);
	file_drop(&f);
}

static void row_that_can_not_be_applied(void **state)
{
	(void)state;
	make_snapshot(0);
	make_journal(0, 5);
	bad_lsn = 3;
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, "row with LSN 3");
	assert_error(&type_XlogError, "Duplicate key exists");
	const char *hint = strstr(diag_last()->message, "force_recovery");
	assert_non_null(hint);
	assert_null(strstr(hint + 1, "force_recovery"));
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(applied_count, 4);
	assert_int_equal(wal_recovery_stat.skipped_rows, 1);
	assert_int_equal(wal_recovery_stat.skipped_bytes, 0);
}

static void wrong_files(void **state)
{
	(void)state;
	struct xlog_file f;
	static const struct uuid other = {{9}};
	make_snapshot(0);
	assert_int_equal(recover_with(false, &other), -1);
	assert_int_equal(diag_last()->code, ER_INSTANCE_UUID_MISMATCH);
	file_open_as(&f, XLOG_XLOG, 0, &other);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, "the file is of instance 09000000");
	char *right = xlog_path(dir, 0, XLOG_XLOG), *wrong = xlog_path(dir, 3, XLOG_XLOG);
	file_drop(&f);
	make_journal(0, 2);
	rename(right, wrong);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, "the name does not match the vclock");
	assert_int_equal(recover_with(true, &uuid_nil), 0);
	assert_int_equal(wal_recovery_stat.skipped_files, 1);
	unlink(wrong);
	char *snap = xlog_path(dir, 0, XLOG_SNAP);
	make_journal(0, 2);
	rename(right, snap);
	assert_int_equal(recover(), -1);
	assert_error(&type_XlogError, "the file's type is XLOG, expected SNAP");
	xfree(snap);
	xfree(right);
	xfree(wrong);
}

static void empty_last_journal(void **state)
{
	(void)state;
	make_snapshot(0);
	make_journal(0, 5);
	char *path = xlog_path(dir, 5, XLOG_XLOG);
	FILE *f = fopen(path, "w");
	assert_int_equal(recover(), 0);
	assert_applied(1, 5);
	for (int i = 0; i < 5000; i++)
		fputc(0, f);
	fclose(f);
	assert_int_equal(recover(), 0);
	assert_applied(1, 5);
	assert_int_equal(vclock_sum(&result.prev_vclock), 0);
	make_journal(6, 6);
	assert_int_equal(recover(), -1);
	xfree(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_there),
		TEST(no_directory),
		TEST(journals_without_a_snapshot),
		TEST(snapshot_and_journals),
		TEST(rows_of_a_snapshot),
		TEST(snapshot_without_an_end),
		TEST(torn_end),
		TEST(gap),
		TEST(gap_behind_the_snapshot),
		TEST(rows_missing_in_a_file),
		TEST(damage_in_the_middle),
		TEST(transactions_are_whole),
		TEST(row_that_can_not_be_applied),
		TEST(wrong_files),
		TEST(empty_last_journal),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
