/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.stat.memory(): where all memory of the process is, and the sizes of blocks
 * that the allocator has.
 *
 * Parts are exact where something counts them; what is left of the blocks that the
 * allocator has handed out is `runtime`, what is left of the process is `other`:
 * stacks of fibers, heaps of other threads, code and libraries.
 */
#include "core/memory.h"
#include "db/db.h"
#include "db/index/bptree.h"
#include "db/index/index.h"
#include "db/tuple/tuple.h"
#include "lua/alloc.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "net/connection.h"

static void set_bytes(lua_State *L, const char *name, double value)
{
	lua_pushnumber(L, value > 0 ? value : 0);
	lua_setfield(L, -2, name);
}

struct heap_sum {
	double used, free;
};

static void sum_class(const struct mem_class *class, void *arg)
{
	struct heap_sum *sum = arg;
	double used = (double)class->block_count * class->block_size;
	sum->used += used;
	sum->free += class->area_bytes - used;
}

/** () -> {tuples = ..., ..., process = ...}, in bytes */
static int parts(lua_State *L)
{
	struct heap_sum heap = {0, 0};
	mem_visit_classes(sum_class, &heap);
	double views = (double)tuple_deferred_size + bptree_retired_size;
	double known = (double)tuple_memory.used + index_memory.used + runtime_memory.used +
		lua_heap_used() + connections_memory();
	double runtime = heap.used > known ? heap.used - known : 0;
	double process = mem_process_size();
	double other = process - known - runtime - heap.free;
	/* Memory that was never touched is not the process's yet. */
	if (other < 0)
		heap.free += other;
	lua_createtable(L, 0, 10);
	set_bytes(L, "tuples", (double)tuple_memory.used - tuple_deferred_size);
	set_bytes(L, "indexes", (double)index_memory.used - bptree_retired_size);
	set_bytes(L, "read_views", views);
	set_bytes(L, "loose_tuples", runtime_memory.used);
	set_bytes(L, "lua", lua_heap_used());
	set_bytes(L, "network", connections_memory());
	set_bytes(L, "runtime", runtime);
	set_bytes(L, "free", heap.free);
	set_bytes(L, "other", other);
	set_bytes(L, "process", process);
	return 1;
}

static void push_class(const struct mem_class *class, void *arg)
{
	lua_State *L = arg;
	double used = (double)class->block_count * class->block_size;
	lua_createtable(L, 0, 6);
	set_bytes(L, "item_size", class->block_size);
	set_bytes(L, "item_count", class->block_count);
	set_bytes(L, "mem_used", used);
	set_bytes(L, "mem_free", class->area_bytes - used);
	set_bytes(L, "slab_count", class->area_count);
	set_bytes(L, "slab_size", class->area_count > 0 ?
		  (double)(class->area_bytes / class->area_count) : 0);
	lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

/** () -> {{item_size = ..., ...}, ...}: as box.slab.stats() */
static int classes(lua_State *L)
{
	lua_newtable(L);
	mem_visit_classes(push_class, L);
	return 1;
}

/** [raises] (): checks the structure of all indexes */
static int check(lua_State *L)
{
	return db_check_indexes() == 0 ? 0 : lua_throw(L);
}

void lua_memory_stat_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"parts", parts}, {"classes", classes}, {"check", check}, {NULL, NULL},
	};
	lua_new_module(L, "tarn.memory_stat", funcs);
	lua_pop(L, 1);
}
