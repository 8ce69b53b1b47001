/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Slices: how long a fiber may run without a yield, and how one that computes in
 * pure Lua is stopped.
 *
 * Functions of the database and fiber.check_slice() look at the clock themselves.
 * A loop that calls neither is interrupted so:
 *
 *  - LuaJIT's profiler, started when the first bound is set, ticks every 10 ms of
 *    processor time. Compiled code looks for the tick and leaves for the interpreter,
 *    which calls on_tick().
 *  - A hook that raises the error can't be set there, since the profiler restores
 *    what was. So on_tick() asks for a signal a moment later, whose handler sets the
 *    hook; lua_sethook() is made for that.
 *  - The hook, at the next instruction interpreted, raises where the slice is over
 *    still. A script that catches the error gets another at the next tick, until it
 *    yields.
 *
 * LuaJIT may be left with a tick that is flagged while its interpreter does not look for it, as
 * seen after many caught errors: then no tick would come through any more. Setting the hook to
 * what it is makes LuaJIT look at its flags; that is done where ticks are missed for a while.
 *
 * Nothing of this runs before a bound is set.
 */
#include <errno.h>
#include <luajit.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "core/fiber.h"
#include "core/log.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/modules.h"

enum {
	HOOK_SIGNAL = SIGVTALRM,
	HOOK_DELAY_NS = 1000 * 1000,
	/** Signals of the profiler without a tick, till LuaJIT is made to look at its flags. */
	TICKS_MISSED_MAX = 5,
};

static struct {
	bool is_armed;
	timer_t timer;
	/** The hook is set; what it took the place of. */
	volatile sig_atomic_t is_hooked;
	lua_Hook hook;
	int mask, count;
	/** LuaJIT's handler of the profiler's signal, and how often it ran since the last tick. */
	void (*profiler_handler)(int signo);
	volatile sig_atomic_t ticks_missed;
} interrupt;

static void on_hook(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	lua_sethook(L, interrupt.hook, interrupt.mask, interrupt.count);
	interrupt.is_hooked = 0;
	if (fiber_slice_is_over()) {
		fiber_check_slice_now();
		lua_throw(L);
	}
}

static void on_signal(int signo)
{
	(void)signo;
	if (interrupt.is_hooked)
		return;
	interrupt.hook = lua_gethook(lua_main);
	interrupt.mask = lua_gethookmask(lua_main);
	interrupt.count = lua_gethookcount(lua_main);
	interrupt.is_hooked = 1;
	lua_sethook(lua_main, on_hook, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET, 1);
}

static void on_profiler_signal(int signo)
{
	interrupt.profiler_handler(signo);
	if (++interrupt.ticks_missed < TICKS_MISSED_MAX)
		return;
	interrupt.ticks_missed = 0;
	lua_sethook(lua_main, lua_gethook(lua_main), lua_gethookmask(lua_main),
		    lua_gethookcount(lua_main));
}

static void watch_profiler(void)
{
	struct sigaction action;
	if (sigaction(SIGPROF, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) ||
	    action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		return;
	interrupt.profiler_handler = action.sa_handler;
	action.sa_handler = on_profiler_signal;
	sigaction(SIGPROF, &action, NULL);
}

static void on_tick(void *data, lua_State *L, int samples, int vmstate)
{
	(void)data;
	(void)L;
	(void)samples;
	(void)vmstate;
	interrupt.ticks_missed = 0;
	if (interrupt.is_hooked || !fiber_slice_is_over())
		return;
	struct itimerspec delay = {.it_value = {.tv_nsec = HOOK_DELAY_NS}};
	timer_settime(interrupt.timer, 0, &delay, NULL);
}

/** Stops loops of pure Lua from now on, where the slice has a bound. */
static void interrupt_arm(struct fiber_slice slice)
{
	if (interrupt.is_armed || !fiber_slice_has_bound(slice))
		return;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = HOOK_SIGNAL};
	if (sigaction(HOOK_SIGNAL, &action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &interrupt.timer) != 0) {
		say_warn("loops of pure Lua are not limited: %s", strerror(errno));
		return;
	}
	luaJIT_profile_start(lua_main, "li10", on_tick, NULL);
	watch_profiler();
	interrupt.is_armed = true;
}

/* The interface -------------------------------------------------------- */

static double check_seconds(lua_State *L, int idx, const char *usage)
{
	double seconds = lua_tonumber(L, idx);
	if (lua_type(L, idx) != LUA_TNUMBER || !(seconds >= 0))
		luaL_error(L, "%s", usage);
	return fmin(seconds, TIMEOUT_INFINITY);
}

/**
 * A number, the bound for errors, or {warn = ..., err = ...}; `missing` is put for what is not
 * given.
 */
static struct fiber_slice check_slice(lua_State *L, int idx, double missing, const char *usage)
{
	struct fiber_slice slice = {.warn = missing, .err = missing};
	if (!lua_istable(L, idx)) {
		slice.err = check_seconds(L, idx, usage);
		return slice;
	}
	lua_getfield(L, idx, "warn");
	if (!lua_isnil(L, -1))
		slice.warn = check_seconds(L, -1, usage);
	lua_getfield(L, idx, "err");
	if (!lua_isnil(L, -1))
		slice.err = check_seconds(L, -1, usage);
	lua_pop(L, 2);
	return slice;
}

static int lua_set_max_slice(lua_State *L)
{
	struct fiber_slice slice = check_slice(L, 1, TIMEOUT_INFINITY,
					       "fiber.set_max_slice(slice): bad arguments");
	fiber_set_default_slice(slice);
	interrupt_arm(slice);
	return 0;
}

static int object_set_max_slice(lua_State *L)
{
	struct fiber *f = lua_check_fiber(L, 1, false);
	struct fiber_slice slice = check_slice(L, 2, TIMEOUT_INFINITY,
					       "fiber:set_max_slice(slice): bad arguments");
	fiber_set_max_slice(f, slice);
	interrupt_arm(slice);
	return 0;
}

static int lua_set_slice(lua_State *L)
{
	struct fiber_slice slice = check_slice(L, 1, TIMEOUT_INFINITY,
					       "fiber.set_slice(slice): bad arguments");
	fiber_set_slice(slice);
	interrupt_arm(slice);
	return 0;
}

static int lua_extend_slice(lua_State *L)
{
	fiber_extend_slice(check_slice(L, 1, 0, "fiber.extend_slice(slice): bad arguments"));
	return 0;
}

static int lua_check_slice(lua_State *L)
{
	return fiber_check_slice() == 0 ? 0 : lua_throw(L);
}

void lua_fiber_slice_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"set_max_slice", lua_set_max_slice},
		{"set_slice", lua_set_slice},
		{"extend_slice", lua_extend_slice},
		{"check_slice", lua_check_slice},
		{NULL, NULL},
	};
	static const luaL_Reg methods[] = {
		{"set_max_slice", object_set_max_slice},
		{NULL, NULL},
	};
	lua_new_module(L, "fiber", functions);
	lua_pop(L, 1);
	lua_fiber_add_methods(L, methods);
}
