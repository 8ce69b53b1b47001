/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fibers' scheduler: one queue of ready fibers, and waits.
 *
 *                  fiber_wakeup()               picked by next_ready()
 *     SUSPENDED ----------------------> READY ------------------------> RUNNING
 *          ^                                                               |
 *          +------------------------- fiber_yield() -----------------------+
 *
 * fiber_start() leads from SUSPENDED to RUNNING without the queue. How a fiber
 * comes to be and ends: fiber.c.
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
#include "core/sched.h"

#include <assert.h>
#include <ev.h>

#include "core/context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/sys.h"

#ifdef TARN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TARN_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum {
	POLL_CHECK = 64,
	/** Lines of the cache at the top of a stack that are used at once. */
	PREFETCH_LINES = 4,
	POLL_INTERVAL_NS = 50 * 1000,
};

_Thread_local struct fiber *fiber_current;
uint64_t fiber_switch_count;
int (*fiber_check_yield)(void);
struct fiber *sched_main;

static struct {
	/** Fibers to run, first come first served. */
	struct list ready;
	/** Switches until the clock is looked at. */
	int budget;
	/** How main was reached; see above. */
	bool fell_back;
	uint64_t last_poll_ns;
	/** Fibers in fiber_sleep(0): ready once the next poll is over. */
	struct list after_poll;
} sched;

void sched_init(struct fiber *main)
{
	list_create(&sched.ready);
	list_create(&sched.after_poll);
	sched.budget = POLL_CHECK;
	sched.fell_back = false;
	sched.last_poll_ns = clock_monotonic_ns();
	sched_main = main;
}

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
#ifdef TARN_TSAN
	__tsan_switch_to_fiber(to->_tsan_fiber, 0);
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

void sched_check_stack(const struct fiber *f)
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
	sched_check_stack(self);
	struct fiber *main = sched_main;
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
	struct fiber *self = sched_main;
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
	if (unlikely(self == sched_main)) {
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
	struct fiber *main = sched_main;
	uint32_t state = main->flags & (FIBER_IS_READY | FIBER_IS_RUNNING);
	if (state & FIBER_IS_READY)
		unmake_ready(main);
	return state;
}

static __attribute__((noinline, cold)) void main_restore(uint32_t state)
{
	struct fiber *main = sched_main;
	assert(!(main->flags & FIBER_IS_READY));
	if (state & FIBER_IS_READY)
		make_ready(main);
	main->flags = (main->flags & ~FIBER_IS_RUNNING) | (state & FIBER_IS_RUNNING);
}

void fiber_reschedule(void)
{
	struct fiber *self = fiber_current;
	announce_yield(self);
	if (unlikely(self == sched_main)) {
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
	if (!list_empty(&sched.ready) || self == sched_main)
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
	if (unlikely(self == sched_main))
		state = main_borrow();
	if (f->flags & FIBER_IS_READY)
		unmake_ready(f);
	self->flags |= FIBER_IS_READY;
	list_add(&sched.ready, &self->link);
	va_copy(f->args, args);
	switch_to(self, f);
	if (unlikely(self == sched_main))
		main_restore(state);
}

void fiber_start(struct fiber *f, ...)
{
	va_list args;
	va_start(args, f);
	fiber_start_va(f, args);
	va_end(args);
}

/* A life ---------------------------------------------------------------- */

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
