/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks of a large file that are compressed in threads of their own, while the
 * one that writes the file encodes the next rows. The order stays.
 */
#pragma once

#include "db/wal/xlog.h"

struct xlog_packer;

/** For zstd's `level`. Without a thread to be had, blocks are compressed by the caller. */
struct xlog_packer *xlog_packer_new(int level);

/** Ends the threads; what was not written is dropped. */
void xlog_packer_delete(struct xlog_packer *p);

/** Where rows of the block at hand are appended; until xlog_packer_next(). */
struct buf *xlog_packer_rows(struct xlog_packer *p);

/** Bytes of these rows so far. */
size_t xlog_packer_size(const struct xlog_packer *p);

/** The block at hand, if it has rows, is over; writes older ones as need be. -1: SystemError. */
int xlog_packer_next(struct xlog_packer *p, struct xlog_file *f);

/** Writes all that is left. -1: SystemError. */
int xlog_packer_finish(struct xlog_packer *p, struct xlog_file *f);
