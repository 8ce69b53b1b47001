/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The event loop of the tx thread, over libev.
 *
 * One turn: run ready fibers until none is left (or until the last poll is 50
 * microseconds ago, looked at every 64 switches), call the hooks in their order (the
 * journal writes its batch, which makes the committing fibers ready; then connections
 * send what they have), and poll the kernel, waiting only where nothing is ready.
 */
#pragma once

#include <ev.h>
#include <stdbool.h>

/**
 * libev's loop, for watchers of upper layers. Their callbacks run in the scheduler's fiber and may
 * not yield.
 */
extern struct ev_loop *loop_ev;

void loop_init(void);
void loop_free(void);

/** Runs turns until loop_stop(); called from the main fiber. */
void loop_run(void);

/** Makes loop_run() return once the current turn is over. May be called from any fiber. */
void loop_stop(void);

/**
 * Before it sleeps, the loop looks for events for up to so long, where these have come in short
 * order of late (busy_poll.h). 0: it sleeps at once.
 */
void loop_set_busy_poll(double seconds);

enum loop_hook_order {
	LOOP_HOOK_JOURNAL,	/* first: what it completes may produce output */
	LOOP_HOOK_NET,
	LOOP_HOOK_MAX,
};

/**
 * Registers the function called each time no fiber is ready any more, before
 * the loop polls, and before each poll that is made while fibers are ready (see
 * above), so that it never starves. It runs in the scheduler's fiber, may make
 * fibers ready, may not yield. Where it made one ready while none was, later
 * hooks wait until none is ready again. NULL takes the hook away.
 */
void loop_set_hook(enum loop_hook_order order, void (*hook)(void));

/** Seconds of the wall clock, as of the turn's beginning (cheap). */
static inline double loop_time(void)
{
	return ev_now(loop_ev);
}

/** Seconds of the monotonic clock, as of the turn's beginning. */
double loop_monotonic(void);

/**
 * Waits until the descriptor is ready for `events` (EV_READ | EV_WRITE) or
 * `timeout` seconds are over. Returns what is ready, 0 on time-out or cancel.
 * Yields.
 */
int loop_wait_fd(int fd, int events, double timeout);
