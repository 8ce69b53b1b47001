/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Is it worth looking for events again and again for some microseconds, before the
 * thread goes to sleep? Waking a sleeping core takes longer (35 us on a virtual machine)
 * than many a client takes until its next request.
 *
 * Adaptive, after KVM's halt polling (Linux, Documentation/virt/kvm/halt-polling.rst): only
 * while waits have been short of late, and less and less often where looking was in vain. It is
 * in vain, too, where the core was somebody else's meanwhile: the client's, say, which runs
 * sooner if this thread sleeps. Where that took as long as a slice, more than one thread wants
 * the core for good, and who looks pays with his own share of it: then it stops for a tenth of
 * a second, and for longer each time it soon happens again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct busy_poll {
	/** How long to look at most; 0: never. */
	uint64_t limit_ns;
	/** Mean of the last waits. */
	uint64_t wait_ns;
	/** So many waits go by without looking. */
	uint32_t skipped;
	/** ... after the next vain one. */
	uint32_t penalty;
	/** The core is wanted by others: not before this time, and then not for so long. */
	uint64_t off_until_ns, off_ns;
};

/**
 * The limit in seconds for this process: 0 where it may run on one core only, or has a quota of
 * processor time (cpu.max of the control group, in the kernel's "Control Group v2").
 */
double busy_poll_default(void);

/** Turns it off and on: the longest time to look for events, in nanoseconds. */
void busy_poll_set_limit(struct busy_poll *poll, uint64_t limit_ns);

/** Is the wait that begins now one to look for events in? To be asked once before each. */
bool busy_poll_is_due(struct busy_poll *poll, uint64_t now_ns);

/**
 * One look, which does not wait, took from `before_ns` to `now_ns`: was the core this thread's all
 * the time?
 */
bool busy_poll_check_core(struct busy_poll *poll, uint64_t before_ns, uint64_t now_ns);

/** Looking for events is over: it was worth it, or in vain. */
void busy_poll_note_result(struct busy_poll *poll, bool was_worth);

/** A wait is over, with or without a look; it took so long. */
void busy_poll_note_wait(struct busy_poll *poll, uint64_t wait_ns);
