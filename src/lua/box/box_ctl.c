/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.ctl: triggers around the life of the instance.
 */
#include <string.h>

#include "db/wal/wal.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/module/module_box.h"
#include "lua/modules.h"
#include "net/watch.h"

static struct list shutdown_triggers = LIST_INIT(shutdown_triggers);
static struct list schema_init_triggers = LIST_INIT(schema_init_triggers);
static struct list recovery_state_triggers = LIST_INIT(recovery_state_triggers);
static int push_nothing_ref = LUA_NOREF, push_state_ref = LUA_NOREF;
/** Seconds that the triggers of a shutdown may take. */
static double shutdown_timeout = 3;

static int push_nothing(lua_State *L)
{
	return 0;
}

static int run(struct trigger *trigger, void *event)
{
	return lua_trigger_call(trigger, push_nothing_ref, LUA_NOREF, event);
}

static int on_shutdown(lua_State *L)
{
	return lua_trigger_reset(L, 1, &shutdown_triggers, run);
}

/** (event: a text) */
static int push_state(lua_State *L)
{
	lua_pushstring(L, lua_touserdata(L, 1));
	return 1;
}

static int run_with_state(struct trigger *trigger, void *event)
{
	return lua_trigger_call(trigger, push_state_ref, LUA_NOREF, event);
}

static int on_recovery_state(lua_State *L)
{
	return lua_trigger_reset(L, 1, &recovery_state_triggers, run_with_state);
}

/** For the database: a stage of the start is over. */
static void run_recovery_state(const char *state)
{
	if (trigger_run(&recovery_state_triggers, (void *)state) != 0)
		diag_log();
}

static int set_shutdown_timeout(lua_State *L)
{
	shutdown_timeout = luaL_checknumber(L, 1);
	return 0;
}

double lua_ctl_shutdown_timeout(void)
{
	return shutdown_timeout;
}

static int on_schema_init(lua_State *L)
{
	return lua_trigger_reset(L, 1, &schema_init_triggers, run);
}

void lua_ctl_run_shutdown(void)
{
	static const char true_value[] = "\xc3";
	watch_broadcast("box.shutdown", strlen("box.shutdown"), true_value, 1);
	module_run_shutdown();
	if (trigger_run(&shutdown_triggers, NULL) != 0)
		diag_log();
}

int lua_ctl_run_schema_init(void)
{
	return trigger_run(&schema_init_triggers, NULL);
}

static int timed_out(lua_State *L)
{
	diag_set(TimedOut, "timed out");
	return lua_throw(L);
}

void lua_ctl_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"on_shutdown", on_shutdown}, {"on_schema_init", on_schema_init},
		{"on_recovery_state", on_recovery_state},
		{"set_shutdown_timeout", set_shutdown_timeout},
		{"timed_out", timed_out}, {NULL, NULL},
	};
	wal_on_recovery_state = run_recovery_state;
	push_state_ref = lua_box_ref(L, push_state);
	push_nothing_ref = lua_box_ref(L, push_nothing);
	lua_new_module(L, "tarn.ctl", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "box_ctl.lua", "tarn.box.ctl");
}
