/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C interface for modules: shared libraries that `require()` loads, and scripts
 * that call C by FFI.
 *
 * Names and signatures are those of Tarantool's module interface (its manual, "C API
 * reference"). All of it is for the tx thread, the one that runs fibers and Lua, save
 * for what runs inside coio_call().
 *
 * A function marked [yields] may switch to another fiber. It may not be called by FFI
 * from a Lua function that LuaJIT has compiled: a call that yields while a trace is
 * recorded is kept out of compiled code, but one that begins to yield later stops the
 * process with a message. jit.off(f) for the calling function, or a C function of the
 * Lua interface in place of the FFI call, is safe always.
 *
 * Functions that return -1 or NULL leave an error in the fiber's diagnostics area.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fibers ---------------------------------------------------------------- */

struct fiber;
struct fiber_attr;
struct fiber_cond;

typedef int (*fiber_func)(va_list);

/**
 * Attributes with default values; given back by fiber_attr_delete(), which fibers made with them
 * outlive.
 */
struct fiber_attr *fiber_attr_new(void);
void fiber_attr_delete(struct fiber_attr *attr);

/** Bytes of C stack; -1 where that is less than 16 KB. */
int fiber_attr_setstacksize(struct fiber_attr *attr, size_t stack_size);
/** NULL: the default. */
size_t fiber_attr_getstacksize(struct fiber_attr *attr);

/** A fiber that does not run yet. NULL: no memory. It frees itself at its end, unless joinable. */
struct fiber *fiber_new(const char *name, fiber_func f);
struct fiber *fiber_new_ex(const char *name, const struct fiber_attr *attr, fiber_func f);

/** [yields] Switches to a new fiber, with arguments for its function, until it yields or ends. */
void fiber_start(struct fiber *f, ...);

/** [yields] Waits for fiber_wakeup(); may also come back for no reason. */
void fiber_yield(void);

/** [yields] Sleeps for `seconds`; ends early when cancelled or woken. */
void fiber_sleep(double seconds);

/** [yields] Lets other ready fibers run. */
void fiber_reschedule(void);

/** Ends the wait of a fiber. */
void fiber_wakeup(struct fiber *f);

/** Asks a fiber to end; it looks at fiber_is_cancelled() itself. Does not wait. */
void fiber_cancel(struct fiber *f);

/** Does a cancel wake the current fiber? Returns what was so before. */
bool fiber_set_cancellable(bool yesno);

/** Is the current fiber cancelled? */
bool fiber_is_cancelled(void);

/** A joinable fiber waits at its end for fiber_join(). */
void fiber_set_joinable(struct fiber *f, bool yesno);

/** [yields] Waits for the end of a joinable fiber; returns its result and takes over its error. */
int fiber_join(struct fiber *f);
/** [yields] -1 with TimedOut where `timeout` seconds are over; the fiber lives on. */
int fiber_join_timeout(struct fiber *f, double timeout);

/** The current fiber. */
struct fiber *fiber_self(void);

/**
 * -1 with FiberSliceIsExceeded where the current fiber has run for longer than its slice allows.
 */
int fiber_check_slice(void);

/* Time: as of the beginning of the loop's turn, which costs next to nothing. */

/** Seconds, and microseconds, of the wall clock. */
double fiber_time(void);
int64_t fiber_time64(void);
/** The same of the monotonic clock. */
double fiber_clock(void);
int64_t fiber_clock64(void);

/* Condition variables ---------------------------------------------------- */

struct fiber_cond *fiber_cond_new(void);
/** Whoever waits still is woken. */
void fiber_cond_delete(struct fiber_cond *cond);
/** Wakes the one that waits longest. */
void fiber_cond_signal(struct fiber_cond *cond);
void fiber_cond_broadcast(struct fiber_cond *cond);
/** [yields] 0 when woken; -1 with TimedOut or FiberIsCancelled. */
int fiber_cond_wait_timeout(struct fiber_cond *cond, double timeout);
int fiber_cond_wait(struct fiber_cond *cond);

/* Latches: locks between fibers ------------------------------------------ */

typedef struct latch box_latch_t;

box_latch_t *box_latch_new(void);
/** Of a latch that nobody holds or waits for. */
void box_latch_delete(box_latch_t *latch);
/** [yields] Waits as long as it takes; in the order of arrival. Not twice by one fiber. */
void box_latch_lock(box_latch_t *latch);
/** 0: locked; 1: somebody holds it. */
int box_latch_trylock(box_latch_t *latch);
/** By the fiber that holds it. */
void box_latch_unlock(box_latch_t *latch);

/* Descriptors and blocking calls ------------------------------------------ */

enum COIO_EVENT {
	COIO_READ = 0x1,
	COIO_WRITE = 0x2,
};

/**
 * [yields] Waits until `fd` is ready; returns the events that are, 0 on time-out, cancel or
 * coio_close().
 */
int coio_wait(int fd, int event, double timeout);

/** Closes `fd` and wakes whoever waits for it in coio_wait(). The result of close(2). */
int coio_close(int fd);

/**
 * [yields] Runs func in a worker thread, where it may block, and waits for it. Returns its
 * result and keeps its errno. func may use nothing of this interface.
 */
ssize_t coio_call(ssize_t (*func)(va_list), ...);

struct addrinfo;

/** [yields] getaddrinfo(3) in a worker thread: 0, or -1; res is given back by freeaddrinfo(3). */
int coio_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		     struct addrinfo **res, double timeout);

#ifdef __cplusplus
}
#endif
