/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Freeing in steps: see the header. Garbage is a list of indexes; the first goes
 * first, its tuples before its blocks. Tuples and blocks that were kept for a view
 * wait in lists of their own (tuple.h, bptree.h).
 */
#include "db/schema/memtx_gc.h"

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "db/db.h"
#include "db/index/bptree.h"
#include "db/index/index.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"

enum {
	/** Tuples or blocks of one step: some 50 microseconds. */
	STEP_COUNT = 500,
	/** What is smaller is freed at once. */
	SMALL_COUNT = 1000,
};

struct garbage {
	struct list link;
	struct index *index;
	/** Of the tuples that are not given back yet, or NULL. */
	struct iterator *view;
};

static struct list garbage = LIST_INIT(garbage);
static struct fiber *collector;

/** Gives tuples back; true where none are left. */
static bool drop_tuples(struct iterator *view, size_t count)
{
	struct tuple *tuple;
	for (; count > 0; count--) {
		if (view->next(view, &tuple) != 0 || tuple == NULL)
			return true;
		tuple->is_dirty = true;
		tuple_unref(tuple);
	}
	return false;
}

/** Frees a part of the first index; true where it is gone. */
static bool garbage_step(struct garbage *g, size_t count)
{
	if (g->view != NULL) {
		if (!drop_tuples(g->view, count))
			return false;
		g->view->free(g->view);
		g->view = NULL;
		return false;
	}
	const struct index_vtab *vtab = g->index->vtab;
	if (vtab->destroy_some != NULL && !vtab->destroy_some(g->index, count))
		return false;
	index_delete(g->index);
	list_del(&g->link);
	xfree(g);
	return true;
}

static bool has_garbage(void)
{
	return tuple_has_garbage() || bptree_has_garbage() || !list_empty(&garbage);
}

static void step(size_t count)
{
	if (tuple_has_garbage())
		tuple_collect_garbage(count);
	else if (bptree_has_garbage())
		bptree_collect_garbage(count);
	else if (!list_empty(&garbage))
		garbage_step(list_first_entry(&garbage, struct garbage, link), count);
}

static int collector_func(va_list args)
{
	(void)args;
	while (has_garbage()) {
		step(STEP_COUNT);
		fiber_sleep(0);
	}
	collector = NULL;
	return 0;
}

/** Until the instance is up, and in its end, no fiber is to be counted on. */
static void collect(void)
{
	if (!db_is_configured)
		memtx_gc_run();
	else if (collector == NULL && has_garbage()) {
		collector = fiber_new("memtx_gc", collector_func);
		fiber_wakeup(collector);
	}
}

void memtx_gc_init(void)
{
	tuple_on_garbage = bptree_on_garbage = collect;
	tuple_memory.reclaim = index_memory.reclaim = memtx_gc_run;
}

void memtx_gc_add(struct index *index, bool drops_tuples)
{
	struct garbage *g = xcalloc(1, sizeof(*g));
	bool is_small = index->vtab->size == NULL || index->vtab->size(index) < SMALL_COUNT;
	g->index = index;
	g->view = drops_tuples ? index->vtab->frozen_view(index) : NULL;
	if (drops_tuples && g->view == NULL)
		panic("can't free the tuples of space '%s'", index->space_name);
	list_add_tail(&garbage, &g->link);
	while (is_small && !garbage_step(g, SIZE_MAX)) {
	}
	collect();
}

bool memtx_gc_run(void)
{
	if (!has_garbage())
		return false;
	while (has_garbage())
		step(SIZE_MAX);
	return true;
}
