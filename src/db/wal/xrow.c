/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The codec of row headers.
 *
 * A row is a map from small integers to numbers (the header) and, behind it, at
 * most one more MessagePack value (the body). Bytes come from strangers: numbers
 * of the header are read within bounds, one by one, and the body is checked as a
 * whole before anybody looks at it. The walks are loops, which no nesting can
 * make overflow the stack.
 */
#include "db/wal/xrow.h"

#include <assert.h>
#include <string.h>

#include "data/mp.h"
#include "db/error.h"

static int invalid_header(void)
{
	client_error(ER_INVALID_MSGPACK, "packet header");
	return -1;
}

static int invalid_body(void)
{
	client_error(ER_INVALID_MSGPACK, "packet body");
	return -1;
}

/** A number that does not fit becomes the largest: no such type, space or version exists. */
static uint32_t saturate(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/** Reads an unsigned number; false where there is none. */
static inline bool take_uint(const char **pos, const char *end, uint64_t *value)
{
	const char *p = *pos;
	if (p >= end)
		return false;
	if ((*p & 0x80) == 0) {
		*value = (unsigned char)*p;
		*pos = p + 1;
		return true;
	}
	if (mp_typeof(*p) != MP_UINT || mp_check_uint(p, end) > 0)
		return false;
	*value = mp_decode_uint(pos);
	return true;
}

static inline bool take_double(const char **pos, const char *end, double *value)
{
	if (*pos >= end || mp_typeof(**pos) != MP_DOUBLE || mp_check_double(*pos, end) > 0)
		return false;
	*value = mp_decode_double(pos);
	return true;
}

/** What a header says beside the fields of struct xrow_header. */
struct header_extra {
	bool has_tsn;
	uint64_t tsn_diff, flags;
};

/**
 * Takes the number of a key; false where the key cannot be a header's, or the number is
 * impossible.
 */
static inline bool header_field(struct xrow_header *row, uint64_t key, uint64_t value,
				struct header_extra *extra)
{
	switch (key) {
	case IPROTO_REQUEST_TYPE:
		row->type = saturate(value);
		return true;
	case IPROTO_SYNC:
		row->sync = value;
		return true;
	case IPROTO_REPLICA_ID:
		row->replica_id = saturate(value);
		return true;
	case IPROTO_GROUP_ID:
		row->group_id = saturate(value);
		return true;
	case IPROTO_LSN:
		row->lsn = (int64_t)value;
		return row->lsn >= 0;
	case IPROTO_SCHEMA_VERSION:
		row->schema_version = saturate(value);
		return true;
	case IPROTO_STREAM_ID:
		row->stream_id = value;
		return true;
	case IPROTO_SERVER_VERSION:
		return true;
	case IPROTO_TSN:
		extra->tsn_diff = value;
		extra->has_tsn = true;
		return true;
	case IPROTO_FLAGS:
		extra->flags = value;
		return true;
	default:
		/* A number from a newer client is skipped, as in the reference. */
		return key < IPROTO_KEY;
	}
}

/** Reads the map's header. A count that is a lie ends where the bytes end. */
static inline bool take_map(const char **pos, const char *end, uint32_t *count)
{
	if (*pos >= end || mp_typeof(**pos) != MP_MAP || mp_check_map(*pos, end) > 0)
		return false;
	*count = mp_decode_map(pos);
	return true;
}

/** Decodes the header at *pos and moves *pos behind it. */
static int decode_header(struct xrow_header *row, const char **pos, const char *end)
{
	memset(row, 0, sizeof(*row));
	row->is_commit = true;
	struct header_extra extra = {false, 0, 0};
	const char *p = *pos;
	uint32_t count;
	if (!take_map(&p, end, &count))
		return invalid_header();
	while (count-- > 0) {
		uint64_t key, value;
		if (!take_uint(&p, end, &key))
			return invalid_header();
		if (key == IPROTO_TIMESTAMP) {
			if (!take_double(&p, end, &row->tm))
				return invalid_header();
		} else if (!take_uint(&p, end, &value) || !header_field(row, key, value, &extra)) {
			return invalid_header();
		}
	}
	/* Local rows count apart from their transaction: the distance may be negative. */
	row->tsn = (int64_t)((uint64_t)row->lsn - extra.tsn_diff);
	if (extra.has_tsn)
		row->is_commit = extra.flags & IPROTO_FLAG_COMMIT;
	*pos = p;
	return 0;
}

int xrow_header_decode(struct xrow_header *row, const char **pos, const char *end)
{
	const char *p = *pos;
	if (decode_header(row, &p, end) != 0)
		return -1;
	if (p < end) {
		if (row->type == IPROTO_NOP || mp_check_whole(p, end) != 0)
			return invalid_body();
		row->body = p;
		row->body_size = end - p;
	}
	*pos = end;
	return 0;
}

int xrow_decode_next(struct xrow_header *row, const char **pos, const char *end)
{
	const char *p = *pos;
	if (decode_header(row, &p, end) != 0)
		return -1;
	if (row->type != IPROTO_NOP && p < end) {
		const char *body = p;
		if (mp_check_value(&p, end) != 0)
			return invalid_body();
		row->body = body;
		row->body_size = p - body;
	}
	*pos = p;
	return 0;
}

void xrow_encode(const struct xrow_header *row, struct buf *out)
{
	char *begin = buf_reserve(out, XROW_HEADER_SIZE_MAX + row->body_size);
	char *p = begin + 1;
	unsigned count = 1;
	p = mp_encode_uint(p, IPROTO_REQUEST_TYPE);
	p = mp_encode_uint(p, row->type);
	if (row->replica_id != 0) {
		p = mp_encode_uint(p, IPROTO_REPLICA_ID);
		p = mp_encode_uint(p, row->replica_id);
		count++;
	}
	if (row->group_id != GROUP_DEFAULT) {
		p = mp_encode_uint(p, IPROTO_GROUP_ID);
		p = mp_encode_uint(p, row->group_id);
		count++;
	}
	if (row->lsn != 0) {
		p = mp_encode_uint(p, IPROTO_LSN);
		p = mp_encode_uint(p, row->lsn);
		count++;
	}
	if (row->tm != 0) {
		p = mp_encode_uint(p, IPROTO_TIMESTAMP);
		p = mp_encode_double(p, row->tm);
		count++;
	}
	/* A transaction of one row carries neither number nor flag. */
	if (row->tsn != 0 && (row->tsn != row->lsn || !row->is_commit)) {
		p = mp_encode_uint(p, IPROTO_TSN);
		p = mp_encode_uint(p, (uint64_t)row->lsn - (uint64_t)row->tsn);
		count++;
		if (row->is_commit) {
			p = mp_encode_uint(p, IPROTO_FLAGS);
			p = mp_encode_uint(p, IPROTO_FLAG_COMMIT);
			count++;
		}
	}
	assert(count <= 15);
	*begin = (char)(0x80 | count);
	if (row->body_size > 0) {
		memcpy(p, row->body, row->body_size);
		p += row->body_size;
	}
	out->size += p - begin;
	assert((size_t)(p - begin) <= XROW_HEADER_SIZE_MAX + row->body_size);
}
