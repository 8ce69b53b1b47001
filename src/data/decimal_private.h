/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of decimals share among themselves.
 */
#pragma once

#include "data/decimal.h"

typedef unsigned __int128 decimal_coef;

enum {
	DECIMAL_EXPONENT_MIN = -DECIMAL_SCALE_MAX,
	DECIMAL_EXPONENT_MAX = DECIMAL_DIGITS_MAX - 1,
};

/** 10^0 to 10^38. */
extern const decimal_coef decimal_power_of_ten[DECIMAL_DIGITS_MAX + 1];

static inline decimal_coef decimal_coef_get(const struct decimal *d)
{
	return (decimal_coef)d->high << 64 | d->low;
}

static inline void decimal_set(struct decimal *d, bool is_negative, decimal_coef coef, int exponent)
{
	d->low = (uint64_t)coef;
	d->high = (uint64_t)(coef >> 64);
	d->exponent = exponent;
	d->is_negative = is_negative;
}

/** Decimal digits; 1 for zero. */
int decimal_coef_digits(decimal_coef coef);

/** Rounds to the precision and the range of exponents. -1: overflow. */
int decimal_finish(struct decimal *result, bool is_negative, decimal_coef coef, int exponent);

/** Also -1 (or 1) where a quotient has no end: `*is_exact` tells. */
int decimal_div_exactly(struct decimal *result, const struct decimal *a, const struct decimal *b,
			bool *is_exact);

/** Writes the digits of the coefficient, without a zero; returns how many. */
int decimal_coef_print(decimal_coef coef, char *out);
