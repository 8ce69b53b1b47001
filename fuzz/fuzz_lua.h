/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For fuzzers of what has a Lua half: the server's parts, without a configuration.
 */
#pragma once

#include "fuzz.h"

#include "core/log.h"
#include "core/loop.h"
#include "core/worker.h"
#include "db/db.h"
#include "lua/bridge.h"
#include "net/iproto.h"

/** Once, before the first input: the Lua state. */
static inline lua_State *fuzz_lua_start(void)
{
	static char *argv[] = {"fuzz", NULL};
	fiber_init();
	loop_init();
	worker_init();
	log_set_level(LOG_FATAL);
	db_init();
	net_init();
	lua_bridge_init(1, argv);
	return lua_main;
}
