/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The files of a data directory: journals (.xlog) and snapshots (.snap).
 * Source: the manual, "File formats", and files the reference writes.
 *
 *     SNAP or XLOG\n 0.13\n               text, up to an empty line
 *     Version: ...\n Instance: UUID\n
 *     VClock: {1: 22}\n PrevVClock: {}\n  state before the file's first row
 *     \n
 *     block ...                           one for each transaction of a journal; large
 *                                         ones have several
 *     d5 10 ad ed                         end marker, where the file was closed
 *
 * A block is a fixed header of 19 bytes and data; numbers are MessagePack:
 *
 *     0   d5 ba 0b ab   rows as they are; d5 ba 0b ba: a zstd frame of rows
 *     4   length of the data
 *         0 (once the checksum of the block before)
 *         CRC32C of the data, as it is in the file, from 0 and without final inversion
 *         a string up to byte 19, of anything
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "data/uuid.h"
#include "data/vclock.h"
#include "db/wal/xrow.h"

struct region;

enum {
	XLOG_FIXHEADER_SIZE = 19,
	XLOG_MARKER_SIZE = 4,
	/** No text header is longer. */
	XLOG_META_SIZE_MAX = 4096,
	/** A block of this size (with its header) or more is compressed, as in the reference. */
	XLOG_COMPRESS_SIZE_MIN = 2048,
	/** A snapshot's block is closed once its rows take so much, as in the reference. */
	XLOG_SNAP_BLOCK_SIZE = 128 * 1024,
};

enum xlog_type { XLOG_SNAP, XLOG_XLOG, xlog_type_MAX };
/** "SNAP", "XLOG": the first line. */
extern const char *xlog_type_names[xlog_type_MAX];
/** ".snap", ".xlog". */
extern const char *xlog_type_suffixes[xlog_type_MAX];
/** What a file has behind its name until it is whole. */
#define XLOG_INPROGRESS ".inprogress"

extern const char xlog_marker[XLOG_MARKER_SIZE];

/* The text header ----------------------------------------------------- */

struct xlog_meta {
	enum xlog_type type;
	struct uuid instance_uuid;
	/** What had happened before the file's first row. */
	struct vclock vclock;
	/** The same of the journal file before; a snapshot and a first file have none. */
	bool has_prev_vclock;
	struct vclock prev_vclock;
};

void xlog_meta_encode(const struct xlog_meta *meta, struct buf *out);

/**
 * Parses `size` bytes of a file's beginning. Returns the header's size; -1:
 * `*reason` tells what is wrong (no error is set).
 */
ssize_t xlog_meta_parse(struct xlog_meta *meta, const char *data, size_t size,
			const char **reason);

/* Blocks -------------------------------------------------------------- */

/** Leaves room for a block's fixed header behind `out`; returns the mark for xlog_block_end(). */
size_t xlog_block_begin(struct buf *out);

/**
 * Makes a block of what was appended since xlog_block_begin(): compresses it
 * where it is large, with zstd's `level`, and fills in the header. Any thread.
 */
void xlog_block_end(struct buf *out, size_t mark, int level);

/** Appends `size` bytes that read like the begin of a longer block that was cut off. */
void xlog_block_put_torn(struct buf *out, size_t size);

/** Frees the compressor and buffers of the calling thread. */
void xlog_block_thread_free(void);

struct xlog_block {
	bool is_compressed;
	uint32_t crc;
	/** Bytes of data behind the fixed header. */
	uint64_t size;
};

/** Parses a fixed header of XLOG_FIXHEADER_SIZE bytes. NULL, or what is wrong with it. */
const char *xlog_block_parse(struct xlog_block *block, const char *data);

/**
 * Checks the data of a block and unpacks it where it is compressed: into `raw`,
 * to which *rows then points. NULL, or what is wrong with it.
 */
const char *xlog_block_unpack(const struct xlog_block *block, const char *data, struct buf *raw,
			      const char **rows, size_t *rows_size);

/* Reading ------------------------------------------------------------- */

enum xlog_end {
	/** There is more. */
	XLOG_END_NONE,
	/** The end marker was read and nothing is behind it. */
	XLOG_END_CLOSED,
	/** The file ends behind a whole block: its writer was killed. */
	XLOG_END_OPEN,
	/** The file ends in the middle of a last write. */
	XLOG_END_TORN,
};

struct xlog_cursor {
	char *path;
	struct xlog_meta meta;
	enum xlog_end end;
	/** Where the block read last begins in the file. */
	off_t block_offset;
	/** Where whole blocks end so far. */
	off_t good_offset;
	off_t file_size;
	/** A torn end begins like a block: it was one transaction. */
	bool is_torn_block;
	/** Why the block at good_offset could not be read, for a torn end or damage. */
	const char *reason;
	/* Private. */
	int _fd;
	/** A window of the file: its bytes, and where it begins. */
	struct buf _in;
	off_t _in_offset;
	struct buf _raw;
	const char *_row, *_row_end;
};

/**
 * Opens a file and reads its header. -1: SystemError, or XlogError that names
 * the file. The cursor must be closed on success only.
 */
int xlog_cursor_open(struct xlog_cursor *c, const char *path);
void xlog_cursor_close(struct xlog_cursor *c);

/** A descriptor of the open file, which keeps its rows where the name goes; -1: none is to be had. */
int xlog_cursor_pin(const struct xlog_cursor *c);

/**
 * Goes to the next block. 0: its rows can be read. 1: the end of the file, see
 * `end`. -1: XlogError (damage in the middle) with file, offset and reason, or
 * SystemError. After damage xlog_cursor_skip() may go on.
 */
int xlog_cursor_next_block(struct xlog_cursor *c);

/** Copies the block's rows that have not been read to a region, so that they outlive the block. */
int xlog_cursor_keep_rows(struct xlog_cursor *c, struct region *region);

/**
 * The next row of the block, whose body is valid until the next block. 0, 1 at
 * the block's end, -1 with XlogError: what is left of the block is gone.
 */
int xlog_cursor_next_row(struct xlog_cursor *c, struct xrow_header *row);

/**
 * Moves behind damage at good_offset to the next block that can be read.
 * Returns how many bytes were skipped.
 */
off_t xlog_cursor_skip(struct xlog_cursor *c);

/**
 * Has the file nothing, or a part of a journal's header and then zeros? So a power cut leaves one
 * that was just made. Gives its size.
 */
bool xlog_is_blank(const char *path, uint64_t *size);

/* Writing ------------------------------------------------------------- */

/** A file being written. All functions may be called in a worker thread. */
struct xlog_file {
	int fd;
	char *path;
	/** All before it has been written well. */
	off_t offset;
	/** A failed write could not be taken back yet: nothing can be appended. */
	bool is_dirty;
	/** One was written over, since it could not be cut off: nothing is appended any more. */
	bool is_ended;
};

#define XLOG_FILE_CLOSED {-1, NULL, 0, false, false}

static inline bool xlog_file_is_open(const struct xlog_file *f)
{
	return f->fd >= 0;
}

/**
 * Creates PATH.inprogress and writes the header. -1 with SystemError: nothing
 * is left of the file.
 */
int xlog_file_create(struct xlog_file *f, const char *path, const struct xlog_meta *meta);

/** Gives the file its name; with `sync`, file and directory are synced first. -1: SystemError. */
int xlog_file_publish(struct xlog_file *f, bool sync);

/**
 * Appends to a file that is neither dirty nor ended; with `sync`, also waits for the
 * device. -1 with SystemError: what was written is taken back, and the file may be dirty
 * or ended now.
 */
int xlog_file_append(struct xlog_file *f, const char *data, size_t size, bool sync);

/** Tries again to take back the write that failed, if any. -1 with SystemError: still dirty. */
int xlog_file_mend(struct xlog_file *f, bool sync);

/** Writes the end marker and closes. -1: SystemError; it is closed anyway. */
int xlog_file_close(struct xlog_file *f, bool sync);

/** Writes the end marker and gives the descriptor to the caller, to sync and close it. */
int xlog_file_end(struct xlog_file *f);

/** Ends a snapshot: marker, sync, name. -1: SystemError, and nothing is left of the file. */
int xlog_file_finish(struct xlog_file *f);

/** Closes a file that was not published and removes it. */
void xlog_file_discard(struct xlog_file *f);

/** Syncs the directory that `path` is in. -1: SystemError. */
int xlog_dir_sync(const char *path);

/* Directories --------------------------------------------------------- */

/** Signatures (sums of vclocks) of the files of a type in a directory, in order. */
struct xlog_list {
	int64_t *signature;
	size_t count;
};

/** Looks for names of 20 digits and the type's suffix. -1: SystemError. */
int xlog_list_read(struct xlog_list *list, const char *dir, enum xlog_type type);
void xlog_list_free(struct xlog_list *list);

/** DIR/00000000000000000022.xlog; freed by the caller with xfree(). */
char *xlog_path(const char *dir, int64_t signature, enum xlog_type type);

/** Removes the unfinished files of a type. Failures go to the log. */
void xlog_remove_unfinished(const char *dir, enum xlog_type type);
