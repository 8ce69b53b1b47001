/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of a data directory: bootstrap, recovery, locks, checkpoints with changes
 * going on, and a disk that fails.
 */
#include "db/txn/txn.h"
#include "wal_test.h"

static void fail_once(enum sys_call call, int after)
{
	struct sys_fault fault = {call, after, 1, EIO, 0};
	sys_fault_plan(&fault, 1);
}

/* Start --------------------------------------------------------------- */

static void phase_bootstrap(void)
{
	CHECK(strcmp(wal_status(), "unconfigured") == 0);
	start();
	CHECK(strcmp(wal_status(), "running") == 0);
	CHECK(instance_id == 1);
	CHECK(!uuid_is_nil(&instance_uuid) && !uuid_is_nil(&replicaset_uuid));
	CHECK(vclock_sum(&wal_vclock) == 0);
	CHECK(file_count(XLOG_SNAP) == 1 && file_exists(0, ".snap"));
	/* No journal before the first change. */
	CHECK(file_count(XLOG_XLOG) == 0);
	create_space();
	for (int i = 0; i < 100; i++)
		CHECK(put(i) == 0);
	CHECK(vclock_get(&wal_vclock, 1) == 102);
	CHECK(file_count(XLOG_XLOG) == 1);
	wal_stop();
}

static void phase_check_100(void)
{
	start();
	CHECK(instance_id == 1);
	CHECK(vclock_get(&wal_vclock, 1) == 102);
	CHECK(count() == 100);
	CHECK(put(100) == 0);
	wal_stop();
}

static void bootstrap_and_recover(void **state)
{
	(void)state;
	run(phase_bootstrap);
	run(phase_check_100);
	assert_true(file_exists(0, ".xlog"));
	assert_true(file_exists(102, ".xlog"));
}

static void phase_killed(void)
{
	start();
	create_space();
	for (int i = 0; i < 100; i++)
		CHECK(put(i) == 0);
	kill(getpid(), SIGKILL);
}

static void recover_after_a_kill(void **state)
{
	(void)state;
	assert_true(WIFSIGNALED(run_status(phase_killed)));
	run(phase_check_100);
}

static void phase_locked(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
	CHECK(start_with(WAL_WRITE, false) == -1);
	CHECK(diag_last()->code == ER_ALREADY_RUNNING);
	CHECK(strstr(diag_last()->message, dir) != NULL);
	CHECK(file_count(XLOG_SNAP) == 0);
	close(fd);
	start();
	wal_stop();
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
}

static void directory_in_use(void **state)
{
	(void)state;
	run(phase_locked);
}

static void phase_no_directory(void)
{
	struct wal_config config = {.wal_dir = "/nonexistent/wal", .memtx_dir = dir};
	CHECK(wal_start(&config) == -1);
	CHECK(strstr(diag_last()->message, "/nonexistent/wal") != NULL);
	config.wal_dir = dir;
	config.memtx_dir = "/nonexistent/snap";
	CHECK(wal_start(&config) == -1);
	CHECK(strstr(diag_last()->message, "/nonexistent/snap") != NULL);
}

static void missing_directory(void **state)
{
	(void)state;
	run(phase_no_directory);
}

static int read_fault;

static void phase_read_fails(void)
{
	const struct sys_fault fault = {SYS_READ, read_fault, 1, EIO, 0};
	sys_fault_plan(&fault, 1);
	/* This is no damage, which could be passed over. */
	CHECK(start_with(WAL_WRITE, true) == -1);
	CHECK(error_is(diag_last(), &type_SystemError));
	CHECK(strstr(diag_last()->message, dir) != NULL);
	CHECK(sys_fault_failed(SYS_READ) == 1);
}

/** A file that can't be read now: no start without it, not even where that is forced. */
static void failed_read(void **state)
{
	(void)state;
	run(phase_bootstrap);
	/* The snapshot, then the journal. */
	for (read_fault = 0; read_fault < 2; read_fault++)
		run(phase_read_fails);
	run(phase_check_100);
}

static int bootstrap_fault;

static void phase_bootstrap_fails(void)
{
	fail_once(SYS_WRITE, bootstrap_fault);
	CHECK(start_with(WAL_WRITE, false) == -1);
	CHECK(error_is(diag_last(), &type_SystemError));
	CHECK(file_count(XLOG_SNAP) == 0);
	CHECK(!file_exists(0, ".snap.inprogress"));
}

static void failed_bootstrap_leaves_nothing(void **state)
{
	(void)state;
	/* The header, the rows, the end marker. */
	for (bootstrap_fault = 0; bootstrap_fault < 3; bootstrap_fault++)
		run(phase_bootstrap_fails);
}

static void phase_wanted_uuids(void)
{
	struct wal_config config = {.wal_dir = dir, .memtx_dir = dir, .mode = WAL_WRITE};
	memset(&config.instance_uuid, 3, sizeof(config.instance_uuid));
	memset(&config.replicaset_uuid, 4, sizeof(config.replicaset_uuid));
	CHECK(wal_start(&config) == 0);
	CHECK(uuid_equal(&instance_uuid, &config.instance_uuid));
	CHECK(uuid_equal(&replicaset_uuid, &config.replicaset_uuid));
	wal_stop();
}

static void phase_other_replicaset(void)
{
	struct wal_config config = {.wal_dir = dir, .memtx_dir = dir, .mode = WAL_WRITE};
	memset(&config.replicaset_uuid, 5, sizeof(config.replicaset_uuid));
	CHECK(wal_start(&config) == -1);
	CHECK(diag_last()->code == ER_REPLICASET_UUID_MISMATCH);
}

static void uuids_as_wanted(void **state)
{
	(void)state;
	run(phase_wanted_uuids);
	run(phase_wanted_uuids);
	run(phase_other_replicaset);
}

/* Changes ------------------------------------------------------------- */

static void phase_failed_write(void)
{
	start();
	create_space();
	CHECK(put(1) == 0);
	int64_t lsn = vclock_sum(&wal_vclock);
	fail_once(SYS_WRITE, 0);
	CHECK(put(2) == -1);
	CHECK(diag_last()->code == ER_WAL_IO);
	CHECK(!has(2) && count() == 1);
	fail_once(SYS_WRITE, 0);
	CHECK(del(1) == -1);
	CHECK(has(1));
	CHECK(vclock_sum(&wal_vclock) == lsn);
	CHECK(put(3) == 0);
	wal_stop();
}

static void phase_after_failed_write(void)
{
	start();
	CHECK(count() == 2 && has(1) && has(3));
	wal_stop();
}

static void failed_write(void **state)
{
	(void)state;
	run(phase_failed_write);
	run(phase_after_failed_write);
}

/** What can go wrong with a commit, for a while; what is still open then. */
static const struct disaster {
	enum sys_call call;
	int error;
	/** Bytes of a write that are written first. */
	int partial;
	/** The file is full: the commit begins the next one. */
	bool begins_file;
} disasters[] = {
	{SYS_WRITE, ENOSPC, 0, false}, {SYS_WRITE, ENOSPC, 10, false},
	{SYS_WRITE, ENOSPC, 60, false}, {SYS_WRITE, EDQUOT, 0, false},
	{SYS_WRITE, EIO, 0, false}, {SYS_WRITE, EROFS, 0, false}, {SYS_WRITE, ENOSPC, 0, true},
	{SYS_FDATASYNC, EIO, 0, false}, {SYS_FDATASYNC, ENOSPC, 0, false},
	{SYS_FDATASYNC, EDQUOT, 0, true}, {SYS_FSYNC, EIO, 0, true},
	{SYS_OPEN, EMFILE, 0, true}, {SYS_OPEN, ENFILE, 0, true}, {SYS_OPEN, EROFS, 0, true},
	{SYS_OPEN, EACCES, 0, true}, {SYS_OPEN, ENOSPC, 0, true}, {SYS_RENAME, EROFS, 0, true},
	{SYS_RENAME, ENOSPC, 0, true},
};
enum { DISASTER_COUNT = sizeof(disasters) / sizeof(*disasters) };

static const struct disaster *disaster;

/** Several changes as one transaction. */
static int change_more(void)
{
	CHECK(box_txn_begin() == 0);
	CHECK(put(20) == 0 && del(1) == 0 && put(21) == 0);
	return box_txn_commit();
}

static void expect_io_error(int rc)
{
	CHECK(rc == -1);
	CHECK(diag_last()->code == ER_WAL_IO);
}

static void phase_disaster(void)
{
	CHECK(start_with(WAL_FSYNC, false) == 0);
	create_space();
	for (int i = 0; i < 10; i++)
		CHECK(put(i) == 0);
	if (disaster->begins_file)
		CHECK(checkpoint_make() == 0);
	int64_t lsn = vclock_sum(&wal_vclock);
	const struct sys_fault fault = {disaster->call, 0, -1, disaster->error, disaster->partial};
	sys_fault_plan(&fault, 1);
	expect_io_error(put(10));
	expect_io_error(del(1));
	expect_io_error(change_more());
	CHECK(sys_fault_failed(disaster->call) >= 3);
	/* Memory is as it was, and can be read. */
	CHECK(count() == 10 && has(1) && !has(10) && !has(20));
	CHECK(vclock_sum(&wal_vclock) == lsn);
	sys_fault_clear();
	CHECK(put(11) == 0 && del(2) == 0 && change_more() == 0);
	CHECK(vclock_sum(&wal_vclock) == lsn + 5);
	/* Neither a clean end nor any other helps. */
	kill(getpid(), SIGKILL);
}

static void phase_after_disaster(void)
{
	start();
	CHECK(count() == 11);
	CHECK(!has(1) && !has(2) && !has(10) && has(11) && has(20) && has(21));
	CHECK(vclock_sum(&wal_vclock) == 17);
	wal_stop();
}

/** Commits fail, memory is undone, reads go on, and all is well once the disk is. */
static void each_disaster_heals(void **state)
{
	(void)state;
	for (int i = 0; i < DISASTER_COUNT; i++) {
		disaster = &disasters[i];
		assert_true(WIFSIGNALED(run_status(phase_disaster)));
		run(phase_after_disaster);
		teardown(NULL);
		setup(NULL);
	}
}

/** A commit that fails though its bytes are in the file, which can't be cut either. */
static void fail_twice(void)
{
	const struct sys_fault faults[] = {
		{SYS_FDATASYNC, 0, 1, EIO, 0},
		{SYS_FTRUNCATE, 0, -1, EIO, 0},
	};
	CHECK(start_with(WAL_FSYNC, false) == 0);
	create_space();
	CHECK(put(1) == 0 && put(2) == 0);
	sys_fault_plan(faults, 2);
	CHECK(put(3) == -1);
	CHECK(diag_last()->code == ER_WAL_IO);
	CHECK(!has(3) && count() == 2);
}

static void phase_failed_cut(void)
{
	fail_twice();
	kill(getpid(), SIGKILL);
}

static void phase_after_failed_cut(void)
{
	start();
	CHECK(count() == 2 && has(1) && has(2));
	wal_stop();
}

static void phase_failed_cut_and_more(void)
{
	fail_twice();
	/* In the next file, with the number of the one that failed. */
	CHECK(put(4) == 0);
	CHECK(vclock_sum(&wal_vclock) == 5);
	CHECK(file_exists(0, ".xlog") && file_exists(4, ".xlog"));
	kill(getpid(), SIGKILL);
}

static void phase_after_failed_cut_and_more(void)
{
	start();
	CHECK(count() == 3 && has(1) && has(2) && has(4));
	CHECK(vclock_sum(&wal_vclock) == 5);
	wal_stop();
}

/** Two faults at once: what was reported as failed does not come back. */
static void failed_cut(void **state)
{
	(void)state;
	assert_true(WIFSIGNALED(run_status(phase_failed_cut)));
	run(phase_after_failed_cut);
	teardown(NULL);
	setup(NULL);
	assert_true(WIFSIGNALED(run_status(phase_failed_cut_and_more)));
	run(phase_after_failed_cut_and_more);
}

/* Checkpoints --------------------------------------------------------- */

static void phase_checkpoint(void)
{
	start();
	create_space();
	for (int i = 0; i < 1000; i++)
		CHECK(put(i) == 0);
	CHECK(checkpoint_make() == 0);
	CHECK(file_exists(1002, ".snap"));
	/* Without changes there is nothing to write. */
	CHECK(checkpoint_make() == 0);
	CHECK(file_count(XLOG_SNAP) == 2);
	CHECK(put(1000) == 0);
	CHECK(file_exists(1002, ".xlog"));
	wal_stop();
}

static void phase_only_the_snapshot(void)
{
	start();
	CHECK(vclock_sum(&wal_vclock) == 1003);
	CHECK(count() == 1001);
	wal_stop();
}

static void checkpoint_and_recover(void **state)
{
	(void)state;
	run(phase_checkpoint);
	/* The first journal is not needed any more. */
	char path[128];
	snprintf(path, sizeof(path), "%s/%020d.xlog", dir, 0);
	assert_int_equal(unlink(path), 0);
	run(phase_only_the_snapshot);
}

static int writers, checkpoints;

/** Changes rows while checkpoints go on: each id is put, deleted and put again. */
static int writer_func(va_list args)
{
	int base = va_arg(args, int);
	for (int round = 0; round < 3; round++) {
		while (checkpoints < round) /* so that there are two before the last row */
			fiber_sleep(0.001);
		for (int i = 0; i < 500; i++) {
			CHECK((round == 1 ? del(base + i) : put(base + i)) == 0);
			if (i % 50 == 0)
				fiber_sleep(0);
		}
	}
	writers--;
	return 0;
}

static void make_changes_and_checkpoints(enum wal_mode mode)
{
	CHECK(start_with(mode, false) == 0);
	create_space();
	for (int i = 0; i < 8; i++) {
		writers++;
		fiber_start(fiber_new("writer", writer_func), i * 1000);
	}
	while (writers > 0) {
		CHECK(checkpoint_make() == 0);
		checkpoints++;
		fiber_sleep(0.001);
	}
	CHECK(checkpoints > 1);
	CHECK(file_count(XLOG_SNAP) == 2);
	wal_stop();
}

static void phase_busy_checkpoint(void)
{
	make_changes_and_checkpoints(WAL_WRITE);
}

static void phase_busy_checkpoint_fsync(void)
{
	make_changes_and_checkpoints(WAL_FSYNC);
}

static void phase_after_busy_checkpoint(void)
{
	start();
	CHECK(count() == 4000);
	for (int i = 0; i < 8; i++)
		CHECK(has(i * 1000) && has(i * 1000 + 499));
	CHECK(vclock_sum(&wal_vclock) == 2 + 8 * 1500);
	wal_stop();
}

/** Every snapshot that is there must lead to the same end as any other. */
static void changes_while_checkpoints_are_made(void **state)
{
	(void)state;
	for (int fsync = 0; fsync < 2; fsync++) {
		run(fsync ? phase_busy_checkpoint_fsync : phase_busy_checkpoint);
		run(phase_after_busy_checkpoint);
		struct xlog_list list;
		assert_int_equal(xlog_list_read(&list, dir, XLOG_SNAP), 0);
		assert_int_equal(list.count, 2);
		char *newest = xlog_path(dir, list.signature[1], XLOG_SNAP);
		assert_int_equal(unlink(newest), 0);
		xfree(newest);
		xlog_list_free(&list);
		run(phase_after_busy_checkpoint);
		teardown(NULL);
		setup(NULL);
	}
}

static void phase_failed_checkpoint(void)
{
	start();
	create_space();
	CHECK(put(1) == 0);
	/* Faults of writing, of syncing, of renaming: no file is left, and the next one is made. */
	for (int fault = 0; fault < 4; fault++) {
		fail_once(fault < 2 ? SYS_WRITE : fault == 2 ? SYS_FSYNC : SYS_RENAME,
			  fault < 2 ? fault + 1 : 0);
		CHECK(checkpoint_make() == -1);
		CHECK(error_is(diag_last(), &type_SystemError));
		CHECK(file_count(XLOG_SNAP) == 1);
		CHECK(!file_exists(3, ".snap.inprogress"));
		sys_fault_clear();
	}
	CHECK(put(2) == 0);
	CHECK(checkpoint_make() == 0);
	CHECK(file_exists(4, ".snap"));
	wal_stop();
}

static void phase_after_failed_checkpoint(void)
{
	start();
	CHECK(count() == 2);
	wal_stop();
}

static void failed_checkpoint(void **state)
{
	(void)state;
	run(phase_failed_checkpoint);
	run(phase_after_failed_checkpoint);
}

static int checkpoint_func(va_list args)
{
	(void)args;
	return checkpoint_make();
}

static void phase_concurrent(void)
{
	start();
	create_space();
	struct fiber *f = fiber_new("other", checkpoint_func);
	fiber_set_joinable(f, true);
	fiber_start(f);
	CHECK(checkpoint_make() == -1);
	CHECK(diag_last()->code == ER_CHECKPOINT_IN_PROGRESS);
	CHECK(fiber_join(f) == 0);
	wal_stop();
	CHECK(checkpoint_make() == -1);
}

static void one_checkpoint_at_a_time(void **state)
{
	(void)state;
	run(phase_concurrent);
}

static void phase_collect(void)
{
	start();
	create_space();
	checkpoint_set_count(3);
	for (int i = 0; i < 6; i++) {
		CHECK(put(i) == 0);
		CHECK(checkpoint_make() == 0);
	}
	CHECK(file_count(XLOG_SNAP) == 3);
	CHECK(file_exists(6, ".snap") && file_exists(7, ".snap") && file_exists(8, ".snap"));
	/* Journals from the oldest snapshot on. */
	CHECK(!file_exists(5, ".xlog") && file_exists(6, ".xlog") && file_exists(7, ".xlog"));
	wal_stop();
}

static void old_files_go(void **state)
{
	(void)state;
	run(phase_collect);
}

static void fill_disk(int times)
{
	const struct sys_fault fault = {SYS_WRITE, 0, times, ENOSPC, 0};
	sys_fault_plan(&fault, 1);
}

/** Five snapshots that are kept, each with a journal behind it. */
static void make_history(void)
{
	create_space();
	checkpoint_set_count(10);
	for (int i = 0; i < 5; i++) {
		CHECK(put(i) == 0);
		CHECK(checkpoint_make() == 0);
	}
	CHECK(put(5) == 0);
	CHECK(file_count(XLOG_SNAP) == 6 && file_count(XLOG_XLOG) == 6);
}

static void make_room(enum wal_mode mode)
{
	CHECK(start_with(mode, false) == 0);
	make_history();
	/* As many as it takes, the oldest first. */
	fill_disk(2);
	CHECK(put(6) == 0);
	CHECK(file_count(XLOG_XLOG) == 4);
	CHECK(!file_exists(0, ".xlog") && !file_exists(3, ".xlog") && file_exists(4, ".xlog"));
	/* Other failures are none of their business. */
	fail_once(SYS_FDATASYNC, 0);
	CHECK(put(7) == (mode == WAL_FSYNC ? -1 : 0));
	sys_fault_clear();
	CHECK(file_count(XLOG_XLOG) == 4);
	/* A backup needs its snapshot, and what comes behind. */
	char *path = backup_start(1);
	CHECK(path != NULL && strstr(path, "0006.snap") != NULL);
	xfree(path);
	fill_disk(-1);
	CHECK(put(8) == -1);
	CHECK(diag_last()->code == ER_WAL_IO);
	CHECK(file_count(XLOG_XLOG) == 2 && file_exists(6, ".xlog") && file_exists(7, ".xlog"));
	backup_stop();
	CHECK(put(8) == -1);
	CHECK(file_count(XLOG_XLOG) == 1 && file_exists(7, ".xlog"));
	CHECK(file_count(XLOG_SNAP) == 6);
	sys_fault_clear();
	CHECK(put(8) == 0);
	kill(getpid(), SIGKILL);
}

static void phase_make_room(void)
{
	make_room(WAL_WRITE);
}

static void phase_make_room_fsync(void)
{
	make_room(WAL_FSYNC);
}

static void phase_after_make_room(void)
{
	start();
	CHECK(has(6) && has(8) && count() >= 8);
	wal_stop();
}

/** A full disk costs old journals, before it costs commits. */
static void full_disk_costs_old_journals(void **state)
{
	(void)state;
	assert_true(WIFSIGNALED(run_status(phase_make_room)));
	run(phase_after_make_room);
	teardown(NULL);
	setup(NULL);
	assert_true(WIFSIGNALED(run_status(phase_make_room_fsync)));
	run(phase_after_make_room);
}

static void phase_timer(void)
{
	start();
	create_space();
	checkpoint_set_interval(0.01);
	for (int i = 0; i < 1000 && file_count(XLOG_SNAP) < 2; i++)
		fiber_sleep(0.01);
	CHECK(file_count(XLOG_SNAP) == 2);
	checkpoint_set_interval(0);
	wal_stop();
}

static void automatic_checkpoints(void **state)
{
	(void)state;
	run(phase_timer);
}

static void phase_stop_behind_checkpoint(void)
{
	start();
	create_space();
	CHECK(put(1) == 0);
	CHECK(checkpoint_make() == 0);
	CHECK(!file_exists(3, ".xlog"));
	wal_stop();
	CHECK(file_exists(3, ".xlog"));
}

static void phase_start_behind_checkpoint(void)
{
	start();
	CHECK(count() == 1);
	CHECK(put(2) == 0);
	wal_stop();
	CHECK(file_count(XLOG_XLOG) == 2);
}

/** The next start need not read what the snapshot has. */
static void clean_stop_begins_a_file(void **state)
{
	(void)state;
	run(phase_stop_behind_checkpoint);
	run(phase_start_behind_checkpoint);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(bootstrap_and_recover),
		TEST(recover_after_a_kill),
		TEST(directory_in_use),
		TEST(missing_directory),
		TEST(failed_read),
		TEST(failed_bootstrap_leaves_nothing),
		TEST(uuids_as_wanted),
		TEST(failed_write),
		TEST(each_disaster_heals),
		TEST(failed_cut),
		TEST(checkpoint_and_recover),
		TEST(changes_while_checkpoints_are_made),
		TEST(failed_checkpoint),
		TEST(one_checkpoint_at_a_time),
		TEST(old_files_go),
		TEST(full_disk_costs_old_journals),
		TEST(automatic_checkpoints),
		TEST(clean_stop_begins_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
