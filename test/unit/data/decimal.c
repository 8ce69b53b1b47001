/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decimals: packing, order and hash against exact fractions, arithmetic against
 * whole numbers. What users see of them is compared with the reference in test/compat.
 */
#include <gmp.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/decimal.h"

static struct decimal dec(const char *text)
{
	struct decimal d;
	assert_int_equal(decimal_from_string(&d, text), 0);
	return d;
}

static void check_text(const struct decimal *d, const char *expected)
{
	char text[DECIMAL_STR_SIZE];
	assert_int_equal(decimal_to_string(d, text), strlen(expected));
	assert_string_equal(text, expected);
}

static void test_text(void **state)
{
	static const char *const rows[][2] = {
		{"0", "0"}, {"-0", "-0"}, {"1", "1"}, {"+12.50", "12.50"}, {".5", "0.5"}, {"5.", "5"},
		{"1e5", "100000"}, {"1E-3", "0.001"}, {"0e3", "0000"}, {"0.00", "0.00"},
		{"1e-39", "0.00000000000000000000000000000000000000"},
		{"5e-39", "0.00000000000000000000000000000000000001"},
		{"0.123456789012345678901234567890123456785", "0.12345678901234567890123456789012345679"},
		{"99999999999999999999999999999999999999.4", "99999999999999999999999999999999999999"},
		{"9999999999999999999999999999999999999.95", "10000000000000000000000000000000000000"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct decimal d = dec(rows[i][0]);
		check_text(&d, rows[i][1]);
	}
	static const char *const bad[] = {
		"", "-", ".", "e5", "1e", "1e+", "1 ", " 1", "1x", "0x1", "inf", "nan", "1.2.3", "1e38",
		"99999999999999999999999999999999999999.5", "1e99999999999999999999", "--1",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct decimal d;
		assert_int_equal(decimal_from_string(&d, bad[i]), -1);
	}
}

static void check_packed(const char *text, const char *bytes, uint32_t size)
{
	char out[DECIMAL_PACKED_SIZE_MAX];
	struct decimal d = dec(text), back;
	assert_int_equal(decimal_packed_size(&d), size);
	assert_ptr_equal(decimal_pack(&d, out), out + size);
	assert_memory_equal(out, bytes, size);
	assert_int_equal(decimal_unpack(&back, out, size), 0);
	assert_memory_equal(&d, &back, sizeof(d));
}

static void test_pack(void **state)
{
	check_packed("-12.34", "\x02\x01\x23\x4d", 4);
	check_packed("0", "\x00\x0c", 2);
	check_packed("-0", "\x00\x0d", 2);
	check_packed("123", "\x00\x12\x3c", 3);
	check_packed("1e-38", "\x26\x1c", 2);
	check_packed("1e32", "\xe0\x1c", 2);
	check_packed("1e37", "\xd0\xdb\x1c", 3);
	check_packed("12345678901234567890123456789012345678",
		     "\0\x01\x23\x45\x67\x89\x01\x23\x45\x67\x89\x01\x23\x45\x67\x89\x01\x23\x45\x67\x8c",
		     21);
}

#define UNPACK(bytes) decimal_unpack(&d, bytes, sizeof(bytes) - 1)

static void test_unpack(void **state)
{
	struct decimal d;
	assert_int_equal(UNPACK("\xcc\x02\x1c"), 0);
	check_text(&d, "0.01");
	assert_int_equal(UNPACK("\xd3\xff\xff\xff\xff\xff\xff\xff\xfe\x1b"), 0);
	check_text(&d, "-100");
	assert_int_equal(UNPACK("\x00\x00\x00\x1f"), 0);
	check_text(&d, "1");
	assert_int_equal(UNPACK(""), -1);
	assert_int_equal(UNPACK("\x00"), -1);
	assert_int_equal(UNPACK("\x00\x11"), -1);
	assert_int_equal(UNPACK("\x00\xac"), -1);
	assert_int_equal(UNPACK("\x00\x1c\x1c"), -1);
	assert_int_equal(UNPACK("\x27\x1c"), -1);
	assert_int_equal(UNPACK("\xd0\xda\x1c"), -1);
	assert_int_equal(UNPACK("\xcc"), -1);
	assert_int_equal(UNPACK("\xcf\x00\x00\x00\x1c"), -1);
	assert_int_equal(UNPACK("\xa1\x1c"), -1);
	assert_int_equal(UNPACK("\xcb\0\0\0\0\0\0\0\0\x1c"), -1);
	/* 39 digits. */
	assert_int_equal(UNPACK("\0\x12\x34\x56\x78\x90\x12\x34\x56\x78\x90\x12\x34\x56\x78\x90"
				"\x12\x34\x56\x78\x9c"), -1);
}

/** Any bytes: what is taken can be packed again, and is the same number. */
static void test_unpack_random(void **state)
{
	srand(1);
	for (int i = 0; i < 300000; i++) {
		uint32_t size = rand() % (DECIMAL_PACKED_SIZE_MAX + 3);
		char *data = malloc(size + 1), out[DECIMAL_PACKED_SIZE_MAX];
		for (uint32_t k = 0; k < size; k++)
			data[k] = (char)(rand() % 4 == 0 ? rand() : (rand() % 10) << 4 | rand() % 10);
		if (size > 2 && rand() % 4 != 0) {
			data[0] = (char)(rand() % 3 == 0 ? -(rand() % 30) : rand() % 40);
			data[size - 1] = (char)((rand() % 10) << 4 | (10 + rand() % 6));
		}
		struct decimal d, back;
		if (decimal_unpack(&d, data, size) == 0) {
			uint32_t packed = decimal_pack(&d, out) - out;
			assert_int_equal(packed, decimal_packed_size(&d));
			assert_int_equal(decimal_unpack(&back, out, packed), 0);
			assert_memory_equal(&d, &back, sizeof(d));
			assert_true(decimal_precision(&d) <= DECIMAL_DIGITS_MAX);
		}
		free(data);
	}
}

/* Order. ------------------------------------------------------------------- */

static struct decimal random_decimal(void)
{
	char text[64], *p = text;
	int n = 1 + rand() % 38, point = rand() % (n + 1);
	if (rand() % 2)
		*p++ = '-';
	for (int i = 0; i < n; i++) {
		if (i == point)
			*p++ = '.';
		*p++ = rand() % 3 == 0 ? '9' : rand() % 3 == 0 ? '0' : '0' + rand() % 10;
	}
	*p = '\0';
	return dec(text);
}

static void exact(mpq_t q, const struct decimal *d)
{
	char text[DECIMAL_STR_SIZE];
	struct decimal whole = *d;
	whole.exponent = 0;
	decimal_to_string(&whole, text);
	mpq_set_str(q, text, 10);
	mpz_t power;
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, abs(d->exponent));
	if (d->exponent < 0)
		mpz_mul(mpq_denref(q), mpq_denref(q), power);
	else
		mpz_mul(mpq_numref(q), mpq_numref(q), power);
	mpq_canonicalize(q);
	mpz_clear(power);
}

static int sign(int rc)
{
	return (rc > 0) - (rc < 0);
}

/** A double near the decimal, or any. */
static double random_double(const struct decimal *near)
{
	double d = decimal_to_double(near);
	switch (rand() % 6) {
	case 0: return d;
	case 1: return nextafter(d, INFINITY);
	case 2: return nextafter(d, -INFINITY);
	case 3: return ldexp(rand() - RAND_MAX / 2, rand() % 140 - 120);
	case 4: return -d;
	default: return rand() % 8 - 4;
	}
}

static void test_compare(void **state)
{
	srand(2);
	mpq_t x, y;
	mpq_inits(x, y, NULL);
	for (int i = 0; i < 50000; i++) {
		struct decimal a = random_decimal(), b = random_decimal();
		if (rand() % 3 == 0)
			decimal_trim(&b, &a);
		exact(x, &a);
		exact(y, &b);
		assert_int_equal(sign(decimal_compare(&a, &b)), sign(mpq_cmp(x, y)));
		double d = random_double(&a);
		mpq_set_d(y, d);
		assert_int_equal(sign(decimal_compare_double(&a, d)), sign(mpq_cmp(x, y)));
	}
	mpq_clears(x, y, NULL);
	struct decimal zero = dec("0"), high = dec("99999999999999999999999999999999999999");
	assert_true(decimal_compare_double(&zero, NAN) > 0);
	assert_true(decimal_compare_double(&high, INFINITY) < 0);
	assert_true(decimal_compare_double(&zero, -INFINITY) > 0);
	/* 1e38 as a double is a little less. */
	assert_true(decimal_compare_double(&high, 1e38) > 0);
	assert_int_equal(decimal_compare_double(&zero, -0.0), 0);
}

/** The nearest double is: no other is nearer. */
static void test_to_double(void **state)
{
	srand(3);
	mpq_t x, y, gap, other;
	mpq_inits(x, y, gap, other, NULL);
	for (int i = 0; i < 20000; i++) {
		struct decimal a = random_decimal();
		double d = decimal_to_double(&a);
		exact(x, &a);
		mpq_set_d(y, d);
		mpq_sub(gap, x, y);
		mpq_abs(gap, gap);
		for (int side = 0; side < 2; side++) {
			mpq_set_d(y, nextafter(d, side ? INFINITY : -INFINITY));
			mpq_sub(other, x, y);
			mpq_abs(other, other);
			assert_true(mpq_cmp(gap, other) <= 0);
		}
	}
	mpq_clears(x, y, gap, other, NULL);
}

/* Arithmetic. -------------------------------------------------------------- */

/** Of small numbers everything is exact. */
static void test_small(void **state)
{
	for (int a = -40; a <= 40; a++) {
		for (int b = -40; b <= 40; b++) {
			struct decimal x, y, r;
			int64_t value;
			decimal_from_int64(&x, a);
			decimal_from_int64(&y, b);
			assert_int_equal(decimal_add(&r, &x, &y), 0);
			assert_true(decimal_to_int64(&r, &value) && value == a + b);
			assert_int_equal(decimal_sub(&r, &x, &y), 0);
			assert_true(decimal_to_int64(&r, &value) && value == a - b);
			assert_int_equal(decimal_mul(&r, &x, &y), 0);
			assert_true(decimal_to_int64(&r, &value) && value == a * b);
			assert_int_equal(decimal_div(&r, &x, &y), b != 0 ? 0 : -1);
			if (b == 0)
				continue;
			assert_int_equal(decimal_mul(&r, &x, &y), 0);
			assert_int_equal(decimal_div(&r, &r, &y), 0);
			assert_int_equal(decimal_compare(&r, &x), 0);
			assert_int_equal(decimal_remainder(&r, &x, &y), 0);
			assert_true(decimal_to_int64(&r, &value) && value == a % b);
		}
	}
}

/** Wide and narrow ways of computing agree: a + b - b, within the last digit. */
static void test_ranges(void **state)
{
	struct decimal big = dec("99999999999999999999999999999999999999"), one = dec("1"), r;
	assert_int_equal(decimal_add(&r, &big, &one), -1);
	assert_int_equal(decimal_sub(&r, &big, &one), 0);
	check_text(&r, "99999999999999999999999999999999999998");
	assert_int_equal(decimal_mul(&r, &big, &big), -1);
	assert_int_equal(decimal_div(&r, &big, &big), 0);
	check_text(&r, "1");
	struct decimal tiny = dec("1e-38");
	assert_int_equal(decimal_div(&r, &big, &tiny), -1);
	assert_int_equal(decimal_div(&r, &tiny, &big), 0);
	check_text(&r, "0.00000000000000000000000000000000000000");
	assert_int_equal(decimal_remainder(&r, &big, &tiny), -1);
	assert_int_equal(decimal_add(&r, &big, &tiny), 0);
	assert_int_equal(decimal_compare(&r, &big), 0);
	int64_t i;
	uint64_t u;
	struct decimal d = dec("-9223372036854775808"), e = dec("18446744073709551615");
	assert_true(decimal_to_int64(&d, &i) && i == INT64_MIN);
	assert_false(decimal_to_uint64(&d, &u));
	assert_true(decimal_to_uint64(&e, &u) && u == UINT64_MAX);
	assert_false(decimal_to_int64(&e, &i));
	assert_int_equal(decimal_add(&e, &e, &one), 0);
	assert_false(decimal_to_uint64(&e, &u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_unpack),
		cmocka_unit_test(test_unpack_random),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_to_double),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
