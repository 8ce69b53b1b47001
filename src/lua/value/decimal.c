/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `decimal` is decimal.lua over the functions of data/decimal.h, which FFI
 * finds in the program.
 */
#include "data/decimal.h"
#include "lua/bridge.h"
#include "lua/modules.h"

void lua_decimal_init(lua_State *L)
{
	lua_load_embedded(L, "decimal.lua", "decimal");
}
