/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where memory comes from: mimalloc, with exact accounts for what a user can
 * limit or look at (tuples, indexes, the Lua heap). Under the address sanitizer
 * the same interface is served by malloc, so that it sees every object.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * One account of memory: what is used, and how much may be. Accounts are
 * touched by the tx thread only.
 */
struct mem_account {
	const char *name;
	/** Bytes handed out now, as rounded up by the allocator. */
	size_t used;
	/** No allocation may lift `used` over it; SIZE_MAX: no limit. */
	size_t limit;
	/** One whose use counts against the limit, too, or NULL. */
	const struct mem_account *partner;
	/** Asked to free what is only waiting to be freed before an allocation fails, or NULL. */
	bool (*reclaim)(void);
};

/**
 * Allocates `size` bytes (aligned to 16) on `account`. NULL with OutOfMemory
 * in the diagnostics area where the limit or the system refuses.
 */
void *mem_alloc(struct mem_account *account, size_t size);

/**
 * The same beyond the limit, for undoing what must be undone. Never fails: where the system has
 * no memory the process stops.
 */
void *mem_alloc_forced(struct mem_account *account, size_t size);

/** Gives back what mem_alloc() returned; `size` as it was asked for. */
void mem_free(struct mem_account *account, void *ptr, size_t size);

/** How many bytes an allocation of `size` takes from its account. */
size_t mem_usable(size_t size);

/** Blocks of one size in the allocator: what is handed out of them and what waits to be. */
struct mem_class {
	size_t block_size;
	/** Parts of memory that are cut into such blocks, and their bytes. */
	size_t area_count, area_bytes;
	size_t block_count;
};

/**
 * Calls `visit` for each size of blocks that this thread's allocations have, ascending. None
 * under the address sanitizer.
 */
void mem_visit_classes(void (*visit)(const struct mem_class *class, void *arg), void *arg);

/** Bytes of the process in memory: RSS. 0 where the system does not tell. */
size_t mem_process_size(void);

/** Unaccounted memory for what a script or client may ask too much of. NULL, no error set. */
void *mem_try(size_t size);

/**
 * Unaccounted memory for the program's own small structures. They do not fail:
 * where the system has no memory the process stops with a message.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *s);
/** A copy of `len` bytes of `s` with a zero behind. */
char *xstrndup(const char *s, size_t len);
/** Formats into a fresh string, which the caller frees with xfree(). */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Frees what the functions above and mem_try() returned. */
void xfree(void *ptr);
