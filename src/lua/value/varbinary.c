/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `varbinary` is varbinary.lua; the codecs know its objects (struct
 * lua_varbinary of bridge.h). Manual: module varbinary.
 */
#include "lua/bridge.h"
#include "lua/modules.h"

void lua_varbinary_init(lua_State *L)
{
	lua_load_embedded(L, "varbinary.lua", "varbinary");
}
