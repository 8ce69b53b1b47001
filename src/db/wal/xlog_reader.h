/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reading a file ahead: while tx applies the rows of one batch of blocks, a worker
 * reads, checks, unpacks and decodes the next. Small files are read in tx.
 */
#pragma once

#include "core/diag.h"
#include "core/region.h"
#include "db/wal/xlog.h"

/** Rows of one block. */
struct xlog_rows {
	/** Where the block begins and ends in the file. */
	off_t offset, end;
	/** They are rows `begin` to `begin + count - 1` of the batch. */
	size_t begin, count;
	/** XlogError of what follows them, or NULL. */
	struct error *error;
};

struct xlog_batch {
	struct xlog_rows *blocks;
	size_t block_count, block_capacity;
	/** Their bodies live as long as the batch. */
	struct xrow_header *rows;
	size_t row_count, row_capacity;
	struct region region;
	/**
	 * What xlog_cursor_next_block() returned behind the last block: 0 where more is to come;
	 * 1: the end; -1: `diag` has the error.
	 */
	int rc;
	struct diag diag;
};

struct xlog_reader;

/** The cursor is the reader's; from a batch whose `rc` is not 0 to the next call, the caller's. */
struct xlog_reader *xlog_reader_new(struct xlog_cursor *c);

/** The next batch; the one before is gone. Yields, where the file is not small. */
struct xlog_batch *xlog_reader_next(struct xlog_reader *reader);

/** Waits for the worker, too. Yields. */
void xlog_reader_delete(struct xlog_reader *reader);
