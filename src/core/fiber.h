/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fibers: cooperative threads of the tx thread, each with its own C stack.
 *
 * A fiber runs until it yields. Ready fibers stand in one queue; a yield goes
 * straight from one ready fiber to the next. When none is ready, the scheduler
 * (the thread's main fiber, see loop.h) runs the hooks and the event loop.
 *
 * States: a fiber is SUSPENDED from its birth and whenever it waits, READY once
 * woken, RUNNING one at a time, DEAD when its function has returned. A dead
 * joinable fiber waits for its fiber_join(); any other goes back to the pool at
 * once, and its structure serves a later fiber with another id. The error of a
 * fiber that is not joinable and returned non-zero goes to the log, unless it is
 * FiberIsCancelled.
 *
 * Names and signatures that modules use are the reference's (manual:
 * "C API reference", module fiber).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diag.h"
#include "core/list.h"
#include "core/region.h"
#include "core/stack.h"
#include "core/watch.h"

typedef int (*fiber_func)(va_list);

/**
 * Of functions that yield, the name as a symbol is that of a function for modules and
 * FFI, which has a guard in front (lua/module/module_fiber.c). Ours has none.
 */
#define FIBER_UNGUARDED(name) __asm__("unguarded_" #name)

enum {
	FIBER_NAME_MAX = 255,
	/** The scheduler has id 1; ids up to this one are not given to others. */
	FIBER_ID_RESERVED = 100,
	/** Slots for upper layers; see fiber_slot_new(). */
	FIBER_SLOT_MAX = 8,
	FIBER_STACK_SIZE_DEFAULT = 512 * 1024,
	FIBER_STACK_SIZE_MIN = 16 * 1024,
};

enum fiber_flags {
	FIBER_IS_READY = 1 << 0,	/* stands in the ready queue */
	FIBER_IS_DEAD = 1 << 1,		/* its function returned */
	FIBER_IS_CANCELLED = 1 << 2,
	FIBER_IS_CANCELLABLE = 1 << 3,	/* fiber_cancel() wakes it */
	FIBER_IS_JOINABLE = 1 << 4,
	FIBER_IS_RUNNING = 1 << 5,
	FIBER_IS_SYSTEM = 1 << 6,	/* work of ours: not killed, not shown as a user's */
};

/**
 * What a fiber has used, over the life of its structure: upper layers count, and who
 * wants to know what something cost takes the difference.
 */
struct fiber_usage {
	/** Bytes asked of the Lua heap. */
	uint64_t heap_bytes;
	/** Rows that reads gave, and rows changed. */
	uint64_t rows_read, rows_written;
	/** Bytes of answers to clients. */
	uint64_t response_bytes;
};

struct fiber {
	/* What a switch needs comes first, within one line of the cache. */

	/** Saved stack pointer of a fiber that does not run. */
	void *_sp;
	uint32_t flags;
	/** Result of the function, for fiber_join(). */
	int result;
	/** Link in the ready queue or in the list of what it waits for. */
	struct list link;
	/**
	 * Called in this fiber when it is about to yield, where not NULL: a transaction
	 * that may not yield is undone then. It may not yield itself.
	 */
	void (*on_yield)(struct fiber *f);
	/** Switches to this fiber, over the life of the id. */
	uint64_t csw;
	/** Never reused. 0 to 100 are reserved, the first fiber of a script has 101 or more. */
	uint64_t id;
	/** What an upper layer touches first when the fiber goes on, for the cache; or NULL. */
	const void *warm;

	struct fiber_usage usage;
	/** Request-scoped memory of this fiber; emptied when it goes back to the pool. */
	struct region region;
	struct diag diag;
	/** All fibers that live, oldest first (`fiber_foreach`). */
	struct list all_link;
	/** Records of those that wait in fiber_join() for this one (private to fiber.c). */
	struct list joiners;
	/** Called with the fiber before its life ends (still RUNNING, may not yield). */
	struct list on_stop;
	/** Values of upper layers, by the index from fiber_slot_new(). */
	void *slot[FIBER_SLOT_MAX];
	fiber_func func;
	/**
	 * Arguments of fiber_start(), valid until the fiber yields first; none after
	 * fiber_wakeup().
	 */
	va_list args;
	size_t stack_size;
	/** Empty for a thread's main fiber, which runs on the thread's stack. */
	struct stack _stack;
	/** AddressSanitizer's fake stack while switched out. */
	void *_asan_stack;
	/** What ThreadSanitizer knows of it. */
	void *_tsan_fiber;
	struct fiber_watch watch;
	char name[FIBER_NAME_MAX + 1];
};

/** Hidden, so that it is at an offset known when the program is linked. */
extern __attribute__((visibility("hidden"))) _Thread_local struct fiber *fiber_current;

/** The running fiber. In a worker thread: that thread's only one. */
static inline struct fiber *fiber(void)
{
	return fiber_current;
}

/**
 * Makes the calling thread tx: sets up its main fiber (id 1, named "sched"),
 * the pool, the queues and the handler that reports stack overflows.
 */
void fiber_init(void);

/**
 * Frees all fibers, those that live included (their functions do not go on).
 * From the main fiber, after loop_free().
 */
void fiber_free(void);

/** Gives a thread beside tx its one fiber, so that diag and region work there. No yields in it. */
void fiber_thread_init(const char *name);
void fiber_thread_free(void);

/** Does the calling thread run the fibers? */
bool fiber_is_tx(void);

/**
 * A fiber that will run `f`; it starts by fiber_start() or fiber_wakeup(). One
 * that may be woken (or cancelled) first gets what it needs through a slot, not
 * through arguments: fiber_wakeup() has none, and va_arg() would read garbage.
 * NULL: OutOfMemory is set.
 */
struct fiber *fiber_new(const char *name, fiber_func f);

/** The same with a stack of `stack_size` bytes (rounded up to pages; 0: the default). */
struct fiber *fiber_new_sized(const char *name, size_t stack_size, fiber_func f);

/**
 * Switches to the new fiber at once, with arguments for its function; returns
 * when it yields first or ends. The caller stays ready and runs next.
 */
void fiber_start(struct fiber *f, ...) FIBER_UNGUARDED(fiber_start);
void fiber_start_va(struct fiber *f, va_list args) FIBER_UNGUARDED(fiber_start_va);

/**
 * Suspends the caller until fiber_wakeup(). May return for no reason: check
 * your condition. The main fiber may call it outside of event callbacks: it runs
 * turns of the loop meanwhile.
 */
void fiber_yield(void) FIBER_UNGUARDED(fiber_yield);

/**
 * Yields for at most `timeout` seconds; true where the time ran out. What is
 * not above 0 ends at the next turn of the loop.
 */
bool fiber_yield_timeout(double timeout);

/**
 * Sleeps `seconds` (0: lets every ready fiber and due event go first). Ends
 * early by a cancel or a fiber_wakeup().
 */
void fiber_sleep(double seconds) FIBER_UNGUARDED(fiber_sleep);

/** Lets other ready fibers run and comes back. */
void fiber_reschedule(void) FIBER_UNGUARDED(fiber_reschedule);

/**
 * Stands in for a yield from which the caller would come straight back: true where no other
 * fiber is ready and no poll is due. It counts as a switch then. False: yield.
 */
bool fiber_yield_in_place(void);

/**
 * Takes all ready fibers from their queue: none goes on, save where it is woken again.
 * For the end of the process, when what they would find is half gone.
 */
void fiber_halt_all(void);

/**
 * Set by a layer that knows of places where no switch is allowed: there -1 with an error
 * set, else 0. NULL: there are none.
 */
extern int (*fiber_check_yield)(void);

/** To be asked by what can fail before it yields. */
static inline int fiber_may_yield(void)
{
	return fiber_check_yield == NULL ? 0 : fiber_check_yield();
}

/** Makes a suspended fiber ready; nothing for one that is ready, running or dead. */
void fiber_wakeup(struct fiber *f);

/** Asks a fiber to end: sets its flag and, where it is cancellable, wakes it. Does not wait. */
void fiber_cancel(struct fiber *f);

/** Whether a cancel wakes the caller; returns what it was. New fibers are cancellable. */
bool fiber_set_cancellable(bool yesno);

/** Is the running fiber cancelled? */
static inline __attribute__((always_inline)) bool fiber_is_cancelled(void)
{
	return fiber()->flags & FIBER_IS_CANCELLED;
}

/** Sets FiberIsCancelled; returns -1. */
int fiber_set_cancel_error(void);

/** -1 with FiberIsCancelled set where the running fiber is cancelled, else 0. */
static inline int fiber_testcancel(void)
{
	return __builtin_expect(fiber_is_cancelled(), 0) ? fiber_set_cancel_error() : 0;
}

void fiber_set_joinable(struct fiber *f, bool yesno);

/**
 * Waits for the end of a joinable fiber: true once it is dead, whereupon fiber_join() does
 * not wait. False with an error set: IllegalParams where the fiber is not joinable, is the
 * caller, or someone else joined it meanwhile; TimedOut; FiberIsCancelled where the caller
 * is cancelled in the meantime (one that was before waits).
 */
bool fiber_wait_end(struct fiber *f, double timeout);

/**
 * Waits for the end of a joinable fiber and recycles it; returns its result and,
 * where that is not 0, moves its error to the caller's area. The fiber is gone
 * then. A cancel of the caller does not end the wait. -1 with IllegalParams where
 * the fiber is not joinable, is the caller, or someone else joined it meanwhile.
 */
int fiber_join(struct fiber *f) FIBER_UNGUARDED(fiber_join);

/** With a limit in seconds: -1 with TimedOut where it is over (the fiber lives on). */
int fiber_join_timeout(struct fiber *f, double timeout) FIBER_UNGUARDED(fiber_join_timeout);

/** NULL where no such fiber lives. */
struct fiber *fiber_find(uint64_t id);

/** At most FIBER_NAME_MAX bytes; the rest is cut. */
void fiber_set_name(struct fiber *f, const char *name);

static inline const char *fiber_name(const struct fiber *f)
{
	return f->name;
}

/** Calls `cb` for each living fiber, in order of id, until it returns non-zero; returns that. */
int fiber_foreach(int (*cb)(struct fiber *f, void *arg), void *arg);

/**
 * Takes a slot in every fiber for an upper layer. When a fiber ends with a
 * non-NULL value there, `recycle` (may be NULL) is called with the fiber still
 * current; what it leaves in the slot stays with the pooled fiber (a coroutine
 * kept for good). Called at start-up only.
 */
int fiber_slot_new(void (*recycle)(struct fiber *f, void *value));

/** Registers what is called when a pooled fiber's stack is given back, to drop kept slots. */
void fiber_on_destroy(void (*destroy)(struct fiber *f));

/**
 * Return addresses on the fiber's C stack, innermost first; their count. What has no
 * frame pointers ends the list.
 */
int fiber_backtrace(const struct fiber *f, void **pcs, int max);

/** How many times any fiber was switched to. */
extern uint64_t fiber_switch_count;

/** Fibers that live, and pooled ones that wait for work. */
size_t fiber_count(void);
size_t fiber_pool_count(void);

/* Condition variables ------------------------------------------------- */

struct fiber_cond {
	struct list waiters;
};

void fiber_cond_create(struct fiber_cond *c);
/** Wakes whoever still waits. */
void fiber_cond_destroy(struct fiber_cond *c);
/** Allocates one; freed by fiber_cond_delete(). */
struct fiber_cond *fiber_cond_new(void);
void fiber_cond_delete(struct fiber_cond *c);
/** Wakes the one that waits longest. */
void fiber_cond_signal(struct fiber_cond *c);
void fiber_cond_broadcast(struct fiber_cond *c);
/**
 * 0 when woken (also by fiber_wakeup()); -1 with TimedOut or FiberIsCancelled
 * set; at once where the caller is cancelled already. Yields.
 */
int fiber_cond_wait_timeout(struct fiber_cond *c, double timeout)
	FIBER_UNGUARDED(fiber_cond_wait_timeout);
int fiber_cond_wait(struct fiber_cond *c) FIBER_UNGUARDED(fiber_cond_wait);

/** A timeout that never comes, in seconds: 500 years. */
#define TIMEOUT_INFINITY (500.0 * 365 * 86400)
