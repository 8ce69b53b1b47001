/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the files of the module `fiber`.
 */
#pragma once

#include "lua/bridge.h"

/**
 * Makes the metatable of the class with the methods, which are also its __index, and puts
 * the constructor into the module as fiber[name]. [raises]
 */
void lua_fiber_add_class(lua_State *L, struct lua_class *class, const luaL_Reg *methods,
			 const char *name, lua_CFunction constructor);
