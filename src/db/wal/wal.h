/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of a data directory: lock, recovery, journal, checkpoints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/uuid.h"
#include "data/vclock.h"

enum wal_mode { WAL_NONE, WAL_WRITE, WAL_FSYNC };

struct wal_config {
	/** Directories; must exist. Copied. */
	const char *wal_dir, *memtx_dir;
	enum wal_mode mode;
	/** A journal file is closed and the next begun once it is larger. */
	int64_t wal_max_size;
	bool force_recovery;
	/** Wanted UUIDs, or nil UUIDs. */
	struct uuid instance_uuid, replicaset_uuid;
	bool read_only;
	/**
	 * Where another process has the directories: follow what it writes, and take over
	 * when it ends.
	 */
	bool hot_standby;
};

/**
 * Locks the directories and either recovers from the newest snapshot and the
 * journals behind it or, where there is no snapshot, bootstraps a database and
 * writes its first snapshot. Then the journal is open. -1 with an error that
 * names the file or directory; no file has been changed then. Yields.
 */
int wal_start(const struct wal_config *config);

/**
 * Breaks off a checkpoint that runs, writes what is outstanding, ends the
 * current file with its marker, unlocks. Nothing where the instance was not
 * started, or is just being loaded: then nothing is outstanding, and the fiber
 * in wal_start() may go on with the directories until the process ends. Yields.
 */
void wal_stop(void);

/** This instance, this replica set, and this instance's number in it. */
extern struct uuid instance_uuid, replicaset_uuid;
extern uint32_t instance_id;

/** What has been written: the newest LSN of each instance. */
extern struct vclock wal_vclock;

/**
 * For the layer of scripts: called when a stage of the start is over, "snapshot_recovered",
 * "wal_recovered", "indexes_built", "synced"; of a bootstrap as well. May yield.
 */
extern void (*wal_on_recovery_state)(const char *state);

/** What the last recovery could not use. */
struct wal_recovery_stat {
	/** Torn ends of journals: bytes, and transactions as far as they could be told. */
	uint64_t dropped_bytes, dropped_transactions;
	/** What force_recovery passed over: damaged bytes, rows that can't be applied, files. */
	uint64_t skipped_bytes, skipped_rows, skipped_files;
};
extern struct wal_recovery_stat wal_recovery_stat;

/** How far along: for box.info.status. "unconfigured", "loading",
 * "hot_standby", "running". */
const char *wal_status(void);

/**
 * Writes a snapshot of all that is committed now, in a worker thread, and
 * rotates the journal. -1: ER_CHECKPOINT_IN_PROGRESS, XlogError, SystemError,
 * ... No broken snapshot is left. Yields.
 */
int checkpoint_make(void);

/** Is one being written now? */
bool checkpoint_is_running(void);

/** `checkpoint_count` newest snapshots are kept, with the journals behind the oldest of them. */
void checkpoint_set_count(int count);
/** Seconds between automatic checkpoints; 0: none. */
void checkpoint_set_interval(double seconds);
/** Bytes written to journals since the last checkpoint from which on the next is made. */
void checkpoint_set_wal_threshold(double bytes);

/** Bytes of rows that are on their way to the log, or wait for room on it. */
size_t journal_memory(void);
/** Bytes that may be on their way to the log before commits wait for room. */
void journal_set_queue_size_max(size_t size);
/** Writes that take longer, in seconds, are told in the log. */
void journal_set_too_long(double seconds);

/** Bytes that a checkpoint may write in a second; 0: any number. */
void checkpoint_set_rate_limit(double bytes_per_second);

/**
 * Holds a snapshot, the newest but `back`, and all files that come behind it, until
 * backup_stop(). Returns its path, freed by the caller with xfree(). NULL:
 * ER_BACKUP_IN_PROGRESS, ER_MISSING_SNAPSHOT, SystemError.
 */
char *backup_start(uint32_t back);
/** Lets them go. Nothing where there is no backup. Yields. */
void backup_stop(void);
/** The signature of the snapshot that is held, or -1. */
int64_t backup_signature(void);

/** Seconds after the start in which journals are kept for the replica set's other instances. */
void gc_set_delay(double seconds);
/** Are they, now? */
bool gc_is_paused(void);
