/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimals: conversions, order and form. Arithmetic is in decimal_arith.c and
 * decimal_math.c.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/decimal_gmp.h"

#define P19 ((decimal_coef)10000000000000000000ull)

const decimal_coef decimal_power_of_ten[DECIMAL_DIGITS_MAX + 1] = {
	1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull,
	1000000000ull, 10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull,
	100000000000000ull, 1000000000000000ull, 10000000000000000ull, 100000000000000000ull,
	1000000000000000000ull, P19, P19 * 10, P19 * 100, P19 * 1000, P19 * 10000, P19 * 100000,
	P19 * 1000000, P19 * 10000000, P19 * 100000000, P19 * 1000000000, P19 * 10000000000ull,
	P19 * 100000000000ull, P19 * 1000000000000ull, P19 * 10000000000000ull,
	P19 * 100000000000000ull, P19 * 1000000000000000ull, P19 * 10000000000000000ull,
	P19 * 100000000000000000ull, P19 * 1000000000000000000ull, P19 * P19,
};

int decimal_coef_digits(decimal_coef coef)
{
	uint64_t high = (uint64_t)(coef >> 64), low = (uint64_t)coef;
	int bits = high != 0  ? 128 - __builtin_clzll(high)
		   : low != 0 ? 64 - __builtin_clzll(low)
			      : 1;
	/* 1233 / 4096 is about log10(2): digits of the number's highest bit, or one more. */
	int digits = ((bits - 1) * 1233 >> 12) + 1;
	return digits + (digits <= DECIMAL_DIGITS_MAX && coef >= decimal_power_of_ten[digits]);
}

int decimal_finish(struct decimal *result, bool is_negative, decimal_coef coef, int exponent)
{
	if (coef == 0) {
		exponent = exponent < DECIMAL_EXPONENT_MIN ? DECIMAL_EXPONENT_MIN :
			exponent > DECIMAL_EXPONENT_MAX ? DECIMAL_EXPONENT_MAX : exponent;
		decimal_set(result, is_negative, 0, exponent);
		return 0;
	}
	int digits = decimal_coef_digits(coef);
	int drop = digits - DECIMAL_DIGITS_MAX;
	if (drop < DECIMAL_EXPONENT_MIN - exponent)
		drop = DECIMAL_EXPONENT_MIN - exponent;
	if (drop > 0) {
		/* 39 digits are less than half of 10^39, so that one less is enough. */
		if (drop > digits || drop > DECIMAL_DIGITS_MAX) {
			coef = 0;
		} else {
			decimal_coef divisor = decimal_power_of_ten[drop], rest = coef % divisor;
			coef = coef / divisor + (rest >= divisor - rest);
		}
		exponent += drop;
		if (coef == decimal_power_of_ten[DECIMAL_DIGITS_MAX]) {
			coef = decimal_power_of_ten[DECIMAL_DIGITS_MAX - 1];
			exponent++;
		}
		digits = decimal_coef_digits(coef);
	}
	if (digits + exponent > DECIMAL_DIGITS_MAX && coef != 0)
		return -1;
	decimal_set(result, is_negative, coef, exponent);
	return 0;
}

/* Conversions. ---------------------------------------------------------------- */

void decimal_from_uint64(struct decimal *result, uint64_t value)
{
	decimal_set(result, false, value, 0);
}

void decimal_from_int64(struct decimal *result, int64_t value)
{
	decimal_set(result, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

int decimal_from_double(struct decimal *result, double value)
{
	char text[32];
	if (!isfinite(value))
		return -1;
	snprintf(text, sizeof(text), "%.15g", value);
	return decimal_from_string(result, text);
}

/** The digits of a text while they are read. */
struct digit_reader {
	decimal_coef coef;
	/** Digits in `coef`, and those behind that it has no room for. */
	int taken;
	int64_t dropped;
	/** The first of the latter. */
	int next;
	bool is_empty;
};

static const char *read_digits(struct digit_reader *r, const char *p)
{
	for (; *p >= '0' && *p <= '9'; p++) {
		int digit = *p - '0';
		r->is_empty = false;
		if (r->taken == DECIMAL_DIGITS_MAX) {
			if (r->dropped++ == 0)
				r->next = digit;
			continue;
		}
		r->coef = r->coef * 10 + digit;
		r->taken += r->coef != 0;
	}
	return p;
}

/** Behind the e; the value has bounds that leave no room for more. NULL: no number. */
static const char *read_exponent(const char *p, int64_t *exponent)
{
	const int64_t bound = INT64_MAX / 4;
	bool is_negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if (*p < '0' || *p > '9')
		return NULL;
	int64_t value = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		value = value < bound / 10 ? value * 10 + (*p - '0') : bound;
	*exponent += is_negative ? -value : value;
	return p;
}

int decimal_from_string(struct decimal *result, const char *str)
{
	struct digit_reader r = {.is_empty = true};
	bool is_negative = *str == '-';
	if (*str == '-' || *str == '+')
		str++;
	str = read_digits(&r, str);
	int64_t exponent = 0;
	if (*str == '.') {
		const char *begin = ++str;
		str = read_digits(&r, str);
		exponent = -(str - begin);
	}
	if (r.is_empty)
		return -1;
	if ((*str | 0x20) == 'e')
		str = read_exponent(str + 1, &exponent);
	if (str == NULL || *str != '\0')
		return -1;
	exponent += r.dropped;
	if (r.dropped > 0 && exponent >= DECIMAL_EXPONENT_MIN)
		r.coef += r.next >= 5;
	const int far = 1000;
	exponent = exponent < -far ? -far : exponent > far ? far : exponent;
	return decimal_finish(result, is_negative, r.coef, exponent);
}

/** Writes digits ahead of `end`, `count` of them at least; returns where they begin. */
static char *print_back(char *end, uint64_t value, int count)
{
	for (; value != 0 || count > 0; value /= 10, count--)
		*--end = '0' + value % 10;
	return end;
}

int decimal_coef_print(decimal_coef coef, char *out)
{
	/* By halves of 64 bits: to divide 128 is slow. */
	const int half_digits = 19;
	char digits[DECIMAL_DIGITS_MAX + 2], *end = digits + sizeof(digits), *p = end;
	uint64_t high = coef >> 64 != 0 ? (uint64_t)(coef / P19) : 0;
	uint64_t low = (uint64_t)(coef - (decimal_coef)high * P19);
	if (high != 0)
		p = print_back(print_back(p, low, half_digits), high, 1);
	else
		p = print_back(p, low, 1);
	memcpy(out, p, end - p);
	return end - p;
}

int decimal_to_string(const struct decimal *d, char *out)
{
	char digits[DECIMAL_DIGITS_MAX + 1], *p = out;
	int n = decimal_coef_print(decimal_coef_get(d), digits), scale = decimal_scale(d);
	if (d->is_negative)
		*p++ = '-';
	if (scale == 0) {
		p = mempcpy(p, digits, n);
		memset(p, '0', d->exponent);
		p += d->exponent;
	} else if (n > scale) {
		p = mempcpy(p, digits, n - scale);
		*p++ = '.';
		p = mempcpy(p, digits + n - scale, scale);
	} else {
		*p++ = '0';
		*p++ = '.';
		memset(p, '0', scale - n);
		p = mempcpy(p + scale - n, digits, n);
	}
	*p = '\0';
	return p - out;
}

double decimal_to_double(const struct decimal *d)
{
	static const double powers[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	/* Both exact, so that the one operation rounds correctly. */
	if (d->high == 0 && d->low <= 1ull << 53 && d->exponent >= -22 && d->exponent <= 22) {
		double value = (double)d->low;
		value = d->exponent < 0 ? value / powers[-d->exponent]
					: value * powers[d->exponent];
		return d->is_negative ? -value : value;
	}
	char text[DECIMAL_STR_SIZE];
	decimal_to_string(d, text);
	return strtod(text, NULL);
}

/** The absolute value, where it is whole; false also where that has more than 38 digits. */
static bool decimal_to_whole(const struct decimal *d, decimal_coef *value)
{
	decimal_coef coef = decimal_coef_get(d);
	if (d->exponent >= 0 || coef == 0) {
		*value = coef == 0 ? 0 : coef * decimal_power_of_ten[d->exponent];
		return true;
	}
	decimal_coef divisor = decimal_power_of_ten[-d->exponent];
	*value = coef / divisor;
	return coef % divisor == 0;
}

bool decimal_to_int64(const struct decimal *d, int64_t *value)
{
	decimal_coef whole;
	if (!decimal_to_whole(d, &whole) || whole > (decimal_coef)INT64_MAX + d->is_negative)
		return false;
	*value = d->is_negative ? (int64_t)-(uint64_t)whole : (int64_t)whole;
	return true;
}

bool decimal_to_uint64(const struct decimal *d, uint64_t *value)
{
	decimal_coef whole;
	if (!decimal_to_whole(d, &whole) || whole > UINT64_MAX || (d->is_negative && whole != 0))
		return false;
	*value = (uint64_t)whole;
	return true;
}

/* Properties and order. ------------------------------------------------------- */

bool decimal_is_zero(const struct decimal *d)
{
	return (d->low | d->high) == 0;
}

int decimal_scale(const struct decimal *d)
{
	return d->exponent < 0 ? -d->exponent : 0;
}

int decimal_precision(const struct decimal *d)
{
	int digits = decimal_coef_digits(decimal_coef_get(d));
	if (d->exponent > 0)
		return digits + d->exponent;
	return digits > -d->exponent ? digits : -d->exponent;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/** Absolute values of two that are not zero. */
static int compare_abs(const struct decimal *a, const struct decimal *b)
{
	decimal_coef x = decimal_coef_get(a), y = decimal_coef_get(b);
	if (a->exponent == b->exponent)
		return COMPARE(x, y);
	int x_top = decimal_coef_digits(x) + a->exponent;
	int y_top = decimal_coef_digits(y) + b->exponent;
	if (x_top != y_top)
		return COMPARE(x_top, y_top);
	/* As many digits in front: with as many behind the point neither has more than 38. */
	if (a->exponent > b->exponent)
		x *= decimal_power_of_ten[a->exponent - b->exponent];
	else
		y *= decimal_power_of_ten[b->exponent - a->exponent];
	return COMPARE(x, y);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int a_sign = decimal_is_zero(a) ? 0 : a->is_negative ? -1 : 1;
	int b_sign = decimal_is_zero(b) ? 0 : b->is_negative ? -1 : 1;
	if (a_sign != b_sign || a_sign == 0)
		return a_sign - b_sign;
	return a_sign * compare_abs(a, b);
}

/** |a| with |b|, of which `a` rounds to `b`: both times what makes them whole. */
static int compare_abs_double(const struct decimal *a, double b)
{
	int exponent;
	uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(b), &exponent), 53);
	exponent -= 53;
	mpz_t x, y, power;
	mpz_inits(x, y, power, NULL);
	decimal_mpz_set(x, decimal_coef_get(a));
	decimal_mpz_set(y, mantissa);
	decimal_mpz_power_of_ten(power, abs(a->exponent));
	if (a->exponent < 0)
		mpz_mul(y, y, power);
	else
		mpz_mul(x, x, power);
	if (exponent < 0)
		mpz_mul_2exp(x, x, -exponent);
	else
		mpz_mul_2exp(y, y, exponent);
	int rc = mpz_cmp(x, y);
	mpz_clears(x, y, power, NULL);
	return COMPARE(rc, 0);
}

int decimal_compare_double(const struct decimal *a, double b)
{
	if (isnan(b))
		return 1;
	/* Rounding keeps the order, so that only equal ones need a closer look. */
	double rounded = decimal_to_double(a);
	if (rounded != b || b == 0)
		return COMPARE(rounded, b) != 0 ? COMPARE(rounded, b) : 0;
	int rc = compare_abs_double(a, b);
	return a->is_negative ? -rc : rc;
}

struct decimal_hash decimal_hash_key(const struct decimal *d)
{
	struct decimal_hash hash = {DECIMAL_HASH_WHOLE, 0, 0};
	int64_t i;
	if (decimal_to_uint64(d, &hash.bits))
		return hash;
	if (decimal_to_int64(d, &i)) {
		hash.bits = (uint64_t)i;
		return hash;
	}
	double value = decimal_to_double(d);
	memcpy(&hash.bits, &value, sizeof(value));
	if (decimal_compare_double(d, value) == 0) {
		hash.kind = DECIMAL_HASH_DOUBLE;
		return hash;
	}
	decimal_coef coef = decimal_coef_get(d);
	while (coef % 10 == 0)
		coef /= 10;
	hash.kind = DECIMAL_HASH_OTHER;
	hash.more = (uint64_t)coef ^ (uint64_t)(coef >> 64);
	return hash;
}

/* Form. ----------------------------------------------------------------------- */

void decimal_round(struct decimal *result, const struct decimal *d, int scale)
{
	int drop = decimal_scale(d) - scale;
	if (scale < 0 || drop <= 0) {
		*result = *d;
		return;
	}
	int precision = decimal_precision(d) - drop;
	decimal_coef coef = decimal_coef_get(d), divisor = decimal_power_of_ten[drop];
	decimal_coef rest = coef % divisor;
	coef = coef / divisor + (rest >= divisor - rest);
	int exponent = -scale;
	/* One digit more is not kept: 9.95 with one digit behind the point becomes 10. */
	if (precision > 0 && coef == decimal_power_of_ten[precision]) {
		coef /= 10;
		exponent++;
	}
	decimal_set(result, d->is_negative && !decimal_is_zero(d), coef, exponent);
}

void decimal_rescale(struct decimal *result, const struct decimal *d, int scale)
{
	int more = scale - decimal_scale(d);
	if (scale < 0 || scale > DECIMAL_SCALE_MAX || more <= 0) {
		decimal_round(result, d, scale);
		return;
	}
	if (decimal_precision(d) + more > DECIMAL_DIGITS_MAX) {
		*result = *d;
		return;
	}
	decimal_coef coef = decimal_coef_get(d);
	decimal_set(result, d->is_negative,
		    coef == 0 ? 0 : coef * decimal_power_of_ten[d->exponent + scale], -scale);
}

void decimal_trim(struct decimal *result, const struct decimal *d)
{
	decimal_coef coef = decimal_coef_get(d);
	int exponent = coef == 0 ? 0 : d->exponent;
	for (; exponent < 0 && coef % 10 == 0; exponent++)
		coef /= 10;
	decimal_set(result, d->is_negative, coef, exponent);
}

void decimal_abs(struct decimal *result, const struct decimal *d)
{
	*result = *d;
	result->is_negative = false;
}

void decimal_minus(struct decimal *result, const struct decimal *d)
{
	*result = *d;
	result->is_negative = !d->is_negative && !decimal_is_zero(d);
}
