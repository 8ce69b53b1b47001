/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Regions are a stack of chunks, the newest on top; each is at least as large
 * as REGION_CHUNK_SIZE, or as the allocation that asked for it. A chunk knows
 * how much was given out below it, which is all that region_truncate() needs:
 *
 *     region._used = chunk.base + chunk.used
 *
 * holds for the top chunk at any time, and `base` of a chunk is what `_used`
 * was when it was opened. The last chunk is kept when a region is emptied, so a
 * request that fits into it never touches the allocator.
 *
 * With TARN_ASAN every allocation is a chunk of its own, hence an object of its
 * own for the sanitizer.
 */
#include "core/region.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/diag.h"
#include "core/memory.h"

struct region_chunk {
	struct region_chunk *older;
	/** Bytes given out in older chunks. */
	size_t base;
	/** Bytes given out here, and the room there is. */
	size_t used, capacity;
	char data[] __attribute__((aligned(16)));
};

enum { REGION_CHUNK_SIZE = 4096 };

/** A larger chunk is not kept by region_reset(). */
static const size_t REGION_KEEP_MAX = 64 * 1024;

void region_create(struct region *region)
{
	region->_chunk = NULL;
	region->_used = 0;
}

static void region_pop(struct region *region)
{
	struct region_chunk *chunk = region->_chunk;
	region->_chunk = chunk->older;
	xfree(chunk);
}

void region_destroy(struct region *region)
{
	while (region->_chunk != NULL)
		region_pop(region);
	region->_used = 0;
}

static struct region_chunk *region_push(struct region *region, size_t size)
{
	size_t capacity = size < SIZE_MAX / 4 ? (size + 7) & ~(size_t)7 : SIZE_MAX / 4;
#ifndef TARN_ASAN
	/* As large as all before it, up to a bound: few chunks for a large request. */
	size_t usual = region->_used < REGION_KEEP_MAX ? region->_used : REGION_KEEP_MAX;
	if (usual < REGION_CHUNK_SIZE)
		usual = REGION_CHUNK_SIZE;
	usual -= sizeof(struct region_chunk);
	if (capacity < usual)
		capacity = usual;
#endif
	struct region_chunk *chunk = capacity < SIZE_MAX / 4 ? mem_try(sizeof(*chunk) + capacity)
							  : NULL;
	if (chunk == NULL) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in region for request",
			 size);
		return NULL;
	}
	chunk->older = region->_chunk;
	chunk->base = region->_used;
	chunk->used = 0;
	chunk->capacity = capacity;
	region->_chunk = chunk;
	return chunk;
}

void *region_alloc(struct region *region, size_t size)
{
	size_t rounded = (size + 7) & ~(size_t)7;
	struct region_chunk *chunk = region->_chunk;
	if (chunk == NULL || chunk->capacity - chunk->used < rounded || rounded < size) {
		chunk = region_push(region, size);
		if (chunk == NULL)
			return NULL;
	}
	size = rounded;
	void *ptr = chunk->data + chunk->used;
	chunk->used += size;
	region->_used += size;
	assert(region->_used == chunk->base + chunk->used);
	return ptr;
}

void *region_memdup(struct region *region, const void *data, size_t size)
{
	void *copy = region_alloc(region, size);
	if (copy != NULL && size > 0)
		memcpy(copy, data, size);
	return copy;
}

void region_truncate(struct region *region, size_t mark)
{
	assert(mark <= region->_used);
	if (region->_chunk == NULL)
		return;
	/* A chunk opened at or above the mark goes, unless it is the last one. */
	while (region->_chunk->base >= mark && region->_chunk->older != NULL)
		region_pop(region);
#ifdef TARN_ASAN
	if (mark == 0)
		region_pop(region);
	if (region->_chunk == NULL) {
		region->_used = 0;
		return;
	}
#endif
	struct region_chunk *chunk = region->_chunk;
	assert(mark >= chunk->base && mark - chunk->base <= chunk->used);
	chunk->used = mark - chunk->base;
	region->_used = mark;
}

void region_reset(struct region *region)
{
	if (region->_chunk == NULL)
		return;
	region_truncate(region, 0);
	if (region->_chunk != NULL && region->_chunk->capacity > REGION_KEEP_MAX)
		region_pop(region);
}
