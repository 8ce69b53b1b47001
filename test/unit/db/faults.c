/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A database on a disk that fails by chance, killed or cut off from power by chance:
 * faults [SEED [ROUNDS]].
 *
 * Fibers commit transactions of several rows, checkpoints are made, and what was
 * reported of each transaction is kept outside of the process. Then another process
 * recovers the directory: what was reported as done is there, what was reported as
 * failed is not, none is half there. Each round goes on where the last one ended.
 */
#include <sys/mman.h>
#include <time.h>

#include "db/txn/txn.h"
#include "wal_test.h"

enum { TXN_MAX = 4096, FIBERS = 8, ROUND_TXNS = 150, ROWS_MAX = 4 };

enum fate { FATE_NONE, FATE_UNKNOWN, FATE_DONE, FATE_FAILED };

enum ending { END_CLEAN, END_KILL, END_POWER_LOSS, ending_MAX };

/** What outlives the processes. */
static struct shared {
	uint64_t seed;
	int round;
	enum ending ending;
	enum wal_mode mode;
	int next, failed;
	/** Where the round begins: what was in doubt before is decided. */
	unsigned char fate[TXN_MAX];
} *shared;

static uint64_t random_state;

static unsigned rnd(unsigned below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static int rows_of(int txn)
{
	return 1 + txn % ROWS_MAX;
}

/* Writing ------------------------------------------------------------------- */

static int running;

static int commit_one(int id)
{
	if (box_txn_begin() != 0)
		return -1;
	for (int i = 0; i < rows_of(id); i++) {
		if (put(id * ROWS_MAX + i) != 0) {
			box_txn_rollback();
			return -1;
		}
	}
	return box_txn_commit();
}

static int writer_func(va_list args)
{
	(void)args;
	while (shared->next < TXN_MAX && shared->next < (shared->round + 1) * ROUND_TXNS) {
		int id = shared->next++;
		shared->fate[id] = FATE_UNKNOWN;
		int rc = commit_one(id);
		CHECK(rc == 0 || diag_last()->code == ER_WAL_IO);
		shared->fate[id] = rc == 0 ? FATE_DONE : FATE_FAILED;
		shared->failed += rc != 0;
		/* What failed is not in memory either, and reads go on. */
		CHECK(has(id * ROWS_MAX) == (rc == 0));
		if (rnd(8) == 0)
			fiber_sleep(0);
	}
	running--;
	return 0;
}

static int checkpoints_func(va_list args)
{
	(void)args;
	while (running > 0) {
		if (checkpoint_make() != 0)
			diag_clear(diag_get());
		fiber_sleep(0.001 * (1 + rnd(4)));
	}
	return 0;
}

static void phase_write(void)
{
	random_state = shared->seed * 7919 + shared->round + 1;
	struct wal_config config = {
		.wal_dir = dir, .memtx_dir = dir, .mode = shared->mode,
		/* Without a sync in between, a power loss may cut what is not the last file. */
		.wal_max_size = shared->ending == END_POWER_LOSS ? INT64_MAX : 2000,
	};
	CHECK(wal_start(&config) == 0);
	if (shared->round == 0)
		create_space();
	sys_fault_random(random_state, 20);
	running = FIBERS;
	for (int i = 0; i < FIBERS; i++)
		fiber_wakeup(fiber_new("writer", writer_func));
	if (shared->ending != END_POWER_LOSS || shared->mode == WAL_FSYNC)
		fiber_wakeup(fiber_new("checkpoints", checkpoints_func));
	int enough = shared->next + ROUND_TXNS / 2 + rnd(ROUND_TXNS / 2);
	while (running > 0 && (shared->ending == END_CLEAN || shared->next < enough))
		fiber_sleep(0);
	if (shared->ending == END_POWER_LOSS)
		sys_fault_power_loss(random_state);
	if (shared->ending != END_CLEAN)
		_exit(0);
	/* Writing works again once the disk does. */
	sys_fault_clear();
	CHECK(commit_one(shared->next) == 0);
	shared->fate[shared->next++] = FATE_DONE;
	wal_stop();
}

/* Looking ------------------------------------------------------------------- */

/** How many of the transaction's rows are there? */
static int rows_there(int txn)
{
	int n = 0;
	for (int i = 0; i < rows_of(txn); i++)
		n += has(txn * ROWS_MAX + i);
	return n;
}

static void check_txn(int id, bool may_lose)
{
	int there = rows_there(id);
	unsigned char *fate = &shared->fate[id];
	if (there != 0 && there != rows_of(id))
		fprintf(stderr, "transaction %d is half there\n", id);
	CHECK(there == 0 || there == rows_of(id));
	if (*fate == FATE_DONE && there == 0 && !may_lose)
		fprintf(stderr, "transaction %d is lost\n", id);
	CHECK(*fate != FATE_DONE || there > 0 || may_lose);
	/* Where nothing is synced, nor is what takes a failed write back. */
	if (*fate == FATE_FAILED && there > 0 && !may_lose)
		fprintf(stderr, "transaction %d has failed and is there\n", id);
	CHECK(*fate != FATE_FAILED || there == 0 || may_lose);
	*fate = there > 0 ? FATE_DONE : FATE_FAILED;
}

static void phase_check(void)
{
	sys = &sys_real;
	CHECK(start_with(WAL_WRITE, false) == 0);
	bool may_lose = shared->ending == END_POWER_LOSS && shared->mode == WAL_WRITE;
	for (int id = 0; id < shared->next; id++)
		check_txn(id, may_lose);
	wal_stop();
}

/* Rounds -------------------------------------------------------------------- */

static int rounds = 24;

static void faults_by_chance(void **state)
{
	(void)state;
	int failed = 0;
	for (int i = 0; i < rounds; i++) {
		if (i % 6 == 0) {
			if (i > 0)
				teardown(NULL);
			setup(NULL);
			failed += shared->failed;
			uint64_t seed = shared->seed + 1;
			memset(shared, 0, sizeof(*shared));
			shared->seed = seed;
		}
		shared->round = i % 6;
		shared->ending = i % ending_MAX;
		shared->mode = i / 6 % 2 == 0 ? WAL_FSYNC : WAL_WRITE;
		run(phase_write);
		run(phase_check);
	}
	teardown(NULL);
	print_message("%d rounds, %d commits failed\n", rounds, failed + shared->failed);
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	shared->seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
	if (argc > 2)
		rounds = atoi(argv[2]);
	print_message("seed %llu\n", (unsigned long long)shared->seed);
	const struct CMUnitTest tests[] = {cmocka_unit_test(faults_by_chance)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
