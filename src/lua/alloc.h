/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The allocator given to lua_newstate(); see bridge.h for its counters.
 */
#pragma once

#include "lua/bridge.h"

/** A lua_Alloc. NULL where there is no memory, or the limit is reached; Lua then raises. */
void *lua_heap_alloc(void *ud, void *ptr, size_t old_size, size_t new_size);

/** Bytes that a block given by lua_heap_alloc() has at least. */
size_t lua_heap_block_size(const void *block);

/**
 * From now on `f` sees each block of exactly `size` bytes that is given back, just before it
 * is: its bytes are what they were. It touches nothing of Lua. NULL: nobody does.
 */
void lua_heap_watch(size_t size, void (*f)(const void *block));

/**
 * Does the limit hold for the current fiber now? Then the bytes it has asked for since that is so.
 */
bool lua_heap_is_guarded(uint64_t *asked);

/** Is less than an eighth of the limit left? */
bool lua_heap_is_nearly_full(void);
