/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Functions on tuples that compiled Lua reaches through FFI (declared again in
 * tuple.lua). None yields, runs Lua or raises.
 */
#pragma once

#include "lua/bridge.h"

/** Fills an empty one from a tuple; it has room for a copy or, where that is large, a finalizer. */
void lua_tuple_fill(struct lua_tuple *t, struct tuple *tuple);

/** The finalizer of large ones. */
void lua_tuple_release(struct lua_tuple *t);
