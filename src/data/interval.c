/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Intervals: see datetime.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/datetime.h"

/** Fields in the order of the format, with the most that each may have. */
static const struct {
	const char *name;
	double max;
} units[] = {
	{"years", 2.0 * DATETIME_YEAR_MAX},
	{"months", 24.0 * DATETIME_YEAR_MAX},
	{"weeks", 106.0 * DATETIME_YEAR_MAX},
	{"days", 732.0 * DATETIME_YEAR_MAX},
	{"hours", 24 * 732.0 * DATETIME_YEAR_MAX},
	{"minutes", 60 * 24 * 732.0 * DATETIME_YEAR_MAX},
	{"seconds", 3600 * 24 * 732.0 * DATETIME_YEAR_MAX},
	{"nanoseconds", INT32_MAX},
};

enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

_Static_assert(offsetof(struct interval, adjust) == UNIT_COUNT * sizeof(double),
	       "the fields stand in the order of the units");

static double *field(struct interval *i, int n)
{
	return &i->year + n;
}

static double get(const struct interval *i, int n)
{
	return (&i->year)[n];
}

bool interval_is_valid(const struct interval *i)
{
	for (int n = 0; n < UNIT_COUNT; n++) {
		double value = get(i, n);
		if (!(fabs(value) <= units[n].max) || value != floor(value))
			return false;
	}
	return i->adjust >= INTERVAL_EXCESS && i->adjust <= INTERVAL_LAST;
}

int interval_add(struct interval *result, const struct interval *a, const struct interval *b,
		 int sign)
{
	struct interval sum = *a;
	for (int n = 0; n < UNIT_COUNT; n++)
		*field(&sum, n) += sign * get(b, n);
	if (!interval_is_valid(&sum))
		return -1;
	*result = sum;
	return 0;
}

static double whole_seconds(const struct interval *i)
{
	const double day = 86400, year = 365.2425 * day;
	return i->year * year + i->month * year / 12 + (i->week * 7 + i->day) * day +
	       i->hour * 3600 + i->min * 60 + i->sec;
}

int interval_compare(const struct interval *a, const struct interval *b)
{
	double x = whole_seconds(a) - whole_seconds(b) + (a->nsec - b->nsec) / 1e9;
	return (x > 0) - (x < 0);
}

int interval_to_string(const struct interval *i, char *out)
{
	int len = 0;
	if (!interval_is_valid(i))
		return snprintf(out, INTERVAL_STR_SIZE, "invalid interval");
	for (int n = 0; n < UNIT_COUNT; n++) {
		if (get(i, n) == 0)
			continue;
		len += snprintf(out + len, INTERVAL_STR_SIZE - len, "%s%.0f %s",
				len > 0 ? ", " : get(i, n) > 0 ? "+" : "", get(i, n),
				units[n].name);
	}
	return len > 0 ? len : snprintf(out, INTERVAL_STR_SIZE, "0 seconds");
}
