/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimal numbers of up to 38 digits: a whole coefficient times a power of ten.
 *
 * The arithmetic is that of the General Decimal Arithmetic Specification (Cowlishaw,
 * version 1.70) for a precision of 38, exponents from -38 to 37, rounding half up,
 * without infinities and NaN: what would give one of them fails. Trailing zeros are
 * kept, so 1.0 and 1 are equal but print differently, and each zero may have a sign.
 *
 * Functions that can fail return -1 and set no error; their result is undefined then.
 * A result may be one of the arguments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** (-1)^is_negative * (high * 2^64 + low) * 10^exponent. Laid out for FFI. */
struct decimal {
	uint64_t low, high;
	int32_t exponent;
	uint32_t is_negative;
};

enum {
	DECIMAL_DIGITS_MAX = 38,
	/** The most digits behind the point. */
	DECIMAL_SCALE_MAX = 38,
	/** A sign, a digit and a point in front of 38 digits, and the terminating zero. */
	DECIMAL_STR_SIZE = DECIMAL_DIGITS_MAX + 4,
	/** The most bytes of decimal_pack(): the scale, and half a byte for each digit and sign. */
	DECIMAL_PACKED_SIZE_MAX = 2 + DECIMAL_DIGITS_MAX / 2 + 1,
};

/* Conversions. ---------------------------------------------------------------- */

void decimal_from_int64(struct decimal *result, int64_t value);
void decimal_from_uint64(struct decimal *result, uint64_t value);
/** The number's first 15 digits, as it prints. -1: infinite, NaN, too large. */
int decimal_from_double(struct decimal *result, double value);
/** `[+-]digits[.digits][e[+-]digits]`, rounded to 38 digits. -1: another text, too large. */
int decimal_from_string(struct decimal *result, const char *str);

/** The number without an exponent, and a zero: at most DECIMAL_STR_SIZE bytes. */
int decimal_to_string(const struct decimal *d, char *out);
/** The nearest double. */
double decimal_to_double(const struct decimal *d);
/** The value, where it is whole and in range. */
bool decimal_to_int64(const struct decimal *d, int64_t *value);
bool decimal_to_uint64(const struct decimal *d, uint64_t *value);

/**
 * Packed decimal as in MessagePack extensions: the scale (minus the exponent) as a
 * MessagePack integer, digits of four bits, then four bits of sign: 0xd for minus, 0xc for
 * plus. A zero digit in front makes it whole bytes. Source: the manual, "MessagePack
 * extensions".
 */
uint32_t decimal_packed_size(const struct decimal *d);
char *decimal_pack(const struct decimal *d, char *out);
/** -1: not `len` bytes of that form, too many digits, out of range. Takes any input. */
int decimal_unpack(struct decimal *result, const char *data, uint32_t len);

/* Properties. ----------------------------------------------------------------- */

/** Digits with those behind the point: 3 for 0.001, 3 for 100. */
int decimal_precision(const struct decimal *d);
/** Digits behind the point. */
int decimal_scale(const struct decimal *d);
bool decimal_is_zero(const struct decimal *d);

/** By value: below zero, zero, above zero. */
int decimal_compare(const struct decimal *a, const struct decimal *b);
/** By exact value; NaN is below all numbers, infinities are outside of them. */
int decimal_compare_double(const struct decimal *a, double b);
/** Of the value: numbers that are equal to one another, of any kind, have one hash. */
struct decimal_hash {
	enum { DECIMAL_HASH_WHOLE, DECIMAL_HASH_DOUBLE, DECIMAL_HASH_OTHER } kind;
	/** WHOLE: the 64 bits of the int64_t or uint64_t. DOUBLE: the double equal to it. */
	uint64_t bits;
	/** OTHER: more bits of a value that no other kind of number has. */
	uint64_t more;
};
struct decimal_hash decimal_hash_key(const struct decimal *d);

/* Changes of the form. -------------------------------------------------------- */

/**
 * Rounds to `scale` digits behind the point; as it is where it has no more or `scale` is
 * below zero.
 */
void decimal_round(struct decimal *result, const struct decimal *d, int scale);
/** The same, and pads with zeros where there are fewer digits and room for them. */
void decimal_rescale(struct decimal *result, const struct decimal *d, int scale);
/** Drops zeros at the end of what is behind the point. */
void decimal_trim(struct decimal *result, const struct decimal *d);
void decimal_abs(struct decimal *result, const struct decimal *d);
/** Zero has no minus afterwards. */
void decimal_minus(struct decimal *result, const struct decimal *d);

/* Arithmetic: -1 on overflow and where there is no result. -------------------- */

int decimal_add(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_sub(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_mul(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_div(struct decimal *result, const struct decimal *a, const struct decimal *b);
/** With the sign of `a`. -1 also where the whole quotient has over 38 digits. */
int decimal_remainder(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_sqrt(struct decimal *result, const struct decimal *d);

int decimal_exp(struct decimal *result, const struct decimal *d);
int decimal_ln(struct decimal *result, const struct decimal *d);
int decimal_log10(struct decimal *result, const struct decimal *d);
/** `d` to the power of `power`; -1 also for zero to zero. */
int decimal_pow(struct decimal *result, const struct decimal *d, const struct decimal *power);
