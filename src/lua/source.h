/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The Lua files of this folder and those below it, embedded by the build (see CMakeLists.txt).
 */
#pragma once

struct lua_source {
	/** File name without its folder, e.g. "fun.lua"; NULL ends the table. */
	const char *name;
	const char *begin, *end;
};

extern const struct lua_source lua_sources[];
