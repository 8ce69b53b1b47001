/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What it costs to run Lua from C, without the network: nanoseconds of processor time
 * (a busy machine does not count) and bytes of Lua heap for each CALL, EVAL and value.
 * Run by hand: `ninja bench_call && ./bench_call`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/worker.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/proc_stat.h"
#include "db/tuple/tuple.h"
#include "lua/bridge.h"
#include "net/iproto.h"

enum { WARM_UP = 1000, ROUNDS = 1000000 };

static struct buf out;

static uint64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void call(const char *what, const char *args, size_t size, bool is_eval)
{
	struct port in, result;
	port_msgpack_create(&in, args, args + size);
	int rc = is_eval ? db_eval(what, strlen(what), &in, &result) :
		db_call(what, strlen(what), &in, &result);
	if (rc != 0)
		abort();
	buf_truncate(&out, 0);
	port_dump(&result, &out, false);
	port_destroy(&result);
}

static void measure(const char *name, const char *what, const char *args, size_t size, bool is_eval)
{
	for (int i = 0; i < WARM_UP; i++)
		call(what, args, size, is_eval);
	uint64_t allocated = lua_heap_allocated(), since = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		call(what, args, size, is_eval);
	printf("%-32s %8.1f ns %8.3f bytes\n", name, (double)(now_ns() - since) / ROUNDS,
	       (double)(lua_heap_allocated() - allocated) / ROUNDS);
}

/** What box.stat.procedures() adds to a call: one name, and names that take turns. */
static void measure_proc_stat(const char *name, int names)
{
	static const char *texts[] = {"empty", "echo", "app.orders.find", "list"};
	struct proc_mark mark;
	uint64_t since = now_ns();
	for (int i = 0; i < ROUNDS; i++) {
		const char *text = texts[i % names];
		proc_stat_begin_request(&mark, i);
		proc_stat_end_request(&mark, i, text, strlen(text), false);
	}
	printf("%-32s %8.1f ns\n", name, (double)(now_ns() - since) / ROUNDS);
}

static void measure_tuple(const char *name, uint32_t size)
{
	char *data = calloc(1, size + 16), *end = mp_encode_array(data, 1);
	end = mp_encode_strl(end, size) + size;
	struct tuple *tuple = tuple_new(tuple_format_default, data, end);
	tuple_ref(tuple);
	lua_State *L = lua_fiber_state();
	uint64_t since = now_ns();
	for (int i = 0; i < ROUNDS; i++) {
		lua_push_tuple(L, tuple);
		lua_settop(L, 0);
	}
	printf("%-32s %8.1f ns\n", name, (double)(now_ns() - since) / ROUNDS);
	free(data);
}

static int run(va_list ap)
{
	lua_State *L = lua_fiber_state();
	if (luaL_dostring(L, "function empty() end function echo(...) return ... end "
			     "list = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10} "
			     "function give() return list end") != 0)
		abort();
	measure("CALL of nothing", "empty", "\x90", 1, false);
	measure("CALL echo(42)", "echo", "\x91\x2a", 2, false);
	measure("CALL echo('text')", "echo", "\x91\xa4text", 6, false);
	measure("CALL, a table of 10 returned", "give", "\x90", 1, false);
	measure("EVAL return ...", "return ...", "\x91\x2a", 2, true);
	measure_proc_stat("box.stat.procedures, one name", 1);
	measure_proc_stat("box.stat.procedures, four names", 4);
	measure_tuple("push a tuple of 50 bytes", 50);
	measure_tuple("push a tuple of 1000 bytes", 1000);
	measure_tuple("push a tuple of 2000 bytes", 2000);
	return 0;
}

int main(void)
{
	static char *argv[] = {"bench", NULL};
	fiber_init();
	loop_init();
	worker_init();
	db_init();
	net_init();
	lua_bridge_init(1, argv);
	struct fiber *f = fiber_new("bench", run);
	fiber_set_joinable(f, true);
	fiber_start(f);
	return fiber_join(f);
}
