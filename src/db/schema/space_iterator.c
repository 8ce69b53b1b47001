/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Iterators that outlive their index: all of them stand in a list, and when an
 * index goes away those over it are ended.
 */
#include "core/memory.h"
#include "db/schema/schema.h"

struct safe_iterator {
	struct iterator base;
	struct list link;
	/** NULL once the index is gone. */
	struct iterator *inner;
};

static struct list iterators = LIST_INIT(iterators);
/** Structures to use again. */
static struct list iterator_pool = LIST_INIT(iterator_pool);
static int pool_count;
enum { POOL_MAX = 1024 };

static int safe_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct safe_iterator *it = (struct safe_iterator *)base;
	if (it->inner == NULL) {
		*tuple = NULL;
		return 0;
	}
	return it->inner->next(it->inner, tuple);
}

static int safe_iterator_seek(struct iterator *base, const char *position)
{
	struct iterator *inner = ((struct safe_iterator *)base)->inner;
	return inner->seek(inner, position);
}

static void safe_iterator_free(struct iterator *base)
{
	struct safe_iterator *it = (struct safe_iterator *)base;
	if (it->inner != NULL)
		it->inner->free(it->inner);
	list_del(&it->link);
	if (pool_count < POOL_MAX) {
		pool_count++;
		list_add(&iterator_pool, &it->link);
	} else {
		xfree(it);
	}
}

struct iterator *index_iterator_new(struct index *index, enum iterator_type type, const char *key,
				    uint32_t part_count)
{
	struct iterator *inner = index->vtab->iterator(index, type, key, part_count);
	if (inner == NULL)
		return NULL;
	struct safe_iterator *it;
	if (pool_count > 0) {
		pool_count--;
		it = list_shift_entry(&iterator_pool, struct safe_iterator, link);
	} else {
		it = xmalloc(sizeof(*it));
	}
	it->base = (struct iterator){
		.next = safe_iterator_next,
		.free = safe_iterator_free,
		.seek = inner->seek != NULL ? safe_iterator_seek : NULL,
		.index = index,
		.space_id = index->def->space_id,
		.index_id = index->def->iid,
	};
	it->inner = inner;
	list_add(&iterators, &it->link);
	return &it->base;
}

void index_end_iterators(struct index *index)
{
	struct safe_iterator *it;
	list_foreach_entry(it, &iterators, link) {
		if (it->base.index != index)
			continue;
		if (it->inner != NULL)
			it->inner->free(it->inner);
		it->inner = NULL;
		it->base.index = NULL;
	}
}
