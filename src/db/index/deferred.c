/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Deferred indexes: while data is recovered, secondary indexes stay empty and are
 * filled at once in the end. Until then changes pass them by, and a look into one
 * is refused.
 */
#include <assert.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/index/index.h"

bool index_deferred_is_closed;

static int refuse(void)
{
	client_error(ER_LOADING);
	return -1;
}

static void deferred_destroy(struct index *index)
{
	index->_real_vtab->destroy(index);
}

static size_t deferred_size(struct index *index)
{
	(void)index;
	return 0;
}

static int deferred_look(struct index *index, const char *key, uint32_t part_count,
			 struct tuple **result)
{
	(void)index, (void)key, (void)part_count, (void)result;
	return refuse();
}

static int deferred_random(struct index *index, uint32_t seed, struct tuple **result)
{
	(void)index, (void)seed, (void)result;
	return refuse();
}

static int64_t deferred_count(struct index *index, enum iterator_type type, const char *key,
			      uint32_t part_count)
{
	(void)index, (void)type, (void)key, (void)part_count;
	return refuse();
}

static int deferred_replace(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
			    enum dup_replace_mode mode, struct tuple **result)
{
	(void)index, (void)new_tuple, (void)mode;
	*result = old_tuple;
	return index_deferred_is_closed && !index_is_undoing ? refuse() : 0;
}

static struct iterator *deferred_iterator(struct index *index, enum iterator_type type,
					  const char *key, uint32_t part_count)
{
	(void)index, (void)type, (void)key, (void)part_count;
	refuse();
	return NULL;
}

static struct iterator *deferred_frozen_view(struct index *index)
{
	(void)index;
	refuse();
	return NULL;
}

static bool deferred_check(struct index *index)
{
	(void)index;
	return true;
}

static const struct index_vtab deferred_vtab = {
	.destroy = deferred_destroy,
	.size = deferred_size,
	.bsize = deferred_size,
	.min = deferred_look,
	.max = deferred_look,
	.random = deferred_random,
	.count = deferred_count,
	.get = deferred_look,
	.replace = deferred_replace,
	.iterator = deferred_iterator,
	.frozen_view = deferred_frozen_view,
	.check = deferred_check,
};

void index_defer(struct index *index)
{
	assert(index->_real_vtab == NULL);
	index->_real_vtab = index->vtab;
	index->vtab = &deferred_vtab;
}

void index_undefer(struct index *index)
{
	assert(index_is_deferred(index));
	index->vtab = index->_real_vtab;
	index->_real_vtab = NULL;
}
