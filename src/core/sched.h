/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the event loop (loop.c), the scheduler (sched.c) and the life of fibers
 * (fiber.c) tell each other. Private to them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fiber;

#define unlikely(x) __builtin_expect(!!(x), 0)

/* The scheduler: sched.c; for the main fiber. */

/** The fiber that the scheduler runs in: the first of the tx thread. */
extern struct fiber *sched_main;

void sched_init(struct fiber *main);

/**
 * Runs ready fibers until none is left or a poll is due (false), or until the
 * main fiber itself was woken (true).
 */
bool sched_run(void);

/** Does a fiber stand ready? */
bool sched_has_ready(void);

/** Does a fiber wait for the next poll to be over (fiber_sleep(0))? */
bool sched_wants_poll(void);

/** Tells that a poll is over, at `now` of the monotonic clock. */
void sched_polled(uint64_t now_ns);

/** Panics where the fiber has run over the end of its stack. Any fiber may call it. */
void sched_check_stack(const struct fiber *f);

/* The life of fibers: fiber.c. */

/** What a fiber does at the end of its function: it goes to the pool, or waits for its join. */
void fiber_finish(struct fiber *self);

/** Gives idle stacks beyond the need of late back to the system; true while there are more. */
bool sched_trim_pool(void);

/** Is the pool large enough for sched_trim_pool() to be worth a timer? */
bool sched_pool_is_large(void);

/* The loop: loop.c. */

/** One turn of the loop without the running of fibers: hooks and poll. */
void loop_turn(void);
