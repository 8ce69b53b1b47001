/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of a data directory: lock, recovery or bootstrap, journal, end.
 */
#include "db/wal/wal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "db/db.h"
#include "db/error.h"
#include "db/wal/wal_int.h"

static const char *status = "unconfigured";
/** wal_start() has the directories; it may yield. */
static bool is_loading;

/** The directories in use: their names and the descriptors that hold their locks. */
static struct {
	char *wal_dir, *memtx_dir;
	int wal_lock, memtx_lock;
} wal = {.wal_lock = -1, .memtx_lock = -1};

void (*wal_on_recovery_state)(const char *state);

void wal_tell_state(const char *state)
{
	if (wal_on_recovery_state != NULL)
		wal_on_recovery_state(state);
}

const char *wal_status(void)
{
	return status;
}

/**
 * Takes the lock that the reference takes, too: flock(2) on the directory. -1: errno is
 * EWOULDBLOCK where another process has it; else the error is set as well.
 */
static int try_lock_dir(const char *dir, int *lock)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		diag_set_errno(SystemError, "can't open directory '%s'", dir);
		errno = 0;
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		int saved_errno = errno;
		close(fd);
		errno = saved_errno;
		return -1;
	}
	*lock = fd;
	return 0;
}

static bool is_same_dir(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void unlock(int *lock)
{
	if (*lock >= 0)
		close(*lock);
	*lock = -1;
}

static void forget_dirs(void)
{
	unlock(&wal.wal_lock);
	unlock(&wal.memtx_lock);
	xfree(wal.wal_dir);
	xfree(wal.memtx_dir);
	wal.wal_dir = wal.memtx_dir = NULL;
}

/** Both or none. */
static int try_lock_dirs(void)
{
	if (try_lock_dir(wal.wal_dir, &wal.wal_lock) != 0)
		return -1;
	if (is_same_dir(wal.wal_dir, wal.memtx_dir) ||
	    try_lock_dir(wal.memtx_dir, &wal.memtx_lock) == 0)
		return 0;
	int saved_errno = errno;
	unlock(&wal.wal_lock);
	errno = saved_errno;
	return -1;
}

/** Sets the error of try_lock_dirs(), with the directory's whole name. */
static void refuse_lock(void)
{
	if (errno == 0)
		return;
	int saved_errno = errno;
	/* Which of the two it is does not matter: one process has both. */
	char *path = realpath(wal.wal_dir, NULL);
	const char *shown = path != NULL ? path : wal.wal_dir;
	errno = saved_errno;
	if (errno == EWOULDBLOCK) {
		client_error(ER_ALREADY_RUNNING, shown);
		say_error("another instance uses the directory: stop it, or choose another one by "
			  "wal_dir, memtx_dir or work_dir");
	} else {
		diag_set_errno(SystemError, "can't lock directory '%s'", shown);
	}
	free(path);
}

/* A hot standby ------------------------------------------------------- */

/** Seconds between two looks at the journals and the lock of the other process. */
static const double standby_delay = 0.05;

/** Loads what there is; waits where the other process has not written its first snapshot yet. */
static int standby_load(const struct recovery_config *recovery, struct recovery_result *result)
{
	for (;;) {
		if (recovery_run(recovery, result) != 0)
			return -1;
		if (result->has_data || try_lock_dirs() == 0)
			return 0;
		fiber_sleep(standby_delay);
	}
}

/**
 * Follows the other process until its lock is free, which is ours then. The last rows it has
 * written are read behind that.
 */
static int standby_run(struct recovery_config *recovery, struct recovery_result *result)
{
	status = "hot_standby";
	say_info("Entering hot standby mode");
	recovery->is_following = true;
	if (standby_load(recovery, result) != 0)
		return -1;
	while (wal.wal_lock < 0) {
		if (try_lock_dirs() == 0)
			break;
		if (errno != EWOULDBLOCK) {
			refuse_lock();
			return -1;
		}
		if (recovery_follow(recovery, result) != 0)
			return -1;
		fiber_sleep(standby_delay);
	}
	recovery->is_following = false;
	say_info("the other process has ended: taking over");
	return recovery_follow(recovery, result);
}

/** Recovers what is there, or makes a new database. */
static int load(const struct wal_config *config, struct recovery_result *result)
{
	struct recovery_config recovery = {
		.memtx_dir = wal.memtx_dir,
		.wal_dir = wal.wal_dir,
		.force_recovery = config->force_recovery,
		.instance_uuid = config->instance_uuid,
	};
	int rc = wal.wal_lock >= 0 ? recovery_run(&recovery, result) :
		standby_run(&recovery, result);
	recovery_result_destroy(result);
	if (rc != 0)
		return -1;
	if (result->has_data) {
		if (result->is_snapshot_good)
			checkpoint_note(&result->snapshot_vclock);
		return bootstrap_identify(&config->replicaset_uuid);
	}
	if (config->read_only) {
		client_error(ER_BOOTSTRAP_READONLY);
		return -1;
	}
	say_info("initializing an empty data directory");
	if (bootstrap_run(&config->instance_uuid, &config->replicaset_uuid) != 0 ||
	    checkpoint_first() != 0)
		return -1;
	wal_tell_state("snapshot_recovered");
	return 0;
}

static void open_journal(const struct wal_config *config, const struct recovery_result *result)
{
	struct journal_config journal = {
		.dir = wal.wal_dir,
		.mode = config->mode,
		.file_size_max = config->wal_max_size > 0 ? config->wal_max_size : INT64_MAX,
		.prev_vclock = result->has_prev_vclock ? &result->prev_vclock : NULL,
	};
	xlog_remove_unfinished(wal.wal_dir, XLOG_XLOG);
	xlog_remove_unfinished(wal.memtx_dir, XLOG_SNAP);
	journal_open(&journal);
}

int wal_start(const struct wal_config *config)
{
	assert(wal.wal_dir == NULL);
	struct recovery_result result = {.has_data = false};
	status = "loading";
	is_loading = true;
	wal.wal_dir = xstrdup(config->wal_dir);
	wal.memtx_dir = xstrdup(config->memtx_dir);
	if (try_lock_dirs() != 0 && !(config->hot_standby && errno == EWOULDBLOCK)) {
		refuse_lock();
		goto fail;
	}
	checkpoint_start(wal.memtx_dir, wal.wal_dir);
	if (load(config, &result) != 0)
		goto fail;
	open_journal(config, &result);
	checkpoint_timer_start();
	wal_tell_state("wal_recovered");
	wal_tell_state("indexes_built");
	status = "running";
	wal_tell_state("synced");
	is_loading = false;
	db_is_configured = true;
	return 0;
fail:
	checkpoint_stop();
	forget_dirs();
	status = "unconfigured";
	is_loading = false;
	return -1;
}

void wal_stop(void)
{
	if (wal.wal_dir == NULL || is_loading)
		return;
	checkpoint_stop();
	checkpoint_timer_stop();
	journal_close();
	forget_dirs();
	status = "unconfigured";
}
