/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks of journal and snapshot files: the fixed header, its checksum, and
 * compression. The compressor and its buffer are kept for each thread.
 */
#include <assert.h>
#include <zstd.h>

#include "core/memory.h"
#include "data/crc32c.h"
#include "data/mp.h"
#include "db/wal/xlog.h"

static const char magic_plain[4] = {'\xd5', '\xba', '\x0b', '\xab'};
static const char magic_zstd[4] = {'\xd5', '\xba', '\x0b', '\xba'};
const char xlog_marker[XLOG_MARKER_SIZE] = {'\xd5', '\x10', '\xad', '\xed'};

/** A thread's buffer is given back when it has grown over this. */
enum { SCRATCH_KEPT_MAX = 4 * 1024 * 1024 };

/** Rows of one block do not take more, packed or not: a longer claim is damage. */
static const uint64_t block_size_max = UINT64_C(1) << 31;

static _Thread_local ZSTD_CCtx *compressor;
static _Thread_local ZSTD_DCtx *decompressor;
static _Thread_local struct buf scratch;

void xlog_block_thread_free(void)
{
	ZSTD_freeCCtx(compressor);
	compressor = NULL;
	ZSTD_freeDCtx(decompressor);
	decompressor = NULL;
	buf_free(&scratch);
}

size_t xlog_block_begin(struct buf *out)
{
	size_t mark = out->size;
	buf_alloc(out, XLOG_FIXHEADER_SIZE);
	return mark;
}

static void fixheader_encode(char *begin, const char *magic, size_t size, uint32_t crc)
{
	char *p = begin;
	memcpy(p, magic, 4);
	p = mp_encode_uint(p + 4, size);
	p = mp_encode_uint(p, 0);
	p = mp_encode_uint(p, crc);
	size_t padding = begin + XLOG_FIXHEADER_SIZE - p;
	assert(padding > 0 && padding <= 31);
	p = mp_encode_strl(p, padding - 1);
	memset(p, 0, padding - 1);
}

void xlog_block_put_torn(struct buf *out, size_t size)
{
	char header[XLOG_FIXHEADER_SIZE];
	/* Not even the data alone would fit. */
	fixheader_encode(header, magic_plain, size + 1, 0);
	char *to = buf_alloc(out, size);
	memset(to, 0, size);
	memcpy(to, header, size < sizeof(header) ? size : sizeof(header));
}

/** Replaces the data behind the mark by its zstd frame; false where that is no gain. */
static bool block_compress(struct buf *out, size_t data, int level)
{
	if (compressor == NULL && (compressor = ZSTD_createCCtx()) == NULL)
		return false;
	size_t size = out->size - data;
	scratch.size = 0;
	char *to = buf_reserve(&scratch, ZSTD_compressBound(size));
	size_t packed = ZSTD_compressCCtx(compressor, to, scratch.capacity, out->data + data, size,
					  level);
	bool is_gain = !ZSTD_isError(packed) && packed < size;
	if (is_gain) {
		memcpy(out->data + data, to, packed);
		buf_truncate(out, data + packed);
	}
	if (scratch.capacity > SCRATCH_KEPT_MAX)
		buf_free(&scratch);
	return is_gain;
}

void xlog_block_end(struct buf *out, size_t mark, int level)
{
	size_t data = mark + XLOG_FIXHEADER_SIZE;
	assert(out->size > data);
	bool is_packed = out->size - mark >= XLOG_COMPRESS_SIZE_MIN &&
			 block_compress(out, data, level);
	size_t size = out->size - data;
	uint32_t crc = crc32c(0, out->data + data, size);
	fixheader_encode(out->data + mark, is_packed ? magic_zstd : magic_plain, size, crc);
}

/** Reads an unsigned number of MessagePack within the fixed header. */
static bool fixheader_uint(const char **pos, const char *end, uint64_t *value)
{
	if (*pos >= end || mp_typeof(**pos) != MP_UINT || mp_check_uint(*pos, end) > 0)
		return false;
	*value = mp_decode_uint(pos);
	return true;
}

const char *xlog_block_parse(struct xlog_block *block, const char *data)
{
	const char *p = data + 4, *end = data + XLOG_FIXHEADER_SIZE;
	if (memcmp(data, magic_zstd, 4) == 0)
		block->is_compressed = true;
	else if (memcmp(data, magic_plain, 4) == 0)
		block->is_compressed = false;
	else
		return "no block begins here";
	uint64_t crc_prev, crc;
	if (!fixheader_uint(&p, end, &block->size) || !fixheader_uint(&p, end, &crc_prev) ||
	    !fixheader_uint(&p, end, &crc) || crc_prev != 0 || crc > UINT32_MAX)
		return "the block's header is broken";
	block->crc = crc;
	if (block->size == 0 || block->size > block_size_max)
		return "the block's length is impossible";
	return NULL;
}

static const char *block_decompress(const char *data, size_t size, struct buf *raw)
{
	if (decompressor == NULL && (decompressor = ZSTD_createDCtx()) == NULL)
		return "no memory to unpack the block";
	ZSTD_DCtx_reset(decompressor, ZSTD_reset_session_only);
	ZSTD_inBuffer in = {data, size, 0};
	size_t rc;
	raw->size = 0;
	do {
		if (raw->size > block_size_max)
			return "the block unpacks to an impossible length";
		size_t room = ZSTD_DStreamOutSize();
		ZSTD_outBuffer out = {buf_reserve(raw, room), room, 0};
		rc = ZSTD_decompressStream(decompressor, &out, &in);
		if (ZSTD_isError(rc))
			return "the block can't be unpacked";
		raw->size += out.pos;
		/* All was taken, nothing came out, and still the frame wants more. */
		if (rc != 0 && in.pos == in.size && out.pos < out.size)
			return "the block's packed data is cut short";
	} while (rc != 0 || in.pos < in.size);
	return raw->size > 0 ? NULL : "the block is empty";
}

const char *xlog_block_unpack(const struct xlog_block *block, const char *data, struct buf *raw,
			      const char **rows, size_t *rows_size)
{
	if (crc32c(0, data, block->size) != block->crc)
		return "the block's checksum does not match";
	if (!block->is_compressed) {
		*rows = data;
		*rows_size = block->size;
		/* Zeros have the checksum 0, so a header cut off behind its length fits them. */
		return mp_typeof(*data) == MP_MAP ? NULL : "the block does not begin with a row";
	}
	const char *reason = block_decompress(data, block->size, raw);
	*rows = raw->data;
	*rows_size = raw->size;
	return reason;
}
