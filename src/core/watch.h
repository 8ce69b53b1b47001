/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What fibers take of the processor: how much each had (fiber.top() of Lua), and
 * slices, which bound how long one may run without a yield.
 *
 * Both need the clock at every switch, so they are off until somebody asks; then a
 * switch costs one look at `fiber_watched` more than it would without them.
 *
 * A slice has two bounds, counted from the switch to the fiber: beyond `warn` a line
 * goes to the log, beyond `err` fiber_check_slice() fails. Functions of the database
 * call it, so does fiber.check_slice() of Lua. At first no fiber has a bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fiber;

enum {
	FIBER_WATCH_TOP = 1 << 0,
	FIBER_WATCH_SLICE = 1 << 1,
};

/** What is measured at switches. */
extern int fiber_watched;

/** From so many seconds on, a bound is none: switches need not be watched for it. */
#define FIBER_SLICE_MAX 86400.0

/** The bounds of a slice, in seconds. */
struct fiber_slice {
	double warn, err;
};

/** The measures of one fiber (a part of struct fiber; private to watch.c). */
struct fiber_watch {
	/** Time taken while top was on, and of it in the turn `turn`; in ns. */
	uint64_t time_ns, turn_ns;
	/** The last turn it ran in. */
	uint64_t turn;
	/** Of that turn and of all turns up to it: parts of 1. */
	double instant, average;
	/** Next of those that ran in this turn; NULL: the last. */
	struct fiber *next;
	bool is_in_turn;
	/** Its own slice, where `has_slice`; else the one for all is in force. */
	bool has_slice;
	struct fiber_slice slice;
};

/* Called by the scheduler ---------------------------------------------- */

/** At a switch, where something is watched. */
void fiber_watch_switch(struct fiber *from, struct fiber *to);

/** A turn of the loop is over; the kernel is polled. */
void fiber_watch_turn(void);

/** The poll is over: the next turn begins. */
void fiber_watch_polled(void);

/** The fiber ends: forgets it. */
void fiber_watch_end(struct fiber *f);

/* Time ----------------------------------------------------------------- */

struct fiber_top {
	/** Share of the last turn, and the moving average over turns; per cent. */
	double instant, average;
	/** Seconds while top was on. */
	double time;
};

void fiber_top_enable(void);
void fiber_top_disable(void);
void fiber_top_get(const struct fiber *f, struct fiber_top *top);

/* Slices --------------------------------------------------------------- */

bool fiber_slice_has_bound(struct fiber_slice slice);

/** Sets the slice of all fibers that have none of their own. */
void fiber_set_default_slice(struct fiber_slice slice);

/** Sets the slice of one fiber, from its next switch on (of the current one: at once). */
void fiber_set_max_slice(struct fiber *f, struct fiber_slice slice);

/** What fiber_set_max_slice() gave the fiber, or the default. */
struct fiber_slice fiber_max_slice(const struct fiber *f);

/** Replaces the bounds of the current fiber until its next yield; counted from now. */
void fiber_set_slice(struct fiber_slice slice);

/** Adds to the bounds of the current fiber until its next yield. */
void fiber_extend_slice(struct fiber_slice slice);

/**
 * The current fiber goes on with other work without a switch, as one that serves requests does: its
 * slice begins anew, with the bounds of all. To be called where `fiber_watched` is not 0 or the
 * fiber has a slice of its own.
 */
void fiber_renew_slice(void);

/** The same as fiber_check_slice(), where slices are watched. */
int fiber_check_slice_now(void);

/**
 * -1 with FiberSliceIsExceeded where the current fiber has run for longer than its
 * slice; warns once where it is beyond the lower bound.
 */
static inline __attribute__((always_inline)) int fiber_check_slice(void)
{
	if (__builtin_expect((fiber_watched & FIBER_WATCH_SLICE) == 0, 1))
		return 0;
	return fiber_check_slice_now();
}

/** Is the current fiber beyond its `err` bound? Warns as fiber_check_slice(), sets no error. */
bool fiber_slice_is_over(void);
