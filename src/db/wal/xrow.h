/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows as the journal and the protocol have them: a header map and a body map
 * in MessagePack. Source: the manual, "Binary protocol" and "File formats".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "db/iproto_const.h"

struct region;

struct xrow_header {
	uint32_t type;
	uint32_t replica_id;
	uint32_t group_id;
	uint64_t sync;
	int64_t lsn;
	/** LSN of the transaction's first row; equal to `lsn` for a row of its own. */
	int64_t tsn;
	/** Seconds since 1970. */
	double tm;
	uint32_t schema_version;
	uint64_t stream_id;
	/** Last row of its transaction (IPROTO_FLAG_COMMIT). True where no TSN is given. */
	bool is_commit;
	/** The body map in MessagePack, or NULL. Borrowed. */
	const char *body;
	size_t body_size;
};

/** What a request asks for: its decoded body. All pointers are borrowed. */
struct request {
	/* Of changes: request_create() sets these. */
	uint32_t type;
	uint32_t space_id;
	uint32_t index_id;
	int index_base;
	/** MessagePack array, or NULL. */
	const char *key, *key_end;
	/** Array of the tuple; for update the operations; for call and eval the arguments. */
	const char *tuple, *tuple_end;
	/** Operations of an upsert. */
	const char *ops, *ops_end;
	/** The row that is being recovered, or NULL for a new change. */
	const struct xrow_header *header;

	/* Of other requests, and where space and index are named: changes do not look at these. */
	uint32_t offset;
	uint32_t limit;
	uint32_t iterator;
	/** A select begins behind a tuple, or a position, in bytes; NULL: neither. */
	const char *after_tuple, *after_tuple_end;
	const char *after_position;
	uint32_t after_position_size;
	/** A select tells the position of its last tuple. */
	bool fetches_position;
	/** Name of a function, user or event, or an expression; not zero-terminated. Or NULL. */
	const char *name;
	uint32_t name_size;
	/** Where the space and the index are named instead of numbered; else NULL. */
	const char *space_name, *index_name;
	uint32_t space_name_size, index_name_size;
	/** Of BEGIN: seconds, where it is given; and one of box.txn_isolation_level. */
	bool has_timeout;
	double timeout;
	uint32_t txn_isolation;
	/** Of BEGIN and COMMIT: is_sync was given, and what it was. */
	bool has_is_sync, is_sync;
	/** Of CALL and EVAL: formats of tuples among the arguments, a value in MessagePack. Or NULL. */
	const char *formats;
	/** Of ID: bits (1 << feature). */
	uint64_t features;
};

/** A change that has nothing yet but what it is and where. */
static inline void request_create(struct request *request, uint32_t type, uint32_t space_id)
{
	memset(request, 0, offsetof(struct request, offset));
	request->type = type;
	request->space_id = space_id;
}

/** What `group_id` is for a row of a local space: its LSNs are counted apart, as instance 0's. */
enum { GROUP_DEFAULT = 0, GROUP_LOCAL = 1 };

/**
 * Decodes a header and points `body` at what follows up to `end`, which must be
 * exactly one value or nothing. Advances *pos to `end`. -1: ER_INVALID_MSGPACK
 * ("packet header" or "packet body"); `sync` is then what had been read of it.
 */
int xrow_header_decode(struct xrow_header *row, const char **pos, const char *end);

/**
 * The same for the first of several rows, as they stand in a journal: a row of
 * any type but NOP has a body. Moves *pos behind the row.
 */
int xrow_decode_next(struct xrow_header *row, const char **pos, const char *end);

/**
 * Decodes a body. `key_required`: a bit (1 << key) for each IPROTO key that must
 * be there; ER_MISSING_REQUEST_FIELD where one is not. Unknown keys are skipped.
 * -1: ER_INVALID_MSGPACK, ER_MISSING_REQUEST_FIELD.
 */
int request_decode(struct request *request, const struct xrow_header *row, uint64_t key_required);

/** Keys that each type of data manipulation must have, for request_decode(). */
uint64_t request_keys_required(uint32_t type);

/** At most this many bytes are added to the body by xrow_encode(). */
enum { XROW_HEADER_SIZE_MAX = 64 };

/** Encodes the body map of a change for the journal, on the region. NULL: OutOfMemory. */
const char *request_encode(const struct request *request, struct region *region, size_t *size);

/** Appends header (journal form: type, replica id, LSN, time, TSN and flags as needed) and body. */
void xrow_encode(const struct xrow_header *row, struct buf *out);
