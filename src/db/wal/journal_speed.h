/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Is the device fast enough for tx to write by itself? One that turns slow is left to
 * worker threads until it is fast again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct journal_speed {
	/** What is asked for. */
	bool is_slow;
	/* Private. */
	/** A bit for each of the last writes, the newest lowest: was it slow? */
	uint16_t _slow_writes;
	/** How many in a row were fast, while the device is slow. */
	int _fast_writes;
	/** When the log said last that it is slow, by the monotonic clock. */
	double _told;
};

/** A write took so long. */
void journal_speed_note(struct journal_speed *speed, uint64_t ns);
