/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Automatic checkpoints: a system fiber that makes one each time the interval
 * is over, or enough was written to the journal since the last one.
 */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "db/wal/wal_int.h"

static struct {
	/** Seconds; 0: never. */
	double interval;
	/** NULL while the instance does not run. */
	struct fiber *fiber;
	/** The interval was changed, or a checkpoint is due. */
	struct fiber_cond changed;
	/** Enough was written. */
	bool is_due;
	/** What was written when an attempt failed: the next is made after as much again. */
	uint64_t failed_bytes;
	uint64_t threshold;
} timer;

static void log_next(double delay)
{
	char text[64];
	time_t when = (time_t)(loop_time() + delay);
	struct tm tm;
	localtime_r(&when, &tm);
	strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	say_info("scheduled next checkpoint for %s", text);
}

/** Called by the journal after a write that went beyond the threshold. */
static void on_threshold(void)
{
	if (timer.fiber == NULL || timer.is_due || checkpoint_is_running() ||
	    journal_bytes() - timer.failed_bytes <= timer.threshold)
		return;
	timer.is_due = true;
	fiber_cond_signal(&timer.changed);
}

/** Waits for one interval, or until one is due; false where the interval was changed meanwhile. */
static bool wait_interval(bool is_first)
{
	if (timer.is_due)
		return true;
	if (timer.interval <= 0) {
		if (fiber_cond_wait(&timer.changed) != 0)
			diag_clear(diag_get());
		return timer.is_due;
	}
	double delay = timer.interval;
	/* Many instances that start together should not write together. */
	if (is_first)
		delay += timer.interval * (random() / (RAND_MAX + 1.0));
	log_next(delay);
	if (fiber_cond_wait_timeout(&timer.changed, delay) == 0)
		return timer.is_due;
	bool is_over = error_is(diag_last(), &type_TimedOut);
	diag_clear(diag_get());
	return is_over;
}

static int timer_func(va_list args)
{
	(void)args;
	bool is_first = true;
	while (!fiber_is_cancelled()) {
		if (!wait_interval(is_first)) {
			is_first = true;
			continue;
		}
		is_first = false;
		if (fiber_is_cancelled())
			break;
		if (timer.is_due)
			say_info("the threshold of checkpoint_wal_threshold is exceeded: making a "
				 "checkpoint");
		timer.is_due = false;
		timer.failed_bytes = 0;
		if (checkpoint_make() != 0) {
			timer.failed_bytes = journal_bytes();
			diag_log();
			diag_clear(diag_get());
		}
	}
	return 0;
}

void checkpoint_set_interval(double seconds)
{
	if (timer.interval == seconds)
		return;
	timer.interval = seconds;
	if (timer.fiber != NULL)
		fiber_cond_signal(&timer.changed);
}

void checkpoint_set_wal_threshold(double bytes)
{
	timer.threshold = bytes < 1e18 ? (uint64_t)bytes : UINT64_MAX;
	journal_set_size_limit(timer.threshold, on_threshold);
}

void checkpoint_timer_start(void)
{
	timer.is_due = false;
	timer.failed_bytes = 0;
	fiber_cond_create(&timer.changed);
	timer.fiber = fiber_new("checkpoint_daemon", timer_func);
	if (timer.fiber == NULL)
		panic("no memory for the fiber that makes checkpoints");
	timer.fiber->flags |= FIBER_IS_SYSTEM;
	fiber_set_joinable(timer.fiber, true);
	fiber_wakeup(timer.fiber);
}

void checkpoint_timer_stop(void)
{
	if (timer.fiber == NULL)
		return;
	struct fiber *f = timer.fiber;
	timer.fiber = NULL;
	fiber_cancel(f);
	fiber_join(f);
	fiber_cond_destroy(&timer.changed);
}
