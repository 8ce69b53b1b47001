/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Group commit on a disk that fails on demand: what is reported as written can
 * be read back, what is reported as failed can not, memory is undone newest
 * first, and fibers wake in the order of their commits.
 */
#include <errno.h>
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
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys_fault.h"
#include "core/worker.h"
#include "db/error.h"
#include "db/wal/journal.h"
#include "db/wal/wal_int.h"

/** The next write takes `bytes` bytes, and the one behind it none; -1: it just fails. */
static void fail_write(int after, int bytes)
{
	struct sys_fault fault = {SYS_WRITE, after, 1, ENOSPC, bytes > 0 ? bytes : 0};
	sys_fault_plan(&fault, 1);
}

static void fail_once(enum sys_call call, int after, int error)
{
	struct sys_fault fault = {call, after, 1, error, 0};
	sys_fault_plan(&fault, 1);
}

/* The rest of the world ----------------------------------------------- */

static char dir[64];

static void open_journal(enum wal_mode mode, int64_t size_max)
{
	struct journal_config config = {.dir = dir, .mode = mode, .file_size_max = size_max};
	journal_open(&config);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/tarn_journal_XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	instance_id = 1;
	memset(&instance_uuid, 5, sizeof(instance_uuid));
	vclock_create(&wal_vclock);
	sys_fault_clear();
	sys = &sys_faulty;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	journal_close();
	journal_set_queue_size_max(JOURNAL_QUEUE_SIZE_MAX);
	sys = &sys_real;
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* Commits from fibers ------------------------------------------------- */

enum { COMMITS_MAX = 4096 };

static struct commit {
	struct journal_entry entry;
	struct xrow_header row;
	char body[16];
	int result;
	unsigned code;
} commits[COMMITS_MAX];

/** Ids in the order in which fibers came back, and in which changes were undone. */
static int woken[COMMITS_MAX], woken_count, undone[COMMITS_MAX], undone_count, running;

static void on_failure(struct journal_entry *entry)
{
	undone[undone_count++] = (struct commit *)entry->arg - commits;
}

/** The body tells the commit's id, so that files can be compared with what was reported. */
static void commit_prepare(int id)
{
	struct commit *c = &commits[id];
	memset(c, 0, sizeof(*c));
	memcpy(c->body, "\x81\x10\xcd", 3);
	c->body[3] = (char)(id >> 8);
	c->body[4] = (char)id;
	c->row.type = IPROTO_INSERT;
	c->row.body = c->body;
	c->row.body_size = 5;
	c->entry.rows = &c->row;
	c->entry.row_count = 1;
	c->entry.on_failure = on_failure;
	c->entry.arg = c;
}

static int commit_func(va_list args)
{
	int id = va_arg(args, int);
	struct commit *c = &commits[id];
	commit_prepare(id);
	c->result = journal_write(&c->entry);
	c->code = c->result == 0 ? 0 : diag_last()->code;
	woken[woken_count++] = id;
	running--;
	return 0;
}

/** Starts fibers that commit ids from `first` on. */
static void start_commits(int first, int count)
{
	for (int i = 0; i < count; i++) {
		running++;
		fiber_start(fiber_new("commit", commit_func), first + i);
	}
}

static void wait_commits(void)
{
	while (running > 0)
		fiber_sleep(0.001);
}

static void reset_commits(void)
{
	woken_count = undone_count = 0;
}

static void assert_woken_in_order(int first, int count)
{
	assert_int_equal(woken_count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(woken[i], first + i);
}

static void assert_results(int first, int count, int result)
{
	for (int i = first; i < first + count; i++) {
		assert_int_equal(commits[i].result, result);
		assert_int_equal(commits[i].code, result == 0 ? 0 : ER_WAL_IO);
	}
}

static void assert_undone(const int *ids, int count)
{
	assert_int_equal(undone_count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(undone[i], ids[i]);
}

/** How many of the files that were read last ended in a torn write. */
static int torn_count;

/** Reads all files: exactly these ids, with LSNs from 1 on. */
static void assert_rows(const int *ids, int count)
{
	struct xlog_list list;
	torn_count = 0;
	int n = 0;
	assert_int_equal(xlog_list_read(&list, dir, XLOG_XLOG), 0);
	for (size_t i = 0; i < list.count; i++) {
		struct xlog_cursor c;
		struct xrow_header row;
		char *path = xlog_path(dir, list.signature[i], XLOG_XLOG);
		int rc;
		assert_int_equal(xlog_cursor_open(&c, path), 0);
		assert_int_equal(list.signature[i], n);
		assert_int_equal(c.meta.has_prev_vclock, i > 0);
		if (i > 0)
			assert_int_equal(vclock_sum(&c.meta.prev_vclock), list.signature[i - 1]);
		while ((rc = xlog_cursor_next_block(&c)) == 0) {
			while (xlog_cursor_next_row(&c, &row) == 0) {
				int id = (uint8_t)row.body[3] << 8 | (uint8_t)row.body[4];
				assert_in_range(n, 0, count - 1);
				assert_int_equal(id, ids[n++]);
				assert_int_equal(row.lsn, n);
			}
		}
		assert_int_equal(rc, 1);
		torn_count += c.end == XLOG_END_TORN;
		xlog_cursor_close(&c);
		xfree(path);
	}
	assert_int_equal(n, count);
	xlog_list_free(&list);
}

/** Closes the journal and reads all files. */
static void assert_files(const int *ids, int count)
{
	journal_close();
	assert_rows(ids, count);
	/* Without a marker where its write was the one that failed. */
	assert_int_equal(torn_count, 0);
}

static const int *range(int first, int count)
{
	static int ids[COMMITS_MAX];
	for (int i = 0; i < count; i++)
		ids[i] = first + i;
	return ids;
}

/* Tests --------------------------------------------------------------- */

static void one_write_for_a_turn(void **state)
{
	(void)state;
	open_journal(WAL_WRITE, INT64_MAX);
	reset_commits();
	start_commits(0, 1);
	wait_commits();
	sys_fault_clear();
	start_commits(1, 50);
	wait_commits();
	/* A turn may end early, so that sockets do not starve. */
	assert_in_range(sys_fault_calls(SYS_WRITE), 1, 3);
	assert_int_equal(sys_fault_calls(SYS_FDATASYNC), 0);
	assert_woken_in_order(0, 51);
	assert_results(0, 51, 0);
	assert_int_equal(vclock_get(&wal_vclock, 1), 51);
	assert_files(range(0, 51), 51);
}

static void large_batches_keep_order(void **state)
{
	(void)state;
	open_journal(WAL_WRITE, INT64_MAX);
	reset_commits();
	start_commits(0, COMMITS_MAX);
	wait_commits();
	assert_woken_in_order(0, COMMITS_MAX);
	assert_files(range(0, COMMITS_MAX), COMMITS_MAX);
}

static void fsync_groups_what_comes_meanwhile(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	reset_commits();
	sys_fault_delay_sync(20000);
	start_commits(0, 1);
	fiber_sleep(0.001);
	assert_int_equal(woken_count, 0);
	start_commits(1, 100);
	wait_commits();
	assert_int_equal(sys_fault_calls(SYS_FDATASYNC), 2);
	assert_woken_in_order(0, 101);
	assert_results(0, 101, 0);
	assert_files(range(0, 101), 101);
}

/* A slow device -------------------------------------------------------- */

/** How long a write takes, in microseconds, and which thread has done the last one. */
static int write_us;
static bool was_written_in_tx;

static ssize_t slow_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	was_written_in_tx = fiber_is_tx();
	if (write_us > 0)
		usleep(write_us);
	return sys_real.pwrite(fd, data, size, offset);
}

static void commit_in_turn(int id)
{
	start_commits(id, 1);
	wait_commits();
	assert_int_equal(commits[id].result, 0);
}

/** A device that turns slow is left to workers until it is fast again. */
static void slow_device_does_not_hold_tx_up(void **state)
{
	(void)state;
	static struct sys slow;
	slow = sys_real;
	slow.pwrite = slow_pwrite;
	sys = &slow;
	open_journal(WAL_WRITE, INT64_MAX);
	reset_commits();
	write_us = 0;
	commit_in_turn(0);
	assert_true(was_written_in_tx);
	write_us = 15000;
	/* One slow write says nothing. */
	for (int i = 1; i <= 2; i++) {
		commit_in_turn(i);
		assert_true(was_written_in_tx);
	}
	int id = 3;
	for (; id < 6; id++) {
		commit_in_turn(id);
		assert_false(was_written_in_tx);
	}
	/* What comes meanwhile is one batch. */
	start_commits(id, 50);
	wait_commits();
	id += 50;
	assert_woken_in_order(0, id);
	write_us = 0;
	while (!was_written_in_tx && id < COMMITS_MAX)
		commit_in_turn(id++);
	assert_true(was_written_in_tx);
	assert_files(range(0, id), id);
}

/* A bounded queue ------------------------------------------------------ */

static int done[COMMITS_MAX], done_count;

static void on_done(struct journal_entry *entry)
{
	struct commit *c = entry->arg;
	c->result = entry->result;
	done[done_count++] = c - commits;
}

/** A commit that does not wait for its end; the result of the submission. */
static int submit(int id, bool may_wait)
{
	struct commit *c = &commits[id];
	commit_prepare(id);
	c->entry.on_done = on_done;
	c->result = 1;
	return journal_submit(&c->entry, may_wait);
}

static int submit_func(va_list args)
{
	int id = va_arg(args, int);
	assert_int_equal(submit(id, true), 0);
	woken[woken_count++] = id;
	running--;
	return 0;
}

static void full_queue_makes_commits_wait(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	journal_set_queue_size_max(200);
	reset_commits();
	done_count = 0;
	sys_fault_delay_sync(2000);
	/* Fills the queue; no yield. */
	int taken = 0;
	while (submit(taken, false) == 0)
		taken++;
	assert_in_range(taken, 2, 10);
	assert_int_equal(diag_last()->code, ER_WAL_IO);
	assert_non_null(diag_last()->cause);
	assert_undone(&taken, 1);
	/* These wait for room, then for their write; one is cancelled meanwhile. */
	start_commits(taken, 50);
	struct fiber *f = fiber_new("submit", submit_func);
	running++;
	fiber_start(f, taken + 50);
	assert_int_equal(woken_count, 0);
	fiber_cancel(f);
	wait_commits();
	while (done_count < taken + 1)
		fiber_sleep(0.001);
	for (int i = 0; i < taken; i++)
		assert_int_equal(done[i], i);
	assert_int_equal(done[taken], taken + 50);
	assert_results(taken, 50, 0);
	assert_int_equal(commits[taken + 50].result, 0);
	assert_true(sys_fault_calls(SYS_FDATASYNC) > 3);
	assert_files(range(0, taken + 51), taken + 51);
}

static void failed_write_takes_those_that_wait_with_it(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	journal_set_queue_size_max(200);
	reset_commits();
	sys_fault_delay_sync(2000);
	fail_once(SYS_FDATASYNC, 1, EIO);
	start_commits(0, 1);
	fiber_sleep(0.0005);
	start_commits(1, 30);
	wait_commits();
	assert_results(1, 30, -1);
	int newest_first[30];
	for (int i = 0; i < 30; i++)
		newest_first[i] = 30 - i;
	assert_undone(newest_first, 30);
	assert_woken_in_order(0, 31);
	reset_commits();
	start_commits(1, 30);
	wait_commits();
	assert_results(1, 30, 0);
	assert_files(range(0, 31), 31);
}

static void full_queue_and_the_end(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	journal_set_queue_size_max(0);
	reset_commits();
	sys_fault_delay_sync(1000);
	start_commits(0, 20);
	/* Those that wait for room count: their changes are in memory, so in a snapshot, too. */
	struct vclock foreseen = journal_vclock();
	assert_int_equal(vclock_get(&foreseen, 1), 20);
	assert_int_equal(journal_rotate(), 0);
	assert_int_equal(vclock_compare(&foreseen, &wal_vclock), 0);
	/* It came after them. */
	assert_int_equal(woken_count, 20);
	reset_commits();
	start_commits(20, 20);
	journal_close();
	wait_commits();
	assert_results(20, 20, 0);
	assert_files(range(0, 40), 40);
}

static void failed_write_is_undone(void **state)
{
	(void)state;
	static const int newest_first[] = {14, 13, 12, 11, 10};
	for (int bytes = -1; bytes < 100; bytes += 7) {
		open_journal(WAL_WRITE, INT64_MAX);
		reset_commits();
		start_commits(0, 10);
		wait_commits();
		reset_commits();
		fail_write(0, bytes);
		start_commits(10, 5);
		wait_commits();
		assert_undone(newest_first, 5);
		assert_woken_in_order(10, 5);
		assert_results(10, 5, -1);
		assert_int_equal(vclock_get(&wal_vclock, 1), 10);
		start_commits(10, 20);
		wait_commits();
		assert_results(10, 20, 0);
		assert_files(range(0, 30), 30);
		teardown(NULL);
		setup(NULL);
	}
}

static void failed_sync_takes_the_next_batch_with_it(void **state)
{
	(void)state;
	static const int newest_first[] = {7, 6, 5, 4, 3, 2};
	open_journal(WAL_FSYNC, INT64_MAX);
	reset_commits();
	start_commits(0, 2);
	wait_commits();
	reset_commits();
	fail_once(SYS_FDATASYNC, 0, EIO);
	sys_fault_delay_sync(20000);
	start_commits(2, 3);
	fiber_sleep(0.001);
	start_commits(5, 3);
	wait_commits();
	assert_undone(newest_first, 6);
	assert_woken_in_order(2, 6);
	assert_results(2, 6, -1);
	start_commits(2, 1);
	wait_commits();
	assert_results(2, 1, 0);
	assert_files(range(0, 3), 3);
}

/** Commits `good` ids, then five that fail, where the file can't be cut either, then some more. */
static void fail_twice(enum wal_mode mode, int good, const struct sys_fault *fault)
{
	const struct sys_fault faults[] = {*fault, {SYS_FTRUNCATE, 0, -1, EIO, 0}};
	open_journal(mode, INT64_MAX);
	reset_commits();
	start_commits(0, good);
	wait_commits();
	sys_fault_plan(faults, 2);
	start_commits(good, 5);
	wait_commits();
	assert_results(good, 5, -1);
	/* As a restart would find it now. */
	assert_rows(range(0, good), good);
	bool was_written = torn_count > 0;
	/* Others follow in a file of their own, though this one still can't be cut. */
	start_commits(good, 20);
	wait_commits();
	assert_results(good, 20, 0);
	assert_rows(range(0, good + 20), good + 20);
	/* A file without a row was moved aside. */
	assert_int_equal(torn_count, was_written && good > 0);
	sys_fault_clear();
	journal_close();
	assert_rows(range(0, good + 20), good + 20);
	teardown(NULL);
	setup(NULL);
}

static void failed_cut_is_written_over(void **state)
{
	(void)state;
	/* Some part of the first block, whole blocks and a part, all. */
	for (int bytes = 1; bytes < 200; bytes += 9) {
		const struct sys_fault fault = {SYS_WRITE, 0, 1, ENOSPC, bytes};
		fail_twice(WAL_WRITE, 3, &fault);
	}
	for (int after = 0; after < 2; after++) {
		const struct sys_fault fault = {SYS_FDATASYNC, 0, 1, EIO, 0};
		fail_twice(WAL_FSYNC, 3 * after, &fault);
	}
	const struct sys_fault header = {SYS_WRITE, 1, 1, ENOSPC, 70};
	fail_twice(WAL_WRITE, 0, &header);
}

/** What was taken back is on the device before anything follows. */
static void cut_is_synced(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	reset_commits();
	start_commits(0, 1);
	wait_commits();
	sys_fault_clear();
	fail_write(0, 30);
	start_commits(1, 1);
	wait_commits();
	assert_results(1, 1, -1);
	assert_int_equal(sys_fault_calls(SYS_FTRUNCATE), 1);
	assert_int_equal(sys_fault_calls(SYS_FDATASYNC), 1);
	assert_files(range(0, 1), 1);
}

static void failed_cut_is_tried_again(void **state)
{
	(void)state;
	open_journal(WAL_WRITE, INT64_MAX);
	reset_commits();
	start_commits(0, 3);
	wait_commits();
	const struct sys_fault cut[] = {
		{SYS_WRITE, 0, -1, ENOSPC, 30},
		{SYS_FTRUNCATE, 0, -1, EIO, 0},
	};
	sys_fault_plan(cut, 2);
	start_commits(3, 1);
	wait_commits();
	assert_results(3, 1, -1);
	start_commits(3, 1);
	wait_commits();
	assert_results(3, 1, -1);
	/* Nor does another file begin: its rows would have the same numbers. */
	assert_int_equal(journal_rotate(), -1);
	assert_int_equal(diag_last()->code, ER_WAL_IO);
	sys_fault_clear();
	assert_int_equal(journal_rotate(), 0);
	start_commits(3, 2);
	wait_commits();
	assert_results(3, 2, 0);
	assert_files(range(0, 5), 5);
}

static void failed_create_leaves_nothing(void **state)
{
	(void)state;
	for (int fault = 0; fault < 2; fault++) {
		open_journal(WAL_WRITE, INT64_MAX);
		reset_commits();
		fail_once(fault == 0 ? SYS_OPEN : SYS_WRITE, 0, fault == 0 ? EMFILE : ENOSPC);
		start_commits(0, 2);
		wait_commits();
		assert_results(0, 2, -1);
		start_commits(0, 4);
		wait_commits();
		assert_results(0, 4, 0);
		assert_files(range(0, 4), 4);
		teardown(NULL);
		setup(NULL);
	}
}

/** Any single fault anywhere, in both modes: files hold exactly what was reported. */
/** Each way in which the first commit of a file, or a later one, can fail: undone, then all is well. */
static void each_fault_heals(void **state)
{
	(void)state;
	static const struct {
		enum sys_call call;
		int error;
		/** Commits that go well before. */
		int before;
	} faults[] = {
		{SYS_OPEN, EMFILE, 0}, {SYS_OPEN, ENFILE, 0}, {SYS_OPEN, EROFS, 0},
		{SYS_OPEN, EACCES, 0}, {SYS_OPEN, ENOSPC, 0}, {SYS_WRITE, ENOSPC, 0},
		{SYS_WRITE, EDQUOT, 5}, {SYS_WRITE, EIO, 5}, {SYS_WRITE, EROFS, 5},
		{SYS_WRITE, ENOSPC, 5}, {SYS_RENAME, EROFS, 0}, {SYS_RENAME, ENOSPC, 0},
		{SYS_FSYNC, EIO, 0}, {SYS_FDATASYNC, EIO, 0}, {SYS_FDATASYNC, EIO, 5},
		{SYS_FDATASYNC, ENOSPC, 5},
	};
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		int before = faults[i].before;
		open_journal(WAL_FSYNC, INT64_MAX);
		reset_commits();
		start_commits(0, before);
		wait_commits();
		/* It lasts for three attempts; a failed write is cut off and that is synced, too. */
		const struct sys_fault fault = {faults[i].call, 0, -1, faults[i].error, 0};
		sys_fault_plan(&fault, 1);
		for (int id = before; id < before + 3; id++) {
			start_commits(id, 1);
			wait_commits();
		}
		assert_results(before, 3, -1);
		assert_int_equal(commits[before].code, ER_WAL_IO);
		assert_int_equal(undone_count, 3);
		assert_true(sys_fault_failed(faults[i].call) >= 3);
		sys_fault_clear();
		start_commits(before, 10);
		wait_commits();
		assert_results(before, 10, 0);
		assert_int_equal(vclock_get(&wal_vclock, 1), before + 10);
		assert_files(range(0, before + 10), before + 10);
		teardown(NULL);
		setup(NULL);
	}
}

static void every_fault(void **state)
{
	(void)state;
	for (int fault = 0; fault < 24; fault++) {
		static int good[COMMITS_MAX];
		int good_count = 0;
		open_journal(fault % 2 == 0 ? WAL_WRITE : WAL_FSYNC, 300);
		reset_commits();
		const struct sys_fault faults[] = {
			{SYS_WRITE, fault, 1, ENOSPC, fault * 5 % 60},
			{SYS_FDATASYNC, fault / 3, 1, EIO, 0},
		};
		sys_fault_plan(faults, fault % 3 == 0 ? 2 : 1);
		for (int i = 0; i < 40; i++) {
			start_commits(i * 5, 5);
			wait_commits();
			for (int id = i * 5; id < i * 5 + 5; id++) {
				if (commits[id].result == 0)
					good[good_count++] = id;
			}
		}
		assert_int_equal(good_count + undone_count, 200);
		assert_files(good, good_count);
		teardown(NULL);
		setup(NULL);
	}
}

static void rotates_by_size_and_on_demand(void **state)
{
	(void)state;
	open_journal(WAL_WRITE, 1000);
	reset_commits();
	for (int i = 0; i < 100; i++) {
		start_commits(i, 1);
		wait_commits();
	}
	struct xlog_list list;
	assert_int_equal(xlog_list_read(&list, dir, XLOG_XLOG), 0);
	assert_in_range(list.count, 3, 50);
	size_t before = list.count;
	xlog_list_free(&list);
	start_commits(100, 1);
	assert_int_equal(journal_rotate(), 0);
	assert_int_equal(woken_count, 101);
	start_commits(101, 1);
	wait_commits();
	assert_int_equal(xlog_list_read(&list, dir, XLOG_XLOG), 0);
	assert_in_range(list.count, before + 1, before + 2);
	assert_int_equal(list.signature[list.count - 1], 101);
	xlog_list_free(&list);
	assert_files(range(0, 102), 102);
}

static void rotates_while_a_worker_writes(void **state)
{
	(void)state;
	open_journal(WAL_FSYNC, INT64_MAX);
	reset_commits();
	sys_fault_delay_sync(10000);
	start_commits(0, 2);
	fiber_sleep(0.001);
	start_commits(2, 3);
	struct vclock foreseen = journal_vclock();
	assert_int_equal(vclock_sum(&foreseen), 5);
	assert_int_equal(journal_rotate(), 0);
	assert_int_equal(vclock_sum(&wal_vclock), 5);
	start_commits(5, 1);
	wait_commits();
	struct xlog_list list;
	assert_int_equal(xlog_list_read(&list, dir, XLOG_XLOG), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.signature[1], 5);
	xlog_list_free(&list);
	assert_files(range(0, 6), 6);
}

static void old_file_of_the_name_is_kept(void **state)
{
	(void)state;
	char *path = xlog_path(dir, 0, XLOG_XLOG);
	FILE *f = fopen(path, "w");
	fputs("torn", f);
	fclose(f);
	open_journal(WAL_WRITE, INT64_MAX);
	reset_commits();
	start_commits(0, 1);
	wait_commits();
	char *aside = xasprintf("%s.torn", path);
	assert_int_equal(access(aside, F_OK), 0);
	xfree(aside);
	xfree(path);
	assert_files(range(0, 1), 1);
}

static void no_journal_no_files(void **state)
{
	(void)state;
	open_journal(WAL_NONE, INT64_MAX);
	reset_commits();
	start_commits(0, 5);
	wait_commits();
	assert_results(0, 5, 0);
	assert_int_equal(vclock_sum(&wal_vclock), 5);
	assert_files(NULL, 0);
}

static void not_open(void **state)
{
	(void)state;
	reset_commits();
	start_commits(0, 1);
	wait_commits();
	assert_int_equal(commits[0].result, -1);
	assert_int_equal(commits[0].code, ER_LOADING);
	assert_int_equal(undone_count, 1);
}

/** Writes one transaction of rows with these groups and reads it back. */
static int write_txn(const uint32_t *groups, uint32_t count, struct xrow_header *got)
{
	struct xrow_header rows[4];
	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < count; i++) {
		rows[i].type = IPROTO_INSERT;
		rows[i].group_id = groups[i];
		rows[i].body = "\x80";
		rows[i].body_size = 1;
	}
	struct journal_entry entry = {.rows = rows, .row_count = count};
	char *path = xlog_path(dir, vclock_sum(&wal_vclock), XLOG_XLOG);
	assert_int_equal(journal_write(&entry), 0);
	assert_int_equal(journal_rotate(), 0);
	struct xlog_cursor c;
	int n = 0;
	assert_int_equal(xlog_cursor_open(&c, path), 0);
	while (xlog_cursor_next_block(&c) == 0) {
		while (xlog_cursor_next_row(&c, &got[n]) == 0)
			n++;
	}
	xlog_cursor_close(&c);
	xfree(path);
	return n;
}

/** Numbers and flags as the reference gives them, those of local rows included. */
static void transactions_of_local_and_other_rows(void **state)
{
	(void)state;
	static const uint32_t only_local[] = {1, 1}, first_local[] = {1, 0}, last_local[] = {0, 1};
	struct xrow_header got[5];
	open_journal(WAL_WRITE, INT64_MAX);
	assert_int_equal(write_txn(only_local, 2, got), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(got[i].replica_id, 0);
		assert_int_equal(got[i].lsn, i + 1);
		assert_int_equal(got[i].tsn, 1);
		assert_int_equal(got[i].is_commit, i == 1);
	}
	assert_int_equal(write_txn(first_local, 2, got), 2);
	assert_int_equal(got[0].lsn, 3);
	assert_int_equal(got[0].tsn, 1);
	assert_false(got[0].is_commit);
	assert_int_equal(got[1].lsn, 1);
	assert_int_equal(got[1].tsn, 1);
	assert_true(got[1].is_commit);
	assert_int_equal(write_txn(last_local, 2, got), 3);
	assert_int_equal(got[0].lsn, 2);
	assert_int_equal(got[1].lsn, 4);
	assert_int_equal(got[1].tsn, 2);
	assert_false(got[1].is_commit);
	assert_int_equal(got[2].type, IPROTO_NOP);
	assert_int_equal(got[2].lsn, 3);
	assert_int_equal(got[2].tsn, 2);
	assert_true(got[2].is_commit);
	assert_int_equal(vclock_get(&wal_vclock, 0), 4);
	assert_int_equal(vclock_get(&wal_vclock, 1), 3);
}

/** A transaction that one block can't hold is spread over several. */
static void large_transaction(void **state)
{
	(void)state;
	enum { ROWS = 20, SIZE = 1024 * 1024 };
	static struct xrow_header rows[ROWS];
	char *body = xcalloc(1, SIZE);
	/* A map with the tuple, as binary data: some of it packs, some does not. */
	memcpy(body, "\x81\x21\xc6\x00\x0f\xff\xf8", 7);
	unsigned seed = 1;
	for (int i = 7; i < SIZE; i++)
		body[i] = i % 4 == 0 ? (char)rand_r(&seed) : 'x';
	for (int i = 0; i < ROWS; i++) {
		rows[i].type = IPROTO_INSERT;
		rows[i].body = body;
		rows[i].body_size = SIZE - 1;
	}
	struct journal_entry entry = {.rows = rows, .row_count = ROWS};
	open_journal(WAL_WRITE, INT64_MAX);
	size_t block_size = journal_block_size;
	journal_block_size = ROWS * SIZE * 3 / 4;
	assert_int_equal(journal_write(&entry), 0);
	journal_block_size = block_size;
	assert_int_equal(journal_rotate(), 0);
	struct xlog_cursor c;
	struct xrow_header row;
	int count = 0, blocks = 0;
	char *path = xlog_path(dir, 0, XLOG_XLOG);
	assert_int_equal(xlog_cursor_open(&c, path), 0);
	for (; xlog_cursor_next_block(&c) == 0; blocks++) {
		while (xlog_cursor_next_row(&c, &row) == 0) {
			assert_int_equal(row.lsn, ++count);
			assert_int_equal(row.tsn, 1);
			assert_int_equal(row.is_commit, count == ROWS);
			assert_int_equal(row.body_size, SIZE - 1);
			assert_memory_equal(row.body, body, SIZE - 1);
		}
	}
	assert_int_equal(c.end, XLOG_END_CLOSED);
	assert_int_equal(count, ROWS);
	assert_int_equal(blocks, 2);
	xlog_cursor_close(&c);
	xfree(path);
	xfree(body);
}

static int result;

/** All tests run in a fiber, so that they can wait. */
static int tests_func(va_list args)
{
	(void)args;
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(one_write_for_a_turn),
		TEST(large_batches_keep_order),
		TEST(fsync_groups_what_comes_meanwhile),
		TEST(slow_device_does_not_hold_tx_up),
		TEST(full_queue_makes_commits_wait),
		TEST(failed_write_takes_those_that_wait_with_it),
		TEST(full_queue_and_the_end),
		TEST(failed_write_is_undone),
		TEST(failed_sync_takes_the_next_batch_with_it),
		TEST(failed_cut_is_written_over),
		TEST(cut_is_synced),
		TEST(failed_cut_is_tried_again),
		TEST(failed_create_leaves_nothing),
		TEST(each_fault_heals),
		TEST(every_fault),
		TEST(rotates_by_size_and_on_demand),
		TEST(rotates_while_a_worker_writes),
		TEST(old_file_of_the_name_is_kept),
		TEST(no_journal_no_files),
		TEST(not_open),
		TEST(transactions_of_local_and_other_rows),
		TEST(large_transaction),
	};
	result = cmocka_run_group_tests(tests, NULL, NULL);
	loop_stop();
	return 0;
}

int main(void)
{
	fiber_init();
	loop_init();
	worker_init();
	log_set_level(LOG_FATAL);
	fiber_start(fiber_new_sized("tests", 1024 * 1024, tests_func));
	loop_run();
	worker_free();
	loop_free();
	fiber_free();
	return result;
}
