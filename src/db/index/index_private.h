/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the kinds of indexes share.
 */
#pragma once

#include "db/index/index.h"

struct index *tree_index_new(struct index_def *def);
struct index *hash_index_new(struct index_def *def);
struct index *bitset_index_new(struct index_def *def);
struct index *rtree_index_new(struct index_def *def);

/** The end of a `check`: whether `damage` is NULL; logs it where it is not. */
bool index_is_sound(const struct index *index, const char *damage);

/** index_check_key() of an RTREE index, whose keys are not as others. */
int rtree_check_key(const struct index *index, enum iterator_type type, const char *key,
		    uint32_t part_count);
/** Multikey and functional ones. */
struct index *keys_index_new(struct index_def *def);

/** What a TREE has that equals a tuple by all of its order, or (is_key) by its key alone. */
struct tuple *tree_index_find(struct index *index, const struct tuple *tuple, bool is_key);

/** An iterator of a usual kind that NP or PP stands for. */
struct prefix_bound {
	enum iterator_type type;
	const char *key;
	uint32_t part_count;
	/** It finds nothing. */
	bool is_empty;
	/** What the caller frees with xfree(): the key, where it is another. */
	char *memory;
};

/** Works out what `type`, NP or PP, stands for. */
void prefix_bound_create(struct prefix_bound *bound, const struct key_def *def,
			 enum iterator_type type, const char *key, uint32_t part_count);

/** Sets ER_UNSUPPORTED_INDEX_FEATURE. */
void index_unsupported(const struct index *index, const char *feature);

/** Sets ER_TUPLE_FOUND for the index. */
void index_duplicate(const struct index *index);

/** May a new tuple take the place of `dup`? -1: ER_TUPLE_FOUND, with `dup` as `old_tuple`. */
int index_check_dup(const struct index *index, const struct tuple *old_tuple,
		    const struct tuple *dup, enum dup_replace_mode mode);

/** Bytes of the key's parts. */
size_t index_key_size(const char *key, uint32_t part_count);

/** Mixes the seed of a `random` so that near seeds lead to far places. */
static inline uint64_t index_mix_seed(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	return seed ^ seed >> 31;
}
