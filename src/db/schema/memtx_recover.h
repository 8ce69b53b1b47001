/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Recovery of memtx spaces, fast: rows of a snapshot come in the order of the
 * primary key, which is built from them at once; secondary indexes of users'
 * spaces are deferred and built in the end, by worker threads.
 *
 *     begin -> rows of the snapshot -> snapshot_end -> rows of journals -> end
 *
 * All of it in tx. Where a step fails, recovery is over.
 */
#pragma once

#include <stdbool.h>

struct space;
struct index_def;

/** From now on secondary indexes are deferred. */
void memtx_recover_begin(void);

/** Is an index that is being made for the space to be deferred? */
bool memtx_defers(const struct space *space, const struct index_def *def);

/** May rows of the space go through memtx_recover_row()? */
bool memtx_recover_takes(const struct space *space);

/** Takes a row of the snapshot, a MessagePack array. -1: of tuple_new(), OutOfMemory. */
int memtx_recover_row(struct space *space, const char *data, const char *end);

/** Puts into their space the rows that were taken last. -1: ER_TUPLE_FOUND, OutOfMemory. */
int memtx_recover_flush(void);

/** Builds what was deferred. Yields. -1: ER_TUPLE_FOUND, OutOfMemory, ... */
int memtx_recover_end(void);

/** Recovery failed: rows that are not in their space are dropped. */
void memtx_recover_abort(void);
