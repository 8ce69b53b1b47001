/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations by id, as formats and parts of keys name them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct coll;

/** The collation "none", whose row stays. */
enum { COLL_ID_NONE = 0 };

/** What compares bytes has no collator. */
struct coll_id {
	uint32_t id;
	/** Ended by 0. */
	char *name;
	/** A counted reference, or NULL. */
	struct coll *coll;
};

void coll_id_cache_init(void);
void coll_id_cache_free(void);

/** NULL where there is none. Good until the schema changes. */
const struct coll_id *coll_id_by_id(uint32_t id);

/** Makes an entry that the caller owns: the name is copied, the reference to `coll` taken over. */
struct coll_id *coll_id_new(uint32_t id, const char *name, uint32_t name_len, struct coll *coll);
void coll_id_delete(struct coll_id *coll_id);

/** Puts an entry into the cache, or takes the one of that id out; the caller owns it again. */
void coll_id_cache_put(struct coll_id *coll_id);
void coll_id_cache_del(uint32_t id);
