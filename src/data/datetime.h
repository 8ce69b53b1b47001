/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Moments with the clock they are shown by, and intervals in calendar units. Layouts
 * are known to FFI (src/lua/value/datetime.lua). Manual: module datetime.
 *
 * A moment is the same whatever its clock: order and equality look at the seconds
 * and nanoseconds only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct datetime {
	/** Whole seconds from 1970-01-01T00:00:00Z. A double, so that scripts can read it. */
	double epoch;
	/** From 0 to 999,999,999. */
	int32_t nsec;
	/** Minutes east of UTC, of its clock at the moment. */
	int16_t tzoffset;
	/** The zone's number (timezone.h); 0: just an offset. */
	int16_t tzindex;
};

/** By the clock of the datetime. */
struct datetime_fields {
	double year;
	/** `month` and `day` from 1; `wday` from 1, Sunday; `yday` from 1. */
	int32_t month, day, hour, min, sec, nsec, wday, yday;
	int32_t tzoffset, tzindex, isdst;
};

enum interval_adjust {
	/** The day that a shorter month does not have goes on into the next month. */
	INTERVAL_EXCESS = 0,
	/** It becomes the month's last one. */
	INTERVAL_NONE = 1,
	/** The same, and a month's last day becomes the last one of the other. */
	INTERVAL_LAST = 2,
};

/** Whole numbers, as doubles so that scripts can read them. */
struct interval {
	double year, month, week, day, hour, min, sec, nsec;
	/** enum interval_adjust. */
	int32_t adjust;
	int32_t _unused;
};

enum {
	DATETIME_NSEC_MAX = 999999999,
	/** Bounds of years, so that days fit 32 bits. */
	DATETIME_YEAR_MIN = -5879610,
	DATETIME_YEAR_MAX = 5879611,
	/** The longest text, and the terminating zero. */
	DATETIME_STR_SIZE = 80,
	INTERVAL_STR_SIZE = 256,
	DATETIME_PACKED_SIZE_MAX = 16,
	INTERVAL_PACKED_SIZE_MAX = 1 + 9 * 10,
};

/** The present moment, by the offset of the machine's clock. */
void datetime_now(struct datetime *result);

/** Is the moment, and what belongs to it, in range? */
bool datetime_is_valid(const struct datetime *d);

void datetime_get_fields(const struct datetime *d, struct datetime_fields *fields);

/**
 * The moment at which the clock of the fields' zone (their tzindex, else their tzoffset)
 * shows them. `day` may be -1: the month's last; `sec` may be 60. `wday` and `yday` are
 * not looked at. -1: out of range, no data of the zone; -2: no such day in the month.
 */
int datetime_from_fields(struct datetime *result, const struct datetime_fields *fields);

/** Below zero, zero, above zero. */
int datetime_compare(const struct datetime *a, const struct datetime *b);

/**
 * Adds the interval (`sign` 1) or takes it away (-1): years and months first, then weeks and days,
 * all by the clock of the datetime's zone; then hours and less, in time that passes. -1: out of
 * range.
 */
int datetime_add(struct datetime *d, const struct interval *interval, int sign);

/** a - b, field by field; in minutes also what the clocks differ by. */
void datetime_sub(struct interval *result, const struct datetime *a, const struct datetime *b);

/** "2021-08-20T18:25:20.123+0300"; at most DATETIME_STR_SIZE bytes with the zero. */
int datetime_to_string(const struct datetime *d, char *out);

/**
 * By the format of strftime(3), with %f for the nanoseconds (%3f: so many digits). Returns
 * the length of the whole text, of which at most `size` bytes with a zero are written.
 */
size_t datetime_format(const struct datetime *d, const char *format, char *out, size_t size);

/**
 * Reads ISO 8601 (or only RFC 3339). Where the text has no zone, that of *result holds. Returns
 * how many bytes were read, or -1.
 */
int datetime_parse(struct datetime *result, const char *str, size_t len, bool is_rfc3339);

/** By the format of strptime(3). As above. */
int datetime_parse_format(struct datetime *result, const char *str, size_t len,
			  const char *format);

/**
 * A zone as `Z`, `+hh`, `+hhmm`, `+hh:mm` or a name. Returns how many bytes were read; -1: none,
 * -2: the name is ambiguous.
 */
int datetime_parse_zone(const char *str, size_t len, int *tzoffset, int *tzindex);

/** Are all fields in range? */
bool interval_is_valid(const struct interval *i);
/** -1: out of range. */
int interval_add(struct interval *result, const struct interval *a, const struct interval *b,
		 int sign);
/** By their usual length: a year has 365.2425 days, a month a twelfth of it. */
int interval_compare(const struct interval *a, const struct interval *b);
/** "+1 years, 6 months". */
int interval_to_string(const struct interval *i, char *out);

/**
 * MessagePack extensions: of a datetime seconds (8 bytes), then, unless all of it is
 * zero, nanoseconds (4), offset (2) and zone (2), little-endian; of an interval the number
 * of fields, and each as its number and value. Source: the manual, "MessagePack extensions".
 */
uint32_t datetime_packed_size(const struct datetime *d);
char *datetime_pack(const struct datetime *d, char *out);
/** -1: another form, or out of range. Takes any input. */
int datetime_unpack(struct datetime *result, const char *data, uint32_t len);

uint32_t interval_packed_size(const struct interval *i);
char *interval_pack(const struct interval *i, char *out);
int interval_unpack(struct interval *result, const char *data, uint32_t len);
