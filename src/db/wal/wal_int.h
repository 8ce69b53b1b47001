/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of this folder share: the steps of wal_start() and wal_stop().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/wal/journal.h"
#include "db/wal/wal.h"
#include "db/wal/xlog.h"

/* journal.c ----------------------------------------------------------- */

struct journal_config {
	/** Borrowed for as long as the journal is open. */
	const char *dir;
	enum wal_mode mode;
	int64_t file_size_max;
	/** The vclock of the newest journal file there is, or NULL. */
	const struct vclock *prev_vclock;
};

/** Begins to take entries, on top of wal_vclock. No file is made before the first one. */
void journal_open(const struct journal_config *config);

/** Writes what is outstanding and closes the file with its marker. Yields where a worker writes. */
void journal_close(void);

/**
 * What will have been written once all entries taken so far are, those that wait for room too:
 * what memory holds. May be ahead of wal_vclock.
 */
struct vclock journal_vclock(void);

/**
 * Waits until all entries taken so far have been written, and lets a new file
 * begin right behind them. -1 with ER_WAL_IO where they failed. Yields.
 */
int journal_rotate(void);

/** Calls `on_limit` after a write once more than `bytes` were written since the last checkpoint. */
void journal_set_size_limit(uint64_t bytes, void (*on_limit)(void));
/** Bytes written since the last checkpoint; one that took them in takes them off. */
uint64_t journal_bytes(void);
void journal_note_checkpoint(uint64_t bytes);

/** Entries are taken without a journal: they are part of the first snapshot to come. */
void journal_set_bootstrapping(bool yesno);

/* journal_rows.c ------------------------------------------------------ */

/**
 * Numbers the entry's rows behind `vclock`, which moves. The transaction's number is the LSN of
 * its first row that other instances get.
 */
void journal_assign(struct journal_entry *entry, struct vclock *vclock);

/**
 * A transaction's block is ended, and another begun, once its rows take so many bytes: no block
 * can have more than 2 GB. Not less than need be, since the reference takes each whole block of a
 * torn transaction for one. A test makes it smaller.
 */
extern size_t journal_block_size;

/**
 * Appends the numbered rows as a block, or several where it is large; `vclock` moves where a row
 * is added that ends them.
 */
void journal_encode(struct journal_entry *entry, struct vclock *vclock, struct buf *out);

/** Moves `vclock` as far as numbering and encoding the entry will. */
void journal_count(const struct journal_entry *entry, struct vclock *vclock);

/* recovery.c ---------------------------------------------------------- */

struct recovery_config {
	const char *memtx_dir, *wal_dir;
	bool force_recovery;
	/** Another process writes: what is not finished at the end of a file may come still. */
	bool is_following;
	/** Wanted instance, or nil. */
	struct uuid instance_uuid;
};

struct recovery_result {
	/** False: both directories are empty. */
	bool has_data;
	/** The vclock of the snapshot, where all of it was read. */
	bool is_snapshot_good;
	struct vclock snapshot_vclock;
	/** The vclock of the newest journal file that begins before wal_vclock. */
	bool has_prev_vclock;
	struct vclock prev_vclock;
	/**
	 * How far journals were read: the last file, -1 for none, and where in it to go on. One
	 * who follows keeps it open (`fd`, or -1): the other process may remove it.
	 */
	struct {
		int64_t signature;
		off_t offset;
		int fd;
	} position;
};

/**
 * Loads the newest snapshot and the journals behind it; sets instance_uuid and
 * wal_vclock. Changes no file. -1: an error that names the file or directory.
 */
int recovery_run(const struct recovery_config *config, struct recovery_result *result);

/**
 * Applies what has been written to the journals since recovery_run() or the last call. A
 * last call, without `is_following`, deals with the end of the last file. Yields.
 */
int recovery_follow(const struct recovery_config *config, struct recovery_result *result);

/** Gives back what the result holds. */
void recovery_result_destroy(struct recovery_result *result);

/** Tells those who follow the start. May yield. */
void wal_tell_state(const char *state);

/* bootstrap.c --------------------------------------------------------- */

/** Fills an empty database; uses the wanted UUIDs, or new ones. */
int bootstrap_run(const struct uuid *wanted_instance, const struct uuid *wanted_replicaset);

/** Finds out replicaset_uuid and instance_id from the system spaces. */
int bootstrap_identify(const struct uuid *wanted_replicaset);

/** Are there other instances in the replica set? */
bool bootstrap_has_others(void);

/* checkpoint.c -------------------------------------------------------- */

/** Says where snapshots are. Both names are borrowed until checkpoint_stop(). */
void checkpoint_start(const char *memtx_dir, const char *wal_dir);
/** Breaks off a checkpoint that runs and waits for its end. Yields. */
void checkpoint_stop(void);

/** There is a good snapshot of this state: without changes none is made anew. */
void checkpoint_note(const struct vclock *vclock);

/** Writes the snapshot of a new database, in this thread. */
int checkpoint_first(void);

/* gc.c ---------------------------------------------------------------- */

/** Says where files are; both names are borrowed until gc_stop(). */
void gc_start(const char *memtx_dir, const char *wal_dir);
void gc_stop(void);

/** Removes what nobody needs any more. Failures go to the log. Yields. */
void gc_run(void);

/**
 * The disk is full: removes the oldest journal, where neither the newest snapshot nor a backup
 * needs it. False: there is none. Any thread; keeps the last error.
 */
bool gc_make_room(void);

/* checkpoint_timer.c -------------------------------------------------- */

/** Starts the fiber of automatic checkpoints. */
void checkpoint_timer_start(void);
/** Ends it; waits for a checkpoint that it makes. Yields. */
void checkpoint_timer_stop(void);
