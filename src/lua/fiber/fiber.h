/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the files of the module `fiber`.
 */
#pragma once

#include "lua/bridge.h"

struct fiber;

/** Is it one that scripts may see and touch? All but the scheduler's. */
bool lua_fiber_is_visible(const struct fiber *f);

/** The fiber whose object (or id, where allowed) is at `idx`. [raises] "the fiber is dead" */
struct fiber *lua_check_fiber(lua_State *L, int idx, bool allow_id);

/** Adds to the methods of fiber objects. */
void lua_fiber_add_methods(lua_State *L, const luaL_Reg *methods);

/**
 * Makes the metatable of the class with the methods, which are also its __index, and puts
 * the constructor into the module as fiber[name]. [raises]
 */
void lua_fiber_add_class(lua_State *L, struct lua_class *class, const luaL_Reg *methods,
			 const char *name, lua_CFunction constructor);
