/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a fresh state gets: the order of start-up and the global `arg`.
 */
#pragma once

#include "lua/bridge.h"

/** Every binding, in order. [raises] */
void lua_init_modules(lua_State *L);

/** Sets the global table `arg`: argv[0] is arg[0] and so on. */
void lua_init_args(lua_State *L, int argc, char **argv);

/**
 * Tells require() that all modules are there, and of the script: next to it modules are looked
 * for. NULL: there is none, or it comes from standard input. [raises]
 */
void lua_init_script(lua_State *L, const char *script);

/** Does the console wait for a line? Then Ctrl-C is for that line, and not for the server. */
bool lua_console_is_reading(void);
