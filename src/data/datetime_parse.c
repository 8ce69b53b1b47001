/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Texts of datetimes in ISO 8601 and RFC 3339, and zones. See datetime.h.
 */
#include <ctype.h>
#include <string.h>

#include "data/calendar.h"
#include "data/datetime_parse.h"
#include "data/timezone.h"

bool datetime_read_digits(struct datetime_reader *r, int count, int32_t *value)
{
	if (r->end - r->pos < count)
		return false;
	int32_t v = 0;
	for (int i = 0; i < count; i++) {
		if (!isdigit((unsigned char)r->pos[i]))
			return false;
		v = v * 10 + (r->pos[i] - '0');
	}
	r->pos += count;
	*value = v;
	return true;
}

bool datetime_read_char(struct datetime_reader *r, const char *set)
{
	if (r->pos == r->end || *r->pos == '\0' || strchr(set, *r->pos) == NULL)
		return false;
	r->pos++;
	return true;
}

static int count_digits(const struct datetime_reader *r)
{
	int n = 0;
	while (r->pos + n < r->end && isdigit((unsigned char)r->pos[n]))
		n++;
	return n;
}

bool datetime_read_fraction(struct datetime_reader *r, int32_t *nsec)
{
	int n = count_digits(r);
	if (n == 0)
		return false;
	*nsec = 0;
	for (int i = 0; i < 9; i++)
		*nsec = *nsec * 10 + (i < n ? r->pos[i] - '0' : 0);
	r->pos += n;
	return true;
}

/* Zones. ----------------------------------------------------------------------- */

/** `hh`, `hhmm` or `hh:mm` behind the sign. */
static bool read_offset(struct datetime_reader *r, int *tzoffset)
{
	int32_t hours, minutes = 0;
	bool is_negative = *r->pos++ == '-';
	if (!datetime_read_digits(r, 2, &hours))
		return false;
	struct datetime_reader before = *r;
	bool has_colon = datetime_read_char(r, ":");
	if (!datetime_read_digits(r, 2, &minutes)) {
		if (has_colon)
			return false;
		*r = before;
	}
	*tzoffset = hours * 60 + minutes;
	if (is_negative)
		*tzoffset = -*tzoffset;
	return minutes < 60 && *tzoffset >= TIMEZONE_OFFSET_MIN && *tzoffset <= TIMEZONE_OFFSET_MAX;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '/' || c == '_' || c == '-' || c == '+';
}

int datetime_parse_zone(const char *str, size_t len, int *tzoffset, int *tzindex)
{
	struct datetime_reader r = {str, str + len};
	*tzoffset = *tzindex = 0;
	if (len > 0 && (*str == '+' || *str == '-'))
		return read_offset(&r, tzoffset) ? r.pos - str : -1;
	size_t n = 0;
	while (n < len && is_name_char(str[n]))
		n++;
	if (n == 0)
		return -1;
	if (n == 1 && (*str == 'Z' || *str == 'z'))
		return 1;
	int index = timezone_by_name(str, n);
	if (index <= 0)
		return index == TIMEZONE_AMBIGUOUS ? -2 : -1;
	*tzindex = index;
	return n;
}

bool datetime_read_zone(struct datetime_reader *r, struct datetime_fields *f)
{
	int n = datetime_parse_zone(r->pos, r->end - r->pos, &f->tzoffset, &f->tzindex);
	if (n < 0)
		return false;
	r->pos += n;
	return true;
}

/* ISO 8601. -------------------------------------------------------------------- */

/** The date of a day of the year, or of a week's day: `ordinal` may lie outside of the year. */
static void set_ordinal(struct datetime_fields *f, int64_t ordinal)
{
	struct calendar_date date;
	calendar_date(calendar_days(f->year, 1, 1) + ordinal - 1, &date);
	f->year = date.year;
	f->month = date.month;
	f->day = date.day;
}

/** Week and its day, from 1, Monday. The first week is the one with 4 January. */
static bool set_week(struct datetime_fields *f, int32_t week, int32_t day)
{
	int64_t fourth = calendar_days(f->year, 1, 4);
	int monday = (calendar_weekday(fourth) + 6) % 7;
	if (week < 1 || week > 53 || day < 1 || day > 7)
		return false;
	set_ordinal(f, 4 - monday + (week - 1) * 7 + day - 1);
	return true;
}

/** Behind the year: -MM-DD, MMDD, -DDD, DDD, -Www-D, WwwD, and -Www. */
static bool read_rest_of_date(struct datetime_reader *r, struct datetime_fields *f)
{
	bool is_extended = datetime_read_char(r, "-");
	int32_t value = 0, day = 1;
	if (datetime_read_char(r, "W")) {
		if (!datetime_read_digits(r, 2, &value))
			return false;
		struct datetime_reader before = *r;
		if ((is_extended && !datetime_read_char(r, "-")) ||
		    !datetime_read_digits(r, 1, &day))
			*r = before;
		return set_week(f, value, day);
	}
	int n = count_digits(r);
	if (n == 3) {
		datetime_read_digits(r, 3, &value);
		if (value < 1 || value > 365 + calendar_is_leap(f->year))
			return false;
		set_ordinal(f, value);
		return true;
	}
	if (is_extended ? n != 2 : n != 4)
		return false;
	return datetime_read_digits(r, 2, &f->month) &&
	       (!is_extended || datetime_read_char(r, "-")) && datetime_read_digits(r, 2, &f->day);
}

static bool read_date(struct datetime_reader *r, struct datetime_fields *f)
{
	int32_t year;
	bool is_negative = r->pos < r->end && *r->pos == '-';
	bool has_sign = datetime_read_char(r, "+-");
	int n = count_digits(r);
	/* A year has four digits, unless something but a digit shows its end. */
	int year_digits = n > 4 && n <= 7 && r->pos + n < r->end && r->pos[n] == '-' ? n : 4;
	if (!has_sign && year_digits == 7)
		year_digits = 4;
	if (!datetime_read_digits(r, year_digits, &year))
		return false;
	f->year = is_negative ? -year : year;
	return read_rest_of_date(r, f);
}

/** HH, HH:MM, HHMM, HH:MM:SS, HHMMSS, with a fraction behind seconds. */
static bool read_time(struct datetime_reader *r, struct datetime_fields *f)
{
	if (!datetime_read_digits(r, 2, &f->hour))
		return false;
	bool is_extended = datetime_read_char(r, ":");
	if (!datetime_read_digits(r, 2, &f->min))
		return !is_extended;
	if (is_extended && !datetime_read_char(r, ":"))
		return true;
	if (!datetime_read_digits(r, 2, &f->sec))
		return !is_extended;
	return !datetime_read_char(r, ".,") || datetime_read_fraction(r, &f->nsec);
}

static bool read_iso8601(struct datetime_reader *r, struct datetime_fields *f)
{
	if (!read_date(r, f))
		return false;
	if (r->pos == r->end)
		return true;
	if (!datetime_read_char(r, "Tt ") || !read_time(r, f))
		return false;
	struct datetime_reader before = *r;
	while (datetime_read_char(r, " "))
		;
	if (r->pos == r->end || !datetime_read_zone(r, f))
		*r = before;
	return true;
}

static bool read_rfc3339(struct datetime_reader *r, struct datetime_fields *f)
{
	int32_t year;
	if (!datetime_read_digits(r, 4, &year))
		return false;
	f->year = year;
	bool ok = datetime_read_char(r, "-") && datetime_read_digits(r, 2, &f->month) &&
		datetime_read_char(r, "-") && datetime_read_digits(r, 2, &f->day) &&
		datetime_read_char(r, "Tt_ ") && datetime_read_digits(r, 2, &f->hour) &&
		datetime_read_char(r, ":") && datetime_read_digits(r, 2, &f->min) &&
		datetime_read_char(r, ":") && datetime_read_digits(r, 2, &f->sec);
	if (!ok || (datetime_read_char(r, ".") && !datetime_read_fraction(r, &f->nsec)))
		return false;
	return r->pos < r->end && strchr("Zz+-", *r->pos) != NULL && datetime_read_zone(r, f);
}

struct datetime_fields datetime_fields_default(const struct datetime *d)
{
	return (struct datetime_fields){
		.year = 1970, .month = 1, .day = 1, .tzoffset = d->tzoffset, .tzindex = d->tzindex,
	};
}

int datetime_parse(struct datetime *result, const char *str, size_t len, bool is_rfc3339)
{
	struct datetime_reader r = {str, str + len};
	struct datetime_fields f = datetime_fields_default(result);
	if (!(is_rfc3339 ? read_rfc3339(&r, &f) : read_iso8601(&r, &f)))
		return -1;
	return datetime_from_fields(result, &f) == 0 ? (int)(r.pos - str) : -1;
}
