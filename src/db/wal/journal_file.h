/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The journal's current file. One thread at a time uses it: tx, or the worker that
 * writes a batch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "data/vclock.h"
#include "db/wal/xlog.h"

struct journal_file {
	/** Borrowed. */
	const char *dir;
	/** Each write waits for the device. */
	bool is_synced;
	struct xlog_file file;
	/** Where the current file began, or the last one. */
	struct vclock vclock;
	bool has_vclock;
	/** The same of the one before. */
	struct vclock prev_vclock;
	bool has_prev_vclock;
};

/**
 * Appends, to a new file where none is open: it begins at wal_vclock. -1 with
 * SystemError: nothing of it is in the file.
 */
int journal_file_append(struct journal_file *f, const struct buf *data);

/**
 * Ends the file, if any: another one follows. All rows in it are safe already: a failure is only
 * told. Where writes are not synced, a worker syncs the whole. -1 with SystemError: a write that
 * failed could not be taken back yet, and the file stays.
 */
int journal_file_end(struct journal_file *f);

/**
 * Ends the last file. Where there is none behind wal_vclock, makes an empty one. Failures are
 * only told.
 */
void journal_file_close(struct journal_file *f);
