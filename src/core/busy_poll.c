/* SPDX-License-Identifier: BSD-2-Clause
 *
 * When to look for events before sleeping: see the header.
 */
#include "core/busy_poll.h"

#include <sched.h>
#include <stdio.h>

/** Seconds: somewhat more than it takes to wake a core and hear from it. */
#define LIMIT_DEFAULT 50e-6

enum {
	/** Waits of so many limits, on the average, are worth a look: a wake is part of a wait. */
	WORTH_LIMITS = 3,
	/** A wait counts for one in 2^n of the mean. */
	MEAN_SHIFT = 3,
	/**
	 * Waits that a vain look lets go by. Each vain one multiplies them by four, and one that
	 * was worth it halves them: looking goes on where three in four or so are.
	 */
	PENALTY_MIN = 8,
	PENALTY_MAX = 4096,
	/** A look takes a microsecond. One that took longer had the core taken away ... */
	LOOK_NS_MAX = 4 * 1000,
	/** ... and one that took so long, for another thread's slice. */
	SLICE_NS = 500 * 1000,
};

/** For how long looking stops where others want the core, at first and at most. */
#define OFF_MIN_NS ((uint64_t)100 * 1000 * 1000)
#define OFF_MAX_NS (32 * OFF_MIN_NS)

/** Is there a number where an unlimited control group has "max"? */
static bool has_quota(void)
{
	FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
	if (f == NULL)
		return false;
	long quota;
	bool is_number = fscanf(f, "%ld", &quota) == 1;
	fclose(f);
	return is_number;
}

double busy_poll_default(void)
{
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) < 2)
		return 0;
	return has_quota() ? 0 : LIMIT_DEFAULT;
}

/** The mean up to which waits are worth a look. */
static uint64_t worth_ns(const struct busy_poll *poll)
{
	return poll->limit_ns * WORTH_LIMITS;
}

void busy_poll_set_limit(struct busy_poll *poll, uint64_t limit_ns)
{
	*poll = (struct busy_poll){.limit_ns = limit_ns};
	poll->wait_ns = worth_ns(poll) + 1;
	poll->off_ns = OFF_MIN_NS;
}

bool busy_poll_is_due(struct busy_poll *poll, uint64_t now_ns)
{
	if (poll->limit_ns == 0 || poll->wait_ns > worth_ns(poll) || now_ns < poll->off_until_ns)
		return false;
	if (poll->skipped == 0)
		return true;
	poll->skipped--;
	return false;
}

bool busy_poll_check_core(struct busy_poll *poll, uint64_t before_ns, uint64_t now_ns)
{
	if (now_ns - before_ns < SLICE_NS)
		return now_ns - before_ns < LOOK_NS_MAX;
	/* Soon after the last time they want it still; else it may have been a hiccup. */
	bool is_again = now_ns - poll->off_until_ns < poll->off_ns;
	poll->off_ns = !is_again ? OFF_MIN_NS :
		poll->off_ns < OFF_MAX_NS ? poll->off_ns * 2 : OFF_MAX_NS;
	poll->off_until_ns = now_ns + poll->off_ns;
	return false;
}

void busy_poll_note_result(struct busy_poll *poll, bool was_worth)
{
	if (was_worth) {
		poll->penalty /= 2;
		return;
	}
	poll->penalty = poll->penalty == 0 ? PENALTY_MIN : poll->penalty * 4;
	if (poll->penalty > PENALTY_MAX)
		poll->penalty = PENALTY_MAX;
	poll->skipped = poll->penalty;
}

void busy_poll_note_wait(struct busy_poll *poll, uint64_t wait_ns)
{
	/* One long wait among short ones shall not weigh for ever. */
	uint64_t most = worth_ns(poll) << MEAN_SHIFT;
	if (wait_ns > most)
		wait_ns = most;
	poll->wait_ns += ((int64_t)wait_ns - (int64_t)poll->wait_ns) >> MEAN_SHIFT;
}
