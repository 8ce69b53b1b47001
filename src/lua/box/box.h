/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the binding of `box`: what its files share.
 */
#pragma once

#include <lua.h>
#include <stdint.h>

#include "core/trigger.h"

struct tuple;

/** Pushes the table `box`, made at need. Start-up only. */
void lua_box_push(lua_State *L);

/**
 * [raises] Pushes the tuple (nothing for NULL) and gives the reference back that db.h
 * counted for us. Returns the number of values.
 */
int lua_box_push_counted(lua_State *L, struct tuple *tuple);

/** [raises] The integer argument at `idx`, cut to 32 bits as C does; else the error `usage`. */
uint32_t lua_box_uint(lua_State *L, int idx, const char *usage);

/**
 * [raises] The calls that set triggers: f() lists the functions, newest first;
 * f(new) adds one, f(new, old) replaces, f(nil, old) removes. Arguments stand at
 * `base` and above. Leaves results on the stack and returns their number. `run` is
 * the callback of a new trigger; its `data` is what lua_trigger_call() needs.
 */
int lua_trigger_reset(lua_State *L, int base, struct list *triggers, trigger_func run);

/**
 * Calls a script's trigger in the current fiber: `push` (a C function that was
 * referenced in the registry) gets `event` as light userdata and returns the
 * arguments; `take` (may be LUA_NOREF) gets `event` and the results. -1: the error
 * is in the diagnostics area. May yield.
 */
int lua_trigger_call(struct trigger *trigger, int push, int take, void *event);

/** References a C function in the registry. Start-up only. */
int lua_box_ref(lua_State *L, lua_CFunction f);

/** Creates the module tarn.box.api: what box has only once box.cfg{} has run. */
void lua_box_init_api(lua_State *L);

/** Runs the triggers of box.ctl.on_schema_init. May yield. -1 with an error set. */
int lua_ctl_run_schema_init(void);

/* Opened by lua_space_init() and lua_cfg_init(). */
void lua_ctl_init(lua_State *L);
void lua_user_init(lua_State *L);
void lua_sequence_init(lua_State *L);
