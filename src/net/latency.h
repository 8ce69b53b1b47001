/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long requests take, by type: from the moment when their bytes were read until the
 * answer is encoded, so with what they wait for the fibers and the journal, and without the
 * network. Always on: it costs one reading of the processor's counter for each request and
 * one for each read from a socket.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	/** Types up to ROLLBACK have their number as place; those behind share places. */
	LATENCY_PING = 17, LATENCY_OTHER,
	latency_type_MAX,
};

struct latency {
	uint64_t count;
	/** Seconds: so much, or less, took 50 %, 99 % and 99.9 % of them, and the slowest. */
	double p50, p99, p999, max;
};

/** Counts a request of an IPROTO type that arrived at `since` (ticks_now()). */
void latency_count(uint32_t type, uint64_t since);

/** "SELECT", ..., "PING", "OTHER"; NULL where requests of the place are counted elsewhere. */
const char *latency_name(int place);

/** False where nothing was counted. Values are exact to a sixteenth. */
bool latency_get(int place, struct latency *out);

void latency_reset(void);
