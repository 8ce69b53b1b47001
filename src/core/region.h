/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A region: memory that is given out by moving a pointer and given back all at
 * once, or down to a mark. Every fiber has one for the request at hand:
 *
 *     size_t mark = region_used(&fiber()->region);
 *     ... region_alloc() ...
 *     region_truncate(&fiber()->region, mark);
 */
#pragma once

#include <stddef.h>

struct region_chunk;

struct region {
	/** The chunk that is being filled, the newest; NULL at first. */
	struct region_chunk *_chunk;
	/** Bytes given out in all chunks. */
	size_t _used;
};

void region_create(struct region *region);

/** Frees all memory. The region can be used again. */
void region_destroy(struct region *region);

/** Aligned to 8. Valid until the region is cut below it. NULL: OutOfMemory is set. */
void *region_alloc(struct region *region, size_t size);

/** A copy of `size` bytes. */
void *region_memdup(struct region *region, const void *data, size_t size);

/** The mark for region_truncate(). */
static inline size_t region_used(const struct region *region)
{
	return region->_used;
}

/** Gives back all that was allocated since region_used() returned `mark`. */
void region_truncate(struct region *region, size_t mark);

/** Empties the region and gives its chunks, save for one, back to the system. */
void region_reset(struct region *region);
