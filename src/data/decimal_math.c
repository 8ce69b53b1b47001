/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimals: exponential, logarithms and powers. MPFR computes them in 512 bits, over
 * 150 digits, whose first 38 are then rounded; so the results are the exact ones
 * rounded. What is exact by nature (1.5 squared, log10(100)) is told apart, since it
 * keeps a short form.
 */
#include <limits.h>
#include <mpfr.h>

#include "data/decimal_gmp.h"

enum {
	WORK_BITS = 512,
	/**
	 * Enough for the exponential: of an argument below 100, which alone has a result that is
	 * neither zero nor too large, 7 of the 256 bits may be wrong.
	 */
	EXP_BITS = 256,
	/** Digits taken of a result: enough that those behind the 38th are right. */
	WORK_DIGITS = 60,
	/** Whole powers beyond are computed as others. */
	WHOLE_POWER_MAX = 999999999,
	/** The least exponent that logarithms have, in the reference. */
	LN_EXPONENT_MIN = -37,
};

static void to_mpfr(mpfr_t x, const struct decimal *d)
{
	mpz_t z;
	mpz_init(z);
	decimal_mpz_set(z, decimal_coef_get(d));
	mpfr_set_z(x, z, MPFR_RNDN);
	decimal_mpz_power_of_ten(z, d->exponent < 0 ? -d->exponent : d->exponent);
	if (d->exponent < 0)
		mpfr_div_z(x, x, z, MPFR_RNDN);
	else
		mpfr_mul_z(x, x, z, MPFR_RNDN);
	if (d->is_negative)
		mpfr_neg(x, x, MPFR_RNDN);
	mpz_clear(z);
}

/** x times 10^shift, to 38 digits and an exponent that is no less than `exponent_min`. */
static int from_mpfr(struct decimal *result, const mpfr_t x, long shift, int exponent_min)
{
	if (mpfr_nan_p(x) || mpfr_inf_p(x))
		return -1;
	if (mpfr_zero_p(x))
		return decimal_finish(result, false, 0, exponent_min);
	char digits[WORK_DIGITS + 3], *p = digits;
	mpfr_exp_t exponent;
	mpfr_get_str(digits, &exponent, 10, WORK_DIGITS, x, MPFR_RNDN);
	bool is_negative = *p == '-';
	if (is_negative)
		p++;
	const long far = 100000;
	exponent += shift;
	exponent = exponent < -far ? -far : exponent > far ? far : exponent;
	mpz_t z, power;
	mpz_init_set_str(z, p, 10);
	mpz_init(power);
	long last = exponent - WORK_DIGITS;
	/* Where the least exponent decides. Rounding half up looks at the first digit dropped. */
	if (last < exponent_min && exponent - exponent_min <= DECIMAL_DIGITS_MAX &&
	    exponent_min > DECIMAL_EXPONENT_MIN) {
		decimal_mpz_power_of_ten(power, exponent_min - 1 - last);
		mpz_tdiv_q(z, z, power);
		if (mpz_tdiv_q_ui(z, z, 10) >= 5)
			mpz_add_ui(z, z, 1);
		last = exponent_min;
	}
	int rc = decimal_finish_mpz(result, is_negative, z, last);
	mpz_clears(z, power, NULL);
	return rc;
}

/** A function of MPFR in so many bits; digits below 10^exponent_min are rounded off. */
static int apply_mpfr(struct decimal *result, const struct decimal *d, int bits,
		      int (*func)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), int exponent_min)
{
	mpfr_t x;
	mpfr_init2(x, bits);
	to_mpfr(x, d);
	func(x, x, MPFR_RNDN);
	int rc = from_mpfr(result, x, 0, exponent_min);
	mpfr_clear(x);
	return rc;
}

int decimal_exp(struct decimal *result, const struct decimal *d)
{
	if (decimal_is_zero(d))
		return decimal_finish(result, false, 1, 0);
	return apply_mpfr(result, d, EXP_BITS, mpfr_exp, DECIMAL_EXPONENT_MIN);
}

static bool is_one(const struct decimal *d)
{
	static const struct decimal one = {1, 0, 0, 0};
	return decimal_compare(d, &one) == 0;
}

static bool is_positive(const struct decimal *d)
{
	return !d->is_negative && !decimal_is_zero(d);
}

int decimal_ln(struct decimal *result, const struct decimal *d)
{
	if (!is_positive(d))
		return -1;
	if (is_one(d))
		return decimal_finish(result, false, 0, 0);
	return apply_mpfr(result, d, WORK_BITS, mpfr_log, LN_EXPONENT_MIN);
}

/** Is it 10^n? */
static bool is_power_of_ten(const struct decimal *d, int *n)
{
	decimal_coef coef = decimal_coef_get(d);
	int digits = decimal_coef_digits(coef);
	*n = digits - 1 + d->exponent;
	return coef == decimal_power_of_ten[digits - 1];
}

int decimal_log10(struct decimal *result, const struct decimal *d)
{
	int n;
	if (!is_positive(d))
		return -1;
	if (is_power_of_ten(d, &n)) {
		decimal_from_int64(result, n);
		return 0;
	}
	return apply_mpfr(result, d, WORK_BITS, mpfr_log10, DECIMAL_EXPONENT_MIN);
}

/* Powers. --------------------------------------------------------------------- */

/** The coefficient to the power of n, exactly; false where that has more than 38 digits. */
static bool power_exact(decimal_coef coef, long n, decimal_coef *power)
{
	const decimal_coef limit = decimal_power_of_ten[DECIMAL_DIGITS_MAX];
	*power = 1;
	if (coef == 1)
		return true;
	for (; n > 0; n--) {
		if (*power >= limit / coef + 1)
			return false;
		*power *= coef;
		if (*power >= limit)
			return false;
	}
	return true;
}

/** n may be negative. */
static int power_rounded(struct decimal *result, const struct decimal *d, long n, bool is_negative)
{
	mpfr_t x;
	mpz_t z;
	mpfr_init2(x, WORK_BITS);
	mpz_init(z);
	decimal_mpz_set(z, decimal_coef_get(d));
	mpfr_set_z(x, z, MPFR_RNDN);
	/* The coefficient's power may be far from the result's, which has a shift. */
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	mpfr_pow_si(x, x, n, MPFR_RNDN);
	int rc = from_mpfr(result, x, d->exponent * n, DECIMAL_EXPONENT_MIN);
	result->is_negative = is_negative;
	mpz_clear(z);
	mpfr_clear(x);
	return rc;
}

static int power_whole(struct decimal *result, const struct decimal *d, long n)
{
	static const struct decimal one = {1, 0, 0, 0};
	struct decimal base = *d, inverse;
	bool is_negative = d->is_negative && n % 2 != 0, is_exact;
	if (n < 0 && decimal_div_exactly(&inverse, &one, d, &is_exact) == 0 && is_exact) {
		base = inverse;
		n = -n;
	}
	decimal_coef power;
	if (n >= 0 && power_exact(decimal_coef_get(&base), n, &power)) {
		long exponent = base.exponent * n;
		const long far = 1000;
		exponent = exponent < -far ? -far : exponent > far ? far : exponent;
		return decimal_finish(result, is_negative, power, exponent);
	}
	return power_rounded(result, &base, n, is_negative);
}

static int power_real(struct decimal *result, const struct decimal *d, const struct decimal *power)
{
	mpfr_t x, y;
	mpfr_init2(x, WORK_BITS);
	mpfr_init2(y, WORK_BITS);
	to_mpfr(x, d);
	to_mpfr(y, power);
	mpfr_pow(x, x, y, MPFR_RNDN);
	int rc = from_mpfr(result, x, 0, DECIMAL_EXPONENT_MIN);
	mpfr_clear(x);
	mpfr_clear(y);
	return rc;
}

int decimal_pow(struct decimal *result, const struct decimal *d, const struct decimal *power)
{
	struct decimal trimmed;
	int64_t n;
	decimal_trim(&trimmed, power);
	bool is_whole = trimmed.exponent >= 0;
	bool is_odd = trimmed.exponent == 0 && (trimmed.low & 1) != 0;
	bool is_small =
		decimal_to_int64(power, &n) && n >= -WHOLE_POWER_MAX && n <= WHOLE_POWER_MAX;
	if (decimal_is_zero(d)) {
		if (!is_positive(power))
			return -1;
		return decimal_finish(result, d->is_negative && is_odd, 0, 0);
	}
	if (is_small)
		return power_whole(result, d, n);
	if (d->is_negative)
		return -1;
	if (is_whole && is_one(d))
		return decimal_finish(result, false, 1, 0);
	return power_real(result, d, power);
}
