/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lualib.h of the LuaJIT that tarn is built with, for modules written for Tarantool.
 */
#if __has_include(<luajit-2.1/lualib.h>)
#include <luajit-2.1/lualib.h>
#else
#include_next <lualib.h>
#endif
