/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Texts of datetimes by a format of strptime(3), with %f for a second's fraction. Names
 * of days and months are English.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/calendar.h"
#include "data/datetime_parse.h"

static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December",
};
static const char *const day_names[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
};

enum { ABBREVIATION_LEN = 3, NESTING_MAX = 3 };

/** Fields, and what does not become one at once. */
struct scan {
	struct datetime_reader r;
	struct datetime_fields f;
	int32_t century, year_of_century, yday, hour12;
	bool is_pm, has_century, has_year_of_century, has_yday, has_hour12, has_epoch;
	int64_t epoch;
	int depth;
};

static void skip_spaces(struct scan *s)
{
	while (s->r.pos < s->r.end && isspace((unsigned char)*s->r.pos))
		s->r.pos++;
}

/** A number of up to `digits` digits, within bounds; spaces before it do not matter. */
static bool number(struct scan *s, int digits, int min, int max, int32_t *value)
{
	skip_spaces(s);
	int n = 0;
	*value = 0;
	for (; n < digits && s->r.pos < s->r.end && isdigit((unsigned char)*s->r.pos); n++)
		*value = *value * 10 + (*s->r.pos++ - '0');
	return n > 0 && *value >= min && *value <= max;
}

/** A name, or its first three letters; its place from 0. */
static bool name(struct scan *s, const char *const *names, int count, int32_t *place)
{
	size_t left = s->r.end - s->r.pos;
	for (int i = 0; i < count; i++) {
		size_t len = strlen(names[i]);
		if (left < len || strncasecmp(s->r.pos, names[i], len) != 0)
			len = ABBREVIATION_LEN;
		if (left < len || strncasecmp(s->r.pos, names[i], len) != 0)
			continue;
		s->r.pos += len;
		*place = i;
		return true;
	}
	return false;
}

static bool am_pm(struct scan *s)
{
	if (s->r.end - s->r.pos < 2)
		return false;
	s->is_pm = strncasecmp(s->r.pos, "PM", 2) == 0;
	bool ok = s->is_pm || strncasecmp(s->r.pos, "AM", 2) == 0;
	s->r.pos += 2;
	return ok;
}

static bool year(struct scan *s)
{
	int32_t value;
	skip_spaces(s);
	bool is_negative = datetime_read_char(&s->r, "-");
	if (!number(s, 4, 0, 9999, &value))
		return false;
	s->f.year = is_negative ? -value : value;
	return true;
}

static bool epoch(struct scan *s)
{
	bool is_negative = datetime_read_char(&s->r, "-");
	int64_t value = 0;
	const char *begin = s->r.pos;
	for (; s->r.pos < s->r.end && isdigit((unsigned char)*s->r.pos); s->r.pos++)
		if (value < INT64_MAX / 100)
			value = value * 10 + (*s->r.pos - '0');
	s->epoch = is_negative ? -value : value;
	s->has_epoch = true;
	return s->r.pos > begin;
}

static bool scan_format(struct scan *s, const char *format);

/** A conversion that stands for others. */
static bool nested(struct scan *s, const char *format)
{
	if (s->depth == NESTING_MAX)
		return false;
	s->depth++;
	bool ok = scan_format(s, format);
	s->depth--;
	return ok;
}

static bool conversion(struct scan *s, char c)
{
	int32_t value;
	switch (c) {
	case '%': return datetime_read_char(&s->r, "%");
	case 'a': case 'A': return name(s, day_names, 7, &value);
	case 'b': case 'B': case 'h':
		if (!name(s, month_names, 12, &value))
			return false;
		s->f.month = value + 1;
		return true;
	case 'C': return s->has_century = number(s, 2, 0, 99, &s->century);
	case 'c': return nested(s, "%a %b %e %H:%M:%S %Y");
	case 'D': case 'x': return nested(s, "%m/%d/%y");
	case 'd': case 'e': return number(s, 2, 1, 31, &s->f.day);
	case 'F': return nested(s, "%Y-%m-%d");
	case 'f': return datetime_read_fraction(&s->r, &s->f.nsec);
	case 'H': case 'k': return number(s, 2, 0, 23, &s->f.hour);
	case 'I': case 'l': return s->has_hour12 = number(s, 2, 1, 12, &s->hour12);
	case 'j': return s->has_yday = number(s, 3, 1, 366, &s->yday);
	case 'M': return number(s, 2, 0, 59, &s->f.min);
	case 'm': return number(s, 2, 1, 12, &s->f.month);
	case 'n': case 't': skip_spaces(s); return true;
	case 'p': return am_pm(s);
	case 'R': return nested(s, "%H:%M");
	case 'r': return nested(s, "%I:%M:%S %p");
	case 'S': return number(s, 2, 0, 60, &s->f.sec);
	case 's': return epoch(s);
	case 'T': case 'X': return nested(s, "%H:%M:%S");
	case 'U': case 'W': case 'V': return number(s, 2, 0, 53, &value);
	case 'u': return number(s, 1, 1, 7, &value);
	case 'v': return nested(s, "%e-%b-%Y");
	case 'w': return number(s, 1, 0, 6, &value);
	case 'Y': return year(s);
	case 'y': return s->has_year_of_century = number(s, 2, 0, 99, &s->year_of_century);
	case 'Z': case 'z': return datetime_read_zone(&s->r, &s->f);
	case '+': return nested(s, "%a %b %e %H:%M:%S %Z %Y");
	default: return false;
	}
}

static bool scan_format(struct scan *s, const char *format)
{
	for (; *format != '\0'; format++) {
		if (isspace((unsigned char)*format)) {
			skip_spaces(s);
		} else if (*format != '%') {
			if (s->r.pos == s->r.end || *s->r.pos++ != *format)
				return false;
		} else {
			format++;
			if (*format == 'E' || *format == 'O' || isdigit((unsigned char)*format))
				format++;
			if (!conversion(s, *format))
				return false;
		}
	}
	return true;
}

/** Makes fields of what was kept aside. */
static void settle(struct scan *s)
{
	if (s->has_century)
		s->f.year = s->century * 100 + (s->has_year_of_century ? s->year_of_century : 0);
	else if (s->has_year_of_century)
		s->f.year = s->year_of_century + (s->year_of_century < 69 ? 2000 : 1900);
	if (s->has_hour12)
		s->f.hour = s->hour12 % 12 + (s->is_pm ? 12 : 0);
	if (s->has_yday) {
		struct calendar_date date;
		calendar_date(calendar_days(s->f.year, 1, 1) + s->yday - 1, &date);
		s->f.month = date.month;
		s->f.day = date.day;
	}
}

int datetime_parse_format(struct datetime *result, const char *str, size_t len,
			  const char *format)
{
	struct scan s = {.r = {str, str + len}, .f = datetime_fields_default(result)};
	if (!scan_format(&s, format))
		return -1;
	settle(&s);
	if (s.has_epoch) {
		*result = (struct datetime){s.epoch, s.f.nsec, s.f.tzoffset, s.f.tzindex};
		return datetime_is_valid(result) ? (int)(s.r.pos - str) : -1;
	}
	return datetime_from_fields(result, &s.f) == 0 ? (int)(s.r.pos - str) : -1;
}
