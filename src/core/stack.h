/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stacks for fibers (see stack.c). Private to src/core.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	/** The highest bytes of a stack are not its own: see stack.c. */
	STACK_CANARY_SIZE = 64,
};

struct stack {
	/** The lowest usable byte, and the size from there to the end. */
	char *base;
	size_t size;
	/** Is there a guard page right below `base`? Else a canary stands there. */
	bool is_guarded;
	/** A mapping of its own, not a part of a slab. */
	bool is_single;
};

/**
 * A stack of `size` bytes, rounded up to pages. Its memory is zero or old
 * contents. -1: OutOfMemory is set.
 */
int stack_create(struct stack *s, size_t size);

/** The size that a stack of at least `size` bytes gets. */
size_t stack_round_up(size_t size);

/** Where the first frame goes: the end, less the neighbour's canary. */
static inline char *stack_top(const struct stack *s)
{
	return s->base + s->size - STACK_CANARY_SIZE;
}

/** Gives a stack back. May not be the one we run on. */
void stack_destroy(struct stack *s);

/** False where an unguarded stack has overflowed. */
bool stack_check(const struct stack *s);

/** Unmaps all slabs; every stack must have been given back. */
void stack_free_all(void);

/** For stack_guard.c: the size of a page. */
size_t stack_page_size(void);

/**
 * Installs the handler of SIGSEGV, on a signal stack of its own, that tells a
 * fiber's stack overflow from other faults, names the fiber on standard error
 * and lets the process die of the signal.
 */
void stack_guard_install(void);
