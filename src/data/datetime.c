/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Datetimes: moments, their fields, arithmetic. See datetime.h.
 */
#include "data/datetime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "data/calendar.h"
#include "data/timezone.h"

enum { NSEC_IN_SEC = 1000000000 };

/** Days from 0001-01-01 to 1970-01-01. Counted from there, days fit 32 bits. */
static const int64_t DAYS_TO_EPOCH = 719162;

static bool day_is_valid(int64_t day)
{
	day += DAYS_TO_EPOCH + 1;
	return day >= INT32_MIN && day <= INT32_MAX;
}

void datetime_now(struct datetime *result)
{
	struct timespec ts;
	struct tm tm;
	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	*result = (struct datetime){ts.tv_sec, ts.tv_nsec, tm.tm_gmtoff / 60, 0};
}

bool datetime_is_valid(const struct datetime *d)
{
	/* First a bound that makes the division safe. */
	if (!(d->epoch > -1e15 && d->epoch < 1e15) || d->epoch != floor(d->epoch))
		return false;
	return day_is_valid(calendar_floor_div(d->epoch, CALENDAR_DAY_SECONDS)) &&
	       d->nsec >= 0 && d->nsec <= DATETIME_NSEC_MAX &&
	       d->tzoffset >= TIMEZONE_OFFSET_MIN && d->tzoffset <= TIMEZONE_OFFSET_MAX &&
	       (d->tzindex == 0 || timezone_name(d->tzindex) != NULL);
}

int datetime_compare(const struct datetime *a, const struct datetime *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return (a->nsec > b->nsec) - (a->nsec < b->nsec);
}

static bool is_summer(const struct datetime *d)
{
	struct timezone_info info;
	return d->tzindex != 0 && timezone_at(d->tzindex, d->epoch, &info) == 0 && info.is_dst;
}

void datetime_get_fields(const struct datetime *d, struct datetime_fields *fields)
{
	/* A script may have written anything there. */
	int64_t local = datetime_is_valid(d) ? (int64_t)d->epoch + d->tzoffset * 60 : 0;
	int64_t day = calendar_floor_div(local, CALENDAR_DAY_SECONDS);
	int32_t second = local - day * CALENDAR_DAY_SECONDS;
	struct calendar_date date;
	calendar_date(day, &date);
	*fields = (struct datetime_fields){
		.year = date.year, .month = date.month, .day = date.day,
		.hour = second / 3600, .min = second / 60 % 60, .sec = second % 60,
		.nsec = d->nsec,
		.wday = calendar_weekday(day) + 1,
		.yday = day - calendar_days(date.year, 1, 1) + 1,
		.tzoffset = d->tzoffset, .tzindex = d->tzindex,
		.isdst = is_summer(d),
	};
}

/** The moment at which the zone's clock shows `local`, and the offset then. */
static int set_local(struct datetime *d, int64_t local, int tzoffset, int tzindex)
{
	struct timezone_info info = {tzoffset * 60, 0};
	if (tzindex != 0 && timezone_at_local(tzindex, local, &info) != 0)
		return -1;
	/* Some old offsets have seconds; they do not show. */
	int64_t utc = local - info.offset / 60 * 60;
	/* After a time that the clocks skip, another offset holds already. */
	if (tzindex != 0 && timezone_at(tzindex, utc, &info) != 0)
		return -1;
	d->tzindex = tzindex;
	d->tzoffset = info.offset / 60;
	d->epoch = (double)utc;
	return datetime_is_valid(d) ? 0 : -1;
}

int datetime_from_fields(struct datetime *result, const struct datetime_fields *f)
{
	if (!(f->year >= DATETIME_YEAR_MIN && f->year <= DATETIME_YEAR_MAX) || f->month < 1 ||
	    f->month > 12 || f->hour < 0 || f->hour > 23 || f->min < 0 || f->min > 59 ||
	    f->sec < 0 || f->sec > 60)
		return -1;
	int days = calendar_month_days(f->year, f->month), day = f->day == -1 ? days : f->day;
	if (day < 1 || day > days)
		return -2;
	int64_t local = calendar_days(f->year, f->month, day) * CALENDAR_DAY_SECONDS +
		f->hour * 3600 + f->min * 60 + f->sec;
	struct datetime d = {0, f->nsec, 0, 0};
	if (set_local(&d, local, f->tzoffset, f->tzindex) != 0)
		return -1;
	*result = d;
	return 0;
}

/* Arithmetic. ------------------------------------------------------------------ */

/** The day of the month after a change of months. */
static int64_t adjust_day(int64_t year, int month, int day, bool was_last, int adjust)
{
	int days = calendar_month_days(year, month);
	if (adjust == INTERVAL_LAST && was_last)
		day = days;
	if (adjust != INTERVAL_EXCESS && day > days)
		day = days;
	return calendar_days(year, month, day);
}

/** Years and months; -1: the year is out of range. */
static int add_months(int64_t *day, double months, int adjust)
{
	struct calendar_date date;
	calendar_date(*day, &date);
	double total = (double)date.year * 12 + date.month - 1 + months;
	double year = floor(total / 12);
	if (!(year >= DATETIME_YEAR_MIN && year <= DATETIME_YEAR_MAX))
		return -1;
	bool was_last = date.day == calendar_month_days(date.year, date.month);
	*day = adjust_day(year, (int)(total - year * 12) + 1, date.day, was_last, adjust);
	return 0;
}

/** What passes: seconds and nanoseconds. -1: out of range. */
static int add_time(struct datetime *d, double seconds, double nsec)
{
	double carry = floor(nsec / NSEC_IN_SEC);
	double rest = d->nsec + (nsec - carry * NSEC_IN_SEC);
	if (rest >= NSEC_IN_SEC) {
		rest -= NSEC_IN_SEC;
		carry++;
	}
	d->epoch += seconds + carry;
	d->nsec = rest;
	if (!datetime_is_valid(d))
		return -1;
	struct timezone_info info;
	if (d->tzindex == 0)
		return 0;
	if (timezone_at(d->tzindex, d->epoch, &info) != 0)
		return -1;
	d->tzoffset = info.offset / 60;
	return 0;
}

int datetime_add(struct datetime *d, const struct interval *i, int sign)
{
	struct datetime result = *d;
	if (!datetime_is_valid(d) || !interval_is_valid(i))
		return -1;
	double months = sign * (i->year * 12 + i->month), days = sign * (i->week * 7 + i->day);
	if (months != 0 || days != 0) {
		int64_t local = (int64_t)d->epoch + d->tzoffset * 60;
		int64_t day = calendar_floor_div(local, CALENDAR_DAY_SECONDS);
		int64_t time = local - day * CALENDAR_DAY_SECONDS;
		if (months != 0 && add_months(&day, months, i->adjust) != 0)
			return -1;
		if (!(fabs(days) < 1e11) || !day_is_valid(day + (int64_t)days))
			return -1;
		day += (int64_t)days;
		if (set_local(&result, day * CALENDAR_DAY_SECONDS + time, d->tzoffset,
			      d->tzindex) != 0)
			return -1;
	}
	double seconds = sign * (i->hour * 3600 + i->min * 60 + i->sec);
	if (!(fabs(seconds) < 1e15) || add_time(&result, seconds, sign * i->nsec) != 0)
		return -1;
	*d = result;
	return 0;
}

void datetime_sub(struct interval *result, const struct datetime *a, const struct datetime *b)
{
	struct datetime_fields x, y;
	datetime_get_fields(a, &x);
	datetime_get_fields(b, &y);
	*result = (struct interval){
		.year = x.year - y.year, .month = x.month - y.month, .day = x.day - y.day,
		.hour = x.hour - y.hour,
		.min = x.min - y.min - (x.tzoffset - y.tzoffset),
		.sec = x.sec - y.sec, .nsec = x.nsec - y.nsec,
		.adjust = INTERVAL_NONE,
	};
}

/* Text. ------------------------------------------------------------------------- */

/** The fraction with as many groups of three digits as it needs. */
static int put_fraction(char *out, size_t size, int32_t nsec)
{
	if (nsec % 1000000 == 0)
		return snprintf(out, size, ".%03d", nsec / 1000000);
	if (nsec % 1000 == 0)
		return snprintf(out, size, ".%06d", nsec / 1000);
	return snprintf(out, size, ".%09d", nsec);
}

static int put_zone(char *out, size_t size, const struct datetime *d)
{
	const char *name = d->tzindex != 0 ? timezone_name(d->tzindex) : NULL;
	if (name != NULL)
		return snprintf(out, size, "%s%s", strlen(name) > 1 ? " " : "", name);
	if (d->tzoffset == 0)
		return snprintf(out, size, "Z");
	int minutes = d->tzoffset < 0 ? -d->tzoffset : d->tzoffset;
	return snprintf(out, size, "%c%02d%02d", d->tzoffset < 0 ? '-' : '+', minutes / 60,
			minutes % 60);
}

int datetime_to_string(const struct datetime *d, char *out)
{
	struct datetime_fields f;
	const size_t size = DATETIME_STR_SIZE;
	datetime_get_fields(d, &f);
	int n = snprintf(out, size, "%s%04lld-%02d-%02dT%02d:%02d:%02d", f.year < 0 ? "-" : "",
			 (long long)fabs(f.year), f.month, f.day, f.hour, f.min, f.sec);
	if (d->nsec != 0)
		n += put_fraction(out + n, size - n, d->nsec);
	return n + put_zone(out + n, size - n, d);
}
