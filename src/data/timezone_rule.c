/* SPDX-License-Identifier: BSD-2-Clause
 *
 * POSIX rules of time zones: see timezone_rule.h.
 */
#include "data/timezone_rule.h"

#include <ctype.h>
#include <string.h>

#include "data/calendar.h"

enum { HOURS_MAX = 167 };

/** A number from 0 to `max`; -1 where there is none. */
static int read_number(const char **p, int max)
{
	if (!isdigit((unsigned char)**p))
		return -1;
	int value = 0;
	for (; isdigit((unsigned char)**p); (*p)++) {
		value = value * 10 + (**p - '0');
		if (value > max)
			return -1;
	}
	return value;
}

/** `[+-]hh[:mm[:ss]]` */
static bool read_time(const char **p, int32_t *seconds)
{
	int sign = **p == '-' ? -1 : 1;
	if (**p == '-' || **p == '+')
		(*p)++;
	int units[] = {3600, 60, 1}, limits[] = {HOURS_MAX, 59, 59};
	*seconds = 0;
	for (int i = 0; i < 3; i++) {
		int value = read_number(p, limits[i]);
		if (value < 0)
			return false;
		*seconds += sign * value * units[i];
		if (**p != ':')
			break;
		(*p)++;
	}
	return true;
}

/** Letters, or anything in angle brackets. */
static bool skip_name(const char **p)
{
	const char *begin = *p;
	if (**p == '<') {
		const char *end = strchr(*p, '>');
		if (end == NULL)
			return false;
		*p = end + 1;
		return true;
	}
	while (isalpha((unsigned char)**p))
		(*p)++;
	return *p > begin;
}

static bool read_change(const char **p, struct timezone_change *c)
{
	c->kind = 'N';
	c->seconds = 2 * 3600;
	if (**p == 'M') {
		c->kind = *(*p)++;
		c->month = read_number(p, 12);
		if (*(*p)++ != '.')
			return false;
		c->week = read_number(p, 5);
		if (*(*p)++ != '.')
			return false;
		c->day = read_number(p, 6);
		if (c->month < 1 || c->week < 1)
			return false;
	} else {
		if (**p == 'J')
			c->kind = *(*p)++;
		c->day = read_number(p, 365);
		if (c->kind == 'J' && c->day == 0)
			return false;
	}
	if (c->day < 0)
		return false;
	if (**p != '/')
		return true;
	(*p)++;
	return read_time(p, &c->seconds);
}

int timezone_rule_parse(struct timezone_rule *rule, const char *text)
{
	memset(rule, 0, sizeof(*rule));
	int32_t west;
	if (!skip_name(&text) || !read_time(&text, &west))
		return -1;
	rule->standard.offset = -west;
	if (*text == '\0')
		return 0;
	rule->has_summer = true;
	if (!skip_name(&text))
		return -1;
	west = -(rule->standard.offset + 3600);
	if (*text != ',' && !read_time(&text, &west))
		return -1;
	rule->summer = (struct timezone_info){-west, 1};
	if (*text++ != ',' || !read_change(&text, &rule->begin))
		return -1;
	if (*text++ != ',' || !read_change(&text, &rule->end))
		return -1;
	return *text == '\0' ? 0 : -1;
}

/** When it happens in the year, in seconds from the epoch by the clocks before it. */
static int64_t change_time(const struct timezone_change *c, int64_t year)
{
	int64_t day = calendar_days(year, 1, 1);
	switch (c->kind) {
	case 'M':
		day = calendar_days(year, c->month, 1);
		day += (c->day - calendar_weekday(day) + 7) % 7 + 7 * (c->week - 1);
		/* The fifth is the last, be it the fourth. */
		if (day - calendar_days(year, c->month, 1) >= calendar_month_days(year, c->month))
			day -= 7;
		break;
	case 'J':
		day += c->day - 1 + (calendar_is_leap(year) && c->day >= 60);
		break;
	default:
		day += c->day;
		break;
	}
	return day * CALENDAR_DAY_SECONDS + c->seconds;
}

struct timezone_info timezone_rule_at(const struct timezone_rule *rule, int64_t utc)
{
	if (!rule->has_summer)
		return rule->standard;
	struct calendar_date date;
	calendar_date(calendar_floor_div(utc + rule->standard.offset, CALENDAR_DAY_SECONDS), &date);
	int64_t begin = change_time(&rule->begin, date.year) - rule->standard.offset;
	int64_t end = change_time(&rule->end, date.year) - rule->summer.offset;
	bool is_summer = begin < end ? utc >= begin && utc < end : utc >= begin || utc < end;
	return is_summer ? rule->summer : rule->standard;
}
