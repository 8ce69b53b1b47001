/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocking calls and descriptors for modules; see coio.h.
 *
 * Whoever waits for a descriptor stands in a list, so that coio_close() finds it and
 * stops its watcher before the number may stand for another file.
 */
#include "core/coio.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "core/fiber.h"
#include "core/list.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"

/* Descriptors ---------------------------------------------------------- */

struct coio_waiter {
	/** First, so that the callback finds the structure. */
	ev_io io;
	struct list link;
	struct fiber *fiber;
	int events;
};

static struct list waiters = {&waiters, &waiters};

static void on_ready(struct ev_loop *ev, ev_io *io, int events)
{
	(void)ev;
	struct coio_waiter *w = (struct coio_waiter *)io;
	w->events |= events & (EV_READ | EV_WRITE);
	fiber_wakeup(w->fiber);
}

int coio_wait_events(int fd, int events, double timeout)
{
	if (fiber_is_cancelled())
		return 0;
	struct coio_waiter w = {.fiber = fiber(), .events = 0};
	ev_io_init(&w.io, on_ready, fd, events & (EV_READ | EV_WRITE));
	list_add_tail(&waiters, &w.link);
	ev_io_start(loop_ev, &w.io);
	fiber_yield_timeout(timeout);
	ev_io_stop(loop_ev, &w.io);
	list_del(&w.link);
	return w.events;
}

int coio_close(int fd)
{
	struct coio_waiter *w;
	list_foreach_entry(w, &waiters, link) {
		if (w->io.fd == fd && ev_is_active(&w->io)) {
			ev_io_stop(loop_ev, &w->io);
			fiber_wakeup(w->fiber);
		}
	}
	return close(fd);
}

/* Calls ---------------------------------------------------------------- */

struct coio_task {
	ssize_t (*func)(va_list);
	va_list args;
	ssize_t result;
	int saved_errno;
};

static int run_task(void *arg)
{
	struct coio_task *task = arg;
	errno = 0;
	task->result = task->func(task->args);
	task->saved_errno = errno;
	return 0;
}

ssize_t coio_call_va(ssize_t (*func)(va_list), va_list args)
{
	struct coio_task task = {.func = func, .result = -1};
	va_copy(task.args, args);
	worker_call(run_task, &task);
	va_end(task.args);
	errno = task.saved_errno;
	return task.result;
}

/* Names ---------------------------------------------------------------- */

/** A look-up; whoever finishes last, the fiber or the worker's end, frees it. */
struct resolve {
	char *host, *port;
	struct addrinfo hints, *result;
	bool has_hints;
	int rc, saved_errno;
	/** The fiber that waits; NULL once it gave up. */
	struct fiber *fiber;
	bool is_done;
};

static char *copy_text(const char *text)
{
	if (text == NULL)
		return NULL;
	size_t size = strlen(text) + 1;
	return memcpy(xmalloc(size), text, size);
}

static void resolve_free(struct resolve *r)
{
	xfree(r->host);
	xfree(r->port);
	xfree(r);
}

static int resolve_run(void *arg)
{
	struct resolve *r = arg;
	r->rc = getaddrinfo(r->host, r->port, r->has_hints ? &r->hints : NULL, &r->result);
	r->saved_errno = errno;
	return 0;
}

static void resolve_done(void *arg, int result)
{
	(void)result;
	struct resolve *r = arg;
	r->is_done = true;
	if (r->fiber != NULL) {
		fiber_wakeup(r->fiber);
		return;
	}
	if (r->rc == 0)
		freeaddrinfo(r->result);
	resolve_free(r);
}

/** Waits for the end of the look-up; false with an error set where it goes on without us. */
static bool resolve_wait(struct resolve *r, double timeout)
{
	double deadline = timeout < TIMEOUT_INFINITY ? clock_monotonic() + timeout : 0;
	while (!r->is_done) {
		double left = timeout < TIMEOUT_INFINITY ? deadline - clock_monotonic() : timeout;
		if (left > 0 && fiber_testcancel() == 0) {
			fiber_yield_timeout(left);
			continue;
		}
		if (left <= 0)
			diag_set(TimedOut, "timed out");
		return false;
	}
	return true;
}

int coio_resolve(const char *host, const char *port, const struct addrinfo *hints,
		 struct addrinfo **res, double timeout)
{
	struct resolve *r = xcalloc(1, sizeof(*r));
	r->host = copy_text(host);
	r->port = copy_text(port);
	r->has_hints = hints != NULL;
	if (r->has_hints)
		r->hints = *hints;
	r->fiber = fiber();
	worker_post(resolve_run, r, resolve_done);
	if (!resolve_wait(r, timeout)) {
		r->fiber = NULL;
		return -1;
	}
	int rc = r->rc;
	if (rc == 0) {
		*res = r->result;
	} else {
		errno = r->saved_errno;
		diag_set(SystemError, "getaddrinfo: %s",
			 rc == EAI_SYSTEM ? strerror(r->saved_errno) : gai_strerror(rc));
	}
	resolve_free(r);
	return rc == 0 ? 0 : -1;
}
