/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hashes of keys. Equal keys hash alike whatever their encoding. A seed drawn at
 * start keeps clients from choosing keys that collide.
 */
#include <string.h>
#include <sys/random.h>

#include "data/coll.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple_field.h"

static uint32_t hash_seed;

__attribute__((constructor)) static void hash_seed_draw(void)
{
	if (getrandom(&hash_seed, sizeof(hash_seed), 0) != sizeof(hash_seed))
		hash_seed = 0x9e3779b9;
}

static inline uint32_t hash_part(const char *value, const struct key_part *part, uint32_t seed)
{
	if (part->coll != NULL && value != NULL && mp_typeof(*value) == MP_STR) {
		uint32_t len = mp_decode_strl(&value);
		return coll_hash(part->coll, value, len, seed);
	}
	/* A field that is not there is a nil. */
	return mp_hash_scalar(value != NULL ? value : "\xc0", seed);
}

uint32_t tuple_hash(const struct tuple *tuple, const struct key_def *def)
{
	uint32_t h = hash_seed;
	for (uint32_t i = 0; i < def->part_count; i++)
		h = hash_part(tuple_field_by_part(tuple, &def->parts[i]), &def->parts[i], h);
	return h;
}

uint32_t key_hash(const char *key, const struct key_def *def)
{
	uint32_t h = hash_seed;
	for (uint32_t i = 0; i < def->part_count; i++) {
		h = hash_part(key, &def->parts[i], h);
		if (i + 1 < def->part_count)
			mp_next(&key);
	}
	return h;
}
