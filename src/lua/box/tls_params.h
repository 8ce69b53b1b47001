/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Parameters of TLS from a table of those that a URI has.
 */
#pragma once

#include <lua.h>

#include "net/tls.h"

/** Of the table on top of the stack, which stays there and keeps the texts alive. */
struct tls_params lua_tls_params(lua_State *L);

/** The string of a field of the table on top, which keeps it alive; NULL: it has none. */
const char *lua_field_text(lua_State *L, const char *name);
