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
 *   a fixed pattern in the lowest bytes, checked when the fiber ends and each
 *   time the scheduler looks after its pool. Where it is damaged the process
 *   stops with a message, since the stack below has been overwritten.
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
	/** Mappings left to libraries, mimalloc, the Lua heap, threads. */
	MAPPING_RESERVE = 16000,
	MAPPING_MAX_DEFAULT = 65530,
	CANARY_SIZE = 64,
	/** What stack_shrink() leaves of a stack. */
	SHRINK_KEEP = 16 * 1024,
	CANARY_BYTE = 0xc5,
};

struct stack_slab {
	struct stack_slab *next;
	char *base;
	size_t size;
	/** Stacks cut off so far. */
	int cut;
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

static size_t round_up(size_t size)
{
	return (size + pool.page_size - 1) & ~(pool.page_size - 1);
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

/** Turns the page at `page` into a guard, or puts a canary behind it. */
static void protect(struct stack *s, char *page)
{
	s->is_guarded = pool.guard_count < pool.guard_limit &&
			mprotect(page, pool.page_size, PROT_NONE) == 0;
	if (s->is_guarded)
		pool.guard_count++;
	else
		memset(s->base, CANARY_BYTE, CANARY_SIZE);
}

static int create_single(struct stack *s, size_t size)
{
	char *base = map_pages(size + pool.page_size);
	if (base == NULL)
		return -1;
	s->base = base + pool.page_size;
	s->size = size;
	s->is_single = true;
	protect(s, base);
	return 0;
}

static struct stack_slab *slab_new(void)
{
	size_t size = SLAB_STACKS * (FIBER_STACK_SIZE_DEFAULT + pool.page_size);
	char *base = map_pages(size);
	if (base == NULL)
		return NULL;
	struct stack_slab *slab = xmalloc(sizeof(*slab));
	slab->base = base;
	slab->size = size;
	slab->cut = 0;
	slab->next = pool.slabs;
	pool.slabs = slab;
	return slab;
}

int stack_create(struct stack *s, size_t size)
{
	pool_init();
	if (size > SIZE_MAX / 4) {
		diag_set(OutOfMemory, "Failed to allocate %zu bytes in mmap for fiber stack",
			 size);
		return -1;
	}
	size = round_up(size);
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
	if (slab == NULL || slab->cut == SLAB_STACKS)
		slab = slab_new();
	if (slab == NULL)
		return -1;
	char *page = slab->base + slab->cut++ * (FIBER_STACK_SIZE_DEFAULT + pool.page_size);
	s->base = page + pool.page_size;
	s->size = size;
	s->is_single = false;
	protect(s, page);
	return 0;
}

void stack_shrink(struct stack *s)
{
	if (s->size <= SHRINK_KEEP + pool.page_size)
		return;
	/* The canary's page stays. */
	char *from = s->is_guarded ? s->base : s->base + pool.page_size;
	madvise(from, s->base + s->size - SHRINK_KEEP - from, MADV_DONTNEED);
}

void stack_destroy(struct stack *s)
{
	if (s->is_single) {
		if (s->is_guarded)
			pool.guard_count--;
		unmap_pages(s->base - pool.page_size, s->size + pool.page_size);
		return;
	}
	char *from = s->is_guarded ? s->base : s->base + pool.page_size;
	madvise(from, s->base + s->size - from, MADV_DONTNEED);
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
	for (int i = 0; i < CANARY_SIZE; i++) {
		if ((unsigned char)s->base[i] != CANARY_BYTE)
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
