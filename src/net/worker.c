/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A pool of fibers that take requests from connections.
 *
 * A fiber goes from request to request without a switch as long as none yields.
 * Before a request that may yield it wakes another fiber, which goes on with the
 * queue if this one does yield, and finds the queue empty if not. So a batch
 * of requests costs one switch for each that yields, and one or two besides.
 *
 * Between requests a fiber is made as new: no session, no error, nothing on its
 * region, its name, a fresh slice. A fiber that a script cancelled ends, and another is made.
 */
#include "net/worker.h"

#include <string.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/trigger.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/reply.h"
#include "net/request.h"
#include "net/session.h"
#include "net/stat.h"
#include "net/stream.h"

enum {
	/** Idle fibers beyond this number end. */
	IDLE_MAX = 128,
	/** Requests in one loop turn, before sockets and timers get theirs. */
	TURN_REQUESTS_MAX = 1024,
};

#define WORKER_NAME "main"

struct worker {
	struct list link;
	struct fiber *fiber;
	bool is_idle;
};

int worker_requests_max = NET_MSG_MAX_DEFAULT;
void (*worker_on_request_end)(void);

/** Fibers that wait for work, last parked first. */
static struct list idle = LIST_INIT(idle);
static int idle_count;
/** A fiber was woken for the queue and has not run yet. */
static bool is_kicked;
static int turn_left = TURN_REQUESTS_MAX;
static bool is_stopping;
/** Goes on with the queue after the next poll. */
static ev_timer next_poll;

static bool can_begin_request(void)
{
	return !list_empty(&connections_ready) && turn_left > 0 &&
	       (int)stat_now[STAT_NOW_REQUESTS] < worker_requests_max;
}

static bool has_work(void)
{
	return !list_empty(&connections_eventful) || !list_empty(&streams_ready) ||
	       can_begin_request();
}

/** Makes the fiber as new. */
static void clean_up(struct fiber *f)
{
	if (worker_on_request_end != NULL)
		worker_on_request_end();
	session_leave();
	if (f->diag.last != NULL)
		diag_clear(&f->diag);
	if (region_used(&f->region) > 0)
		region_reset(&f->region);
	if (fiber_watched != 0 || f->watch.has_slice)
		fiber_renew_slice();
	f->flags |= FIBER_IS_CANCELLABLE;
	if (f->flags & FIBER_IS_JOINABLE)
		fiber_set_joinable(f, false);
	if (memcmp(f->name, WORKER_NAME, sizeof(WORKER_NAME)) != 0)
		fiber_set_name(f, WORKER_NAME);
}

/** Runs a connection's on_connect triggers and lets it in. */
static void run_connect(struct connection *con)
{
	session_enter(con->session, 0);
	credentials_set(NULL);
	worker_hand_over();
	int rc = trigger_run(&session_connect_triggers, con->session);
	if (con->fd < 0)
		return;
	connection_greet(con);
	if (rc != 0) {
		reply_error(con, 0, diag_last());
		connection_finish(con);
	}
}

static void run_disconnect(struct connection *con)
{
	session_enter(con->session, 0);
	credentials_set(NULL);
	worker_hand_over();
	if (trigger_run(&session_disconnect_triggers, con->session) != 0)
		diag_log();
}

static void run_event(void)
{
	struct connection *con = list_shift_entry(&connections_eventful, struct connection,
						  event_link);
	stream_disturb(NULL);
	con->in_flight++;
	if (con->is_connecting) {
		con->is_connecting = false;
		run_connect(con);
	} else {
		con->is_disconnecting = false;
		run_disconnect(con);
	}
	con->in_flight--;
	clean_up(fiber());
	connection_free_if_over(con);
}

/** Does what a packet asks for, or leaves it to its stream. */
static void run_packet(struct connection *con, struct packet *packet)
{
	turn_left--;
	stat_now_add(con->stat, STAT_NOW_REQUESTS, 1);
	bool is_done = request_process(con, packet);
	clean_up(fiber());
	if (!is_done)
		return;
	stat_now_add(con->stat, STAT_NOW_REQUESTS, -1);
	con->in_flight--;
	connection_done(con, packet);
}

static void run_request(void)
{
	struct connection *con = list_first_entry(&connections_ready, struct connection,
						  ready_link);
	struct packet packet;
	if (!connection_take(con, &packet))
		return;
	con->in_flight++;
	stat_count_net(con->stat, STAT_NET_REQUESTS, 1);
	run_packet(con, &packet);
}

/** The next packet of a stream, or the stream's end. */
static void run_stream(void)
{
	struct stream *stream = list_shift_entry(&streams_ready, struct stream, ready_link);
	struct connection *con = stream->con;
	struct packet packet;
	list_create(&stream->ready_link);
	if (stream_take(stream, &packet)) {
		/* It counts as at work since it was read. */
		stat_now_add(con->stat, STAT_NOW_REQUESTS, -1);
		run_packet(con, &packet);
		return;
	}
	con->in_flight++;
	session_enter(con->session, 0);
	stream_end(stream);
	con->in_flight--;
	clean_up(fiber());
	connection_free_if_over(con);
}

static void park(struct worker *w)
{
	struct fiber *f = w->fiber;
	stream_disturb(NULL);
	w->is_idle = true;
	list_add(&idle, &w->link);
	idle_count++;
	f->flags |= FIBER_IS_SYSTEM;
	/* A script may wake any fiber: sleep on unless there is something to do. */
	while (w->is_idle && !fiber_is_cancelled() && !is_stopping)
		fiber_yield();
	f->flags &= ~FIBER_IS_SYSTEM;
	if (w->is_idle) {
		w->is_idle = false;
		list_del(&w->link);
		idle_count--;
	} else {
		is_kicked = false;
	}
}

static int worker_main(va_list ap)
{
	struct worker w = {.fiber = fiber()};
	list_create(&w.link);
	is_kicked = false;
	for (;;) {
		while (has_work() && !fiber_is_cancelled()) {
			if (!list_empty(&connections_eventful))
				run_event();
			else if (!list_empty(&streams_ready))
				run_stream();
			else
				run_request();
		}
		if (fiber_is_cancelled() || is_stopping || idle_count >= IDLE_MAX)
			break;
		park(&w);
	}
	stream_disturb(NULL);
	if (has_work() && !is_stopping)
		worker_kick();
	return 0;
}

void worker_kick(void)
{
	if (is_kicked)
		return;
	struct fiber *f;
	if (!list_empty(&idle)) {
		struct worker *w = list_shift_entry(&idle, struct worker, link);
		w->is_idle = false;
		idle_count--;
		f = w->fiber;
	} else {
		f = fiber_new(WORKER_NAME, worker_main);
		if (f == NULL) {
			/* The next turn tries again. */
			diag_log();
			return;
		}
	}
	is_kicked = true;
	fiber_wakeup(f);
}

void worker_hand_over(void)
{
	if (!is_kicked && has_work())
		worker_kick();
}

static void on_next_poll(struct ev_loop *loop, ev_timer *w, int events)
{
	worker_hand_over();
}

void worker_turn(void)
{
	bool was_used_up = turn_left <= 0;
	turn_left = TURN_REQUESTS_MAX;
	if (is_kicked || !has_work())
		return;
	if (!was_used_up) {
		worker_kick();
	} else if (!ev_is_active(&next_poll)) {
		/* Sockets and timers first: this one is due in the coming poll. */
		ev_timer_init(&next_poll, on_next_poll, 0, 0);
		ev_timer_start(loop_ev, &next_poll);
	}
}

void worker_pool_free(void)
{
	is_stopping = true;
	ev_timer_stop(loop_ev, &next_poll);
	while (!list_empty(&idle)) {
		struct worker *w = list_shift_entry(&idle, struct worker, link);
		w->is_idle = false;
		idle_count--;
		fiber_wakeup(w->fiber);
		fiber_reschedule();
	}
	is_stopping = false;
}
