/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the files of time zones: the table of names.
 */
#pragma once

#include "data/timezone.h"

struct timezone_name {
	char *name;
	/** Of an abbreviation, in minutes. */
	int16_t offset;
	bool is_ambiguous;
	bool is_dst;
	/** Is it one of the tz database, which has a file? */
	bool is_zone;
};

/** NULL where there is none of that number. */
const struct timezone_name *timezone_entry(int index);

/** The number of a name of the table, in upper or lower case; 0 where it is not there. */
int timezone_find(const char *name, size_t len);
