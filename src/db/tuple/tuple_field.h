/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The way to a tuple's field, inline for comparators; others call tuple_field().
 */
#pragma once

#include "data/mp.h"
#include "db/tuple/field_path.h"
#include "db/tuple/format.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple.h"

/** The first field of a tuple that has one. */
static inline const char *tuple_field_first(const struct tuple *tuple)
{
	const char *data = tuple_data(tuple);
	if (((uint8_t)*data & 0xf0) == 0x90)
		return data + 1;
	return data + ((uint8_t)*data == 0xdc ? 3 : 5);
}

/** The field, or NULL where the tuple is too short. */
static inline const char *tuple_field_fast(const struct tuple *tuple, uint32_t fieldno)
{
	const char *data = tuple_data(tuple);
	if (fieldno > 0) {
		const struct tuple_format *format = tuple_formats[tuple->format_id];
		if (fieldno < format->field_count && format->fields[fieldno].slot != 0) {
			uint16_t slot = format->fields[fieldno].slot;
			uint32_t offset = ((const uint32_t *)(tuple + 1))[slot - 1];
			return offset != 0 ? data + offset : NULL;
		}
	}
	uint32_t count = mp_decode_array(&data);
	if (fieldno >= count)
		return NULL;
	while (fieldno-- > 0)
		mp_next(&data);
	return data;
}

/** The place inside a field that a path without `[*]` leads to, or NULL. */
static inline const char *tuple_field_by_path(const struct tuple *tuple, uint32_t fieldno,
					      const struct field_path *path)
{
	const struct tuple_format *format = tuple_formats[tuple->format_id];
	for (uint32_t i = 0; i < format->path_count; i++) {
		const struct format_path_slot *known = &format->paths[i];
		if (known->path != path || known->fieldno != fieldno)
			continue;
		uint32_t offset = ((const uint32_t *)(tuple + 1))[known->slot - 1];
		return offset != 0 ? tuple_data(tuple) + offset : NULL;
	}
	return field_path_walk(path, tuple_field_fast(tuple, fieldno), 0, path->step_count);
}

/** What a part (without `[*]`) has for its value in the tuple, or NULL. */
static inline const char *tuple_field_by_part(const struct tuple *tuple,
					      const struct key_part *part)
{
	if (part->path == NULL)
		return tuple_field_fast(tuple, part->fieldno);
	return tuple_field_by_path(tuple, part->fieldno, part->path);
}
