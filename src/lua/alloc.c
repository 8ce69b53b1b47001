/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The Lua heap: LuaJIT's allocator function over mimalloc, which counts every byte
 * and can refuse to go beyond a limit.
 *
 * LuaJIT passes the exact old size with each call, so the counters are exact: what is
 * held now, and what was ever asked for, in all and by fiber (growth of a block counts
 * by the difference). Under AddressSanitizer the blocks come from malloc, which it
 * watches.
 *
 * The limit: LuaJIT does not collect garbage when an allocation fails, it raises. So
 * from half of the limit on the collector is told to be at work, again and again as the
 * heap grows, and from three quarters on to hurry: what then fails is a heap full of
 * live data. Both are plain stores of numbers behind lua_gc(), harmless in the middle
 * of an allocation. The last part of the limit is for requests that ask for little: so
 * with a heap full of live data the rest is served still, and the limit can be raised.
 * The limit holds for code that can be told, see lua_heap_guard().
 */
#include "lua/alloc.h"

#include <stdlib.h>

#include "core/fiber.h"

#if defined(TARN_ASAN) || defined(TARN_TSAN)
#include <malloc.h>
#define heap_malloc malloc
#define heap_realloc realloc
#define heap_free free
#define heap_usable_size malloc_usable_size
#else
#include <mimalloc.h>
#define heap_malloc mi_malloc
#define heap_realloc mi_realloc
#define heap_free mi_free
#define heap_usable_size mi_usable_size
#endif

enum {
	/** Parts of the limit by which the heap grows between two wake-ups of the collector. */
	ALARM_PARTS = 64,
	/** Part of the limit that is kept for small requests, and what such a one may ask for. */
	RESERVE_PARTS = 32,
	SMALL_REQUEST_MAX = 64 * 1024,
	/** The collector's speed in a hurry, in percent of the speed of allocation. */
	STEPMUL_HURRY = 1000,
};

static size_t heap_used;
static uint64_t heap_allocated;

/** SIZE_MAX: none. Below both there is no question. */
static size_t heap_limit = SIZE_MAX, heap_limit_soft = SIZE_MAX;
/** The collector is woken when the heap grows beyond `alarm`, which starts at `alarm_first`. */
static size_t alarm = SIZE_MAX, alarm_first = SIZE_MAX, alarm_step;
/** The collector's usual speed while it hurries, else 0. */
static int stepmul_usual;

/** See lua_heap_watch(). */
static size_t watched_size = SIZE_MAX;
static void (*watcher)(const void *block);

static void hurry(bool yesno)
{
	if (yesno && stepmul_usual == 0) {
		stepmul_usual = lua_gc(lua_main, LUA_GCSETSTEPMUL, STEPMUL_HURRY);
	} else if (!yesno && stepmul_usual != 0) {
		lua_gc(lua_main, LUA_GCSETSTEPMUL, stepmul_usual);
		stepmul_usual = 0;
	}
}

static __attribute__((noinline)) void wake_collector(void)
{
	alarm = heap_used + alarm_step;
	hurry(heap_used / 3 > heap_limit / 4);
	/* The next check, in whatever code, makes a step. */
	lua_gc(lua_main, LUA_GCRESTART, 0);
}

static __attribute__((noinline)) void shrunk(void)
{
	alarm = heap_used + alarm_step > alarm_first ? heap_used + alarm_step : alarm_first;
	if (heap_used < alarm_first)
		hurry(false);
}

static inline void count_shrinking(size_t by)
{
	heap_used -= by;
	if (alarm != alarm_first && heap_used + 2 * alarm_step < alarm)
		shrunk();
}

/** `by` more bytes are beyond the soft limit. */
static __attribute__((noinline)) bool is_refused(size_t by)
{
	uint64_t asked;
	if (!lua_heap_is_guarded(&asked))
		return false;
	return heap_used + by > heap_limit || asked + by > SMALL_REQUEST_MAX;
}

void *lua_heap_alloc(void *ud, void *ptr, size_t old_size, size_t new_size)
{
	(void)ud;
	if (new_size == 0) {
		if (old_size == watched_size)
			watcher(ptr);
		count_shrinking(old_size);
		heap_free(ptr);
		return NULL;
	}
	bool is_growing = new_size > old_size;
	if (is_growing && heap_used + (new_size - old_size) > heap_limit_soft &&
	    is_refused(new_size - old_size))
		return NULL;
	void *block = ptr == NULL ? heap_malloc(new_size) : heap_realloc(ptr, new_size);
	if (block == NULL)
		return NULL;
	if (!is_growing) {
		count_shrinking(old_size - new_size);
		return block;
	}
	heap_used += new_size - old_size;
	heap_allocated += new_size - old_size;
	fiber()->usage.heap_bytes += new_size - old_size;
	if (heap_used > alarm)
		wake_collector();
	return block;
}

void lua_heap_watch(size_t size, void (*f)(const void *block))
{
	watched_size = f != NULL ? size : SIZE_MAX;
	watcher = f;
}

size_t lua_heap_block_size(const void *block)
{
	return heap_usable_size((void *)block);
}

size_t lua_heap_used(void)
{
	return heap_used;
}

uint64_t lua_heap_allocated(void)
{
	return heap_allocated;
}

size_t lua_heap_limit(void)
{
	return heap_limit != SIZE_MAX ? heap_limit : 0;
}

void lua_heap_set_limit(size_t limit)
{
	heap_limit = limit != 0 ? limit : SIZE_MAX;
	heap_limit_soft = heap_limit - limit / RESERVE_PARTS;
	alarm_first = limit != 0 ? limit / 2 : SIZE_MAX;
	alarm_step = limit / ALARM_PARTS;
	alarm = alarm_first;
	hurry(false);
	if (heap_used > alarm)
		wake_collector();
}

bool lua_heap_is_nearly_full(void)
{
	return heap_limit != SIZE_MAX && heap_used > heap_limit - heap_limit / 8;
}
