/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files that end anywhere, and files with a wrong bit anywhere, one after the other:
 * damage [BITS], where BITS is how many bits of each byte are flipped (1 to 8).
 *
 * A journal that ends anywhere is recovered up to its last whole transaction. A wrong
 * bit is found: the start is refused with the file's name, or, with force_recovery,
 * goes on without what can't be read. What is applied is always as it was written.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "recovery_test.h"

/** Rows of the journal; transactions have 1 to 4. */
enum { ROWS = 150 };

static int bits = 1;

/** A journal of transactions of several rows; some in two blocks. More than 4 KB. */
static void make_transactions(void)
{
	struct xlog_file f;
	file_open(&f, XLOG_XLOG, 0);
	for (int64_t lsn = 1; lsn <= ROWS;) {
		int64_t last = lsn + lsn % 4;
		last = last > ROWS ? ROWS : last;
		int64_t middle = lsn % 3 == 0 && last > lsn ? lsn : last;
		put_block(&f, lsn, middle, lsn, middle == last);
		if (middle < last)
			put_block(&f, middle + 1, last, lsn, true);
		lsn = last + 1;
	}
	assert_int_equal(xlog_file_close(&f, false), 0);
}

/** A snapshot at ROWS, of many small blocks. */
static void make_full_snapshot(void)
{
	struct xlog_file f;
	file_open(&f, XLOG_SNAP, ROWS);
	for (int64_t lsn = 1; lsn <= ROWS; lsn += 5)
		put_block(&f, lsn, lsn + 4 < ROWS ? lsn + 4 : ROWS, lsn, true);
	assert_int_equal(xlog_file_close(&f, false), 0);
}

/** The first row behind the transaction that `count` rows end in; rows come in transactions. */
static bool is_whole(int count)
{
	int64_t lsn = 1;
	while (lsn <= count)
		lsn += 1 + lsn % 4;
	return lsn == count + 1 || count == ROWS;
}

struct file {
	char *path;
	int fd;
	char *data;
	size_t size;
};

static struct file file_map(int64_t signature, enum xlog_type type)
{
	struct file f = {.path = xlog_path(dir, signature, type)};
	f.fd = open(f.path, O_RDWR);
	assert_true(f.fd >= 0);
	f.size = lseek(f.fd, 0, SEEK_END);
	f.data = mmap(NULL, f.size, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	assert_true(f.data != MAP_FAILED);
	return f;
}

static void file_unmap(struct file *f)
{
	munmap(f->data, f->size);
	close(f->fd);
	xfree(f->path);
}

/** What was applied is in order and whole, from the first row on. */
static void assert_prefix(void)
{
	for (int i = 0; i < applied_count; i++)
		assert_int_equal(applied[i], i + 1);
	assert_true(is_whole(applied_count));
}

static void journal_cut_anywhere(void **state)
{
	(void)state;
	make_snapshot(0);
	make_transactions();
	struct file f = file_map(0, XLOG_XLOG);
	assert_true(f.size > 4096);
	int last_count = ROWS;
	for (size_t size = f.size; size-- > 0;) {
		assert_int_equal(ftruncate(f.fd, size), 0);
		assert_int_equal(recover_quickly(false, &uuid_nil), 0);
		assert_prefix();
		/* Never more than with a longer file, and never a whole block less than is there. */
		assert_in_range(last_count - applied_count, 0, 4);
		last_count = applied_count;
		assert_true(wal_recovery_stat.dropped_bytes < 256);
		assert_true(wal_recovery_stat.dropped_transactions <= 2);
	}
	assert_int_equal(last_count, 0);
	print_message("journal: cut to %zu lengths, one by one\n", f.size);
	file_unmap(&f);
}

/** The same with the lost part as zeros: its length was on the disk, its data not. */
static void journal_zeroed_anywhere(void **state)
{
	(void)state;
	make_snapshot(0);
	make_transactions();
	struct file f = file_map(0, XLOG_XLOG);
	for (size_t size = f.size; size-- > 0;) {
		f.data[size] = 0;
		if (recover_quickly(false, &uuid_nil) != 0)
			fail_msg("%zu: %s", size, diag_last()->message);
		assert_prefix();
		assert_true(wal_recovery_stat.dropped_bytes > 0 || applied_count == ROWS);
	}
	assert_int_equal(applied_count, 0);
	print_message("journal: zeros from %zu offsets on, one by one\n", f.size);
	file_unmap(&f);
}

/** Rows in order without a repetition; some may be missing. */
static void assert_rising(void)
{
	for (int i = 1; i < applied_count; i++)
		assert_true(applied[i] > applied[i - 1]);
}

/** Calls `look` for each bit that is flipped, with the result of a start. */
static void flip_all(struct file *f, bool force, void (*look)(int rc, size_t offset))
{
	for (size_t offset = 0; offset < f->size; offset++) {
		for (int i = 0; i < bits; i++) {
			char mask = (char)(1 << (offset + i) % 8);
			f->data[offset] ^= mask;
			look(recover_quickly(force, &uuid_nil), offset);
			f->data[offset] ^= mask;
		}
	}
}

static const char *damaged_path;
static size_t damaged_size;
static int refused, complete, ended;

/** What the last error says names the file. */
static void assert_names_file(void)
{
	if (strstr(diag_last()->message, damaged_path) == NULL)
		fail_msg("'%s' does not name the file", diag_last()->message);
}

static void look_journal(int rc, size_t offset)
{
	(void)offset;
	assert_prefix();
	if (rc != 0) {
		assert_names_file();
		refused++;
	} else if (applied_count == ROWS) {
		/* In the text of the header, say the version, or in what has no meaning. */
		complete++;
	} else {
		/* The last write: nothing behind it shows that it was whole once. */
		assert_true(wal_recovery_stat.dropped_bytes > 0);
		ended++;
	}
}

static void look_forced_journal(int rc, size_t offset)
{
	(void)offset;
	assert_rising();
	if (rc != 0) {
		assert_names_file();
		refused++;
	} else if (applied_count == ROWS) {
		complete++;
	} else {
		assert_true(wal_recovery_stat.dropped_bytes + wal_recovery_stat.skipped_bytes +
			    wal_recovery_stat.skipped_rows + wal_recovery_stat.skipped_files > 0);
		ended++;
	}
}

static void look_snapshot(int rc, size_t offset)
{
	(void)offset;
	assert_rising();
	if (rc != 0) {
		assert_names_file();
		refused++;
	} else {
		assert_int_equal(applied_count, ROWS);
		complete++;
	}
}

static void run_flips(const char *name, struct file *f, bool force,
		      void (*look)(int rc, size_t offset))
{
	damaged_path = f->path;
	damaged_size = f->size;
	refused = complete = ended = 0;
	flip_all(f, force, look);
	print_message("%s%s: %d refused, %d without effect, %d with less rows\n", name,
		      force ? ", forced" : "", refused, complete, ended);
	file_unmap(f);
}

static void flipped_bit_of_a_journal(void **state)
{
	(void)state;
	make_snapshot(0);
	make_transactions();
	struct file f = file_map(0, XLOG_XLOG);
	run_flips("journal", &f, false, look_journal);
	assert_true(refused > (int)damaged_size * bits * 8 / 10);
	/* Only the last write can be taken for a torn one. */
	assert_true(ended <= 256 * bits);
}

static void flipped_bit_of_a_journal_forced(void **state)
{
	(void)state;
	make_snapshot(0);
	make_transactions();
	struct file f = file_map(0, XLOG_XLOG);
	run_flips("journal", &f, true, look_forced_journal);
	assert_int_equal(refused, 0);
	assert_true(ended > (int)damaged_size * bits * 8 / 10);
}

static void flipped_bit_of_a_snapshot(void **state)
{
	(void)state;
	make_full_snapshot();
	struct file f = file_map(ROWS, XLOG_SNAP);
	run_flips("snapshot", &f, false, look_snapshot);
	assert_true(refused > (int)damaged_size * bits * 8 / 10);
}

static void flipped_bit_of_a_snapshot_forced(void **state)
{
	(void)state;
	make_full_snapshot();
	struct file f = file_map(ROWS, XLOG_SNAP);
	/* A header that can't be read says nothing of what the file is: refused even so. */
	run_flips("snapshot", &f, true, look_forced_journal);
	assert_true(refused <= 256 * bits);
	assert_true(ended > (int)damaged_size * bits * 6 / 10);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		bits = atoi(argv[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(journal_cut_anywhere),
		TEST(journal_zeroed_anywhere),
		TEST(flipped_bit_of_a_journal),
		TEST(flipped_bit_of_a_journal_forced),
		TEST(flipped_bit_of_a_snapshot),
		TEST(flipped_bit_of_a_snapshot_forced),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
