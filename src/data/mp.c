/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack: the check of foreign data, and extension headers. See mp.h.
 */
#include "data/mp.h"

#include <assert.h>
#include <string.h>

/** What follows a first byte. */
struct mp_head {
	/** Bytes of the length that follows, or -1: not a valid first byte. */
	int8_t length_bytes;
	/** Bytes besides the length and the content it tells. */
	uint8_t fixed_bytes;
	/** The length counts: 0 bytes, 1 values, 2 pairs of values. */
	uint8_t unit;
};

enum { MP_UNIT_BYTES, MP_UNIT_VALUES, MP_UNIT_PAIRS };

/** First bytes from 0xc0 to 0xdf; the others hold all they need. */
static const struct mp_head mp_heads[32] = {
	[0x00] = {0, 0, MP_UNIT_BYTES},		/* nil */
	[0x01] = {-1, 0, MP_UNIT_BYTES},
	[0x02] = {0, 0, MP_UNIT_BYTES},		/* false */
	[0x03] = {0, 0, MP_UNIT_BYTES},		/* true */
	[0x04] = {1, 0, MP_UNIT_BYTES},		/* bin 8, 16, 32 */
	[0x05] = {2, 0, MP_UNIT_BYTES},
	[0x06] = {4, 0, MP_UNIT_BYTES},
	[0x07] = {1, 1, MP_UNIT_BYTES},		/* ext 8, 16, 32 */
	[0x08] = {2, 1, MP_UNIT_BYTES},
	[0x09] = {4, 1, MP_UNIT_BYTES},
	[0x0a] = {0, 4, MP_UNIT_BYTES},		/* float, double */
	[0x0b] = {0, 8, MP_UNIT_BYTES},
	[0x0c] = {0, 1, MP_UNIT_BYTES},		/* uint 8, 16, 32, 64 */
	[0x0d] = {0, 2, MP_UNIT_BYTES},
	[0x0e] = {0, 4, MP_UNIT_BYTES},
	[0x0f] = {0, 8, MP_UNIT_BYTES},
	[0x10] = {0, 1, MP_UNIT_BYTES},		/* int 8, 16, 32, 64 */
	[0x11] = {0, 2, MP_UNIT_BYTES},
	[0x12] = {0, 4, MP_UNIT_BYTES},
	[0x13] = {0, 8, MP_UNIT_BYTES},
	[0x14] = {0, 2, MP_UNIT_BYTES},		/* fixext 1, 2, 4, 8, 16 */
	[0x15] = {0, 3, MP_UNIT_BYTES},
	[0x16] = {0, 5, MP_UNIT_BYTES},
	[0x17] = {0, 9, MP_UNIT_BYTES},
	[0x18] = {0, 17, MP_UNIT_BYTES},
	[0x19] = {1, 0, MP_UNIT_BYTES},		/* str 8, 16, 32 */
	[0x1a] = {2, 0, MP_UNIT_BYTES},
	[0x1b] = {4, 0, MP_UNIT_BYTES},
	[0x1c] = {2, 0, MP_UNIT_VALUES},	/* array 16, 32 */
	[0x1d] = {4, 0, MP_UNIT_VALUES},
	[0x1e] = {2, 0, MP_UNIT_PAIRS},		/* map 16, 32 */
	[0x1f] = {4, 0, MP_UNIT_PAIRS},
};

/**
 * Steps over one value's head and, for a scalar, its content. The values that
 * follow inside it are left to the caller in `*inner`. -1: cut short or invalid.
 */
static inline int mp_check_head(const char **data, const char *end, uint64_t *inner)
{
	const uint8_t *p = (const uint8_t *)*data;
	size_t left = end - *data;
	*inner = 0;
	if (left == 0)
		return -1;
	uint8_t c = *p++;
	left--;
	uint64_t skip;
	if (c < 0x80 || c >= 0xe0) {
		skip = 0;
	} else if (c < 0xa0) {
		*inner = c < 0x90 ? 2 * (c & 15) : c & 15;
		skip = 0;
	} else if (c < 0xc0) {
		skip = c & 31;
	} else {
		const struct mp_head *head = &mp_heads[c - 0xc0];
		if (head->length_bytes < 0 || left < (size_t)head->length_bytes)
			return -1;
		uint64_t length = 0;
		for (int i = 0; i < head->length_bytes; i++)
			length = length << 8 | *p++;
		left -= head->length_bytes;
		skip = head->fixed_bytes;
		if (head->unit == MP_UNIT_BYTES)
			skip += length;
		else
			*inner = head->unit * length;
	}
	/* Each inner value takes a byte at least. */
	if (left < skip || left < *inner)
		return -1;
	if (c >= 0xc7 && mp_typeof(c) == MP_EXT &&
	    !mp_ext_is_valid((int8_t)p[0], (const char *)p + 1, skip - 1))
		return -1;
	*data = (const char *)p + skip;
	return 0;
}

int mp_check_value(const char **data, const char *end)
{
	/* Values still to come in each open container; a level is left when it has no more. */
	uint32_t remaining[MP_DEPTH_MAX];
	int depth = 0;
	uint64_t inner;
	const char *p = *data;
	if (mp_check_head(&p, end, &inner) != 0)
		return -1;
	if (inner > UINT32_MAX)
		return -1;
	remaining[0] = inner;
	for (;;) {
		while (remaining[depth] == 0) {
			if (depth-- == 0) {
				*data = p;
				return 0;
			}
		}
		remaining[depth]--;
		if (mp_check_head(&p, end, &inner) != 0)
			return -1;
		if (inner == 0)
			continue;
		if (inner > UINT32_MAX || ++depth == MP_DEPTH_MAX)
			return -1;
		remaining[depth] = inner;
	}
}

int mp_check_whole(const char *data, const char *end)
{
	return mp_check_value(&data, end) == 0 && data == end ? 0 : -1;
}

uint32_t mp_decode_extl(const char **data, int8_t *type)
{
	uint8_t c = mp_load_u8(data);
	uint32_t len;
	switch (c) {
	case 0xc7:
		len = mp_load_u8(data);
		break;
	case 0xc8:
		len = mp_load_u16(data);
		break;
	case 0xc9:
		len = mp_load_u32(data);
		break;
	default:
		assert(c >= 0xd4 && c <= 0xd8);
		len = 1u << (c - 0xd4);
		break;
	}
	*type = (int8_t)mp_load_u8(data);
	return len;
}

/** The first byte of a fixext of the length, or 0. */
static uint8_t mp_fixext_byte(uint32_t len)
{
	switch (len) {
	case 1: return 0xd4;
	case 2: return 0xd5;
	case 4: return 0xd6;
	case 8: return 0xd7;
	case 16: return 0xd8;
	default: return 0;
	}
}

uint32_t mp_sizeof_ext(uint32_t len)
{
	if (mp_fixext_byte(len) != 0)
		return 2 + len;
	return (len <= UINT8_MAX ? 3 : len <= UINT16_MAX ? 4 : 6) + len;
}

char *mp_encode_extl(char *data, int8_t type, uint32_t len)
{
	uint8_t fixext = mp_fixext_byte(len);
	if (fixext != 0) {
		data = mp_store_u8(data, fixext);
	} else if (len <= UINT8_MAX) {
		data = mp_store_u8(data, 0xc7);
		data = mp_store_u8(data, len);
	} else if (len <= UINT16_MAX) {
		data = mp_store_u8(data, 0xc8);
		data = mp_store_u16(data, len);
	} else {
		data = mp_store_u8(data, 0xc9);
		data = mp_store_u32(data, len);
	}
	return mp_store_u8(data, type);
}
