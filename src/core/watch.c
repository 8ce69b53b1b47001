/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Measures at switches; see watch.h.
 *
 * Shares are of a turn of the loop. Fibers that ran in a turn hang in a list, so the
 * end of a turn costs as much as ran in it; the average of one that sleeps decays
 * when it is looked at, by the number of turns since.
 */
#include "core/watch.h"

#include <math.h>
#include <stddef.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/sys.h"

/** Weight of the newest turn in the average. */
static const double AVERAGE_WEIGHT = 1.0 / 16;

int fiber_watched;

static struct {
	/** When the running fiber was switched to. */
	uint64_t switched_ns;
	/** Top: the number of this turn, its beginning, and who ran in it. */
	uint64_t turn, turn_began_ns;
	struct fiber *first;
	struct fiber_slice default_slice;
	/** The bounds in force for the running fiber, in ns of the clock; UINT64_MAX: none. */
	uint64_t warn_ns, err_ns;
	/** Bounds in seconds as asked for: for texts. */
	double warn;
} watch = {
	.default_slice = {TIMEOUT_INFINITY, TIMEOUT_INFINITY},
	.warn_ns = UINT64_MAX,
	.err_ns = UINT64_MAX,
};

/* Time ----------------------------------------------------------------- */

/** The running fiber had the processor from the last switch to `now_ns`. */
static void charge(struct fiber *f, uint64_t now_ns)
{
	struct fiber_watch *w = &f->watch;
	uint64_t ns = now_ns - watch.switched_ns;
	watch.switched_ns = now_ns;
	if (f->id == 0)
		return; /* its life has just ended */
	w->time_ns += ns;
	if (!w->is_in_turn) {
		w->is_in_turn = true;
		w->turn_ns = 0;
		w->next = watch.first;
		watch.first = f;
	}
	w->turn_ns += ns;
}

/** The average as it is before turn `turn`, of one that did not run since w->turn. */
static double decayed(const struct fiber_watch *w, uint64_t turn)
{
	if (w->turn == 0 || w->average == 0)
		return 0;
	return w->average * pow(1 - AVERAGE_WEIGHT, (double)(turn - w->turn - 1));
}

void fiber_watch_turn(void)
{
	if (!(fiber_watched & FIBER_WATCH_TOP))
		return;
	uint64_t now_ns = clock_monotonic_ns();
	charge(fiber(), now_ns);
	double len = now_ns > watch.turn_began_ns ? now_ns - watch.turn_began_ns : 1;
	uint64_t turn = ++watch.turn;
	while (watch.first != NULL) {
		struct fiber_watch *w = &watch.first->watch;
		watch.first = w->next;
		w->instant = w->turn_ns / len;
		w->average = w->turn == 0 ? w->instant :
			     decayed(w, turn) * (1 - AVERAGE_WEIGHT) + w->instant * AVERAGE_WEIGHT;
		w->turn = turn;
		w->is_in_turn = false;
	}
}

void fiber_watch_polled(void)
{
	if (fiber_watched != 0)
		watch.turn_began_ns = watch.switched_ns = clock_monotonic_ns();
}

void fiber_watch_end(struct fiber *f)
{
	if (f->watch.is_in_turn) {
		struct fiber **p = &watch.first;
		while (*p != f)
			p = &(*p)->watch.next;
		*p = f->watch.next;
	}
	f->watch = (struct fiber_watch){.time_ns = 0};
}

static int forget(struct fiber *f, void *arg)
{
	struct fiber_slice slice = f->watch.slice;
	bool has_slice = f->watch.has_slice;
	f->watch = (struct fiber_watch){.slice = slice, .has_slice = has_slice};
	return 0;
}

void fiber_top_enable(void)
{
	if (fiber_watched & FIBER_WATCH_TOP)
		return;
	watch.turn = 0;
	watch.turn_began_ns = watch.switched_ns = clock_monotonic_ns();
	fiber_watched |= FIBER_WATCH_TOP;
}

void fiber_top_disable(void)
{
	fiber_watched &= ~FIBER_WATCH_TOP;
	watch.first = NULL;
	fiber_foreach(forget, NULL);
}

void fiber_top_get(const struct fiber *f, struct fiber_top *top)
{
	const struct fiber_watch *w = &f->watch;
	bool ran = w->turn != 0 && w->turn == watch.turn;
	top->instant = ran ? w->instant * 100 : 0;
	top->average = (ran ? w->average : decayed(w, watch.turn + 1)) * 100;
	top->time = w->time_ns / 1e9;
}

/* Slices --------------------------------------------------------------- */

static uint64_t after(uint64_t start_ns, double seconds)
{
	return seconds < FIBER_SLICE_MAX ? start_ns + (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

struct fiber_slice fiber_max_slice(const struct fiber *f)
{
	return f->watch.has_slice ? f->watch.slice : watch.default_slice;
}

static void put_in_force(struct fiber_slice slice, uint64_t start_ns)
{
	watch.warn = slice.warn;
	watch.warn_ns = after(start_ns, slice.warn);
	watch.err_ns = after(start_ns, slice.err);
}

/** Begins a slice of a fiber just switched to. */
static void begin_slice(const struct fiber *f, uint64_t now_ns)
{
	put_in_force(fiber_max_slice(f), now_ns);
}

bool fiber_slice_has_bound(struct fiber_slice slice)
{
	return slice.warn < FIBER_SLICE_MAX || slice.err < FIBER_SLICE_MAX;
}

/** Where there is a bound, bounds begin to count: for the running fiber from now. */
static void begin_watch(struct fiber_slice slice)
{
	if ((fiber_watched & FIBER_WATCH_SLICE) || !fiber_slice_has_bound(slice))
		return;
	if (!(fiber_watched & FIBER_WATCH_TOP))
		watch.switched_ns = clock_monotonic_ns();
	fiber_watched |= FIBER_WATCH_SLICE;
}

void fiber_set_default_slice(struct fiber_slice slice)
{
	begin_watch(slice);
	watch.default_slice = slice;
	if (!fiber()->watch.has_slice)
		begin_slice(fiber(), watch.switched_ns);
}

void fiber_set_max_slice(struct fiber *f, struct fiber_slice slice)
{
	begin_watch(slice);
	f->watch.slice = slice;
	f->watch.has_slice = true;
	if (f == fiber())
		begin_slice(f, watch.switched_ns);
}

void fiber_set_slice(struct fiber_slice slice)
{
	begin_watch(slice);
	put_in_force(slice, clock_monotonic_ns());
}

void fiber_extend_slice(struct fiber_slice slice)
{
	if (watch.warn_ns != UINT64_MAX)
		watch.warn_ns = after(watch.warn_ns, slice.warn);
	if (watch.err_ns != UINT64_MAX)
		watch.err_ns = after(watch.err_ns, slice.err);
}

void fiber_renew_slice(void)
{
	fiber()->watch.has_slice = false;
	if (fiber_watched & FIBER_WATCH_SLICE)
		put_in_force(watch.default_slice, clock_monotonic_ns());
}

bool fiber_slice_is_over(void)
{
	if (watch.warn_ns == UINT64_MAX && watch.err_ns == UINT64_MAX)
		return false;
	/* A fiber that serves requests is the system's only between them. */
	if (!fiber_is_tx() || (fiber()->flags & FIBER_IS_SYSTEM))
		return false;
	uint64_t now_ns = clock_monotonic_ns();
	if (now_ns >= watch.warn_ns) {
		watch.warn_ns = UINT64_MAX;
		say_warn("fiber has not yielded for more than %.3f seconds", watch.warn);
	}
	return now_ns >= watch.err_ns;
}

int fiber_check_slice_now(void)
{
	if (!fiber_slice_is_over())
		return 0;
	diag_set(FiberSliceIsExceeded, "fiber slice is exceeded");
	return -1;
}

void fiber_watch_switch(struct fiber *from, struct fiber *to)
{
	uint64_t now_ns = clock_monotonic_ns();
	if (fiber_watched & FIBER_WATCH_TOP)
		charge(from, now_ns);
	watch.switched_ns = now_ns;
	if (fiber_watched & FIBER_WATCH_SLICE)
		begin_slice(to, now_ns);
}
