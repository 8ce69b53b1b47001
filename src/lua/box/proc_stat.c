/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.stat.procedures for stat.lua: what each stored procedure costs
 * (db/proc_stat.h), where times become seconds; and box.stat.lua().
 */
#include <string.h>

#include "core/buf.h"
#include "core/ticks.h"
#include "db/proc_stat.h"
#include "lua/bridge.h"
#include "lua/box/call.h"
#include "lua/modules.h"

static void set_count(lua_State *L, const char *name, uint64_t value)
{
	lua_push_uint64(L, value);
	lua_setfield(L, -2, name);
}

static void set_seconds(lua_State *L, const char *name, uint64_t ticks, double unit)
{
	lua_pushnumber(L, (double)ticks * unit);
	lua_setfield(L, -2, name);
}

static void push_one(lua_State *L, const struct proc_stat *s, double unit)
{
	lua_createtable(L, 0, 9);
	set_count(L, "calls", s->calls);
	set_count(L, "errors", s->errors);
	set_seconds(L, "seconds", s->ticks, unit);
	set_seconds(L, "seconds_max", s->ticks_max, unit);
	set_count(L, "lua_bytes", s->usage.heap_bytes);
	set_count(L, "yields", s->yields);
	set_count(L, "rows_read", s->usage.rows_read);
	set_count(L, "rows_written", s->usage.rows_written);
	set_count(L, "response_bytes", s->usage.response_bytes);
}

/**
 * () -> {name = {calls, errors, ...}}. Making the tables may run finalizers, and those
 * may call procedures or reset(): nothing of a record is used after the first push.
 */
static int all(lua_State *L)
{
	double unit = ticks_unit();
	const char *name;
	size_t len;
	const struct proc_stat *s;
	struct buf *copied = lua_scratch_get();
	lua_newtable(L);
	for (size_t pos = 0; (s = proc_stat_next(&pos, &name, &len)) != NULL;) {
		struct proc_stat copy = *s;
		buf_truncate(copied, 0);
		memcpy(buf_alloc(copied, len), name, len);
		lua_pushlstring(L, copied->data, len);
		push_one(L, &copy, unit);
		lua_rawset(L, -3);
	}
	lua_scratch_put(copied);
	return 1;
}

static int reset(lua_State *L)
{
	(void)L;
	proc_stat_reset();
	return 0;
}

/** ([count]) -> names kept at most */
static int limit(lua_State *L)
{
	if (!lua_isnoneornil(L, 1)) {
		double count = luaL_checknumber(L, 1);
		if (!(count >= 0 && count <= 1e6))
			return lua_throw_params(L, "limit: a number from 0 to 1000000 expected");
		proc_stat_set_limit((size_t)count);
	}
	lua_pushnumber(L, (double)proc_stat_limit());
	return 1;
}

/** () -> {heap, heap_limit, coroutines, eval_cache = {size, size_max, hits, misses}} */
static int runtime(lua_State *L)
{
	struct lua_eval_cache_stat cache;
	lua_eval_cache_stat(&cache);
	lua_createtable(L, 0, 4);
	set_count(L, "heap", lua_heap_used());
	set_count(L, "heap_limit", lua_heap_limit());
	set_count(L, "coroutines", lua_coroutine_count());
	lua_createtable(L, 0, 4);
	set_count(L, "size", cache.size);
	set_count(L, "size_max", cache.size_max);
	set_count(L, "hits", cache.hits);
	set_count(L, "misses", cache.misses);
	lua_setfield(L, -2, "eval_cache");
	return 1;
}

void lua_proc_stat_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"all", all}, {"reset", reset}, {"limit", limit}, {"runtime", runtime},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.proc_stat", funcs);
	lua_pop(L, 1);
}
