/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters behind box.stat() and box.stat.net(): totals, and the mean rate over
 * the last STAT_WINDOW seconds. To count is one addition; a timer that runs only
 * while something happens takes a sample each second.
 */
#pragma once

#include <stddef.h>
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
enum stat_now_id {
	STAT_NOW_CONNECTIONS, STAT_NOW_REQUESTS, STAT_NOW_QUEUED, STAT_NOW_STREAMS, stat_now_MAX,
};
extern uint32_t stat_now[stat_now_MAX];

enum { STAT_NET_FIRST = stat_request_MAX, STAT_NET_COUNT = stat_id_MAX - stat_request_MAX };

/** What came by one network thread of all that; tx counts here. All zeroes at first. */
struct stat_thread {
	/** By id less STAT_NET_FIRST. */
	uint64_t totals[STAT_NET_COUNT];
	uint32_t now[stat_now_MAX];
	/** samples[0] is the newest. */
	uint64_t samples[STAT_WINDOW + 1][STAT_NET_COUNT];
};

static inline void stat_count(enum stat_id id, uint64_t n)
{
	stat_totals[id] += n;
}

/** Counts what belongs to a network thread, too; NULL: to none. Not for types of requests. */
static inline void stat_count_net(struct stat_thread *thread, enum stat_id id, uint64_t n)
{
	stat_totals[id] += n;
	if (thread != NULL)
		thread->totals[id - STAT_NET_FIRST] += n;
}

static inline void stat_now_add(struct stat_thread *thread, enum stat_now_id id, int n)
{
	stat_now[id] += n;
	if (thread != NULL)
		thread->now[id] += n;
}

/** Counts a second, mean of the last STAT_WINDOW of them. */
uint64_t stat_rps(enum stat_id id);
uint64_t stat_thread_rps(const struct stat_thread *thread, enum stat_id id);

/** Sets all back to zero (box.stat.reset), save for what is there now. */
void stat_reset(void);

void stat_init(void);
void stat_free(void);
/** Called each loop turn: starts the sampling timer where something was counted. */
void stat_turn(void);
