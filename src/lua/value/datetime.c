/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `datetime` is datetime.lua and interval.lua over the functions of
 * data/datetime.h and data/timezone.h, which FFI finds in the program.
 */
#include "data/datetime.h"
#include "data/timezone.h"
#include "lua/bridge.h"
#include "lua/modules.h"

void lua_datetime_init(lua_State *L)
{
	lua_load_embedded(L, "interval.lua", "internal.interval");
	lua_load_embedded(L, "datetime.lua", "datetime");
}
