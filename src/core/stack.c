/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stacks for fibers, made so that 100,000 of them fit into one process.
 *
 * The kernel limits the number of mappings (vm.max_map_count, 65,530 by
 * default). A stack with an inaccessible page below it takes two: its own and
 * the guard. So:
 *
 * - Stacks of the default size are cut from slabs of SLAB_STACKS, one mmap()
 *   each. While the limit permits (half of the mappings, less a reserve for
 *   everyone else: about 24,000 guards), each stack gets its guard page by
 *   mprotect(), which splits the slab.
 * - Beyond that, slabs stay whole and their stacks have no guard, but a canary:
 *   a fixed pattern in the 64 bytes below the stack, checked when its fiber
 *   ends, and often when it yields. Where it is damaged the process stops with a
 *   message, since the stack below is overwritten or about to be.
 *
 * The canary of a stack stands in the highest bytes of the stack below it, whose
 * page is in use anyway; so a sleeping fiber without a guard costs one page of
 * stack, like one with a guard. Each stack leaves its highest bytes free for that:
 *
 *     guarded    |guard page|  stack, grows down           <-- top |canary area|
 *     unguarded  |  stack, grows down (one page more)      <-- top |canary area|
 *
 * A slab begins with one page more, for the canary of its lowest stack.
 *
 * The first stacks are the ones used most (the pool is last in, first out), so
 * nearly all fibers of nearly all programs are guarded.
 *
 * Memory: slabs are mapped without reservation and without huge pages (those
 * would back a sleeping fiber with 2 MB); a fiber costs the pages it touched.
 *
 * Stacks of another size have a mapping each, with a guard, and are unmapped
 * when given back. Only tx calls these functions: no locks.
 */
#include "core/stack.h"

#include <assert.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/memory.h"

#ifdef TARN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

enum {
	SLAB_STACKS = 32,
	/** Under the sanitizer, which goes through all mappings for each slab at exit. */
	SLAB_STACKS_MAX_ASAN = 2048,
	/** Mappings left to libraries, mimalloc, the Lua heap, threads. */
	MAPPING_RESERVE = 16000,
	MAPPING_MAX_DEFAULT = 65530,
	CANARY_BYTE = 0xc5,
};

struct stack_slab {
	struct stack_slab *next;
	char *base;
	size_t size;
	/** Stacks there is room for, and those cut off so far. */
	int capacity, cut;
};

/** A stack of the default size that nobody uses. */
struct free_stack {
	struct free_stack *next;
	struct stack stack;
};

static struct {
	struct stack_slab *slabs;
	struct free_stack *free;
	size_t page_size;
	size_t guard_count, guard_limit;
} pool;

size_t stack_page_size(void)
{
	return pool.page_size;
}

static size_t mapping_limit(void)
{
	long limit = MAPPING_MAX_DEFAULT;
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	if (f != NULL) {
		if (fscanf(f, "%ld", &limit) != 1 || limit < 0)
			limit = MAPPING_MAX_DEFAULT;
		fclose(f);
	}
	return limit;
}

static void pool_init(void)
{
	if (pool.page_size != 0)
		return;
	pool.page_size = sysconf(_SC_PAGESIZE);
	size_t limit = mapping_limit();
	pool.guard_limit = limit > MAPPING_RESERVE ? (limit - MAPPING_RESERVE) / 2 : 0;
}

size_t stack_round_up(size_t size)
{
	pool_init();
	size_t mask = pool.page_size - 1;
	return size <= SIZE_MAX - mask ? (size + mask) & ~mask : SIZE_MAX & ~mask;
}

static char *map_pages(size_t size)
{
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (base == MAP_FAILED) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in mmap for fiber stack",
			 size);
		return NULL;
	}
	madvise(base, size, MADV_NOHUGEPAGE);
#ifdef TARN_ASAN
	__lsan_register_root_region(base, size);
#endif
	return base;
}

static void unmap_pages(char *base, size_t size)
{
#ifdef TARN_ASAN
	__lsan_unregister_root_region(base, size);
	__asan_unpoison_memory_region(base, size);
#endif
	munmap(base, size);
}

/** Makes a stack of `size` bytes behind the page at `page`, which turns into its guard. */
static void place(struct stack *s, char *page, size_t size)
{
	s->base = page + pool.page_size;
	s->size = size;
	s->is_guarded = pool.guard_count < pool.guard_limit &&
			mprotect(page, pool.page_size, PROT_NONE) == 0;
	if (s->is_guarded) {
		pool.guard_count++;
		return;
	}
	s->base -= pool.page_size;
	s->size += pool.page_size;
	memset(s->base - STACK_CANARY_SIZE, CANARY_BYTE, STACK_CANARY_SIZE);
}

/** Bytes before and in a mapping of one stack: room for a canary, and the guard. */
static size_t single_overhead(void)
{
	return 2 * pool.page_size;
}

static int create_single(struct stack *s, size_t size)
{
	char *base = map_pages(size + single_overhead());
	if (base == NULL)
		return -1;
	place(s, base + pool.page_size, size);
	s->is_single = true;
	return 0;
}

static void destroy_single(struct stack *s)
{
	char *end = s->base + s->size;
	size_t size = s->size + (s->is_guarded ? 2 : 1) * pool.page_size;
	if (s->is_guarded)
		pool.guard_count--;
	unmap_pages(end - size, size);
}

static size_t slab_stride(void)
{
	return FIBER_STACK_SIZE_DEFAULT + pool.page_size;
}

/** How many stacks the next slab is for. */
static int slab_capacity(void)
{
	int capacity = SLAB_STACKS;
#ifdef TARN_ASAN
	if (pool.slabs != NULL)
		capacity = pool.slabs->capacity * 2;
	if (capacity > SLAB_STACKS_MAX_ASAN)
		capacity = SLAB_STACKS_MAX_ASAN;
#endif
	return capacity;
}

static struct stack_slab *slab_new(void)
{
	int capacity = slab_capacity();
	size_t size = pool.page_size + capacity * slab_stride();
	char *base = map_pages(size);
	if (base == NULL)
		return NULL;
	struct stack_slab *slab = xmalloc(sizeof(*slab));
	slab->base = base;
	slab->size = size;
	slab->capacity = capacity;
	slab->cut = 0;
	slab->next = pool.slabs;
	pool.slabs = slab;
	return slab;
}

int stack_create(struct stack *s, size_t size)
{
	if (size > SIZE_MAX / 4) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in mmap for fiber stack",
			 size);
		return -1;
	}
	size = stack_round_up(size);
	if (size != FIBER_STACK_SIZE_DEFAULT)
		return create_single(s, size);
	if (pool.free != NULL) {
		struct free_stack *f = pool.free;
		pool.free = f->next;
		*s = f->stack;
		xfree(f);
		return 0;
	}
	struct stack_slab *slab = pool.slabs;
	if (slab == NULL || slab->cut == slab->capacity)
		slab = slab_new();
	if (slab == NULL)
		return -1;
	place(s, slab->base + pool.page_size + slab->cut++ * slab_stride(), size);
	s->is_single = false;
	return 0;
}

void stack_destroy(struct stack *s)
{
	if (s->is_single) {
		destroy_single(s);
		return;
	}
	/* The highest page stays: the neighbour's canary is there. */
	madvise(s->base, s->size - pool.page_size, MADV_DONTNEED);
#ifdef TARN_ASAN
	__asan_unpoison_memory_region(s->base, s->size);
#endif
	struct free_stack *f = xmalloc(sizeof(*f));
	f->stack = *s;
	f->next = pool.free;
	pool.free = f;
}

bool stack_check(const struct stack *s)
{
	if (s->is_guarded)
		return true;
	for (int i = 1; i <= STACK_CANARY_SIZE; i++) {
		if ((unsigned char)s->base[-i] != CANARY_BYTE)
			return false;
	}
	return true;
}

void stack_free_all(void)
{
	while (pool.free != NULL) {
		struct free_stack *f = pool.free;
		pool.free = f->next;
		xfree(f);
	}
	while (pool.slabs != NULL) {
		struct stack_slab *slab = pool.slabs;
		pool.slabs = slab->next;
		unmap_pages(slab->base, slab->size);
		xfree(slab);
	}
	pool.guard_count = 0;
}
