/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The life of fibers: birth, end, joining, the pool. How they run: sched.c.
 *
 *      fiber_new()                fiber_recycle()       fiber_finish()
 *     [pool] ---> SUSPENDED ... RUNNING ------> DEAD ------> [pool]
 *
 * DEAD lasts only where the fiber is joinable, or someone waits in fiber_join()
 * for it. A dead fiber that was recycled has id 0 and stands in the pool; its stack
 * is parked inside context_main(), from where its next life begins, with no need to
 * set up the stack again.
 */
#include "core/fiber.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "core/context.h"
#include "core/log.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/sched.h"
#include "core/sys.h"
#include "core/trigger.h"

#ifdef TARN_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum {
	FIBER_ID_MAIN = 1,
	/** Stack tops are staggered by so much, lest all of them share few cache sets. */
	STACK_COLOR = 128,
	STACK_COLOR_COUNT = 16,
	/** So many pooled fibers are kept in any case. */
	POOL_KEEP = 1024,
	/** sched_trim_pool() frees at most so many at once. */
	POOL_TRIM_STEP = 2000,
	DESTROY_HOOK_MAX = 8,
};

static _Thread_local struct fiber thread_fiber;

static struct {
	/** All that live, by age. */
	struct list all;
	struct map_u64 by_id;
	uint64_t last_id;
	/** Fibers without a life, the last used first. */
	struct list pool;
	size_t pool_count, alive_count;
	/** The most that lived at once since the last trim. */
	size_t alive_peak;
	/** Ended fibers with a stack of an odd size: freed when another runs. */
	struct list graveyard;
	/** Fibers made so far, for the stagger of stacks. */
	size_t made_count;
	int slot_count;
	void (*slot_recycle[FIBER_SLOT_MAX])(struct fiber *f, void *value);
	int destroy_count;
	void (*destroy[DESTROY_HOOK_MAX])(struct fiber *f);
} fibers;

/** Stands in the list of whom it waits for. */
struct joiner {
	struct list link;
	struct fiber *fiber;
	/** Set where somebody else's join recycled the fiber. */
	bool is_gone;
};

/* Birth and death ------------------------------------------------------ */

static void fiber_create(struct fiber *f, const char *name)
{
	memset(f, 0, offsetof(struct fiber, name));
	region_create(&f->region);
	list_create(&f->link);
	list_create(&f->all_link);
	list_create(&f->joiners);
	list_create(&f->on_stop);
	fiber_set_name(f, name);
}

/** Makes a fiber without a life; its stack is ready for a first switch. */
static struct fiber *fiber_make(size_t stack_size)
{
	struct stack stack;
	if (stack_create(&stack, stack_size) != 0)
		return NULL;
	struct fiber *f = xmalloc(sizeof(*f));
	fiber_create(f, "");
	f->_stack = stack;
	f->stack_size = stack_size;
	size_t color = fibers.made_count++ % STACK_COLOR_COUNT * STACK_COLOR;
	f->_sp = context_create(stack_top(&stack) - color);
#ifdef TARN_TSAN
	f->_tsan_fiber = __tsan_create_fiber(0);
#endif
	return f;
}

/** Frees a fiber that has no life; not the one that runs. */
static void fiber_unmake(struct fiber *f)
{
	assert(f != fiber_current && f->id == 0);
	for (int i = 0; i < fibers.destroy_count; i++)
		fibers.destroy[i](f);
	list_del(&f->link);
	region_destroy(&f->region);
	diag_clear(&f->diag);
	stack_destroy(&f->_stack);
#ifdef TARN_TSAN
	__tsan_destroy_fiber(f->_tsan_fiber);
#endif
	xfree(f);
}

static __attribute__((noinline, cold)) void empty_graveyard(void)
{
	struct fiber *f, *tmp;
	list_foreach_entry_safe(f, tmp, &fibers.graveyard, link) {
		if (f != fiber_current)
			fiber_unmake(f);
	}
}

static struct fiber *fiber_obtain(size_t stack_size)
{
	if (unlikely(!list_empty(&fibers.graveyard)))
		empty_graveyard();
	if (stack_size == FIBER_STACK_SIZE_DEFAULT && !list_empty(&fibers.pool)) {
		fibers.pool_count--;
		return list_shift_entry(&fibers.pool, struct fiber, link);
	}
	return fiber_make(stack_size);
}

struct fiber *fiber_new_sized(const char *name, size_t stack_size, fiber_func func)
{
	if (stack_size == 0 || stack_size == FIBER_STACK_SIZE_DEFAULT)
		stack_size = FIBER_STACK_SIZE_DEFAULT;
	else if (stack_size < FIBER_STACK_SIZE_MIN)
		stack_size = FIBER_STACK_SIZE_MIN;
	else
		stack_size = stack_round_up(stack_size);
	struct fiber *f = fiber_obtain(stack_size);
	if (f == NULL)
		return NULL;
	f->flags = FIBER_IS_CANCELLABLE;
	f->id = ++fibers.last_id;
	f->csw = 0;
	f->func = func;
	fiber_set_name(f, name);
	map_u64_put(&fibers.by_id, f->id, f);
	list_add_tail(&fibers.all, &f->all_link);
	if (++fibers.alive_count > fibers.alive_peak)
		fibers.alive_peak = fibers.alive_count;
	return f;
}

struct fiber *fiber_new(const char *name, fiber_func func)
{
	return fiber_new_sized(name, FIBER_STACK_SIZE_DEFAULT, func);
}

/** Ends the life of a fiber, dead or about to be left for good. */
static void fiber_recycle(struct fiber *f)
{
	sched_check_stack(f);
	while (unlikely(!list_empty(&f->joiners)))
		list_shift_entry(&f->joiners, struct joiner, link)->is_gone = true;
	region_reset(&f->region);
	if (f->diag.last != NULL)
		diag_clear(&f->diag);
	map_u64_del(&fibers.by_id, f->id);
	list_del(&f->all_link);
	fiber_watch_end(f);
	f->id = 0;
	f->flags = (f->flags & FIBER_IS_RUNNING) | FIBER_IS_DEAD;
	fibers.alive_count--;
	if (f->stack_size == FIBER_STACK_SIZE_DEFAULT) {
		list_add(&fibers.pool, &f->link);
		fibers.pool_count++;
	} else {
		list_add(&fibers.graveyard, &f->link);
	}
}

static void log_failure(struct fiber *f)
{
	if (f->diag.last != NULL && !error_is(f->diag.last, &type_FiberIsCancelled))
		diag_log();
}

/** What a fiber does at the end of its function. */
void fiber_finish(struct fiber *self)
{
	if (unlikely(!list_empty(&self->on_stop))) {
		trigger_run(&self->on_stop, self);
		trigger_destroy_all(&self->on_stop);
	}
	if (unlikely(self->result != 0) && !(self->flags & FIBER_IS_JOINABLE))
		log_failure(self);
	for (int i = 0; i < fibers.slot_count; i++) {
		if (self->slot[i] != NULL && fibers.slot_recycle[i] != NULL)
			fibers.slot_recycle[i](self, self->slot[i]);
	}
	if ((self->flags & FIBER_IS_JOINABLE) || !list_empty(&self->joiners)) {
		self->flags |= FIBER_IS_DEAD;
		struct joiner *j;
		list_foreach_entry(j, &self->joiners, link)
			fiber_wakeup(j->fiber);
	} else {
		fiber_recycle(self);
	}
}

/* Joining -------------------------------------------------------------- */

void fiber_set_joinable(struct fiber *f, bool yesno)
{
	if (yesno) {
		f->flags |= FIBER_IS_JOINABLE;
		return;
	}
	f->flags &= ~FIBER_IS_JOINABLE;
	if ((f->flags & FIBER_IS_DEAD) && f->id != 0)
		fiber_recycle(f);
}

/** The wait of a join; any flag in `until` that the caller has ends it, too. */
static bool wait_end(struct fiber *f, double timeout, uint32_t until)
{
	struct fiber *self = fiber_current;
	struct joiner j = {.fiber = self, .is_gone = false};
	list_add_tail(&f->joiners, &j.link);
	bool is_limited = timeout < TIMEOUT_INFINITY, is_over = false;
	double deadline = is_limited ? clock_monotonic() + timeout : 0, left = timeout;
	while (!j.is_gone && !(f->flags & FIBER_IS_DEAD) && !is_over && !(self->flags & until)) {
		if (is_limited) {
			left = deadline - clock_monotonic();
			is_over = left <= 0;
		}
		fiber_yield_timeout(left);
	}
	list_del(&j.link);
	if (j.is_gone) {
		diag_set(IllegalParams, "the fiber is joined already");
		return false;
	}
	if (f->flags & FIBER_IS_DEAD)
		return true;
	if (self->flags & until)
		fiber_testcancel();
	else
		diag_set(TimedOut, "timed out");
	return false;
}

/** May the caller join it? False with an error set. */
static bool check_joinable(struct fiber *f)
{
	if ((f->flags & FIBER_IS_JOINABLE) && f != fiber_current && f->id != 0)
		return true;
	diag_set(IllegalParams, "the fiber is not joinable");
	return false;
}

bool fiber_wait_end(struct fiber *f, double timeout)
{
	if (!check_joinable(f))
		return false;
	uint32_t until = ~fiber_current->flags & FIBER_IS_CANCELLED;
	return (f->flags & FIBER_IS_DEAD) || wait_end(f, timeout, until);
}

int fiber_join_timeout(struct fiber *f, double timeout)
{
	if (!check_joinable(f))
		return -1;
	if (!(f->flags & FIBER_IS_DEAD) && !wait_end(f, timeout, 0))
		return -1;
	int result = f->result;
	if (result != 0)
		diag_move(&f->diag, diag_get());
	fiber_recycle(f);
	return result;
}

int fiber_join(struct fiber *f)
{
	return fiber_join_timeout(f, TIMEOUT_INFINITY);
}

/* All fibers ----------------------------------------------------------- */

struct fiber *fiber_find(uint64_t id)
{
	return map_u64_get(&fibers.by_id, id);
}

void fiber_set_name(struct fiber *f, const char *name)
{
	/* Nearly all are short: calls of the C library would take longer. */
	size_t len = 0;
	for (; len < FIBER_NAME_MAX && name[len] != '\0'; len++)
		f->name[len] = name[len];
	f->name[len] = '\0';
}

int fiber_foreach(int (*cb)(struct fiber *f, void *arg), void *arg)
{
	struct fiber *f, *tmp;
	list_foreach_entry_safe(f, tmp, &fibers.all, all_link) {
		int rc = cb(f, arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

size_t fiber_count(void)
{
	return fibers.alive_count;
}

size_t fiber_pool_count(void)
{
	return fibers.pool_count;
}

int fiber_slot_new(void (*recycle)(struct fiber *f, void *value))
{
	assert(fibers.slot_count < FIBER_SLOT_MAX);
	fibers.slot_recycle[fibers.slot_count] = recycle;
	return fibers.slot_count++;
}

void fiber_on_destroy(void (*destroy)(struct fiber *f))
{
	assert(fibers.destroy_count < DESTROY_HOOK_MAX);
	fibers.destroy[fibers.destroy_count++] = destroy;
}

/* The pool ------------------------------------------------------------- */

bool sched_pool_is_large(void)
{
	return fibers.pool_count > POOL_KEEP;
}

bool sched_trim_pool(void)
{
	/* A period that needed as many as there are keeps them all. */
	size_t keep = fibers.alive_peak - fibers.alive_count;
	if (keep < POOL_KEEP)
		keep = POOL_KEEP;
	for (int i = 0; i < POOL_TRIM_STEP && fibers.pool_count > keep; i++) {
		struct fiber *f = list_last_entry(&fibers.pool, struct fiber, link);
		sched_check_stack(f);
		fibers.pool_count--;
		fiber_unmake(f);
	}
	if (fibers.pool_count <= keep)
		fibers.alive_peak = fibers.alive_count;
	return sched_pool_is_large();
}

/* Threads -------------------------------------------------------------- */

static void main_stack_bounds(struct fiber *f)
{
	pthread_attr_t attr;
	void *base = NULL;
	size_t size = 0;
	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		pthread_attr_getstack(&attr, &base, &size);
		pthread_attr_destroy(&attr);
	}
	f->stack_size = size;
#ifdef TARN_ASAN
	f->_stack.base = base;
	f->_stack.size = size;
#endif
}

void fiber_thread_init(const char *name)
{
	struct fiber *f = &thread_fiber;
	fiber_create(f, name);
	f->id = FIBER_ID_MAIN;
	f->flags = FIBER_IS_RUNNING | FIBER_IS_SYSTEM;
	main_stack_bounds(f);
#ifdef TARN_TSAN
	f->_tsan_fiber = __tsan_get_current_fiber();
#endif
	fiber_current = f;
}

void fiber_thread_free(void)
{
	struct fiber *f = &thread_fiber;
	diag_clear(&f->diag);
	region_destroy(&f->region);
	fiber_current = NULL;
}

bool fiber_is_tx(void)
{
	return sched_main == &thread_fiber;
}

void fiber_init(void)
{
	memset(&fibers, 0, sizeof(fibers));
	list_create(&fibers.all);
	list_create(&fibers.pool);
	list_create(&fibers.graveyard);
	map_u64_create(&fibers.by_id);
	fibers.last_id = FIBER_ID_RESERVED;
	fiber_thread_init("sched");
	sched_init(fiber_current);
	map_u64_put(&fibers.by_id, FIBER_ID_MAIN, sched_main);
	list_add_tail(&fibers.all, &sched_main->all_link);
	fibers.alive_count = fibers.alive_peak = 1;
	stack_guard_install();
}

void fiber_free(void)
{
	assert(fiber_current == sched_main);
	list_del(&sched_main->all_link);
	while (!list_empty(&fibers.all)) {
		struct fiber *f = list_first_entry(&fibers.all, struct fiber, all_link);
		list_del(&f->link);
		trigger_destroy_all(&f->on_stop);
		fiber_recycle(f);
	}
	while (!list_empty(&fibers.pool))
		fiber_unmake(list_first_entry(&fibers.pool, struct fiber, link));
	empty_graveyard();
	map_u64_destroy(&fibers.by_id);
	stack_free_all();
	fiber_thread_free();
}
