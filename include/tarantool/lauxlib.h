/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lauxlib.h of the LuaJIT that tarn is built with, for modules written for Tarantool.
 */
#if __has_include(<luajit-2.1/lauxlib.h>)
#include <luajit-2.1/lauxlib.h>
#else
#include_next <lauxlib.h>
#endif
