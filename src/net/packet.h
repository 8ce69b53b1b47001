/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: where a packet begins and ends. A packet is its length,
 * an unsigned MessagePack integer of any width, and so many bytes behind it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** The longest packet, in bytes; the reference's limit. Memory is taken as bytes arrive. */
#define PACKET_SIZE_MAX (UINT64_C(2) * 1024 * 1024 * 1024)

enum packet_state {
	PACKET_WHOLE,
	/** More bytes are needed. */
	PACKET_PARTIAL,
	/** The length is no unsigned integer. */
	PACKET_NO_LENGTH,
	/** The length is over PACKET_SIZE_MAX. */
	PACKET_TOO_LONG,
};

/**
 * Looks at the bytes from `p` to `end`. *header: how many the length itself takes;
 * *size: how many follow. Both are set for WHOLE and TOO_LONG, and for PARTIAL
 * once the length is known (else *size is 0 and *header is 1).
 */
static inline enum packet_state packet_scan(const char *p, const char *end, uint64_t size_max,
					    size_t *header, uint64_t *size)
{
	*header = 1;
	*size = 0;
	if (p == end)
		return PACKET_PARTIAL;
	unsigned char c = *p;
	size_t width = 0;
	if (c >= 0x80) {
		if (c < 0xcc || c > 0xcf)
			return PACKET_NO_LENGTH;
		width = (size_t)1 << (c - 0xcc);
		if ((size_t)(end - p) < 1 + width)
			return PACKET_PARTIAL;
	}
	uint64_t n = width == 0 ? c : 0;
	for (size_t i = 1; i <= width; i++)
		n = n << 8 | (unsigned char)p[i];
	*header = 1 + width;
	*size = n;
	if (n > size_max)
		return PACKET_TOO_LONG;
	return (uint64_t)(end - p) - *header < n ? PACKET_PARTIAL : PACKET_WHOLE;
}
