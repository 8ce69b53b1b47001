/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A guard against endless recursion through C: see guard.c.
 */
#pragma once

#include "lua/bridge.h"

/**
 * -1 with the error "stack overflow" where so little of the fiber's C stack is left that a call
 * might run over it.
 */
int lua_check_c_stack(void);

/** Puts the guard in front of library functions that call back. */
void lua_guard_init(lua_State *L);
