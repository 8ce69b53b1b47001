/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Worker threads. Jobs go through one queue under a mutex; finished ones come
 * back in another, and the first of a batch wakes the loop (ev_async). tx takes
 * the whole batch at once, so many completions cost one wake.
 *
 * A job belongs to tx until it is queued, to the thread that takes it while it
 * runs, and to tx again once it is in the list of finished ones; the mutex
 * orders the hand-overs. No thread but tx calls into the scheduler.
 */
#include "core/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/thread.h"

enum {
	THREADS_MAX_DEFAULT = 4,
	IDLE_SECONDS = 10,
};

struct job {
	struct list link;
	int (*func)(void *arg);
	void *arg;
	int result;
	struct diag diag;
	/** Of worker_call(): who waits, and whether the job is over. */
	struct fiber *fiber;
	bool is_over;
	/** Of worker_post(). */
	void (*done)(void *arg, int result);
};

static struct {
	pthread_mutex_t lock;
	/** Signalled when a job comes or the pool ends. */
	pthread_cond_t work;
	/** Signalled when a thread ends. */
	pthread_cond_t gone;
	struct list queue;
	struct list finished;
	int thread_count, idle_count, threads_max;
	/** The thread that ended last. The next to end joins it, so one is left for us. */
	pthread_t last_ended;
	bool has_ended;
	bool is_ending;
	/** tx only: jobs not yet back. */
	int pending;
	ev_async wake;
} pool = {.threads_max = THREADS_MAX_DEFAULT};

/** Takes the next job; NULL where the thread is to end. Holds the lock. */
static struct job *take_job(void)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	pool.idle_count++;
	int rc = 0;
	while (list_empty(&pool.queue) && !pool.is_ending && rc == 0)
		rc = pthread_cond_timedwait(&pool.work, &pool.lock, &until);
	pool.idle_count--;
	if (list_empty(&pool.queue))
		return NULL;
	return list_shift_entry(&pool.queue, struct job, link);
}

static void run_job(struct job *job)
{
	job->result = job->func(job->arg);
	diag_move(diag_get(), &job->diag);
	region_reset(&fiber()->region);
}

static void *worker_main(void *arg)
{
	(void)arg;
	fiber_thread_init("worker");
	pthread_mutex_lock(&pool.lock);
	struct job *job;
	while ((job = take_job()) != NULL) {
		pthread_mutex_unlock(&pool.lock);
		run_job(job);
		pthread_mutex_lock(&pool.lock);
		bool is_first = list_empty(&pool.finished);
		list_add_tail(&pool.finished, &job->link);
		if (is_first)
			ev_async_send(loop_ev, &pool.wake);
	}
	fiber_thread_free();
	pool.thread_count--;
	bool has_ended = pool.has_ended;
	pthread_t before = pool.last_ended;
	pool.last_ended = pthread_self();
	pool.has_ended = true;
	pthread_cond_signal(&pool.gone);
	pthread_mutex_unlock(&pool.lock);
	if (has_ended)
		pthread_join(before, NULL);
	return NULL;
}

/** Holds the lock. */
static int start_thread(void)
{
	pthread_t thread;
	int rc = thread_start(&thread, worker_main, NULL);
	if (rc == 0)
		pool.thread_count++;
	return rc;
}

static void submit(struct job *job)
{
	assert(fiber_is_tx());
	pool.pending++;
	pthread_mutex_lock(&pool.lock);
	list_add_tail(&pool.queue, &job->link);
	size_t queued = 0;
	for (struct list *l = pool.queue.next; l != &pool.queue; l = l->next)
		queued++;
	int rc = 0;
	if (queued > (size_t)pool.idle_count && pool.thread_count < pool.threads_max)
		rc = start_thread();
	bool has_threads = pool.thread_count > 0;
	pthread_cond_signal(&pool.work);
	pthread_mutex_unlock(&pool.lock);
	if (!has_threads)
		panic("cannot start a worker thread: %s", strerror(rc));
}

static void finish_job(struct job *job)
{
	pool.pending--;
	if (job->fiber != NULL) {
		job->is_over = true;
		fiber_wakeup(job->fiber);
		return;
	}
	diag_move(&job->diag, diag_get());
	job->done(job->arg, job->result);
	diag_clear(diag_get());
	xfree(job);
}

static void collect(void)
{
	struct list batch;
	list_create(&batch);
	pthread_mutex_lock(&pool.lock);
	list_splice_tail(&batch, &pool.finished);
	pthread_mutex_unlock(&pool.lock);
	while (!list_empty(&batch))
		finish_job(list_shift_entry(&batch, struct job, link));
}

static void on_wake(struct ev_loop *ev, ev_async *w, int events)
{
	(void)ev;
	(void)w;
	(void)events;
	collect();
}

void worker_init(void)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.work, &attr);
	pthread_cond_init(&pool.gone, NULL);
	pthread_condattr_destroy(&attr);
	list_create(&pool.queue);
	list_create(&pool.finished);
	pool.is_ending = false;
	ev_async_init(&pool.wake, on_wake);
	ev_async_start(loop_ev, &pool.wake);
}

void worker_free(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.is_ending = true;
	pthread_cond_broadcast(&pool.work);
	while (pool.thread_count > 0)
		pthread_cond_wait(&pool.gone, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	/* What libraries keep for each thread is freed when it is really over, not before. */
	if (pool.has_ended)
		pthread_join(pool.last_ended, NULL);
	pool.has_ended = false;
	collect();
	assert(pool.pending == 0);
	ev_async_stop(loop_ev, &pool.wake);
	pthread_cond_destroy(&pool.gone);
	pthread_cond_destroy(&pool.work);
	pthread_mutex_destroy(&pool.lock);
}

void worker_set_threads_max(int count)
{
	pool.threads_max = count > 0 ? count : 1;
}

int worker_call(int (*func)(void *arg), void *arg)
{
	if (fiber_may_yield() != 0)
		return -1;
	struct job job = {.func = func, .arg = arg, .fiber = fiber()};
	submit(&job);
	while (!job.is_over)
		fiber_yield();
	if (job.diag.last != NULL)
		diag_move(&job.diag, diag_get());
	return job.result;
}

void worker_post(int (*func)(void *arg), void *arg, void (*done)(void *arg, int result))
{
	struct job *job = xcalloc(1, sizeof(*job));
	job->func = func;
	job->arg = arg;
	job->done = done;
	submit(job);
}
