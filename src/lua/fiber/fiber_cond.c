/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fiber.cond(): condition variables, a userdata around struct fiber_cond.
 * Whoever waits holds the object on its stack, so a collected one has no waiters.
 */
#include <math.h>

#include "core/fiber.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/finalizer.h"
#include "lua/modules.h"

static struct lua_class cond_class = {.name = "fiber.cond"};

static struct fiber_cond *check_cond(lua_State *L, const char *usage)
{
	if (lua_isnoneornil(L, 1))
		luaL_error(L, "%s", usage);
	return lua_class_check_marked(L, 1, &cond_class);
}

static int cond_new(lua_State *L)
{
	fiber_cond_create(lua_class_push_marked(L, &cond_class, sizeof(struct fiber_cond)));
	return 1;
}

static int cond_wait(lua_State *L)
{
	lua_check_finalizer(L);
	static const char usage[] = "usage: cond:wait([timeout])";
	struct fiber_cond *c = check_cond(L, usage);
	double timeout = TIMEOUT_INFINITY;
	if (!lua_isnoneornil(L, 2)) {
		timeout = lua_tonumber(L, 2);
		if (!lua_isnumber(L, 2) || !(timeout >= 0))
			luaL_error(L, "%s", usage);
	}
	int rc = fiber_cond_wait_timeout(c, fmin(timeout, TIMEOUT_INFINITY));
	if (fiber_testcancel() != 0)
		return lua_throw(L);
	lua_pushboolean(L, rc == 0);
	return 1;
}

static int cond_signal(lua_State *L)
{
	fiber_cond_signal(check_cond(L, "usage: cond:signal()"));
	return 0;
}

static int cond_broadcast(lua_State *L)
{
	fiber_cond_broadcast(check_cond(L, "usage: cond:broadcast()"));
	return 0;
}

static int cond_tostring(lua_State *L)
{
	lua_class_check_marked(L, 1, &cond_class);
	lua_pushliteral(L, "cond");
	return 1;
}

static int cond_gc(lua_State *L)
{
	fiber_cond_destroy(lua_class_check_marked(L, 1, &cond_class));
	return 0;
}

static const luaL_Reg methods[] = {
	{"wait", cond_wait},
	{"signal", cond_signal},
	{"broadcast", cond_broadcast},
	{"__tostring", cond_tostring},
	{"__gc", cond_gc},
	{NULL, NULL},
};

void lua_fiber_cond_init(lua_State *L)
{
	lua_fiber_add_class(L, &cond_class, methods, "cond", cond_new);
}
