/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A ring of samples of all totals, one a second. The rate is the difference of
 * the newest and the oldest sample. After STAT_WINDOW seconds without any count
 * all samples are equal and the timer stops: an idle process is not woken.
 */
#include "net/stat.h"

#include <string.h>

#include "core/loop.h"
#include "net/latency.h"
#include "net/net_thread.h"

const char *stat_names[stat_id_MAX] = {
	[STAT_SELECT] = "SELECT",
	[STAT_INSERT] = "INSERT",
	[STAT_REPLACE] = "REPLACE",
	[STAT_UPDATE] = "UPDATE",
	[STAT_DELETE] = "DELETE",
	[STAT_UPSERT] = "UPSERT",
	[STAT_CALL] = "CALL",
	[STAT_EVAL] = "EVAL",
	[STAT_AUTH] = "AUTH",
	[STAT_EXECUTE] = "EXECUTE",
	[STAT_PREPARE] = "PREPARE",
	[STAT_ERROR] = "ERROR",
	[STAT_NET_SENT] = "SENT",
	[STAT_NET_RECEIVED] = "RECEIVED",
	[STAT_NET_CONNECTIONS] = "CONNECTIONS",
	[STAT_NET_REQUESTS] = "REQUESTS",
	[STAT_NET_STREAMS] = "STREAMS",
	[STAT_NET_STREAM_QUEUE] = "REQUESTS_IN_STREAM_QUEUE",
};

uint64_t stat_totals[stat_id_MAX];
uint32_t stat_now[stat_now_MAX];

/** samples[0] is the newest. */
static uint64_t samples[STAT_WINDOW + 1][stat_id_MAX];
static ev_timer timer;

static void take_sample_of_thread(struct stat_thread *t)
{
	memmove(t->samples[1], t->samples[0], sizeof(t->samples) - sizeof(t->samples[0]));
	memcpy(t->samples[0], t->totals, sizeof(t->totals));
}

static void take_sample(struct ev_loop *loop, ev_timer *w, int events)
{
	memmove(samples[1], samples[0], sizeof(samples) - sizeof(samples[0]));
	memcpy(samples[0], stat_totals, sizeof(stat_totals));
	for (int i = 0; i < net_thread_count; i++)
		take_sample_of_thread(net_thread_stat(i));
	if (memcmp(samples[0], samples[STAT_WINDOW], sizeof(samples[0])) == 0)
		ev_timer_stop(loop, w);
}

void stat_turn(void)
{
	if (!ev_is_active(&timer) && memcmp(samples[0], stat_totals, sizeof(stat_totals)) != 0) {
		timer.repeat = 1.0;
		ev_timer_again(loop_ev, &timer);
	}
}

uint64_t stat_rps(enum stat_id id)
{
	return (samples[0][id] - samples[STAT_WINDOW][id]) / STAT_WINDOW;
}

uint64_t stat_thread_rps(const struct stat_thread *thread, enum stat_id id)
{
	int i = id - STAT_NET_FIRST;
	return (thread->samples[0][i] - thread->samples[STAT_WINDOW][i]) / STAT_WINDOW;
}

void stat_reset(void)
{
	for (int i = 0; i < net_thread_count; i++) {
		struct stat_thread *t = net_thread_stat(i);
		memset(t->totals, 0, sizeof(t->totals));
		memset(t->samples, 0, sizeof(t->samples));
	}
	memset(stat_totals, 0, sizeof(stat_totals));
	memset(samples, 0, sizeof(samples));
	latency_reset();
}

void stat_init(void)
{
	ev_timer_init(&timer, take_sample, 1.0, 1.0);
}

void stat_free(void)
{
	ev_timer_stop(loop_ev, &timer);
}
