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

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <tarn/errcode.h>

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

/* Log ------------------------------------------------------------------------ */

enum say_level {
	/** Not for modules: the process stops. */
	S_FATAL,
	S_SYSERROR,
	S_ERROR,
	S_CRIT,
	S_WARN,
	S_INFO,
	S_VERBOSE,
	S_DEBUG,
};

/** The level up to which lines are written. */
extern int log_level;

static inline bool say_log_level_is_enabled(int level)
{
	return level <= log_level;
}

typedef void (*sayfunc_t)(int level, const char *file, int line, const char *error,
			  const char *format, ...) __attribute__((format(printf, 5, 6)));
/** Writes a line whatever the level; `error` may be NULL, else it stands behind the text. */
extern sayfunc_t _say;

#define say_file_line(level, file, line, error, format, ...) ({ \
	if (say_log_level_is_enabled(level)) \
		_say(level, file, line, error, format, ##__VA_ARGS__); \
})
#define say(level, error, format, ...) \
	say_file_line(level, __FILE__, __LINE__, error, format, ##__VA_ARGS__)
#define say_error(format, ...) say(S_ERROR, NULL, format, ##__VA_ARGS__)
#define say_crit(format, ...) say(S_CRIT, NULL, format, ##__VA_ARGS__)
#define say_warn(format, ...) say(S_WARN, NULL, format, ##__VA_ARGS__)
#define say_info(format, ...) say(S_INFO, NULL, format, ##__VA_ARGS__)
#define say_verbose(format, ...) say(S_VERBOSE, NULL, format, ##__VA_ARGS__)
#define say_debug(format, ...) say(S_DEBUG, NULL, format, ##__VA_ARGS__)
/** With strerror(errno) behind the text. */
#define say_syserror(format, ...) say(S_SYSERROR, strerror(errno), format, ##__VA_ARGS__)

/* Clocks, read now: seconds, and nanoseconds ---------------------------------- */

double clock_realtime(void);
double clock_monotonic(void);
/** Processor time. */
double clock_process(void);
double clock_thread(void);
uint64_t clock_realtime64(void);
uint64_t clock_monotonic64(void);
uint64_t clock_process64(void);
uint64_t clock_thread64(void);

/* Tuples -------------------------------------------------------------------- */

typedef struct tuple box_tuple_t;
typedef struct tuple_format box_tuple_format_t;
typedef struct key_def box_key_def_t;

enum field_type {
	FIELD_TYPE_ANY = 0,
	FIELD_TYPE_UNSIGNED,
	FIELD_TYPE_STRING,
	FIELD_TYPE_NUMBER,
	FIELD_TYPE_DOUBLE,
	FIELD_TYPE_INTEGER,
	FIELD_TYPE_BOOLEAN,
	FIELD_TYPE_VARBINARY,
	FIELD_TYPE_SCALAR,
	FIELD_TYPE_DECIMAL,
	FIELD_TYPE_UUID,
	FIELD_TYPE_ARRAY,
	FIELD_TYPE_MAP,
	field_type_MAX,
};

/** The format of tuples that belong to no space. */
box_tuple_format_t *box_tuple_format_default(void);
/** A format for tuples that have these keys, counted for the caller. NULL: an error is set. */
box_tuple_format_t *box_tuple_format_new(box_key_def_t **keys, uint16_t key_count);
void box_tuple_format_ref(box_tuple_format_t *format);
void box_tuple_format_unref(box_tuple_format_t *format);

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
/** Borrowed: lives as long as the tuple. */
box_tuple_format_t *box_tuple_format(box_tuple_t *tuple);
/** MessagePack of a field, by its number from 0; NULL where there is none. */
const char *box_tuple_field(box_tuple_t *tuple, uint32_t fieldno);

/**
 * A new tuple: `tuple` with the operations of an update (an upsert: those that cannot be done
 * are skipped), whose fields are counted from 1. NULL: an error is set.
 */
box_tuple_t *box_tuple_update(box_tuple_t *tuple, const char *ops, const char *ops_end);
box_tuple_t *box_tuple_upsert(box_tuple_t *tuple, const char *ops, const char *ops_end);

/** Goes through a tuple's fields; holds the tuple until it is freed. */
typedef struct tuple_iterator box_tuple_iterator_t;

box_tuple_iterator_t *box_tuple_iterator(box_tuple_t *tuple);
void box_tuple_iterator_free(box_tuple_iterator_t *it);
/** The number from 0 of the field that comes next. */
uint32_t box_tuple_position(box_tuple_iterator_t *it);
/** Back to the first field. */
void box_tuple_rewind(box_tuple_iterator_t *it);
/** Goes to a field and takes it as box_tuple_next() does; NULL where there is none. */
const char *box_tuple_seek(box_tuple_iterator_t *it, uint32_t fieldno);
/** MessagePack of the next field; NULL at the end. */
const char *box_tuple_next(box_tuple_iterator_t *it);

/** Parts of a key: field numbers from 0 and types (enum field_type). NULL: an error is set. */
box_key_def_t *box_key_def_new(uint32_t *fields, uint32_t *types, uint32_t part_count);
void box_key_def_delete(box_key_def_t *def);

/** Below zero, zero, above zero. The tuples have the parts' fields, of the parts' types. */
int box_tuple_compare(box_tuple_t *a, box_tuple_t *b, box_key_def_t *def);
/** `key`: a MessagePack array; compared are as many parts as it has. */
int box_tuple_compare_with_key(box_tuple_t *tuple, const char *key, box_key_def_t *def);

/* Stored procedures ------------------------------------------------------------ */

typedef struct box_function_ctx box_function_ctx_t;

/**
 * What box.schema.func.create(name, {language = 'C'}) calls. `args`: a MessagePack array. 0, or -1
 * with an error.
 */
typedef int (*box_function_f)(box_function_ctx_t *ctx, const char *args, const char *args_end);

/** One more result. */
int box_return_tuple(box_function_ctx_t *ctx, box_tuple_t *tuple);
int box_return_mp(box_function_ctx_t *ctx, const char *mp, const char *mp_end);

/* Data: keys, tuples and operations are MessagePack arrays. -1: an error is set. -- */

enum {
	BOX_SYSTEM_ID_MIN = 256,
	BOX_VINYL_DEFERRED_DELETE_ID = 257,
	BOX_SCHEMA_ID = 272,
	BOX_COLLATION_ID = 276,
	BOX_VCOLLATION_ID = 277,
	BOX_SPACE_ID = 280,
	BOX_VSPACE_ID = 281,
	BOX_SEQUENCE_ID = 284,
	BOX_SEQUENCE_DATA_ID = 285,
	BOX_VSEQUENCE_ID = 286,
	BOX_INDEX_ID = 288,
	BOX_VINDEX_ID = 289,
	BOX_FUNC_ID = 296,
	BOX_VFUNC_ID = 297,
	BOX_USER_ID = 304,
	BOX_VUSER_ID = 305,
	BOX_PRIV_ID = 312,
	BOX_VPRIV_ID = 313,
	BOX_CLUSTER_ID = 320,
	BOX_TRIGGER_ID = 328,
	BOX_TRUNCATE_ID = 330,
	BOX_SPACE_SEQUENCE_ID = 340,
	BOX_FK_CONSTRAINT_ID = 356,
	BOX_CK_CONSTRAINT_ID = 364,
	BOX_FUNC_INDEX_ID = 372,
	BOX_SESSION_SETTINGS_ID = 380,
	BOX_SYSTEM_ID_MAX = 511,
	/** No space, no index. */
	BOX_ID_NIL = 2147483647,
};

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

/** [yields], but for the second, which only reads the last value. */
int box_sequence_next(uint32_t seq_id, int64_t *result);
int box_sequence_current(uint32_t seq_id, int64_t *result);
int box_sequence_set(uint32_t seq_id, int64_t value);
int box_sequence_reset(uint32_t seq_id);

/** [yields] Sends one MessagePack value to the session's client, as box.session.push() does. */
int box_session_push(const char *data, const char *data_end);

/* Reads do not yield. */

enum iterator_type {
	ITER_EQ = 0,
	/** As EQ, from the last to the first. */
	ITER_REQ,
	ITER_ALL,
	ITER_LT,
	ITER_LE,
	ITER_GE,
	ITER_GT,
	ITER_BITS_ALL_SET,
	ITER_BITS_ANY_SET,
	ITER_BITS_ALL_NOT_SET,
	ITER_OVERLAPS,
	ITER_NEIGHBOR,
	iterator_type_MAX,
};

/** -1 for REQ, LT and LE, which go from the greatest key down; else 1. */
int iterator_direction(enum iterator_type type);

typedef struct iterator box_iterator_t;

/** NULL: an error is set. It outlives any change of the data, the index included. */
box_iterator_t *box_index_iterator(uint32_t space_id, uint32_t index_id, int type, const char *key,
				   const char *key_end);
/** NULL in *result at the end. */
int box_iterator_next(box_iterator_t *it, box_tuple_t **result);
void box_iterator_free(box_iterator_t *it);

/** The tuple is NULL where there is none. */
int box_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  box_tuple_t **result);
int box_index_min(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  box_tuple_t **result);
int box_index_max(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  box_tuple_t **result);
int box_index_random(uint32_t space_id, uint32_t index_id, uint32_t rnd, box_tuple_t **result);
ssize_t box_index_len(uint32_t space_id, uint32_t index_id);
/** Bytes of the index itself. */
ssize_t box_index_bsize(uint32_t space_id, uint32_t index_id);
ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type, const char *key,
			const char *key_end);
/** The parts of an index; borrowed until the next yield. NULL: an error is set. */
const box_key_def_t *box_index_key_def(uint32_t space_id, uint32_t index_id);
/**
 * The key that a tuple has in an index, a MessagePack array; its size in *size, which may be
 * NULL. In memory of the fiber, given back when the request ends.
 */
char *box_tuple_extract_key(box_tuple_t *tuple, uint32_t space_id, uint32_t index_id,
			    uint32_t *size);

/* Transactions ------------------------------------------------------------------- */

typedef struct txn_savepoint box_txn_savepoint_t;

bool box_txn(void);
/** -1 where there is none. */
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

/** Valid until the transaction ends or is rolled back over it. */
box_txn_savepoint_t *box_txn_savepoint(void);
int box_txn_rollback_to_savepoint(box_txn_savepoint_t *savepoint);

/**
 * Sets what the process calls before it stops, the last one first; `old` is removed (-1 with
 * EINVAL in errno where it is not there). Either may be NULL. May yield when it is called.
 */
int box_on_shutdown(void *arg, int (*handler)(void *), int (*old)(void *));

/* Errors ------------------------------------------------------------------------- */

typedef struct error box_error_t;

/** The fiber's last one, or NULL. Borrowed until the next error. */
box_error_t *box_error_last(void);
const char *box_error_type(const box_error_t *e);
uint32_t box_error_code(const box_error_t *e);
const char *box_error_message(const box_error_t *e);
void box_error_clear(void);
/** Sets one; returns -1. */
int box_error_set(const char *file, unsigned line, uint32_t code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define box_error_raise(code, format, ...) \
	box_error_set(__FILE__, __LINE__, code, format, ##__VA_ARGS__)

/* Lua ------------------------------------------------------------------------------ *
 *
 * Beside Lua's own C interface, whose headers are LuaJIT's. A function marked [raises]
 * may leave by a Lua error.
 */

struct lua_State;

/** The main state, from which fibers' coroutines are made. */
struct lua_State *luaT_state(void);

/** [yields] lua_pcall(), with the error in the diagnostics area: 0, or not 0 and nothing left. */
int luaT_call(struct lua_State *L, int arg_count, int result_count);
/** [yields] The same of a C function that gets `ud` as light userdata; results are dropped. */
int luaT_cpcall(struct lua_State *L, int (*func)(struct lua_State *), void *ud);

/** [raises] Throws the fiber's last error as an object: `return luaT_error(L);`. */
int luaT_error(struct lua_State *L);
/** [raises] Pushes nil and the fiber's last error: `return luaT_push_nil_and_error(L);`. */
int luaT_push_nil_and_error(struct lua_State *L);
/** [raises] */
void luaT_pusherror(struct lua_State *L, box_error_t *e);

/** [raises] Pushes a tuple; it need not be counted. */
void luaT_pushtuple(struct lua_State *L, box_tuple_t *tuple);
/** [raises] The tuple at `idx`, or NULL; it lives as long as the value there. */
box_tuple_t *luaT_istuple(struct lua_State *L, int idx);
/** [raises] The same, an error where there is none. */
box_tuple_t *luaT_checktuple(struct lua_State *L, int idx);

/** [raises] Pushes what tostring() gives and returns it; `size` may be NULL. */
const char *luaT_tolstring(struct lua_State *L, int idx, size_t *size);
/** Is it a function, or has it __call? */
int luaL_iscallable(struct lua_State *L, int idx);

/** [raises] A number where it is exact, else a cdata. */
void luaL_pushint64(struct lua_State *L, int64_t value);
void luaL_pushuint64(struct lua_State *L, uint64_t value);
/** A number, a 64-bit cdata or a string of digits; 0 for any other. */
int64_t luaL_toint64(struct lua_State *L, int idx);
uint64_t luaL_touint64(struct lua_State *L, int idx);
/** [raises] The same, an error for any other. */
int64_t luaL_checkint64(struct lua_State *L, int idx);
uint64_t luaL_checkuint64(struct lua_State *L, int idx);

/** [raises] The number of a C type that FFI knows. */
uint32_t luaL_ctypeid(struct lua_State *L, const char *name);
/** Declares C types, as ffi.cdef() does: 0, or an error of Lua and its text pushed. */
int luaL_cdef(struct lua_State *L, const char *text);
/**
 * [raises] Pushes a cdata of a type by its number, which luaL_ctypeid() or luaL_checkcdata()
 * gave; returns its bytes, all 0.
 */
void *luaL_pushcdata(struct lua_State *L, uint32_t ctypeid);
/** [raises] The bytes of the cdata at `idx` and the number of its type. */
void *luaL_checkcdata(struct lua_State *L, int idx, uint32_t *ctypeid);
/** [raises] Takes the function at the top for the finalizer of the cdata at `idx`. */
void luaL_setcdatagc(struct lua_State *L, int idx);

#ifdef __cplusplus
}
#endif
