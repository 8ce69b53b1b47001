/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Compressing blocks in threads: see the header. Blocks lie in a ring of slots.
 * The writer fills one after the other; the threads take them in that order; the
 * writer puts them into the file, likewise, when it needs their slot again.
 *
 *     FREE --writer: rows--> FULL --thread--> TAKEN --thread: compressed--> PACKED
 *       ^-------------------------- writer: in the file ------------------------'
 *
 * Compressing takes three times as long as all that the writer does: so there are two
 * threads, unless there is but one core.
 *
 * A slot belongs to who makes the next step; the mutex orders the hand-overs.
 */
#include "db/wal/xlog_packer.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "core/memory.h"

enum { SLOT_COUNT = 6, THREAD_COUNT_MAX = 2 };

enum slot_state { SLOT_FREE, SLOT_FULL, SLOT_TAKEN, SLOT_PACKED };

struct slot {
	enum slot_state state;
	struct buf block;
	size_t mark;
};

struct xlog_packer {
	int level;
	/** The writer's: blocks begun, and blocks in the file. */
	size_t begun, written;
	pthread_t threads[THREAD_COUNT_MAX];
	int thread_count;
	pthread_mutex_t lock;
	/** Blocks that threads have taken. */
	size_t taken;
	/** Signalled when a slot becomes FULL or the packer ends, and when one becomes PACKED. */
	pthread_cond_t full, packed;
	bool is_ending;
	struct slot slots[SLOT_COUNT];
};

static struct slot *slot_at(struct xlog_packer *p, size_t n)
{
	return &p->slots[n % SLOT_COUNT];
}

static void slot_set(struct xlog_packer *p, struct slot *slot, enum slot_state state,
		     pthread_cond_t *cond)
{
	pthread_mutex_lock(&p->lock);
	slot->state = state;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(&p->lock);
}

/** Waits for the next slot to be filled, and takes it; NULL where the packer ends. */
static struct slot *take_slot(struct xlog_packer *p)
{
	struct slot *slot = NULL;
	pthread_mutex_lock(&p->lock);
	while (slot_at(p, p->taken)->state != SLOT_FULL && !p->is_ending)
		pthread_cond_wait(&p->full, &p->lock);
	if (!p->is_ending) {
		slot = slot_at(p, p->taken++);
		slot->state = SLOT_TAKEN;
	}
	pthread_mutex_unlock(&p->lock);
	return slot;
}

static void *packer_main(void *arg)
{
	struct xlog_packer *p = arg;
	struct slot *slot;
	while ((slot = take_slot(p)) != NULL) {
		xlog_block_end(&slot->block, slot->mark, p->level);
		slot_set(p, slot, SLOT_PACKED, &p->packed);
	}
	xlog_block_thread_free();
	return NULL;
}

/** Signals are for tx. */
static void start_threads(struct xlog_packer *p)
{
	int wanted = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? THREAD_COUNT_MAX : 1;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (p->thread_count < wanted &&
	       pthread_create(&p->threads[p->thread_count], NULL, packer_main, p) == 0)
		p->thread_count++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void begin_block(struct xlog_packer *p)
{
	struct slot *slot = slot_at(p, p->begun++);
	assert(slot->state == SLOT_FREE);
	buf_truncate(&slot->block, 0);
	slot->mark = xlog_block_begin(&slot->block);
}

struct xlog_packer *xlog_packer_new(int level)
{
	struct xlog_packer *p = xcalloc(1, sizeof(*p));
	p->level = level;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->full, NULL);
	pthread_cond_init(&p->packed, NULL);
	start_threads(p);
	begin_block(p);
	return p;
}

void xlog_packer_delete(struct xlog_packer *p)
{
	if (p->thread_count > 0) {
		pthread_mutex_lock(&p->lock);
		p->is_ending = true;
		pthread_cond_broadcast(&p->full);
		pthread_mutex_unlock(&p->lock);
		for (int i = 0; i < p->thread_count; i++)
			pthread_join(p->threads[i], NULL);
	} else {
		xlog_block_thread_free();
	}
	for (int i = 0; i < SLOT_COUNT; i++)
		buf_free(&p->slots[i].block);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->full);
	pthread_cond_destroy(&p->packed);
	xfree(p);
}

struct buf *xlog_packer_rows(struct xlog_packer *p)
{
	return &slot_at(p, p->begun - 1)->block;
}

size_t xlog_packer_size(const struct xlog_packer *p)
{
	return p->slots[(p->begun - 1) % SLOT_COUNT].block.size - XLOG_FIXHEADER_SIZE;
}

/** Writes the oldest block that is not in the file; waits until it is compressed. */
static int write_oldest(struct xlog_packer *p, struct xlog_file *f)
{
	struct slot *slot = slot_at(p, p->written);
	pthread_mutex_lock(&p->lock);
	while (slot->state != SLOT_PACKED)
		pthread_cond_wait(&p->packed, &p->lock);
	slot->state = SLOT_FREE;
	pthread_mutex_unlock(&p->lock);
	p->written++;
	return xlog_file_append(f, slot->block.data, slot->block.size, false);
}

static void end_block(struct xlog_packer *p)
{
	struct slot *slot = slot_at(p, p->begun - 1);
	if (p->thread_count > 0) {
		slot_set(p, slot, SLOT_FULL, &p->full);
		return;
	}
	xlog_block_end(&slot->block, slot->mark, p->level);
	slot->state = SLOT_PACKED;
}

int xlog_packer_next(struct xlog_packer *p, struct xlog_file *f)
{
	if (xlog_packer_size(p) == 0)
		return 0;
	end_block(p);
	if (p->begun - p->written == SLOT_COUNT && write_oldest(p, f) != 0)
		return -1;
	begin_block(p);
	return 0;
}

int xlog_packer_finish(struct xlog_packer *p, struct xlog_file *f)
{
	if (xlog_packer_next(p, f) != 0)
		return -1;
	/* The last one begun has no rows. */
	while (p->written + 1 < p->begun) {
		if (write_oldest(p, f) != 0)
			return -1;
	}
	return 0;
}
