/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The proleptic Gregorian calendar: days from 1970-01-01 and dates. Algorithms:
 * Howard Hinnant, "chrono-compatible low-level date algorithms" (public domain).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CALENDAR_DAY_SECONDS = 24 * 60 * 60 };

struct calendar_date {
	int64_t year;
	/** From 1. */
	int month, day;
};

static inline int64_t calendar_floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline bool calendar_is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int calendar_month_days(int64_t year, int month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return month == 2 && calendar_is_leap(year) ? 29 : days[month - 1];
}

/** The day's number; `month` is from 1 to 12, `day` may be any. */
static inline int64_t calendar_days(int64_t year, int month, int64_t day)
{
	year -= month <= 2;
	int64_t era = calendar_floor_div(year, 400);
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

static inline void calendar_date(int64_t days, struct calendar_date *date)
{
	days += 719468;
	int64_t era = calendar_floor_div(days, 146097);
	int64_t day_of_era = days - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
			       day_of_era / 146096) / 365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int month = (5 * day_of_year + 2) / 153;
	date->day = day_of_year - (153 * month + 2) / 5 + 1;
	date->month = month < 10 ? month + 3 : month - 9;
	date->year = year_of_era + era * 400 + (date->month <= 2);
}

/** 0 is Sunday. */
static inline int calendar_weekday(int64_t days)
{
	return (int)((days % 7 + 11) % 7);
}
