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

/* Tuples -------------------------------------------------------------------- */

typedef struct tuple box_tuple_t;
typedef struct tuple_format box_tuple_format_t;

box_tuple_format_t *box_tuple_format_default(void);

/**
 * A tuple of a MessagePack array; NULL: an error is set. Like all tuples that functions here
 * give, it lives until the fiber's next call of one of them, unless it is counted.
 */
box_tuple_t *box_tuple_new(box_tuple_format_t *format, const char *data, const char *end);
int box_tuple_ref(box_tuple_t *tuple);
void box_tuple_unref(box_tuple_t *tuple);
uint32_t box_tuple_field_count(box_tuple_t *tuple);
/** Bytes of the array. */
size_t box_tuple_bsize(box_tuple_t *tuple);
/** Copies the array where it fits; returns its size. */
ssize_t box_tuple_to_buf(box_tuple_t *tuple, char *buf, size_t size);
/** MessagePack of a field, by its number from 0; NULL where there is none. */
const char *box_tuple_field(box_tuple_t *tuple, uint32_t fieldno);

/* Stored procedures ------------------------------------------------------------ */

typedef struct box_function_ctx box_function_ctx_t;

/** What box.schema.func.create(name, {language = 'C'}) calls. `args`: a MessagePack array. 0, or -1 with an error. */
typedef int (*box_function_f)(box_function_ctx_t *ctx, const char *args, const char *args_end);

/** One more result. */
int box_return_tuple(box_function_ctx_t *ctx, box_tuple_t *tuple);
int box_return_mp(box_function_ctx_t *ctx, const char *mp, const char *mp_end);

/* Data: keys, tuples and operations are MessagePack arrays. -1: an error is set. -- */

#define BOX_ID_NIL UINT32_MAX

/** BOX_ID_NIL where there is none. */
uint32_t box_space_id_by_name(const char *name, uint32_t len);
uint32_t box_index_id_by_name(uint32_t space_id, const char *name, uint32_t len);

/** [yields] These change data; `result` may be NULL. */
int box_insert(uint32_t space_id, const char *tuple, const char *tuple_end, box_tuple_t **result);
int box_replace(uint32_t space_id, const char *tuple, const char *tuple_end, box_tuple_t **result);
int box_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       box_tuple_t **result);
int box_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       const char *ops, const char *ops_end, int index_base, box_tuple_t **result);
int box_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
	       const char *ops, const char *ops_end, int index_base, box_tuple_t **result);
int box_truncate(uint32_t space_id);

/** Reads do not yield. The tuple is NULL where there is none. */
int box_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  box_tuple_t **result);
ssize_t box_index_len(uint32_t space_id, uint32_t index_id);
ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type, const char *key,
			const char *key_end);

bool box_txn(void);
int64_t box_txn_id(void);
int box_txn_begin(void);
/** [yields] */
int box_txn_commit(void);
int box_txn_rollback(void);
/** Seconds that the transaction may take; once for each. */
int box_txn_set_timeout(double timeout);
/** 0 default, 1 read committed, 2 read confirmed, 3 best effort, 4 linearizable. */
int box_txn_set_isolation(uint32_t level);
/** Memory that lives as long as the transaction. */
void *box_txn_alloc(size_t size);

typedef struct txn_savepoint box_txn_savepoint_t;

/** Valid until the transaction ends or is rolled back over it. */
box_txn_savepoint_t *box_txn_savepoint(void);
int box_txn_rollback_to_savepoint(box_txn_savepoint_t *savepoint);

/* Errors ------------------------------------------------------------------------- */

typedef struct error box_error_t;

/** The fiber's last one, or NULL. */
const box_error_t *box_error_last(void);
const char *box_error_type(const box_error_t *e);
uint32_t box_error_code(const box_error_t *e);
const char *box_error_message(const box_error_t *e);
void box_error_clear(void);
/** Sets one; returns -1. */
int box_error_set(const char *file, unsigned line, uint32_t code, const char *format, ...);
#define box_error_raise(code, format, ...) \
	box_error_set(__FILE__, __LINE__, code, format, ##__VA_ARGS__)

#ifdef __cplusplus
}
#endif
