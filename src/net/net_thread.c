/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See net_thread.h.
 */
#include "net/net_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mailbox.h"
#include "core/memory.h"
#include "core/thread.h"
#include "net/buffers.h"
#include "net/connection.h"
#include "net/line.h"
#include "net/linger.h"
#include "net/stat.h"

struct net_thread {
	/* The thread's. */
	struct ev_loop *loop;
	struct linger_set linger;
	/** For tx, at the turn's end. */
	struct letter_batch reports;
	bool is_quitting;
	/** Bytes, ever. Written by the thread, read by tx. */
	_Atomic uint64_t sent, received;
	/** For the thread. */
	struct mailbox mail;
	/* tx's. */
	pthread_t id;
	/** For the thread, at the turn's end. */
	struct letter_batch orders;
	struct stat_thread stat;
	/** Of `sent` and `received`, what is in the statistics. */
	uint64_t sent_counted, received_counted;
};

static struct net_thread **threads;
int net_thread_count;
/** For tx. */
static struct mailbox tx_mail;

/* The thread ------------------------------------------------------------------ */

struct ev_loop *net_thread_loop(struct net_thread *thread)
{
	return thread->loop;
}

struct linger_set *net_thread_linger(struct net_thread *thread)
{
	return &thread->linger;
}

void net_thread_report(struct net_thread *thread, struct note *note)
{
	letter_batch_add(&thread->reports, &note->letter);
}

/** Adds to a counter that this thread alone writes. */
static void count(_Atomic uint64_t *counter, size_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

void net_thread_count_sent(struct net_thread *thread, size_t size)
{
	count(&thread->sent, size);
}

void net_thread_count_received(struct net_thread *thread, size_t size)
{
	count(&thread->received, size);
}

static void on_orders(void *arg)
{
	struct net_thread *thread = arg;
	struct letter *next, *letter = mailbox_take(&thread->mail);
	for (; letter != NULL; letter = next) {
		struct note *note = (struct note *)letter;
		next = letter->next;
		if (note->line != NULL) {
			line_obey(note->line, note);
			continue;
		}
		assert(note->what == NOTE_QUIT);
		thread->is_quitting = true;
		note_free(note);
	}
}

static void *thread_main(void *arg)
{
	struct net_thread *thread = arg;
	fiber_thread_init("iproto");
	buffers_init();
	while (!thread->is_quitting) {
		ev_run(thread->loop, EVRUN_ONCE);
		mailbox_post(&tx_mail, &thread->reports);
	}
	linger_destroy(&thread->linger);
	buffers_free();
	notes_drop();
	fiber_thread_free();
	return NULL;
}

/* tx ---------------------------------------------------------------------------- */

static void on_reports(void *arg)
{
	struct letter *next, *letter = mailbox_take(&tx_mail);
	for (; letter != NULL; letter = next) {
		struct note *note = (struct note *)letter;
		next = letter->next;
		connection_on_note(note->line->con, note);
		note_free(note);
	}
}

static struct net_thread *thread_new(void)
{
	struct net_thread *thread = xcalloc(1, sizeof(*thread));
	thread->loop = ev_loop_new(EVFLAG_AUTO);
	if (thread->loop == NULL)
		panic("cannot make an event loop: no usable method");
	linger_create(&thread->linger, thread->loop);
	mailbox_create(&thread->mail, thread->loop, on_orders, thread);
	return thread;
}

static void thread_delete(struct net_thread *thread)
{
	mailbox_destroy(&thread->mail);
	ev_loop_destroy(thread->loop);
	xfree(thread);
}

int net_threads_start(int count)
{
	assert(net_thread_count == 0);
	if (count == 0)
		return 0;
	mailbox_create(&tx_mail, loop_ev, on_reports, NULL);
	threads = xcalloc(count, sizeof(*threads));
	for (; net_thread_count < count; net_thread_count++) {
		struct net_thread *thread = thread_new();
		int rc = thread_start(&thread->id, thread_main, thread);
		if (rc != 0) {
			thread_delete(thread);
			net_threads_stop();
			errno = rc;
			diag_set_errno(SystemError, "can't start %d network threads", count);
			return -1;
		}
		threads[net_thread_count] = thread;
	}
	return 0;
}

void net_threads_stop(void)
{
	if (threads == NULL)
		return;
	for (int i = 0; i < net_thread_count; i++) {
		struct note *quit = note_new(NULL);
		quit->what = NOTE_QUIT;
		net_thread_tell(threads[i], quit);
		net_thread_push(threads[i]);
	}
	for (int i = 0; i < net_thread_count; i++)
		pthread_join(threads[i]->id, NULL);
	on_reports(NULL);
	mailbox_destroy(&tx_mail);
	/* Requests that are still at work count on, but not for a thread. */
	struct connection *con;
	list_foreach_entry(con, &connections_all, all_link)
		con->stat = NULL;
	for (int i = 0; i < net_thread_count; i++)
		thread_delete(threads[i]);
	net_thread_count = 0;
	xfree(threads);
	threads = NULL;
	notes_drop();
}

struct net_thread *net_thread_pick(void)
{
	struct net_thread *best = NULL;
	for (int i = 0; i < net_thread_count; i++) {
		struct net_thread *t = threads[i];
		if (best == NULL || t->stat.now[STAT_NOW_CONNECTIONS] <
				    best->stat.now[STAT_NOW_CONNECTIONS])
			best = t;
	}
	return best;
}

struct stat_thread *net_thread_stat(int i)
{
	return &threads[i]->stat;
}

struct stat_thread *net_thread_stat_of(struct net_thread *thread)
{
	return thread != NULL ? &thread->stat : NULL;
}

void net_thread_tell(struct net_thread *thread, struct note *note)
{
	letter_batch_add(&thread->orders, &note->letter);
}

void net_thread_push(struct net_thread *thread)
{
	mailbox_post(&thread->mail, &thread->orders);
}

void net_threads_turn(void)
{
	for (int i = 0; i < net_thread_count; i++)
		net_thread_push(threads[i]);
	net_threads_take_counts();
}

void net_threads_take_counts(void)
{
	for (int i = 0; i < net_thread_count; i++) {
		struct net_thread *t = threads[i];
		uint64_t sent = atomic_load_explicit(&t->sent, memory_order_relaxed);
		uint64_t received = atomic_load_explicit(&t->received, memory_order_relaxed);
		stat_count_net(&t->stat, STAT_NET_SENT, sent - t->sent_counted);
		stat_count_net(&t->stat, STAT_NET_RECEIVED, received - t->received_counted);
		t->sent_counted = sent;
		t->received_counted = received;
	}
}
