/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fiber.info() and fiber.top(): what fibers do, and what they take of the processor.
 *
 * A backtrace has the C frames down to the interpreter, then the Lua frames of the
 * fiber's coroutine, innermost first.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/modules.h"

enum { C_FRAME_MAX = 64, LUA_FRAME_MAX = 64 };

/* Backtraces ----------------------------------------------------------- */

/** Appends {[kind] = text} to the table at the top. */
static void add_frame(lua_State *L, const char *kind, const char *text)
{
	lua_createtable(L, 0, 1);
	lua_pushstring(L, text);
	lua_setfield(L, -2, kind);
	lua_rawseti(L, -2, lua_objlen(L, -2) + 1);
}

static void add_c_frames(lua_State *L, struct fiber *f)
{
	void *pcs[C_FRAME_MAX];
	int count = fiber_backtrace(f, pcs, C_FRAME_MAX);
	for (int i = 0; i < count; i++) {
		char text[256];
		Dl_info info;
		if (dladdr(pcs[i], &info) != 0 && info.dli_sname != NULL)
			snprintf(text, sizeof(text), "#%-2d %p in %s+%td", i, pcs[i],
				 info.dli_sname, (char *)pcs[i] - (char *)info.dli_saddr);
		else
			snprintf(text, sizeof(text), "#%-2d %p in ?", i, pcs[i]);
		add_frame(L, "C", text);
	}
}

static void add_lua_frames(lua_State *L, lua_State *of)
{
	lua_Debug ar;
	for (int level = 0; level < LUA_FRAME_MAX && lua_getstack(of, level, &ar); level++) {
		char text[LUA_IDSIZE + 256];
		lua_getinfo(of, "Sln", &ar);
		snprintf(text, sizeof(text), "%s in %.200s at line %d",
			 ar.name != NULL ? ar.name : "(unnamed)", ar.source, ar.currentline);
		add_frame(L, "L", text);
	}
}

static void push_backtrace(lua_State *L, struct fiber *f)
{
	lua_newtable(L);
	add_c_frames(L, f);
	lua_State *of = f == fiber() ? L : lua_state_peek(f);
	if (of != NULL)
		add_lua_frames(L, of);
}

/* fiber.info() --------------------------------------------------------- */

static void set_number(lua_State *L, const char *name, double value)
{
	lua_pushnumber(L, value);
	lua_setfield(L, -2, name);
}

static void push_info(lua_State *L, struct fiber *f, bool with_backtrace)
{
	lua_createtable(L, 0, 7);
	set_number(L, "fid", f->id);
	lua_pushstring(L, fiber_name(f));
	lua_setfield(L, -2, "name");
	set_number(L, "csw", f->csw);
	if (fiber_watched & FIBER_WATCH_TOP) {
		struct fiber_top top;
		fiber_top_get(f, &top);
		set_number(L, "time", top.time);
	}
	double slice = fiber_max_slice(f).err;
	if (slice < FIBER_SLICE_MAX)
		set_number(L, "max_slice", slice);
	lua_createtable(L, 0, 2);
	set_number(L, "used", region_used(&f->region));
	set_number(L, "total", sizeof(*f) + region_used(&f->region) + f->stack_size);
	lua_setfield(L, -2, "memory");
	if (with_backtrace) {
		push_backtrace(L, f);
		lua_setfield(L, -2, "backtrace");
	}
}

/**
 * Options {backtrace = ..., bt = ...} at `idx`: the first is stronger; true where there are none.
 */
static bool wants_backtrace(lua_State *L, int idx)
{
	static const char *const names[] = {"backtrace", "bt"};
	if (!lua_istable(L, idx))
		return true;
	for (int i = 0; i < 2; i++) {
		lua_getfield(L, idx, names[i]);
		bool is_given = !lua_isnil(L, -1), value = lua_toboolean(L, -1);
		lua_pop(L, 1);
		if (is_given)
			return value;
	}
	return true;
}

struct info_arg {
	lua_State *L;
	bool with_backtrace;
};

static int add_info(struct fiber *f, void *arg)
{
	struct info_arg *info = arg;
	if (!lua_fiber_is_visible(f))
		return 0;
	push_info(info->L, f, info->with_backtrace);
	lua_rawseti(info->L, -2, f->id);
	return 0;
}

static int lua_fiber_info(lua_State *L)
{
	struct info_arg arg = {.L = L, .with_backtrace = wants_backtrace(L, 1)};
	lua_newtable(L);
	fiber_foreach(add_info, &arg);
	return 1;
}

static int object_info(lua_State *L)
{
	push_info(L, lua_check_fiber(L, 1, false), wants_backtrace(L, 2));
	return 1;
}

static int object_csw(lua_State *L)
{
	lua_pushnumber(L, lua_check_fiber(L, 1, false)->csw);
	return 1;
}

static int object_backtrace(lua_State *L)
{
	push_backtrace(L, lua_check_fiber(L, 1, false));
	return 1;
}

/* fiber.top() ---------------------------------------------------------- */

static int lua_top_enable(lua_State *L)
{
	fiber_top_enable();
	return 0;
}

static int lua_top_disable(lua_State *L)
{
	fiber_top_disable();
	return 0;
}

static int add_top(struct fiber *f, void *arg)
{
	lua_State *L = arg;
	struct fiber_top top;
	fiber_top_get(f, &top);
	lua_pushfstring(L, "%d/%s", (int)f->id, fiber_name(f));
	lua_createtable(L, 0, 3);
	set_number(L, "instant", top.instant);
	set_number(L, "average", top.average);
	set_number(L, "time", top.time);
	lua_rawset(L, -3);
	return 0;
}

static int lua_top(lua_State *L)
{
	if (!(fiber_watched & FIBER_WATCH_TOP))
		luaL_error(L, "fiber.top() is disabled. Enable it with fiber.top_enable() first");
	lua_createtable(L, 0, 2);
	lua_newtable(L);
	fiber_foreach(add_top, L);
	lua_setfield(L, -2, "cpu");
	/* The clock is the system's, the same on all cores. */
	set_number(L, "cpu_misses", 0);
	return 1;
}

void lua_fiber_info_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"info", lua_fiber_info},
		{"top", lua_top},
		{"top_enable", lua_top_enable},
		{"top_disable", lua_top_disable},
		{NULL, NULL},
	};
	static const luaL_Reg methods[] = {
		{"info", object_info},
		{"csw", object_csw},
		{"backtrace", object_backtrace},
		{NULL, NULL},
	};
	lua_new_module(L, "fiber", functions);
	lua_pop(L, 1);
	lua_fiber_add_methods(L, methods);
}
