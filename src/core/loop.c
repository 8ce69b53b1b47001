/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The event loop: libev, the hooks, and waiting for a descriptor. What runs
 * when is described in loop.h; the fibers' side of it is in fiber.c.
 */
#include "core/loop.h"

#include <assert.h>
#include <stddef.h>

#include "core/busy_poll.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/sched.h"
#include "core/sys.h"

struct ev_loop *loop_ev;

static struct {
	void (*hooks[LOOP_HOOK_MAX])(void);
	bool is_stopped;
	/** The monotonic clock at the end of the last poll. */
	double monotonic;
	/** Reads the clock before any callback of the poll runs. */
	ev_check check;
	/** Events of the last poll that wait for their callbacks. */
	unsigned event_count;
	struct busy_poll busy_poll;
	/** Trims the pool of stacks while it is large. */
	ev_timer trim;
} loop;

static void on_check(struct ev_loop *ev, ev_check *w, int events)
{
	(void)w;
	(void)events;
	loop.monotonic = clock_monotonic();
	loop.event_count = ev_pending_count(ev);
	fiber_watch_polled();
}

static void on_trim(struct ev_loop *ev, ev_timer *w, int events)
{
	(void)events;
	if (!sched_trim_pool())
		ev_timer_stop(ev, w);
}

void loop_init(void)
{
	assert(fiber() != NULL);
	/* The default loop would take the exit codes of everybody's children. */
	loop_ev = ev_loop_new(EVFLAG_AUTO);
	if (loop_ev == NULL)
		panic("cannot make an event loop: no usable method");
	loop.is_stopped = false;
	loop.monotonic = clock_monotonic();
	for (int i = 0; i < LOOP_HOOK_MAX; i++)
		loop.hooks[i] = NULL;
	/* Started watchers keep libev waiting where there is nothing else to wait for. */
	ev_check_init(&loop.check, on_check);
	ev_set_priority(&loop.check, EV_MAXPRI);
	ev_check_start(loop_ev, &loop.check);
	ev_timer_init(&loop.trim, on_trim, 1, 1);
}

void loop_free(void)
{
	ev_timer_stop(loop_ev, &loop.trim);
	ev_check_stop(loop_ev, &loop.check);
	ev_loop_destroy(loop_ev);
	loop_ev = NULL;
}

void loop_set_hook(enum loop_hook_order order, void (*hook)(void))
{
	loop.hooks[order] = hook;
}

/** Calls the hooks; where one makes a fiber ready while none was, that one goes first. */
static void run_hooks(void)
{
	bool was_ready = sched_has_ready();
	for (int i = 0; i < LOOP_HOOK_MAX; i++) {
		if (loop.hooks[i] != NULL)
			loop.hooks[i]();
		if (!was_ready && sched_has_ready())
			return;
	}
}

void loop_set_busy_poll(double seconds)
{
	busy_poll_set_limit(&loop.busy_poll, seconds * 1e9);
}

/** Looks for events without sleeping, from `start` on; false where none came in time. */
static bool poll_without_sleep(struct busy_poll *poll, uint64_t start)
{
	uint64_t before = start;
	bool is_core_ours;
	do {
		ev_run(loop_ev, EVRUN_NOWAIT);
		/* Without the callbacks. */
		is_core_ours = busy_poll_check_core(poll, before, loop.monotonic * 1e9);
		before = clock_monotonic_ns();
	} while (is_core_ours && loop.event_count == 0 && before - start < poll->limit_ns);
	busy_poll_note_result(poll, is_core_ours && loop.event_count > 0);
	return loop.event_count > 0;
}

/** Waits for events. */
static void wait_for_events(void)
{
	struct busy_poll *poll = &loop.busy_poll;
	if (poll->limit_ns == 0) {
		ev_run(loop_ev, EVRUN_ONCE);
		return;
	}
	uint64_t start = clock_monotonic_ns();
	if (!busy_poll_is_due(poll, start) || !poll_without_sleep(poll, start))
		ev_run(loop_ev, EVRUN_ONCE);
	busy_poll_note_wait(poll, clock_monotonic_ns() - start);
}

void loop_turn(void)
{
	bool was_ready = sched_has_ready();
	run_hooks();
	if (!was_ready && sched_has_ready())
		return;
	/* Events that a fiber has fed are libev's first thing, and no reason for it not to wait. */
	bool may_wait = !was_ready && !sched_wants_poll() && !loop.is_stopped &&
		ev_pending_count(loop_ev) == 0;
	fiber_watch_turn();
	if (may_wait)
		wait_for_events();
	else
		ev_run(loop_ev, EVRUN_NOWAIT);
	sched_polled(clock_monotonic_ns());
	if (sched_pool_is_large() && !ev_is_active(&loop.trim))
		ev_timer_start(loop_ev, &loop.trim);
}

void loop_run(void)
{
	loop.is_stopped = false;
	while (!loop.is_stopped) {
		/* A wake of the main fiber means nothing here: it runs the loop. */
		while (sched_run())
			;
		loop_turn();
	}
}

void loop_stop(void)
{
	loop.is_stopped = true;
}

double loop_monotonic(void)
{
	return loop.monotonic;
}

/* Descriptors ---------------------------------------------------------- */

struct wait_io {
	/** First, so that the callback finds the structure. */
	ev_io io;
	struct fiber *fiber;
	int events;
};

static void on_io(struct ev_loop *ev, ev_io *io, int events)
{
	(void)ev;
	struct wait_io *w = (struct wait_io *)io;
	w->events |= events & (EV_READ | EV_WRITE);
	fiber_wakeup(w->fiber);
}

int loop_wait_fd(int fd, int events, double timeout)
{
	assert(fd >= 0);
	if (fiber_is_cancelled())
		return 0;
	struct wait_io w = {.fiber = fiber(), .events = 0};
	ev_io_init(&w.io, on_io, fd, events);
	ev_io_start(loop_ev, &w.io);
	fiber_yield_timeout(timeout);
	ev_io_stop(loop_ev, &w.io);
	return w.events;
}
