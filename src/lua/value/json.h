/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the files of the module `json`.
 */
#pragma once

#include "lua/bridge.h"

/** [raises] Pushes the value of a JSON text. Errors say line and character. */
void lua_json_decode(lua_State *L, const char *text, size_t len, const struct lua_codec *codec);
