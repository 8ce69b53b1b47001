/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the event loop and the fibers' scheduler tell each other. Private to
 * loop.c and fiber.c; all of it is for the main fiber.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/** Gives idle stacks beyond the need of late back to the system; true while there are more. */
bool sched_trim_pool(void);

/** Is the pool large enough for sched_trim_pool() to be worth a timer? */
bool sched_pool_is_large(void);

/** One turn of the loop without the running of fibers: hooks and poll. */
void loop_turn(void);
