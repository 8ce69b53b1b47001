/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The allocator given to lua_newstate(); see bridge.h for its counters.
 */
#pragma once

#include "lua/bridge.h"

/** A lua_Alloc. NULL where the system has no memory; Lua then raises. */
void *lua_heap_alloc(void *ud, void *ptr, size_t old_size, size_t new_size);
