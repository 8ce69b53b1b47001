/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The references of large tuples, given back without finalizers.
 *
 * LuaJIT keeps cdata with finalizers in one table, which it goes through at once at the
 * end of each cycle: with a million of them that takes a tenth of a second. So large
 * ones have none. The collector frees each cdata by our own allocator, with the exact
 * size. All large ones are blocks of one size that hardly anything else has, and what
 * such a block was can be read in it still.
 *
 * Where in a block the cdata's bytes are is learned at start-up, by freeing samples.
 */
#include <string.h>

#include "lua/alloc.h"
#include "lua/box/tuple.h"
#include "lua/bridge_impl.h"

enum {
	SAMPLE_COUNT = 2,
	/** Bytes at the beginning of a block: the same in all cdata of one size. */
	HEAD_SIZE = 8,
	/** From the block to the cdata's bytes at most, and at least: LuaJIT's header. */
	OFFSET_MAX = 64, OFFSET_MIN = 16,
};

/** From a block to the bytes of the cdata; and how such a block begins. */
static ptrdiff_t payload_offset;
static char head[HEAD_SIZE];

/** The samples: their bytes, and their blocks once those are freed. */
static struct {
	const void *payload[SAMPLE_COUNT];
	const void *block[SAMPLE_COUNT];
	char head[SAMPLE_COUNT][HEAD_SIZE];
} samples;

/** A block of the samples' size is freed: is it one of theirs? */
static void see_sample(const void *block)
{
	for (int i = 0; i < SAMPLE_COUNT; i++) {
		ptrdiff_t offset = (const char *)samples.payload[i] - (const char *)block;
		if (samples.block[i] != NULL || offset < OFFSET_MIN || offset > OFFSET_MAX ||
		    !lua_cdata_was_tuple(samples.payload[i]))
			continue;
		samples.block[i] = block;
		memcpy(samples.head[i], block, HEAD_SIZE);
	}
}

/** Is each sample freed, and are they alike? Learns how from them. */
static bool samples_agree(void)
{
	payload_offset = (const char *)samples.payload[0] - (const char *)samples.block[0];
	memcpy(head, samples.head[0], HEAD_SIZE);
	for (int i = 0; i < SAMPLE_COUNT; i++) {
		if (samples.block[i] == NULL ||
		    (const char *)samples.payload[i] - (const char *)samples.block[i] !=
			    payload_offset ||
		    memcmp(samples.head[i], head, HEAD_SIZE) != 0)
			return false;
	}
	return true;
}

/** A block of the size of large ones goes. */
static void see_block(const void *block)
{
	if (memcmp(block, head, HEAD_SIZE) != 0)
		return;
	const struct lua_tuple *t = (const void *)((const char *)block + payload_offset);
	if (lua_cdata_was_tuple(t) && t->_size == LUA_TUPLE_IS_LARGE)
		lua_tuple_forget(t);
}

/** Makes a sample and leaves it on the stack; returns the size of its block. */
static size_t push_sample(lua_State *L, int maker)
{
	uint64_t before = lua_heap_allocated();
	lua_pushvalue(L, maker);
	lua_pushnumber(L, LUA_TUPLE_LARGE_BODY);
	lua_call(L, 1, 1);
	return lua_heap_allocated() - before;
}

bool lua_tuple_watch(lua_State *L)
{
	int top = lua_gettop(L);
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "internal.cdata");
	lua_getfield(L, -1, "new_tuple");
	int maker = lua_gettop(L);
	push_sample(L, maker); /* whatever else is allocated at first */
	size_t size = 0;
	for (int i = 0; i < SAMPLE_COUNT; i++) {
		size = push_sample(L, maker);
		samples.payload[i] = lua_topointer(L, -1);
	}
	lua_settop(L, top);
	lua_heap_watch(size, see_sample);
	lua_gc(L, LUA_GCCOLLECT, 0);
	bool is_learned = samples_agree();
	lua_heap_watch(size, is_learned ? see_block : NULL);
	return is_learned;
}
