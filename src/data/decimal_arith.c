/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimals: sums, products, quotients and square roots, exact and then rounded once.
 * What fits 128 bits is computed in them; the rest by GMP.
 */
#include <stdlib.h>

#include "data/decimal_gmp.h"

void decimal_mpz_set(mpz_t z, decimal_coef coef)
{
	uint64_t limbs[2] = {(uint64_t)coef, (uint64_t)(coef >> 64)};
	mpz_import(z, 2, -1, sizeof(limbs[0]), 0, 0, limbs);
}

void decimal_mpz_power_of_ten(mpz_t z, unsigned exponent)
{
	mpz_ui_pow_ui(z, 10, exponent);
}

/** Of at most 128 bits. */
static decimal_coef mpz_coef(const mpz_t z)
{
	uint64_t limbs[2] = {0, 0};
	mpz_export(limbs, NULL, -1, sizeof(limbs[0]), 0, 0, z);
	return (decimal_coef)limbs[1] << 64 | limbs[0];
}

static long mpz_digits(const mpz_t z)
{
	long n = mpz_sizeinbase(z, 10);
	mpz_t power;
	mpz_init(power);
	decimal_mpz_power_of_ten(power, n - 1);
	/* The size may be one too large. */
	if (mpz_cmp(z, power) < 0)
		n--;
	mpz_clear(power);
	return n;
}

int decimal_finish_mpz(struct decimal *result, bool is_negative, const mpz_t coef, long exponent)
{
	const long far = 100000;
	exponent = exponent < -far ? -far : exponent > far ? far : exponent;
	if (mpz_sizeinbase(coef, 2) <= 127)
		return decimal_finish(result, is_negative, mpz_coef(coef), exponent);
	/* To 38 digits at most. Rounding half up looks at the first digit that is dropped. */
	long drop = mpz_digits(coef) - DECIMAL_DIGITS_MAX;
	if (drop < DECIMAL_EXPONENT_MIN - exponent)
		drop = DECIMAL_EXPONENT_MIN - exponent;
	if (drop <= 0)
		return -1;
	mpz_t quotient, power;
	mpz_inits(quotient, power, NULL);
	decimal_mpz_power_of_ten(power, drop - 1);
	mpz_tdiv_q(quotient, coef, power);
	unsigned long last = mpz_tdiv_q_ui(quotient, quotient, 10);
	if (last >= 5)
		mpz_add_ui(quotient, quotient, 1);
	int rc = decimal_finish(result, is_negative, mpz_coef(quotient), exponent + drop);
	mpz_clears(quotient, power, NULL);
	return rc;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

/** Both coefficients for the smaller of the exponents. */
static void align(mpz_t x, mpz_t y, const struct decimal *a, const struct decimal *b)
{
	mpz_t power;
	mpz_init(power);
	decimal_mpz_set(x, decimal_coef_get(a));
	decimal_mpz_set(y, decimal_coef_get(b));
	decimal_mpz_power_of_ten(power, abs(a->exponent - b->exponent));
	if (a->exponent > b->exponent)
		mpz_mul(x, x, power);
	else
		mpz_mul(y, y, power);
	mpz_clear(power);
}

/** Zero is negative where both are. */
static bool zero_sign(const struct decimal *a, bool b_negative)
{
	return a->is_negative && b_negative;
}

static int add_wide(struct decimal *result, const struct decimal *a, const struct decimal *b,
		    bool b_negative)
{
	mpz_t x, y;
	mpz_inits(x, y, NULL);
	align(x, y, a, b);
	if (a->is_negative)
		mpz_neg(x, x);
	if (b_negative)
		mpz_sub(x, x, y);
	else
		mpz_add(x, x, y);
	bool is_negative = mpz_sgn(x) == 0 ? zero_sign(a, b_negative) : mpz_sgn(x) < 0;
	mpz_abs(x, x);
	int rc = decimal_finish_mpz(result, is_negative, x, min_int(a->exponent, b->exponent));
	mpz_clears(x, y, NULL);
	return rc;
}

/** The coefficient for an exponent that is smaller; false where it does not fit 127 bits. */
static bool scale_coef(const struct decimal *d, int exponent, decimal_coef *coef)
{
	*coef = decimal_coef_get(d);
	int shift = d->exponent - exponent;
	if (shift == 0)
		return true;
	if (decimal_coef_digits(*coef) + shift > DECIMAL_DIGITS_MAX)
		return false;
	*coef *= decimal_power_of_ten[shift];
	return true;
}

static int add_signed(struct decimal *result, const struct decimal *a, const struct decimal *b,
		      bool b_negative)
{
	decimal_coef x, y;
	int exponent = min_int(a->exponent, b->exponent);
	if (!scale_coef(a, exponent, &x) || !scale_coef(b, exponent, &y))
		return add_wide(result, a, b, b_negative);
	if (a->is_negative == b_negative)
		return decimal_finish(result, b_negative, x + y, exponent);
	if (x == y)
		return decimal_finish(result, zero_sign(a, b_negative), 0, exponent);
	if (x > y)
		return decimal_finish(result, a->is_negative, x - y, exponent);
	return decimal_finish(result, b_negative, y - x, exponent);
}

int decimal_add(struct decimal *result, const struct decimal *a, const struct decimal *b)
{
	return add_signed(result, a, b, b->is_negative);
}

int decimal_sub(struct decimal *result, const struct decimal *a, const struct decimal *b)
{
	return add_signed(result, a, b, !b->is_negative);
}

int decimal_mul(struct decimal *result, const struct decimal *a, const struct decimal *b)
{
	bool is_negative = a->is_negative != b->is_negative;
	int exponent = a->exponent + b->exponent;
	if ((a->high | b->high) == 0)
		return decimal_finish(result, is_negative, (decimal_coef)a->low * b->low, exponent);
	mpz_t x, y;
	mpz_inits(x, y, NULL);
	decimal_mpz_set(x, decimal_coef_get(a));
	decimal_mpz_set(y, decimal_coef_get(b));
	mpz_mul(x, x, y);
	int rc = decimal_finish_mpz(result, is_negative, x, exponent);
	mpz_clears(x, y, NULL);
	return rc;
}

/** Drops zeros at the end while the exponent is below `ideal`. */
static void strip_zeros(mpz_t x, long *exponent, long ideal)
{
	for (; *exponent < ideal && mpz_divisible_ui_p(x, 10); ++*exponent)
		mpz_divexact_ui(x, x, 10);
}

int decimal_div_exactly(struct decimal *result, const struct decimal *a, const struct decimal *b,
			bool *is_exact)
{
	bool is_negative = a->is_negative != b->is_negative;
	long ideal = a->exponent - b->exponent, exponent = ideal;
	if (decimal_is_zero(b))
		return -1;
	*is_exact = true;
	if (decimal_is_zero(a))
		return decimal_finish(result, is_negative, 0, ideal);
	/* One digit more than is kept. */
	int shift = DECIMAL_DIGITS_MAX + 1 + decimal_coef_digits(decimal_coef_get(b)) -
		decimal_coef_digits(decimal_coef_get(a));
	mpz_t x, y, power;
	mpz_inits(x, y, power, NULL);
	decimal_mpz_set(x, decimal_coef_get(a));
	decimal_mpz_set(y, decimal_coef_get(b));
	if (shift > 0) {
		decimal_mpz_power_of_ten(power, shift);
		mpz_mul(x, x, power);
		exponent -= shift;
	}
	mpz_tdiv_qr(x, power, x, y);
	*is_exact = mpz_sgn(power) == 0;
	if (*is_exact)
		strip_zeros(x, &exponent, ideal);
	int rc = decimal_finish_mpz(result, is_negative, x, exponent);
	mpz_clears(x, y, power, NULL);
	return rc;
}

int decimal_div(struct decimal *result, const struct decimal *a, const struct decimal *b)
{
	bool is_exact;
	return decimal_div_exactly(result, a, b, &is_exact);
}

int decimal_remainder(struct decimal *result, const struct decimal *a, const struct decimal *b)
{
	if (decimal_is_zero(b))
		return -1;
	mpz_t x, y, quotient;
	mpz_inits(x, y, quotient, NULL);
	align(x, y, a, b);
	mpz_tdiv_qr(quotient, x, x, y);
	int rc = -1;
	if (mpz_sgn(quotient) == 0 || mpz_digits(quotient) <= DECIMAL_DIGITS_MAX)
		rc = decimal_finish_mpz(result, a->is_negative, x,
					min_int(a->exponent, b->exponent));
	mpz_clears(x, y, quotient, NULL);
	return rc;
}

/** Half of it, rounded down. */
static int half(int exponent)
{
	return exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
}

int decimal_sqrt(struct decimal *result, const struct decimal *d)
{
	int ideal = half(d->exponent);
	if (decimal_is_zero(d))
		return decimal_finish(result, d->is_negative, 0, ideal);
	if (d->is_negative)
		return -1;
	/* An even exponent, and twice as many digits as the root has with one to round. */
	long exponent = d->exponent - 2 * (DECIMAL_DIGITS_MAX + 1);
	exponent -= exponent & 1;
	mpz_t x, rest;
	mpz_inits(x, rest, NULL);
	decimal_mpz_power_of_ten(rest, d->exponent - exponent);
	decimal_mpz_set(x, decimal_coef_get(d));
	mpz_mul(x, x, rest);
	mpz_sqrtrem(x, rest, x);
	exponent /= 2;
	if (mpz_sgn(rest) == 0)
		strip_zeros(x, &exponent, ideal);
	int rc = decimal_finish_mpz(result, false, x, exponent);
	mpz_clears(x, rest, NULL);
	return rc;
}
