/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lua.h of the LuaJIT that tarn is built with, for modules written for Tarantool.
 */
#if __has_include(<luajit-2.1/lua.h>)
#include <luajit-2.1/lua.h>
#else
#include_next <lua.h>
#endif
