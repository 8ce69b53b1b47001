/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters behind box.stat() and box.stat.net(): totals, and the mean rate over
 * the last STAT_WINDOW seconds. To count is one addition; a timer that runs only
 * while something happens takes a sample each second.
 */
#pragma once

#include <stdint.h>

enum { STAT_WINDOW = 5 };

enum stat_id {
	/* Requests by type, as box.stat() names them. */
	STAT_SELECT, STAT_INSERT, STAT_REPLACE, STAT_UPDATE, STAT_DELETE, STAT_UPSERT,
	STAT_CALL, STAT_EVAL, STAT_AUTH, STAT_EXECUTE, STAT_PREPARE, STAT_ERROR,
	stat_request_MAX,
	/* box.stat.net(); bytes for the first two. */
	STAT_NET_SENT = stat_request_MAX, STAT_NET_RECEIVED, STAT_NET_CONNECTIONS,
	STAT_NET_REQUESTS, STAT_NET_STREAMS, STAT_NET_STREAM_QUEUE,
	stat_id_MAX,
};

/** "SELECT", ...; "SENT", "RECEIVED", ... */
extern const char *stat_names[stat_id_MAX];

/** All that was counted, ever. Read only. */
extern uint64_t stat_totals[stat_id_MAX];

/** What is there now: open connections, requests at work or in a stream's queue, those queued. */
extern uint32_t stat_connections_now, stat_requests_now, stat_queued_now, stat_streams_now;

static inline void stat_count(enum stat_id id, uint64_t n)
{
	stat_totals[id] += n;
}

/** Counts a second, mean of the last STAT_WINDOW of them. */
uint64_t stat_rps(enum stat_id id);

/** Sets all back to zero (box.stat.reset), save for what is there now. */
void stat_reset(void);

void stat_init(void);
void stat_free(void);
/** Called each loop turn: starts the sampling timer where something was counted. */
void stat_turn(void);
