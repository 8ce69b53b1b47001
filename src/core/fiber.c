/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fibers and their scheduler.
 *
 * States and who moves a fiber between them:
 *
 *                  fiber_wakeup()               picked by next_ready()
 *     SUSPENDED ----------------------> READY ------------------------> RUNNING
 *       ^  ^                                                             |  |
 *       |  +---------------------- fiber_yield() ------------------------+  |
 *       |                                                                   |
 *       |  fiber_new()               fiber_recycle()      fiber_finish()    |
 *     [pool] <------------------------------------- DEAD <------------------+
 *
 * fiber_start() leads from SUSPENDED to RUNNING without the queue. DEAD lasts
 * only where the fiber is joinable, or someone waits in fiber_join() for it.
 *
 * Invariants:
 *
 *  1. FIBER_IS_READY is set if and only if `link` stands in sched.ready.
 *  2. `link` of a suspended fiber is free for the list of what it waits for;
 *     fiber_wakeup() takes it out of there. So a waiter need not look whether
 *     it is still in the list: it is not, once it runs.
 *  3. FIBER_IS_RUNNING is set for fiber_current and for no other. It is clear in
 *     event callbacks that run while main waits in fiber_yield().
 *  4. Who calls fiber_yield() is in no list, or in a list of waiters.
 *  5. A dead fiber that was recycled has id 0 and stands in the pool; its stack
 *     is parked inside context_main(), from where its next life begins, with no
 *     need to set up the stack again.
 *
 * The main fiber is both a fiber (it may start others, be woken, and yield) and
 * the scheduler: it gets control where no fiber is ready or a poll is due. The
 * two ways to come back to it are told apart by sched.fell_back, which
 * fall_back() sets and which stays clear where main was taken from the queue.
 *
 * A poll is due where POLL_INTERVAL_NS have passed since the last one; the
 * clock is read every POLL_CHECK switches. So switches among ready fibers cost
 * next to nothing beside themselves, and sockets, timers and hooks never starve.
 */
#include "core/fiber.h"

#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <string.h>

#include "core/context.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/sched.h"
#include "core/sys.h"
#include "core/trigger.h"

#ifdef TARN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
	POLL_CHECK = 64,
	/** Lines of the cache at the top of a stack that are used at once. */
	PREFETCH_LINES = 4,
	POLL_INTERVAL_NS = 50 * 1000,
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

_Thread_local struct fiber *fiber_current;
uint64_t fiber_switch_count;
int (*fiber_check_yield)(void);

static _Thread_local struct fiber thread_fiber;

static struct {
	/** Fibers to run, first come first served. */
	struct list ready;
	struct fiber *main;
	/** Switches until the clock is looked at. */
	int budget;
	/** How main was reached; see above. */
	bool fell_back;
	uint64_t last_poll_ns;
	/** Fibers in fiber_sleep(0): ready once the next poll is over. */
	struct list after_poll;
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
} sched;

/** Stands in the list of whom it waits for. */
struct joiner {
	struct list link;
	struct fiber *fiber;
	/** Set where somebody else's join recycled the fiber. */
	bool is_gone;
};

/* Switching ------------------------------------------------------------ */

/** The first half of a life, or of a pooled fiber's next one, on its new stack. */
static inline void switch_finished(struct fiber *self)
{
#ifdef TARN_ASAN
	__sanitizer_finish_switch_fiber(self->_asan_stack, NULL, NULL);
#else
	(void)self;
#endif
}

static inline __attribute__((always_inline)) void switch_to(struct fiber *self, struct fiber *to)
{
	assert(self == fiber_current && self != to);
	assert(!(to->flags & FIBER_IS_READY));
	self->flags &= ~FIBER_IS_RUNNING;
	to->flags |= FIBER_IS_RUNNING;
	to->csw++;
	fiber_switch_count++;
	if (unlikely(fiber_watched != 0))
		fiber_watch_switch(self, to);
	fiber_current = to;
#ifdef TARN_ASAN
	__sanitizer_start_switch_fiber(&self->_asan_stack, to->_stack.base, to->_stack.size);
#endif
	context_switch(&self->_sp, to->_sp);
	switch_finished(self);
}

static inline void make_ready(struct fiber *f)
{
	f->flags |= FIBER_IS_READY;
	list_add_tail(&sched.ready, &f->link);
}

static inline void unmake_ready(struct fiber *f)
{
	f->flags &= ~FIBER_IS_READY;
	list_del(&f->link);
}

static __attribute__((noinline, cold)) bool poll_is_due(void)
{
	if (clock_monotonic_ns() - sched.last_poll_ns >= POLL_INTERVAL_NS)
		return true;
	sched.budget = POLL_CHECK;
	return false;
}

/**
 * Of many fibers, each has left the caches before its turn comes again. So what the next
 * but one will need is fetched while the next one runs: its stack, from the top frame up,
 * and the structure of the one behind it, where its stack pointer stands.
 */
static inline __attribute__((always_inline)) void prefetch_ready(void)
{
	struct list *link = sched.ready.next;
	if (link == &sched.ready)
		return;
	__builtin_prefetch(list_entry(link->next, struct fiber, link));
	const struct fiber *f = list_entry(link, struct fiber, link);
	const char *sp = f->_sp;
	for (int i = 0; i < PREFETCH_LINES; i++)
		__builtin_prefetch(sp + 64 * i);
	__builtin_prefetch(f->warm);
}

/** Takes the next fiber from the queue; NULL where there is none or a poll is due. */
static inline struct fiber *next_ready(void)
{
	if (list_empty(&sched.ready))
		return NULL;
	if (unlikely(--sched.budget < 0) && poll_is_due())
		return NULL;
	struct fiber *f = list_first_entry(&sched.ready, struct fiber, link);
	unmake_ready(f);
	prefetch_ready();
	return f;
}

static void check_stack(const struct fiber *f)
{
	if (unlikely(!stack_check(&f->_stack)))
		panic("stack overflow in fiber '%s' (stack of %zu bytes)", f->name,
		      f->stack_size);
}

/**
 * Gives control to main. Where it stands in the queue, it counts as picked from
 * there. This is rare enough to look after the stack of who yields.
 */
static __attribute__((noinline)) struct fiber *fall_back(struct fiber *self)
{
	check_stack(self);
	struct fiber *main = sched.main;
	sched.fell_back = !(main->flags & FIBER_IS_READY);
	if (!sched.fell_back)
		unmake_ready(main);
	return main;
}

/** From a fiber that is not main to whoever is next. */
static inline void switch_away(struct fiber *self)
{
	struct fiber *next = next_ready();
	if (unlikely(next == NULL))
		next = fall_back(self);
	if (next != self)
		switch_to(self, next);
	else if (unlikely(fiber_watched != 0))
		fiber_watch_switch(self, self);
}

bool sched_run(void)
{
	struct fiber *self = sched.main;
	assert(fiber_current == self);
	struct fiber *next;
	while ((next = next_ready()) != NULL) {
		if (next == self)
			return true;
		sched.fell_back = false;
		switch_to(self, next);
		if (!sched.fell_back)
			return true;
	}
	return false;
}

bool sched_has_ready(void)
{
	return !list_empty(&sched.ready);
}

bool sched_wants_poll(void)
{
	return !list_empty(&sched.after_poll);
}

void sched_polled(uint64_t now_ns)
{
	sched.last_poll_ns = now_ns;
	sched.budget = POLL_CHECK;
	while (!list_empty(&sched.after_poll))
		fiber_wakeup(list_first_entry(&sched.after_poll, struct fiber, link));
}

/** Whoever may not be switched away from in the middle of something hears of it before. */
static inline void announce_yield(struct fiber *self)
{
	if (unlikely(self->on_yield != NULL))
		self->on_yield(self);
}

void fiber_yield(void)
{
	struct fiber *self = fiber_current;
	announce_yield(self);
	assert(!(self->flags & FIBER_IS_READY));
	if (unlikely(self == sched.main)) {
		/* Not RUNNING, so that event callbacks can wake it, although they run on it. */
		while (!sched_run()) {
			self->flags &= ~FIBER_IS_RUNNING;
			loop_turn();
		}
		self->flags |= FIBER_IS_RUNNING;
		return;
	}
	switch_away(self);
}

/**
 * Main in an event callback while it waits in fiber_yield(): it may have been
 * woken for that already. Takes it out of the queue; main_restore() puts it back.
 */
static __attribute__((noinline, cold)) uint32_t main_borrow(void)
{
	struct fiber *main = sched.main;
	uint32_t state = main->flags & (FIBER_IS_READY | FIBER_IS_RUNNING);
	if (state & FIBER_IS_READY)
		unmake_ready(main);
	return state;
}

static __attribute__((noinline, cold)) void main_restore(uint32_t state)
{
	struct fiber *main = sched.main;
	assert(!(main->flags & FIBER_IS_READY));
	if (state & FIBER_IS_READY)
		make_ready(main);
	main->flags = (main->flags & ~FIBER_IS_RUNNING) | (state & FIBER_IS_RUNNING);
}

void fiber_reschedule(void)
{
	struct fiber *self = fiber_current;
	announce_yield(self);
	if (unlikely(self == sched.main)) {
		/* Also from event callbacks, so no turn of the loop: run those in front of us. */
		uint32_t state = main_borrow();
		make_ready(self);
		struct fiber *next = list_first_entry(&sched.ready, struct fiber, link);
		unmake_ready(next);
		if (next != self)
			switch_to(self, next);
		main_restore(state);
		return;
	}
	make_ready(self);
	switch_away(self);
}

bool fiber_yield_in_place(void)
{
	struct fiber *self = fiber_current;
	if (!list_empty(&sched.ready) || self == sched.main)
		return false;
	if (unlikely(--sched.budget < 0) && poll_is_due())
		return false;
	announce_yield(self);
	self->csw++;
	fiber_switch_count++;
	if (unlikely(fiber_watched != 0))
		fiber_watch_switch(self, self);
	return true;
}

void fiber_halt_all(void)
{
	while (!list_empty(&sched.ready))
		unmake_ready(list_first_entry(&sched.ready, struct fiber, link));
	while (!list_empty(&sched.after_poll))
		list_shift(&sched.after_poll);
}

void fiber_wakeup(struct fiber *f)
{
	if (f->flags & (FIBER_IS_READY | FIBER_IS_RUNNING | FIBER_IS_DEAD))
		return;
	assert(f->id != 0);
	list_del(&f->link);
	make_ready(f);
}

void fiber_start_va(struct fiber *f, va_list args)
{
	struct fiber *self = fiber_current;
	assert(f != self && f->id != 0 && !(f->flags & FIBER_IS_DEAD));
	announce_yield(self);
	uint32_t state = 0;
	if (unlikely(self == sched.main))
		state = main_borrow();
	if (f->flags & FIBER_IS_READY)
		unmake_ready(f);
	self->flags |= FIBER_IS_READY;
	list_add(&sched.ready, &self->link);
	va_copy(f->args, args);
	switch_to(self, f);
	if (unlikely(self == sched.main))
		main_restore(state);
}

void fiber_start(struct fiber *f, ...)
{
	va_list args;
	va_start(args, f);
	fiber_start_va(f, args);
	va_end(args);
}

/* Waiting -------------------------------------------------------------- */

struct wait_timer {
	/** First, so that the callback finds the structure. */
	ev_timer timer;
	struct fiber *fiber;
	bool is_over;
};

static void on_wait_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	struct wait_timer *w = (struct wait_timer *)timer;
	w->is_over = true;
	fiber_wakeup(w->fiber);
}

bool fiber_yield_timeout(double timeout)
{
	if (timeout >= TIMEOUT_INFINITY) {
		fiber_yield();
		return false;
	}
	/* Not a number counts as 0. */
	struct wait_timer w = {.fiber = fiber_current, .is_over = false};
	ev_timer_init(&w.timer, on_wait_timer, timeout > 0 ? timeout : 0, 0);
	/* The loop's time is that of the turn's beginning: a timer would end too early. */
	ev_now_update(loop_ev);
	ev_timer_start(loop_ev, &w.timer);
	fiber_yield();
	ev_timer_stop(loop_ev, &w.timer);
	return w.is_over;
}

void fiber_sleep(double seconds)
{
	if (seconds > 0) {
		fiber_yield_timeout(seconds);
		return;
	}
	list_add_tail(&sched.after_poll, &fiber_current->link);
	fiber_yield();
}

void fiber_cancel(struct fiber *f)
{
	assert(f->id != 0);
	f->flags |= FIBER_IS_CANCELLED;
	if (f->flags & FIBER_IS_CANCELLABLE)
		fiber_wakeup(f);
}

bool fiber_set_cancellable(bool yesno)
{
	struct fiber *self = fiber_current;
	bool was = self->flags & FIBER_IS_CANCELLABLE;
	if (yesno)
		self->flags |= FIBER_IS_CANCELLABLE;
	else
		self->flags &= ~FIBER_IS_CANCELLABLE;
	return was;
}

int fiber_set_cancel_error(void)
{
	diag_set(FiberIsCancelled, "fiber is cancelled");
	return -1;
}

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
	size_t color = sched.made_count++ % STACK_COLOR_COUNT * STACK_COLOR;
	f->_sp = context_create(stack_top(&stack) - color);
	return f;
}

/** Frees a fiber that has no life; not the one that runs. */
static void fiber_unmake(struct fiber *f)
{
	assert(f != fiber_current && f->id == 0);
	for (int i = 0; i < sched.destroy_count; i++)
		sched.destroy[i](f);
	list_del(&f->link);
	region_destroy(&f->region);
	diag_clear(&f->diag);
	stack_destroy(&f->_stack);
	xfree(f);
}

static __attribute__((noinline, cold)) void empty_graveyard(void)
{
	struct fiber *f, *tmp;
	list_foreach_entry_safe(f, tmp, &sched.graveyard, link) {
		if (f != fiber_current)
			fiber_unmake(f);
	}
}

static struct fiber *fiber_obtain(size_t stack_size)
{
	if (unlikely(!list_empty(&sched.graveyard)))
		empty_graveyard();
	if (stack_size == FIBER_STACK_SIZE_DEFAULT && !list_empty(&sched.pool)) {
		sched.pool_count--;
		return list_shift_entry(&sched.pool, struct fiber, link);
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
	f->id = ++sched.last_id;
	f->csw = 0;
	f->func = func;
	fiber_set_name(f, name);
	map_u64_put(&sched.by_id, f->id, f);
	list_add_tail(&sched.all, &f->all_link);
	if (++sched.alive_count > sched.alive_peak)
		sched.alive_peak = sched.alive_count;
	return f;
}

struct fiber *fiber_new(const char *name, fiber_func func)
{
	return fiber_new_sized(name, FIBER_STACK_SIZE_DEFAULT, func);
}

/** Ends the life of a fiber, dead or about to be left for good. */
static void fiber_recycle(struct fiber *f)
{
	check_stack(f);
	while (unlikely(!list_empty(&f->joiners)))
		list_shift_entry(&f->joiners, struct joiner, link)->is_gone = true;
	region_reset(&f->region);
	if (f->diag.last != NULL)
		diag_clear(&f->diag);
	map_u64_del(&sched.by_id, f->id);
	list_del(&f->all_link);
	fiber_watch_end(f);
	f->id = 0;
	f->flags = (f->flags & FIBER_IS_RUNNING) | FIBER_IS_DEAD;
	sched.alive_count--;
	if (f->stack_size == FIBER_STACK_SIZE_DEFAULT) {
		list_add(&sched.pool, &f->link);
		sched.pool_count++;
	} else {
		list_add(&sched.graveyard, &f->link);
	}
}

static void log_failure(struct fiber *f)
{
	if (f->diag.last != NULL && !error_is(f->diag.last, &type_FiberIsCancelled))
		diag_log();
}

/** What a fiber does at the end of its function. */
static void fiber_finish(struct fiber *self)
{
	if (unlikely(!list_empty(&self->on_stop))) {
		trigger_run(&self->on_stop, self);
		trigger_destroy_all(&self->on_stop);
	}
	if (unlikely(self->result != 0) && !(self->flags & FIBER_IS_JOINABLE))
		log_failure(self);
	for (int i = 0; i < sched.slot_count; i++) {
		if (self->slot[i] != NULL && sched.slot_recycle[i] != NULL)
			sched.slot_recycle[i](self, self->slot[i]);
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

void context_main(void)
{
	struct fiber *self = fiber_current;
	switch_finished(self);
	for (;;) {
		self->result = self->func(self->args);
		assert(self == fiber_current && !(self->flags & FIBER_IS_READY));
		fiber_finish(self);
#ifdef TARN_ASAN
		/* Frames that an error jumped over left their marks. */
		char *here = __builtin_frame_address(0);
		__asan_unpoison_memory_region(self->_stack.base, here - 1024 - self->_stack.base);
#endif
		switch_away(self);
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
	return map_u64_get(&sched.by_id, id);
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
	list_foreach_entry_safe(f, tmp, &sched.all, all_link) {
		int rc = cb(f, arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

size_t fiber_count(void)
{
	return sched.alive_count;
}

size_t fiber_pool_count(void)
{
	return sched.pool_count;
}

int fiber_slot_new(void (*recycle)(struct fiber *f, void *value))
{
	assert(sched.slot_count < FIBER_SLOT_MAX);
	sched.slot_recycle[sched.slot_count] = recycle;
	return sched.slot_count++;
}

void fiber_on_destroy(void (*destroy)(struct fiber *f))
{
	assert(sched.destroy_count < DESTROY_HOOK_MAX);
	sched.destroy[sched.destroy_count++] = destroy;
}

/* The pool ------------------------------------------------------------- */

bool sched_pool_is_large(void)
{
	return sched.pool_count > POOL_KEEP;
}

bool sched_trim_pool(void)
{
	/* A period that needed as many as there are keeps them all. */
	size_t keep = sched.alive_peak - sched.alive_count;
	if (keep < POOL_KEEP)
		keep = POOL_KEEP;
	for (int i = 0; i < POOL_TRIM_STEP && sched.pool_count > keep; i++) {
		struct fiber *f = list_last_entry(&sched.pool, struct fiber, link);
		check_stack(f);
		sched.pool_count--;
		fiber_unmake(f);
	}
	if (sched.pool_count <= keep)
		sched.alive_peak = sched.alive_count;
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
	return sched.main == &thread_fiber;
}

void fiber_init(void)
{
	memset(&sched, 0, sizeof(sched));
	list_create(&sched.ready);
	list_create(&sched.after_poll);
	list_create(&sched.all);
	list_create(&sched.pool);
	list_create(&sched.graveyard);
	map_u64_create(&sched.by_id);
	sched.last_id = FIBER_ID_RESERVED;
	sched.budget = POLL_CHECK;
	sched.last_poll_ns = clock_monotonic_ns();
	fiber_thread_init("sched");
	sched.main = fiber_current;
	map_u64_put(&sched.by_id, FIBER_ID_MAIN, sched.main);
	list_add_tail(&sched.all, &sched.main->all_link);
	sched.alive_count = sched.alive_peak = 1;
	stack_guard_install();
}

void fiber_free(void)
{
	assert(fiber_current == sched.main);
	list_del(&sched.main->all_link);
	while (!list_empty(&sched.all)) {
		struct fiber *f = list_first_entry(&sched.all, struct fiber, all_link);
		list_del(&f->link);
		trigger_destroy_all(&f->on_stop);
		fiber_recycle(f);
	}
	while (!list_empty(&sched.pool))
		fiber_unmake(list_first_entry(&sched.pool, struct fiber, link));
	empty_graveyard();
	map_u64_destroy(&sched.by_id);
	stack_free_all();
	fiber_thread_free();
}
