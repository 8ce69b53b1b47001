/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the two readers of datetimes: steps over a text. Each returns false, and may
 * have moved, where the text is another.
 */
#pragma once

#include "data/datetime.h"

struct datetime_reader {
	const char *pos, *end;
};

/** Exactly so many digits. */
bool datetime_read_digits(struct datetime_reader *r, int count, int32_t *value);
/** One of the characters. */
bool datetime_read_char(struct datetime_reader *r, const char *set);
/** Digits of a second's fraction; those behind the ninth are passed over. */
bool datetime_read_fraction(struct datetime_reader *r, int32_t *nsec);
bool datetime_read_zone(struct datetime_reader *r, struct datetime_fields *f);

/** What fields are that a text does not have; the zone is the datetime's. */
struct datetime_fields datetime_fields_default(const struct datetime *d);
