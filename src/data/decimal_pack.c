/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimals packed as MessagePack extensions. See decimal.h.
 */
#include "data/decimal_private.h"
#include "data/mp.h"

uint32_t decimal_packed_size(const struct decimal *d)
{
	uint32_t scale_size = d->exponent > 0 ? mp_sizeof_int(-d->exponent) :
						mp_sizeof_uint(-d->exponent);
	return scale_size + decimal_coef_digits(decimal_coef_get(d)) / 2 + 1;
}

char *decimal_pack(const struct decimal *d, char *out)
{
	char digits[DECIMAL_DIGITS_MAX + 2];
	/* A zero in front, taken where the digits and the sign are an odd number. */
	digits[0] = '0';
	int n = decimal_coef_print(decimal_coef_get(d), digits + 1);
	const char *p = digits + (n & 1), *end = digits + 1 + n;
	out = d->exponent > 0 ? mp_encode_int(out, -d->exponent)
			      : mp_encode_uint(out, -d->exponent);
	for (; end - p > 1; p += 2)
		*out++ = (char)((p[0] - '0') << 4 | (p[1] - '0'));
	*out++ = (char)((p[0] - '0') << 4 | (d->is_negative ? 0xd : 0xc));
	return out;
}

/** Reads the digits and the sign. */
static int unpack_digits(const uint8_t *p, uint32_t len, decimal_coef *coef, bool *is_negative)
{
	/* Digits gather in 64 bits, which is faster than in 128. */
	const int chunk_max = 18;
	uint64_t chunk = 0;
	int chunk_digits = 0, digits = 0;
	*coef = 0;
	for (uint32_t i = 0; i < 2 * len - 1; i++) {
		int digit = i % 2 == 0 ? p[i / 2] >> 4 : p[i / 2] & 15;
		digits += digits > 0 || digit > 0;
		if (digit > 9 || digits > DECIMAL_DIGITS_MAX)
			return -1;
		chunk = chunk * 10 + digit;
		if (++chunk_digits == chunk_max) {
			*coef = *coef * decimal_power_of_ten[chunk_max] + chunk;
			chunk = chunk_digits = 0;
		}
	}
	*coef = *coef * decimal_power_of_ten[chunk_digits] + chunk;
	int sign = p[len - 1] & 15;
	*is_negative = sign == 0xb || sign == 0xd;
	return sign >= 0xa ? 0 : -1;
}

int decimal_unpack(struct decimal *result, const char *data, uint32_t len)
{
	const char *end = data + len;
	int64_t scale;
	if (len < 2 || (mp_typeof(*data) == MP_UINT ? mp_check_uint(data, end) > 0 :
			mp_typeof(*data) != MP_INT || mp_check_int(data, end) > 0))
		return -1;
	if (!mp_read_int64(&data, &scale) || data == end)
		return -1;
	decimal_coef coef;
	bool is_negative;
	if (unpack_digits((const uint8_t *)data, end - data, &coef, &is_negative) != 0)
		return -1;
	if (scale > DECIMAL_SCALE_MAX || scale < -DECIMAL_EXPONENT_MAX)
		return -1;
	return decimal_finish(result, is_negative, coef, -scale);
}
