/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack: the check of hostile data, the order and the hash of scalars, and
 * printing.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/decimal.h"
#include "data/mp.h"

static int check(const char *data, size_t size)
{
	/* An allocation of the exact size, so that a sanitizer sees a read behind it. */
	char *copy = malloc(size + 1);
	memcpy(copy, data, size);
	int rc = mp_check_whole(copy, copy + size);
	free(copy);
	return rc;
}

#define CHECK(s) check((s), sizeof(s) - 1)

static void test_check(void **state)
{
	assert_int_equal(CHECK("\x01"), 0);
	assert_int_equal(CHECK("\xc0"), 0);
	assert_int_equal(CHECK("\x93\x01\xa1x\xc3"), 0);
	assert_int_equal(CHECK("\x82\x01\x02\xa1x\x90"), 0);
	assert_int_equal(CHECK("\xc7\x03\x05" "abc"), 0);
	assert_int_equal(CHECK("\xd8\x02" "0123456789abcdef"), 0);
	assert_int_equal(CHECK("\xd5\x01\x02\x1c"), 0);
	assert_int_equal(CHECK("\xd7\x04\0\0\0\0\0\0\0\0"), 0);
	assert_int_equal(CHECK("\xc7\x03\x06\x01\x08\x01"), 0);
	/* Of a known type, with other content. */
	assert_int_equal(CHECK("\xd5\x01\x02\x11"), -1);
	assert_int_equal(CHECK("\xd7\x02" "01234567"), -1);
	assert_int_equal(CHECK("\xd7\x04\xff\xff\xff\xff\xff\xff\xff\x7f"), -1);
	assert_int_equal(CHECK("\xc7\x00\x04"), -1);
	assert_int_equal(CHECK("\xc7\x03\x06\x01\x09\x01"), -1);
	assert_int_equal(CHECK("\x91\xc7\x03\x06\x01\x08\x03"), -1);
	assert_int_equal(CHECK(""), -1);
	assert_int_equal(CHECK("\x01\x02"), -1);
	assert_int_equal(CHECK("\xc1"), -1);
	assert_int_equal(CHECK("\x92\x01"), -1);
	assert_int_equal(CHECK("\x92\x01\xc1"), -1);
	assert_int_equal(CHECK("\xa5" "abcd"), -1);
	assert_int_equal(CHECK("\xdb\xff\xff\xff\xff" "a"), -1);
	assert_int_equal(CHECK("\xcf\x01\x02"), -1);
	assert_int_equal(CHECK("\xd9"), -1);
	assert_int_equal(CHECK("\xc9\xff\xff\xff"), -1);
	/* Counts whose sum leaves the range of an int. */
	assert_int_equal(CHECK("\xdd\xff\xff\xff\xff"), -1);
	assert_int_equal(CHECK("\xdf\xff\xff\xff\xff\x01"), -1);
	assert_int_equal(CHECK("\x92\xdf\x7f\xff\xff\xff\xdf\x80\x00\x00\x00"), -1);
}

/** Every cut of a good value is bad, and nothing is read behind its end. */
static void test_check_cuts(void **state)
{
	static const char value[] = "\x98\x01\xcc\xff\xa3" "abc\xc4\x02xy\xcb\x3f\xf0\0\0\0\0\0\0"
		"\x82\x01\x91\xc0\xa1k\xc3\xd4\x05\x02\xdc\x00\x02\x01\x02";
	size_t size = sizeof(value) - 1;
	assert_int_equal(check(value, size), 0);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(check(value, cut), -1);
}

static void test_check_depth(void **state)
{
	size_t size = 100000;
	char *deep = malloc(size + 1);
	memset(deep, 0x91, size);
	deep[size] = 1;
	assert_int_equal(check(deep, size + 1), -1);
	assert_int_equal(check(deep + size - MP_DEPTH_MAX - 1, MP_DEPTH_MAX + 2), -1);
	assert_int_equal(check(deep + size - MP_DEPTH_MAX + 1, MP_DEPTH_MAX), 0);
	free(deep);
}

/** Random bytes: what passes can be walked to its end by mp_next(). */
static void test_check_random(void **state)
{
	srand(1);
	for (int round = 0; round < 200000; round++) {
		char data[24];
		size_t size = 1 + rand() % (sizeof(data) - 1);
		for (size_t i = 0; i < size; i++)
			data[i] = rand() % 3 ? rand() : 0x80 + rand() % 0x60;
		if (check(data, size) != 0)
			continue;
		const char *p = data;
		mp_next(&p);
		assert_ptr_equal(p, data + size);
	}
}

/* Order ------------------------------------------------------------------ */

struct encoded {
	char data[40];
};

static struct encoded of_uint(uint64_t v)
{
	struct encoded e;
	mp_encode_uint(e.data, v);
	return e;
}

static struct encoded of_int(int64_t v)
{
	struct encoded e;
	mp_encode_int(e.data, v);
	return e;
}

static struct encoded of_double(double v)
{
	struct encoded e;
	mp_encode_double(e.data, v);
	return e;
}

static struct encoded of_float(float v)
{
	struct encoded e;
	mp_encode_float(e.data, v);
	return e;
}

static struct encoded of_raw(const char *raw, size_t size)
{
	struct encoded e;
	memcpy(e.data, raw, size);
	return e;
}

static struct encoded of_decimal(const char *text)
{
	struct encoded e;
	struct decimal d;
	assert_int_equal(decimal_from_string(&d, text), 0);
	decimal_pack(&d, mp_encode_extl(e.data, MP_EXT_DECIMAL, decimal_packed_size(&d)));
	return e;
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

/** Each group holds equal values; groups ascend. */
static void test_order(void **state)
{
	struct { double group; struct encoded value; } values[] = {
		{0, of_raw("\xc0", 1)},
		{1, of_raw("\xc2", 1)},
		{2, of_raw("\xc3", 1)},
		{3, of_double(NAN)}, {3, of_float(NAN)}, {3, of_double(-NAN)},
		{4, of_double(-INFINITY)}, {4, of_float(-INFINITY)},
		{5, of_double(-1e100)},
		{5.5, of_decimal("-1e37")},
		{6, of_double(-9223372036854777856.0)}, {6, of_decimal("-9223372036854777856")},
		{7, of_int(INT64_MIN)}, {7, of_double(-9223372036854775808.0)},
		{7, of_float(-9223372036854775808.0f)},
		{8, of_int(INT64_MIN + 1)},
		{9, of_int(-9007199254740993)}, {9, of_decimal("-9007199254740993.00")},
		{10, of_int(-9007199254740992)}, {10, of_double(-9007199254740992.0)},
		{11, of_double(-1.5)}, {11, of_decimal("-1.5")}, {11, of_decimal("-1.50")},
		{12, of_int(-1)}, {12, of_raw("\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 9)},
		{13, of_double(-0.5)},
		{14, of_decimal("0")}, {14, of_decimal("-0.00")}, {14, of_decimal("0e7")},
		{14, of_uint(0)}, {14, of_double(-0.0)}, {14, of_float(0)},
		{14, of_raw("\xcf\0\0\0\0\0\0\0\0", 9)}, {14, of_raw("\xd0\0", 2)},
		{15, of_double(5e-324)},
		{15.4, of_decimal("1e-38")}, {15.5, of_decimal("0.1")}, {15.5, of_decimal("0.10")},
		{16, of_double(0.1)},
		{17, of_float(0.1f)},
		{18, of_decimal("1.0")}, {18, of_decimal("1")},
		{18, of_uint(1)}, {18, of_raw("\xd3\0\0\0\0\0\0\0\1", 9)}, {18, of_float(1)},
		{19, of_uint(9007199254740992)}, {19, of_double(9007199254740992.0)},
		{19.5, of_decimal("9007199254740992.5")},
		{20, of_uint(9007199254740993)}, {20, of_decimal("9007199254740993")},
		{21, of_uint(9007199254740994)}, {21, of_double(9007199254740994.0)},
		{22, of_uint(INT64_MAX)},
		{23, of_uint(1ull << 63)}, {23, of_double(9223372036854775808.0)},
		{24, of_uint((1ull << 63) + 1)},
		{25, of_uint(UINT64_MAX)}, {25, of_decimal("18446744073709551615")},
		{25.5, of_decimal("18446744073709551615.5")},
		{26, of_decimal("18446744073709551616")},
		{26, of_double(18446744073709551616.0)}, {26, of_float(18446744073709551616.0f)},
		{26.5, of_double(0x1p80)}, {26.5, of_decimal("1208925819614629174706176")},
		{26.6, of_decimal("1208925819614629174706176.5")},
		{26.7, of_decimal("99999999999999999999999999999999999999")},
		{27, of_double(1e100)},
		{28, of_double(INFINITY)},
		{29, of_raw("\xa0", 1)}, {29, of_raw("\xd9\0", 2)},
		{30, of_raw("\xa1\0", 2)},
		{31, of_raw("\xa1" "a", 2)}, {31, of_raw("\xd9\1" "a", 3)},
		{32, of_raw("\xa2" "a\0", 3)},
		{33, of_raw("\xa1\xff", 2)},
		{34, of_raw("\xc4\0", 2)},
		{35, of_raw("\xc4\1" "a", 3)},
	};
	int count = sizeof(values) / sizeof(values[0]);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < count; j++) {
			const char *a = values[i].value.data, *b = values[j].value.data;
			double diff = values[i].group - values[j].group;
			int expected = (diff > 0) - (diff < 0);
			assert_int_equal(sign(mp_compare_scalar(a, b)), expected);
			if (expected == 0)
				assert_int_equal(mp_hash_scalar(a, 7), mp_hash_scalar(b, 7));
			if (mp_classof(a) != MP_CLASS_NUMBER || mp_classof(b) != MP_CLASS_NUMBER)
				continue;
			assert_int_equal(sign(mp_compare_number(a, b)), expected);
			if (expected < 0)
				assert_true(mp_number_order_key(a) <= mp_number_order_key(b));
			if (expected == 0)
				assert_true(mp_number_order_key(a) == mp_number_order_key(b));
		}
}

/** A number of any encoding, near the places where rounding tells. */
static struct encoded random_number(long double *exact)
{
	static const double centers[] = {0, 1, 4503599627370496.0, 9007199254740992.0,
					 9223372036854775808.0, 18446744073709551616.0};
	double center = centers[rand() % 6];
	int offset = rand() % 9 - 4;
	bool is_negative = rand() % 2;
	if (rand() % 2) {
		double d = center;
		for (int i = 0; i < abs(offset); i++)
			d = nextafter(d, offset < 0 ? -INFINITY : INFINITY);
		if (is_negative)
			d = -d;
		*exact = d;
		return of_double(d);
	}
	long double value = (long double)center + offset;
	if (is_negative)
		value = -value;
	if (value > UINT64_MAX || value < INT64_MIN)
		value = offset;
	*exact = value;
	return value < 0 ? of_int((int64_t)value) : of_uint((uint64_t)value);
}

/** long double holds every 64-bit integer and every double. */
static void test_order_random(void **state)
{
	assert_true(sizeof(long double) > sizeof(double));
	srand(2);
	for (int round = 0; round < 200000; round++) {
		long double a_exact, b_exact;
		struct encoded a = random_number(&a_exact), b = random_number(&b_exact);
		int expected = (a_exact > b_exact) - (a_exact < b_exact);
		assert_int_equal(mp_compare_number(a.data, b.data), expected);
		if (expected == 0)
			assert_int_equal(mp_hash_scalar(a.data, 0), mp_hash_scalar(b.data, 0));
		if (expected < 0)
			assert_true(mp_number_order_key(a.data) <= mp_number_order_key(b.data));
	}
}

/* Printing --------------------------------------------------------------- */

static void assert_print(const char *value, size_t size, const char *expected)
{
	assert_int_equal(mp_check_whole(value, value + size), 0);
	struct buf out = BUF_INIT;
	mp_print(&out, value);
	buf_append(&out, "", 1);
	assert_string_equal(out.data, expected);
	buf_free(&out);
}

#define PRINT(value, expected) assert_print((value), sizeof(value) - 1, (expected))

static void test_print(void **state)
{
	PRINT("\x94\x01\xd0\xfb\xa3" "abc\xc0", "[1, -5, 'abc', null]");
	PRINT("\x92\xc2\xc3", "[false, true]");
	PRINT("\x91\xa4it's", "['it''s']");
	PRINT("\x91\x82\xa1" "a\x01\x02\x90", "[{'a': 1, 2: []}]");
	PRINT("\x91\xcb\x3f\xd5\x55\x55\x55\x55\x55\x55", "[0.33333333333333]");
	PRINT("\x91\xca\x3f\x8c\xcc\xcd", "[1.1000000238419]");
	PRINT("\x91\xcb\x43\x0c\x6b\xf5\x26\x34\x00\x00", "[1e+15]");
	PRINT("\x92\xcb\x7f\xf0\0\0\0\0\0\0\xcb\x80\0\0\0\0\0\0\0", "[inf, -0]");
	PRINT("\x91\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "[18446744073709551615]");
	PRINT("\x91\xd4\x05\x07", "[null]");
}

/** As the reference prints them, found by running it. */
static void test_print_strings(void **state)
{
	PRINT("\x91\xa3" "a\nb", "['a\n\n    b']");
	PRINT("\x91\xa4" "a\nb\n", "['a\n\n    b\n\n    ']");
	PRINT("\x91\x91\xa3" "a\nb", "[['a\n\n      b']]");
	PRINT("\x91\xa4" "a\n b", "[\"a\\n b\"]");
	PRINT("\x91\xa4" "tab\t", "[\"tab\\t\"]");
	PRINT("\x91\xa2\x01\x7f", "[\"\\x01\\x7F\"]");
	PRINT("\x91\xa3" "a\0b", "[\"a\\0b\"]");
	PRINT("\x91\xa2\xc3\xa9", "['\xc3\xa9']");
	PRINT("\x91\xa4\xf0\x9f\x98\x80", "[\"\\U0001F600\"]");
	PRINT("\x91\xa1\xff", "[!!binary /w==]");
	PRINT("\x91\xa2\xc2\x80", "[!!binary woA=]");
	PRINT("\x91\xa3\xef\xbb\xbf", "[!!binary 77u/]");
	PRINT("\x91\xc4\x03" "abc", "[!!binary YWJj]");
	PRINT("\x91\x81\xa3k\nq\x01", "[{? 'k\n\n      q' : 1}]");
}

static void test_ext(void **state)
{
	for (uint32_t len = 0; len < 70000; len = len * 2 + 1) {
		char *data = malloc(mp_sizeof_ext(len));
		char *p = mp_encode_extl(data, -5, len);
		memset(p, 'x', len);
		assert_int_equal(p + len - data, mp_sizeof_ext(len));
		assert_int_equal(mp_check_whole(data, p + len), 0);
		const char *pos = data;
		int8_t type;
		assert_int_equal(mp_decode_extl(&pos, &type), len);
		assert_int_equal(type, -5);
		assert_ptr_equal(pos, p);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_cuts),
		cmocka_unit_test(test_check_depth),
		cmocka_unit_test(test_check_random),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_random),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_print_strings),
		cmocka_unit_test(test_ext),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
