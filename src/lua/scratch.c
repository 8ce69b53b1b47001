/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Scratch buffers: each fiber has a list of those in use, newest first.
 *
 * A Lua error may unwind the C frame that took a buffer, which then stays in the
 * list. So each remembers its frame: stacks grow down, hence a frame deeper than the
 * one that asks now is over. Since a helper may take a buffer for its caller, this
 * is believed only of buffers that SCRATCH_TRUST_COUNT newer ones stand before, and
 * looked at only when SCRATCH_SWEEP_COUNT are in use. A fiber's end frees the rest.
 */
#include "core/memory.h"
#include "lua/bridge_impl.h"

enum {
	SCRATCH_KEEP_MAX = 1 << 20,
	SCRATCH_SWEEP_COUNT = 16,
	SCRATCH_TRUST_COUNT = 8,
};

struct scratch {
	/** First, so that a buffer's address is its scratch's. */
	struct buf buf;
	struct list link;
	struct lua_fiber *owner;
	const char *frame;
	const void *place;
};

static struct list scratch_pool = LIST_INIT(scratch_pool);

static void scratch_recycle(struct scratch *s)
{
	list_del(&s->link);
	s->owner->scratch_count--;
	s->owner = NULL;
	if (s->buf.capacity > SCRATCH_KEEP_MAX)
		buf_free(&s->buf);
	list_add(&scratch_pool, &s->link);
}

static void scratch_sweep(struct lua_fiber *lf, const char *frame, const void *place)
{
	int newer = 0;
	struct scratch *s, *tmp;
	list_foreach_entry_safe(s, tmp, &lf->scratches, link) {
		bool is_over = s->frame < frame || (s->frame == frame && s->place == place);
		if (++newer > SCRATCH_TRUST_COUNT && is_over)
			scratch_recycle(s);
	}
}

static struct scratch *scratch_take(void)
{
	if (list_empty(&scratch_pool)) {
		struct scratch *s = xcalloc(1, sizeof(*s));
		list_create(&s->link);
		return s;
	}
	struct scratch *s = list_entry(scratch_pool.next, struct scratch, link);
	list_del(&s->link);
	return s;
}

__attribute__((noinline)) struct buf *lua_scratch_get(void)
{
	struct lua_fiber *lf = lua_fiber_get();
	const char *frame = __builtin_frame_address(0);
	const void *place = __builtin_return_address(0);
	if (lf->scratch_count >= SCRATCH_SWEEP_COUNT)
		scratch_sweep(lf, frame, place);
	struct scratch *s = scratch_take();
	s->frame = frame;
	s->place = place;
	s->owner = lf;
	lf->scratch_count++;
	buf_truncate(&s->buf, 0);
	list_add(&lf->scratches, &s->link);
	return &s->buf;
}

void lua_scratch_put(struct buf *b)
{
	scratch_recycle((struct scratch *)b);
}

void lua_scratch_release_all(struct lua_fiber *lf)
{
	while (!list_empty(&lf->scratches))
		scratch_recycle(list_entry(lf->scratches.next, struct scratch, link));
}
