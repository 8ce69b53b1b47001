/* SPDX-License-Identifier: BSD-2-Clause
 *
 * POSIX rules of time zones: "CET-1CEST,M3.5.0,M10.5.0/3". Source: POSIX, environment
 * variable TZ, with the hours beyond a day that RFC 8536 allows.
 */
#pragma once

#include "data/timezone.h"

/** A day of the year and a time of it, by the clocks that hold until then. */
struct timezone_change {
	/** 'M' month, week and day of week; 'J' day from 1 without 29 February; 'N' day from 0. */
	char kind;
	int16_t month, week, day;
	int32_t seconds;
};

struct timezone_rule {
	struct timezone_info standard, summer;
	bool has_summer;
	struct timezone_change begin, end;
};

/** -1: the text is no rule. */
int timezone_rule_parse(struct timezone_rule *rule, const char *text);

struct timezone_info timezone_rule_at(const struct timezone_rule *rule, int64_t utc);
