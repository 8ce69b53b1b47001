/* SPDX-License-Identifier: BSD-2-Clause
 *
 * luajit.h of the LuaJIT that tarn is built with, for modules written for Tarantool.
 */
#if __has_include(<luajit-2.1/luajit.h>)
#include <luajit-2.1/luajit.h>
#else
#include_next <luajit.h>
#endif
