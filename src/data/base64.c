/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Base64: see base64.h.
 */
#include "data/base64.h"

#include <stdint.h>

static const char base64_alphabet[64] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(const void *data, size_t size, char *out)
{
	const uint8_t *in = data;
	char *p = out;
	for (; size >= 3; size -= 3, in += 3) {
		uint32_t v = in[0] << 16 | in[1] << 8 | in[2];
		*p++ = base64_alphabet[v >> 18];
		*p++ = base64_alphabet[v >> 12 & 63];
		*p++ = base64_alphabet[v >> 6 & 63];
		*p++ = base64_alphabet[v & 63];
	}
	if (size > 0) {
		uint32_t v = in[0] << 16 | (size == 2 ? in[1] << 8 : 0);
		*p++ = base64_alphabet[v >> 18];
		*p++ = base64_alphabet[v >> 12 & 63];
		*p++ = size == 2 ? base64_alphabet[v >> 6 & 63] : '=';
		*p++ = '=';
	}
	return p - out;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t base64_decode(const char *str, size_t size, void *out)
{
	uint8_t *p = out;
	uint32_t bits = 0;
	int bit_count = 0;
	for (size_t i = 0; i < size && str[i] != '='; i++) {
		int digit = base64_digit(str[i]);
		if (digit < 0)
			continue;
		bits = bits << 6 | digit;
		bit_count += 6;
		if (bit_count >= 8) {
			bit_count -= 8;
			*p++ = bits >> bit_count;
		}
	}
	return p - (uint8_t *)out;
}
