/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Dates and zones against the C library, texts, arithmetic, packing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "data/calendar.h"
#include "data/datetime.h"
#include "data/timezone.h"
#include "data/timezone_rule.h"

static int64_t random_time(void)
{
	/* From 1800 to 2200 or so. */
	return ((int64_t)rand() << 31 | rand()) % (400ll * 366 * 86400) - 170ll * 365 * 86400;
}

static void test_calendar(void **state)
{
	srand(1);
	for (int64_t day = -1000000; day < 1000000; day += 7) {
		struct calendar_date date;
		calendar_date(day, &date);
		assert_int_equal(calendar_days(date.year, date.month, date.day), day);
	}
	for (int i = 0; i < 20000; i++) {
		time_t t = (time_t)rand() * rand() % 4000000000000ll - 2000000000000ll;
		struct tm tm;
		gmtime_r(&t, &tm);
		struct datetime d = {t, 0, 0, 0};
		struct datetime_fields f;
		datetime_get_fields(&d, &f);
		assert_int_equal(f.year, tm.tm_year + 1900);
		assert_int_equal(f.month, tm.tm_mon + 1);
		assert_int_equal(f.day, tm.tm_mday);
		assert_int_equal(f.hour, tm.tm_hour);
		assert_int_equal(f.min, tm.tm_min);
		assert_int_equal(f.sec, tm.tm_sec);
		assert_int_equal(f.wday, tm.tm_wday + 1);
		assert_int_equal(f.yday, tm.tm_yday + 1);
	}
}

/** Every zone, at moments of four centuries. */
static void test_zones(void **state)
{
	srand(2);
	int zones = 0;
	for (int index = 672; index < TIMEZONE_INDEX_MAX; index++) {
		struct timezone_info info;
		const char *name = timezone_name(index);
		char tz[64];
		assert_non_null(name);
		if (timezone_at(index, 0, &info) != 0)
			continue;
		zones++;
		snprintf(tz, sizeof(tz), ":%s", name);
		setenv("TZ", tz, 1);
		tzset();
		for (int i = 0; i < 100; i++) {
			time_t t = random_time();
			struct tm tm;
			localtime_r(&t, &tm);
			assert_int_equal(timezone_at(index, t, &info), 0);
			if (info.offset != tm.tm_gmtoff)
				print_error("%s at %lld\n", name, (long long)t);
			assert_int_equal(info.offset, tm.tm_gmtoff);
			assert_int_equal(info.is_dst, tm.tm_isdst > 0);
			/* What the clocks show leads back, unless they show it twice. */
			struct timezone_info local;
			assert_int_equal(timezone_at_local(index, t + info.offset, &local), 0);
			if (local.offset != info.offset) {
				struct timezone_info other;
				timezone_at(index, t + info.offset - local.offset, &other);
				assert_int_equal(other.offset, local.offset);
			}
		}
	}
	unsetenv("TZ");
	tzset();
	print_message("%d zones\n", zones);
}

static void test_zone_names(void **state)
{
	struct timezone_info info;
	assert_int_equal(timezone_by_name("Europe/Moscow", 13), 947);
	assert_int_equal(timezone_by_name("MSK", 3), 238);
	assert_int_equal(timezone_at(238, 0, &info), 0);
	assert_int_equal(info.offset, 3 * 3600);
	assert_int_equal(timezone_by_name("AST", 3), TIMEZONE_AMBIGUOUS);
	assert_int_equal(timezone_by_name("nosuch", 6), 0);
	assert_int_equal(timezone_by_name("../etc/passwd", 13), 0);
	assert_int_equal(timezone_by_name("", 0), 0);
	assert_null(timezone_name(0));
	assert_null(timezone_name(26));
	assert_null(timezone_name(-1));
	assert_null(timezone_name(TIMEZONE_INDEX_MAX));
	for (int i = 1; i < TIMEZONE_INDEX_MAX; i++) {
		const char *name = timezone_name(i);
		int found = name != NULL ? timezone_by_name(name, strlen(name)) : i;
		assert_true(found == i || found == TIMEZONE_AMBIGUOUS);
	}
}

static void test_rules(void **state)
{
	struct timezone_rule rule;
	static const char *const bad[] = {
		"", "CET", "CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
		"CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "<+03", "CET-1CEST,J0,J5",
		"CET-1CEST,M3.5.0,M10.5.0x", "CET-999", "CET-1CEST,M3", "CET-1CEST,M3.5.0/,J1",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(timezone_rule_parse(&rule, bad[i]), -1);
	static const char *const good[] = {
		"UTC0", "<+03>-3", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0",
		"IST-2IDT,M3.4.4/26,M10.5.0", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "AEST-10AEDT,J60/2,300",
	};
	srand(3);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(timezone_rule_parse(&rule, good[i]), 0);
		setenv("TZ", good[i], 1);
		tzset();
		for (int k = 0; k < 5000; k++) {
			time_t t = ((int64_t)rand() << 20 | rand()) % (80ll * 366 * 86400);
			struct tm tm;
			localtime_r(&t, &tm);
			assert_int_equal(timezone_rule_at(&rule, t).offset, tm.tm_gmtoff);
		}
	}
	unsetenv("TZ");
	tzset();
}

/* Texts. -------------------------------------------------------------------- */

static struct datetime random_datetime(void)
{
	struct datetime d = {random_time(), 0, 0, 0};
	static const int32_t nsec[] = {0, 1, 123000000, 999999999, 5000, 120};
	d.nsec = nsec[rand() % 6];
	d.tzoffset = rand() % 2 ? rand() % 1561 - 720 : 0;
	return d;
}

static void test_round_trip(void **state)
{
	srand(4);
	for (int i = 0; i < 30000; i++) {
		struct datetime d = random_datetime(), back = {0, 0, 0, 0};
		char text[DATETIME_STR_SIZE], packed[DATETIME_PACKED_SIZE_MAX];
		int len = datetime_to_string(&d, text);
		assert_int_equal(len, strlen(text));
		assert_int_equal(datetime_parse(&back, text, len, false), len);
		assert_memory_equal(&d, &back, sizeof(d));
		size_t n = datetime_format(&d, "%d %b %Y %H:%M:%S.%9f %z", text, sizeof(text));
		assert_int_equal(datetime_parse_format(&back, text, n, "%d %b %Y %T.%f %z"), n);
		assert_memory_equal(&d, &back, sizeof(d));
		uint32_t size = datetime_pack(&d, packed) - packed;
		assert_int_equal(size, datetime_packed_size(&d));
		assert_int_equal(datetime_unpack(&back, packed, size), 0);
		assert_memory_equal(&d, &back, sizeof(d));
	}
}

/** Any text: nothing is read behind its end, and what is read is in range. */
static void test_parse_random(void **state)
{
	static const char letters[] = "0123456789-+:TZ. W/JanMoAP%,";
	static const char *const formats[] = {
		"%c", "%D", "%F %T", "%a, %d %b %Y", "%I:%M %p", "%j %y %C", "%s", "%Z", "%+", "%f", "%v",
	};
	srand(5);
	for (int i = 0; i < 150000; i++) {
		size_t len = rand() % 26;
		char *text = malloc(len + 1);
		for (size_t k = 0; k < len; k++)
			text[k] = letters[rand() % (sizeof(letters) - 1)];
		if (len > 10 && rand() % 2)
			memcpy(text, "2021-08-20", 10);
		struct datetime d = {0, 0, 0, 0};
		const char *format = formats[rand() % 11];
		int n = rand() % 2 ? datetime_parse(&d, text, len, rand() % 4 == 0) :
				     datetime_parse_format(&d, text, len, format);
		assert_true(n >= -1 && n <= (int)len);
		assert_true(n < 0 || datetime_is_valid(&d));
		free(text);
	}
}

static void test_unpack_random(void **state)
{
	srand(6);
	for (int i = 0; i < 150000; i++) {
		uint32_t size = rand() % 20;
		char *data = malloc(size + 1), out[INTERVAL_PACKED_SIZE_MAX];
		for (uint32_t k = 0; k < size; k++)
			data[k] = (char)(rand() % 3 ? rand() % 10 : rand());
		struct datetime d;
		struct interval v, back;
		if (datetime_unpack(&d, data, size) == 0)
			assert_true(datetime_is_valid(&d));
		if (interval_unpack(&v, data, size) == 0) {
			uint32_t packed = interval_pack(&v, out) - out;
			assert_int_equal(packed, interval_packed_size(&v));
			assert_int_equal(interval_unpack(&back, out, packed), 0);
			assert_memory_equal(&v, &back, sizeof(v));
		}
		free(data);
	}
}

/* Arithmetic. ----------------------------------------------------------------- */

/** What is between two moments leads from one to the other, save for days that months lack. */
static void test_difference(void **state)
{
	srand(7);
	for (int i = 0; i < 50000; i++) {
		struct datetime a = random_datetime(), b = random_datetime();
		struct datetime_fields f;
		struct interval v;
		datetime_get_fields(&b, &f);
		if (f.day > 28)
			continue;
		datetime_sub(&v, &a, &b);
		assert_int_equal(datetime_add(&b, &v, 1), 0);
		assert_int_equal(datetime_compare(&a, &b), 0);
	}
}

static void test_interval(void **state)
{
	char text[INTERVAL_STR_SIZE];
	struct interval v = {.year = -1, .month = 2, .nsec = 5, .adjust = INTERVAL_NONE}, sum;
	int len = interval_to_string(&v, text);
	assert_int_equal(len, strlen(text));
	assert_string_equal(text, "-1 years, 2 months, 5 nanoseconds");
	assert_int_equal(interval_add(&sum, &v, &v, -1), 0);
	interval_to_string(&sum, text);
	assert_string_equal(text, "0 seconds");
	assert_int_equal(interval_compare(&sum, &v), 1);
	v.nsec = INT32_MAX;
	assert_int_equal(interval_add(&sum, &v, &v, 1), -1);
	v.nsec = 0.5;
	assert_false(interval_is_valid(&v));
	v.nsec = 1e300;
	interval_to_string(&v, text);
	struct datetime d = {0, 0, 0, 0};
	assert_int_equal(datetime_add(&d, &v, 1), -1);
	struct interval far = {.year = DATETIME_YEAR_MAX, .adjust = INTERVAL_NONE};
	assert_int_equal(datetime_add(&d, &far, 1), -1);
	assert_int_equal(datetime_add(&d, &far, -1), 0);
	assert_int_equal(datetime_add(&d, &far, -1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calendar),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_zone_names),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_parse_random),
		cmocka_unit_test(test_unpack_random),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
