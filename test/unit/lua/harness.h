/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For unit tests of the Lua layer: one state for all tests of a program; each test's
 * body runs in a fiber.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/worker.h"
#include "db/db.h"
#include "lua/bridge.h"
#include "net/iproto.h"

static inline int lua_setup(void **state)
{
	static char *argv[] = {"test", NULL};
	fiber_init();
	loop_init();
	worker_init();
	db_init();
	net_init();
	lua_bridge_init(1, argv);
	return 0;
}

static inline int lua_teardown(void **state)
{
	lua_bridge_free();
	net_free();
	db_free();
	worker_free();
	loop_free();
	fiber_free();
	return 0;
}

static inline int run_in_fiber(fiber_func body)
{
	struct fiber *f = fiber_new("test", body);
	assert_non_null(f);
	fiber_set_joinable(f, true);
	fiber_start(f);
	return fiber_join(f);
}

/** A cmocka test NAME whose body, which follows, runs in a fiber with the coroutine L. */
#define LUA_TEST(name) \
	static void name##_run(lua_State *L); \
	static int name##_body(va_list ap) \
	{ \
		name##_run(lua_fiber_state()); \
		return 0; \
	} \
	static void name(void **state) \
	{ \
		assert_int_equal(run_in_fiber(name##_body), 0); \
	} \
	static void name##_run(lua_State *L)

/** Runs `return EXPR` and leaves its one value at the top. */
static inline void eval(lua_State *L, const char *expr)
{
	lua_pushfstring(L, "return %s", expr);
	int rc = luaL_loadstring(L, lua_tostring(L, -1));
	if (rc == 0)
		rc = lua_pcall(L, 0, 1, 0);
	if (rc != 0)
		fail_msg("%s: %s", expr, lua_tostring(L, -1));
	lua_remove(L, -2);
}
