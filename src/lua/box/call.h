/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What call.c (CALL and EVAL) and func.c (stored functions) share: ports whose values
 * are on a coroutine's stack, and one protected call for all that is to be run.
 */
#pragma once

#include "db/port.h"
#include "lua/bridge.h"

/** A port whose values are on a coroutine's stack, from `bottom` + 1 on. */
struct port_lua {
	const struct port_vtab *vtab;
	lua_State *L;
	int bottom, count;
	/** The coroutine came from lua_state_get() and goes back with the port. */
	bool owns_state;
};

extern const struct port_vtab port_lua_vtab;

/**
 * A port over `count` values that are on L's stack from `bottom` + 1 on, for a caller who keeps
 * them there.
 */
void port_lua_create(struct port *port, lua_State *L, int bottom, int count);

/** Pushes a port's values, of any kind of port, and returns their number. [raises] */
int lua_push_port(lua_State *L, struct port *port);

/** What is to be called. */
struct lua_callee {
	enum { CALLEE_NAME, CALLEE_TEXT, CALLEE_REF } kind;
	/** A dotted name, or a chunk's text. */
	const char *text;
	size_t len;
	/** A function in the registry. */
	int ref;
};

/**
 * Calls it with a port's values; -1 with the error set. `result` is created on success only. May
 * yield.
 */
int lua_callee_run(const struct lua_callee *callee, struct port *args, struct port *result);

/** The cache of compiled chunks that EVAL has: chunks now and at most; found or compiled, ever. */
struct lua_eval_cache_stat {
	uint64_t size, size_max, hits, misses;
};
void lua_eval_cache_stat(struct lua_eval_cache_stat *stat);

/** Notes which globals there are before any script runs: those are the program's own. */
void lua_call_learn_builtins(lua_State *L);

/** Stored functions in C. */
void lua_func_c_init(lua_State *L);

/** Stored functions in Lua, and box.func. */
void lua_func_init(lua_State *L);
