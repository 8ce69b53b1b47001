/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See mailbox.h. Only the owner takes letters out, and takes all: no letter can leave and
 * come back between a sender's look and its swap in a way that would matter.
 */
#include "core/mailbox.h"

#include <assert.h>

static void on_wake(struct ev_loop *loop, ev_async *w, int events)
{
	(void)loop;
	(void)events;
	struct mailbox *box = w->data;
	box->on_mail(box->arg);
}

void mailbox_create(struct mailbox *box, struct ev_loop *loop, void (*on_mail)(void *arg), void *arg)
{
	atomic_init(&box->newest, NULL);
	box->loop = loop;
	box->on_mail = on_mail;
	box->arg = arg;
	ev_async_init(&box->wake, on_wake);
	box->wake.data = box;
	ev_async_start(loop, &box->wake);
}

void mailbox_destroy(struct mailbox *box)
{
	assert(mailbox_is_empty(box));
	ev_async_stop(box->loop, &box->wake);
}

void mailbox_post(struct mailbox *box, struct letter_batch *batch)
{
	if (batch->newest == NULL)
		return;
	struct letter *before = atomic_load_explicit(&box->newest, memory_order_relaxed);
	do {
		batch->oldest->next = before;
	} while (!atomic_compare_exchange_weak_explicit(&box->newest, &before, batch->newest,
							memory_order_release,
							memory_order_relaxed));
	*batch = (struct letter_batch){NULL, NULL};
	if (before == NULL)
		ev_async_send(box->loop, &box->wake);
}

struct letter *mailbox_take(struct mailbox *box)
{
	struct letter *newest = atomic_exchange_explicit(&box->newest, NULL, memory_order_acquire);
	struct letter *list = NULL;
	while (newest != NULL) {
		struct letter *before = newest->next;
		newest->next = list;
		list = newest;
		newest = before;
	}
	return list;
}
