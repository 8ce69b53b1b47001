/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The codec of row headers.
 *
 * A row is a map of small integers (the header) and, behind it, at most one
 * more MessagePack value (the body). Bytes come from strangers, so both are
 * checked as a whole before anything of them is looked at; the checks and
 * walks are loops, which no nesting can make overflow the stack.
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

/** Reads one value of the header; false where its type is wrong. */
static bool header_field(struct xrow_header *row, uint64_t key, uint64_t *tsn_diff, bool *has_tsn,
			 uint64_t *flags, const char **pos)
{
	if (key == IPROTO_TIMESTAMP) {
		if (mp_typeof(**pos) != MP_DOUBLE)
			return false;
		row->tm = mp_decode_double(pos);
		return true;
	}
	if (mp_typeof(**pos) != MP_UINT)
		return false;
	uint64_t value = mp_decode_uint(pos);
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
		*tsn_diff = value;
		*has_tsn = true;
		return true;
	case IPROTO_FLAGS:
		*flags = value;
		return true;
	default:
		return false;
	}
}

/** Decodes the header at *pos and moves *pos behind it. */
static int decode_header(struct xrow_header *row, const char **pos, const char *end)
{
	memset(row, 0, sizeof(*row));
	row->is_commit = true;
	const char *p = *pos, *header_end = *pos;
	if (p >= end || mp_typeof(*p) != MP_MAP || mp_check_value(&header_end, end) != 0)
		return invalid_header();
	uint64_t tsn_diff = 0, flags = 0;
	bool has_tsn = false;
	uint32_t count = mp_decode_map(&p);
	for (uint32_t i = 0; i < count; i++) {
		if (mp_typeof(*p) != MP_UINT)
			return invalid_header();
		uint64_t key = mp_decode_uint(&p);
		if (!header_field(row, key, &tsn_diff, &has_tsn, &flags, &p))
			return invalid_header();
	}
	assert(p == header_end);
	/* Rows of the local group count apart from their transaction: the distance may be negative. */
	row->tsn = (int64_t)((uint64_t)row->lsn - tsn_diff);
	if (has_tsn)
		row->is_commit = flags & IPROTO_FLAG_COMMIT;
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
