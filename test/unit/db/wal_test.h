/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tests of a data directory with the whole database on it, and of a disk that fails
 * (sys_fault.h). Every phase is a process of its own, as a restart is; what does not
 * hold in one ends it with a message and fails the test.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys_fault.h"
#include "core/worker.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/wal/wal_int.h"

enum { SPACE_TEST = 512 };

static char dir[64];

static inline int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/tarn_wal_XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static inline int teardown(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* Phases -------------------------------------------------------------- */

/** Ends the phase where the condition does not hold. */
#define CHECK(cond) do { \
	if (!(cond)) { \
		fprintf(stderr, "%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, \
			#cond, diag_last() != NULL ? diag_last()->message : "none"); \
		fflush(stderr); \
		_exit(1); \
	} \
} while (0)

static void (*phase_func)(void);

static inline int phase_fiber(va_list args)
{
	(void)args;
	/* Not before the loop runs, or it would not be stopped. */
	fiber_sleep(0);
	phase_func();
	loop_stop();
	return 0;
}

static inline void phase_child(void)
{
	fiber_init();
	loop_init();
	worker_init();
	log_set_level(LOG_FATAL);
	db_init();
	sys_fault_clear();
	sys = &sys_faulty;
	fiber_start(fiber_new_sized("phase", 1024 * 1024, phase_fiber));
	loop_run();
	worker_free();
	_exit(0);
}

/** Runs `func` in a fiber of a new process; returns the process's status. */
static inline int run_status(void (*func)(void))
{
	fflush(NULL);
	pid_t pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		phase_func = func;
		phase_child();
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void run(void (*func)(void))
{
	assert_int_equal(run_status(func), 0);
}

/* The database -------------------------------------------------------- */

static inline int start_with(enum wal_mode mode, bool force)
{
	struct wal_config config = {.wal_dir = dir, .memtx_dir = dir, .mode = mode,
				    .wal_max_size = 256 * 1024 * 1024, .force_recovery = force};
	return wal_start(&config);
}

static inline void start(void)
{
	CHECK(start_with(WAL_WRITE, false) == 0);
}

static inline int insert_mp(uint32_t space, const char *format, ...)
{
	char data[4096];
	va_list ap;
	va_start(ap, format);
	size_t size = mp_vformat(data, sizeof(data), format, ap);
	va_end(ap);
	CHECK(size <= sizeof(data));
	return db_insert(space, data, data + size, NULL);
}

static inline void create_space(void)
{
	CHECK(insert_mp(SPACE_SPACE, "[%u%u%s%s%u{}[]]", SPACE_TEST, 1, "test", "memtx", 0) == 0);
	CHECK(insert_mp(SPACE_INDEX, "[%u%u%s%s{%s%b}[[%u%s]]]", SPACE_TEST, 0, "pk", "tree",
			"unique", 1, 0, "unsigned") == 0);
}

static inline int put(uint32_t id)
{
	return insert_mp(SPACE_TEST, "[%u%s]", id, "some text that makes the row a bit longer");
}

static inline int del(uint32_t id)
{
	char key[16];
	size_t size = mp_format(key, sizeof(key), "[%u]", id);
	return db_delete(SPACE_TEST, 0, key, key + size, NULL);
}

static inline bool has(uint32_t id)
{
	char key[16];
	struct tuple *tuple;
	size_t size = mp_format(key, sizeof(key), "[%u]", id);
	CHECK(db_index_get(SPACE_TEST, 0, key, key + size, &tuple) == 0);
	if (tuple != NULL)
		tuple_unref(tuple);
	return tuple != NULL;
}

static inline int64_t count(void)
{
	return db_index_len(SPACE_TEST, 0);
}

static inline size_t file_count(enum xlog_type type)
{
	struct xlog_list list;
	CHECK(xlog_list_read(&list, dir, type) == 0);
	size_t n = list.count;
	xlog_list_free(&list);
	return n;
}

static inline bool file_exists(int64_t signature, const char *suffix)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%020lld%s", dir, (long long)signature, suffix);
	return access(path, F_OK) == 0;
}
