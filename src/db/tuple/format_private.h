/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files that make up tuple formats tell each other.
 */
#pragma once

#include "db/tuple/format.h"

/** Gives a place one more slot of the field map. -1: ER_INDEX_FIELD_COUNT_LIMIT. */
int format_add_slot(struct tuple_format *format, uint16_t *slot);

/**
 * Lets a part with a path narrow what the places on its way may be. -1:
 * ER_INDEX_PART_TYPE_MISMATCH, ER_MULTIKEY_INDEX_MISMATCH, ER_INDEX_FIELD_COUNT_LIMIT.
 */
int format_use_path(struct tuple_format *format, const struct key_part *part);

/**
 * Checks the places inside fields of a row whose fields are good, and fills their slots.
 * -1: ER_FIELD_TYPE, ER_FIELD_MISSING.
 */
int format_map_nodes(const struct tuple_format *format, const char *data, uint32_t *field_map);

/**
 * For a row of which something else is wrong: -1 with ER_FIELD_TYPE where a place inside one of
 * the first `field_count` fields, which are good, has a wrong type.
 */
int format_check_nodes(const struct tuple_format *format, const char *data, uint32_t field_count,
		       uint32_t *field_map);

void format_nodes_free(struct format_node *nodes);
