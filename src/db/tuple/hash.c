/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hashes of keys, and the extraction of a tuple's key. Equal keys hash alike
 * whatever their encoding. A seed drawn at start keeps clients from choosing keys
 * that collide.
 */
#include <string.h>
#include <sys/random.h>

#include "core/region.h"
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
		h = hash_part(tuple_field_fast(tuple, def->parts[i].fieldno), &def->parts[i], h);
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

/** The part's value and its size; a nil where the tuple is too short. */
static const char *key_part_value(const struct tuple *tuple, const struct key_part *part,
				  uint32_t *size)
{
	const char *field = tuple_field_fast(tuple, part->fieldno);
	if (field == NULL)
		field = "\xc0";
	const char *end = field;
	mp_next(&end);
	*size = end - field;
	return field;
}

const char *tuple_extract_key(const struct tuple *tuple, const struct key_def *def,
			      struct region *region, uint32_t *size)
{
	uint32_t total = mp_sizeof_array(def->part_count), part_size;
	for (uint32_t i = 0; i < def->part_count; i++) {
		key_part_value(tuple, &def->parts[i], &part_size);
		total += part_size;
	}
	char *key = region_alloc(region, total);
	if (key == NULL)
		return NULL;
	char *pos = mp_encode_array(key, def->part_count);
	for (uint32_t i = 0; i < def->part_count; i++) {
		const char *value = key_part_value(tuple, &def->parts[i], &part_size);
		memcpy(pos, value, part_size);
		pos += part_size;
	}
	*size = total;
	return key;
}
