/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Base64: see base64.h.
 */
#include "data/base64.h"

#include <stdbool.h>
#include <stdint.h>

static const char alphabet_standard[64] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char alphabet_url[64] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static inline size_t encode(const void *data, size_t size, char *out, const char *alphabet)
{
	const uint8_t *in = data;
	char *p = out;
	for (; size >= 3; size -= 3, in += 3) {
		uint32_t v = in[0] << 16 | in[1] << 8 | in[2];
		*p++ = alphabet[v >> 18];
		*p++ = alphabet[v >> 12 & 63];
		*p++ = alphabet[v >> 6 & 63];
		*p++ = alphabet[v & 63];
	}
	if (size > 0) {
		uint32_t v = in[0] << 16 | (size == 2 ? in[1] << 8 : 0);
		*p++ = alphabet[v >> 18];
		*p++ = alphabet[v >> 12 & 63];
		*p++ = size == 2 ? alphabet[v >> 6 & 63] : '=';
		*p++ = '=';
	}
	return p - out;
}

size_t base64_encode(const void *data, size_t size, char *out)
{
	return encode(data, size, out, alphabet_standard);
}

size_t base64_encode_url(const void *data, size_t size, char *out)
{
	return encode(data, size, out, alphabet_url);
}

/** A digit's value plus one; 0: none. Those of the alphabet for URLs alone are above 64. */
static const uint8_t base64_digits[256] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8,
	['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15,
	['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22,
	['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29,
	['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
	['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43,
	['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50,
	['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57,
	['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
	['-'] = 65, ['_'] = 66,
};

/** Four digits to three bytes; false where not all are of the standard alphabet. */
static bool decode_group(const char *str, uint8_t *out)
{
	const uint8_t *s = (const uint8_t *)str;
	/* What is no digit, or one of the other alphabet, has a bit above the six. */
	uint32_t a = base64_digits[s[0]] - 1u, b = base64_digits[s[1]] - 1u;
	uint32_t c = base64_digits[s[2]] - 1u, d = base64_digits[s[3]] - 1u;
	if ((a | b | c | d) > 63)
		return false;
	uint32_t v = a << 18 | b << 12 | c << 6 | d;
	out[0] = v >> 16;
	out[1] = v >> 8;
	out[2] = v;
	return true;
}

static size_t decode(const char *str, size_t size, void *out, uint8_t digit_max)
{
	uint8_t *p = out;
	uint32_t bits = 0;
	int bit_count = 0;
	for (size_t i = 0; i < size; i++) {
		while (bit_count == 0 && size - i >= 4 && decode_group(str + i, p)) {
			p += 3;
			i += 4;
		}
		if (i == size)
			break;
		uint8_t digit = base64_digits[(uint8_t)str[i]];
		if (digit == 0 || digit > digit_max)
			continue;
		bits = bits << 6 | (digit <= 64 ? digit - 1 : digit - 3);
		bit_count += 6;
		if (bit_count >= 8) {
			bit_count -= 8;
			*p++ = bits >> bit_count;
		}
	}
	return p - (uint8_t *)out;
}

size_t base64_decode(const char *str, size_t size, void *out)
{
	return decode(str, size, out, 64);
}

size_t base64_decode_any(const char *str, size_t size, void *out)
{
	return decode(str, size, out, 66);
}
