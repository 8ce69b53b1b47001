/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The Lua heap: LuaJIT's allocator function over mimalloc, which counts every byte.
 *
 * LuaJIT passes the exact old size with each call, so the two counters are exact:
 * what is held now, and what was ever asked for (growth of a block counts by the
 * difference). Under AddressSanitizer the blocks come from malloc, which it watches.
 */
#include "lua/alloc.h"

#include <stdlib.h>

#include "core/fiber.h"

#ifdef TARN_ASAN
#define heap_realloc realloc
#define heap_free free
#else
#include <mimalloc.h>
#define heap_realloc mi_realloc
#define heap_free mi_free
#endif

static size_t heap_used;
static uint64_t heap_allocated;

void *lua_heap_alloc(void *ud, void *ptr, size_t old_size, size_t new_size)
{
	if (new_size == 0) {
		heap_used -= old_size;
		heap_free(ptr);
		return NULL;
	}
	void *block = heap_realloc(ptr, new_size);
	if (block == NULL)
		return NULL;
	heap_used += new_size - old_size;
	if (new_size > old_size) {
		heap_allocated += new_size - old_size;
		fiber()->usage.heap_bytes += new_size - old_size;
	}
	return block;
}

size_t lua_heap_used(void)
{
	return heap_used;
}

uint64_t lua_heap_allocated(void)
{
	return heap_allocated;
}
