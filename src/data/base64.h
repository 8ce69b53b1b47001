/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Base64 with the standard alphabet and padding (RFC 4648), without line breaks.
 */
#pragma once

#include <stddef.h>

/** Bytes of the encoding of `size` bytes, without a zero. */
static inline size_t base64_encoded_size(size_t size)
{
	return (size + 2) / 3 * 4;
}

/** No more bytes come out of decoding `size` characters. */
static inline size_t base64_decoded_size_max(size_t size)
{
	return size / 4 * 3 + 3;
}

/** Encodes; returns the count of characters written. No zero is put behind. */
size_t base64_encode(const void *data, size_t size, char *out);

/** The same in the alphabet for URLs, with padding. */
size_t base64_encode_url(const void *data, size_t size, char *out);

/**
 * Decodes; characters outside the alphabet (line breaks, spaces, padding) are skipped wherever
 * they are. Returns the count of bytes written.
 */
size_t base64_decode(const char *str, size_t size, void *out);

/** The same, where digits may be of the alphabet for URLs, too. */
size_t base64_decode_any(const char *str, size_t size, void *out);
