/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the module `console`: sessions of clients over sockets, for Lua.
 */
#pragma once

#include <lua.h>

/**
 * session_begin(fd, on_push): the running fiber works for a new session of type console and
 * user admin; on_push(value) prints what box.session.push() sends, and may not yield. [raises]
 * where a trigger of box.session.on_connect refuses. May yield.
 */
int lua_console_session_begin(lua_State *L);

/** session_end(): ... and no longer does. May yield. */
int lua_console_session_end(lua_State *L);
