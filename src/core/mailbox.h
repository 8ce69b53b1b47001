/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A mailbox: how one thread hands things to another that runs an event loop.
 *
 * Letters are put in by batches and taken out all at once; neither waits for anybody. All of
 * a mailbox is one pointer to the newest letter, and each letter points to the one before:
 * a batch is put in with one compare-and-swap, all is taken with one exchange and turned
 * around. So letters of one sender arrive in their order. Who puts something into an empty
 * mailbox wakes the owner's loop, which costs a system call only where that one sleeps.
 *
 * What a letter carries belongs to the sender until it is posted and to the owner of the
 * mailbox once it is taken.
 */
#pragma once

#include <ev.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** To be embedded. */
struct letter {
	/** The one before it; in a list that was taken, the one behind it. */
	struct letter *next;
};

/** Letters to be posted at once. All zeroes: none. */
struct letter_batch {
	struct letter *newest, *oldest;
};

struct mailbox {
	/** On a line of the cache of its own: others write here. */
	char _pad_before[64];
	_Atomic(struct letter *) newest;
	char _pad_behind[64];
	struct ev_loop *loop;
	ev_async wake;
	/** Called in the owner's loop where there is mail: see mailbox_take(). */
	void (*on_mail)(void *arg);
	void *arg;
};

/** By the owner. */
void mailbox_create(struct mailbox *box, struct ev_loop *loop, void (*on_mail)(void *arg), void *arg);
void mailbox_destroy(struct mailbox *box);

static inline void letter_batch_add(struct letter_batch *batch, struct letter *letter)
{
	letter->next = batch->newest;
	batch->newest = letter;
	if (batch->oldest == NULL)
		batch->oldest = letter;
}

/** Puts all letters of the batch, which is empty behind it, into the mailbox. By any thread. */
void mailbox_post(struct mailbox *box, struct letter_batch *batch);

static inline bool mailbox_is_empty(struct mailbox *box)
{
	return atomic_load_explicit(&box->newest, memory_order_relaxed) == NULL;
}

/** All letters, the oldest first, linked by `next`; NULL: none. By the owner. */
struct letter *mailbox_take(struct mailbox *box);
