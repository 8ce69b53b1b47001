/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The system spaces of a new database, and those that are there before any row.
 */
#pragma once

#include <stdint.h>

/** Which space a view shows; `id` itself for what is no view. */
uint32_t system_view_base(uint32_t id);

/** Creates the spaces that it takes to read the first rows of a snapshot. */
int bootstrap_first_spaces(void);

/** A space with its primary index from rows of _space and _index, outside of any transaction. */
int schema_add_first_space(const char *space_row, const char *index_row, const char *end);
