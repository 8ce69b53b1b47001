/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations as the schema knows them: the rows of _collation by id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void collation_cache_init(void);
void collation_cache_free(void);

/** Is there a collation of that id? */
bool collation_exists(uint32_t id);

/** Its name, ended by 0; NULL where there is none. Good until the schema changes. */
const char *collation_name(uint32_t id);
