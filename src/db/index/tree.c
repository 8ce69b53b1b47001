/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TREE indexes: the index interface over bptree.
 *
 * Entries are ordered by `cmp_def`, which is unique for every tuple; what a unique
 * index allows is checked on `key_def`, whose parts come first in `cmp_def`.
 */
#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/index/bptree.h"
#include "db/index/index_private.h"
#include "db/index/load.h"
#include "db/tuple/tuple.h"

struct tree_index {
	struct index base;
	struct bptree *tree;
};

/** How an iterator starts and where it ends. */
enum tree_iterator_state { ITERATOR_FRESH, ITERATOR_ACTIVE, ITERATOR_DONE };

struct tree_iterator {
	struct iterator base;
	struct bptree *tree;
	enum tree_iterator_state state;
	enum iterator_type type;
	bool is_reverse;
	/** At most one entry matches: a full key of a unique index. */
	bool is_single;
	/** The tree's version that `path` belongs to. */
	uint64_t version;
	/** What was returned last; referenced. */
	struct tuple *last;
	struct bptree_search search;
	/** The position that it begins behind, or NULL. */
	char *after;
	struct bptree_path path;
	/** Link in the list of free iterators. */
	struct tree_iterator *next_free;
	char key_inline[64];
};

enum {
	FREE_ITERATOR_MAX = 64,
	/** Tuples of a scan asked for ahead of their use. */
	TREE_PREFETCH_DISTANCE = 8,
};

static struct tree_iterator *free_iterators;
static unsigned free_iterator_count;

static inline struct bptree *tree_of(const struct index *index)
{
	return ((const struct tree_index *)index)->tree;
}

/** Do all parts of a key together name one tuple at most? */
static bool tree_is_full_key(const struct index *index, uint32_t part_count)
{
	const struct index_def *def = index->def;
	return part_count == def->cmp_def->part_count ||
		(def->is_unique && !def->key_def->has_nullable &&
		 part_count == def->key_def->part_count);
}

static void tree_destroy(struct index *index)
{
	bptree_delete(tree_of(index));
	xfree(index);
}

static bool tree_destroy_some(struct index *index, size_t count)
{
	return bptree_free_some(tree_of(index), count);
}

static size_t tree_size(struct index *index)
{
	return tree_of(index)->size;
}

static size_t tree_bsize(struct index *index)
{
	return tree_of(index)->block_count * BPTREE_BLOCK_SIZE;
}

/* Look-ups --------------------------------------------------------------- */

static int tree_get(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct bptree *tree = tree_of(index);
	struct bptree_search search;
	bptree_search_key(&search, tree, key, part_count);
	*result = bptree_find(tree, &search);
	return 0;
}

/** The last entry that equals what is looked for. */
static struct tuple *tree_find_last(struct bptree *tree, const struct bptree_search *search)
{
	struct bptree_path path;
	bptree_seek(tree, search, true, &path);
	if (!bptree_path_prev(&path))
		return NULL;
	struct tuple *tuple = bptree_path_tuple(&path);
	return bptree_path_compare(tree, &path, search) == 0 ? tuple : NULL;
}

static int tree_min(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct bptree_path path;
	if (part_count > 0)
		return tree_get(index, key, part_count, result);
	*result = bptree_first(tree_of(index), &path) ? bptree_path_tuple(&path) : NULL;
	return 0;
}

static int tree_max(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct bptree *tree = tree_of(index);
	struct bptree_path path;
	if (part_count > 0) {
		struct bptree_search search;
		bptree_search_key(&search, tree, key, part_count);
		*result = tree_find_last(tree, &search);
	} else {
		*result = bptree_last(tree, &path) ? bptree_path_tuple(&path) : NULL;
	}
	return 0;
}

static int tree_random(struct index *index, uint32_t seed, struct tuple **result)
{
	struct bptree *tree = tree_of(index);
	*result = NULL;
	if (tree->depth == 0)
		return 0;
	uint64_t mixed = index_mix_seed(seed);
	struct bptree_block *block = tree->root;
	while (!block->is_leaf) {
		block = block->inner.children[mixed % block->count];
		mixed = index_mix_seed(mixed);
	}
	*result = block->leaf.tuples[mixed % block->count];
	return 0;
}

/* Counts ----------------------------------------------------------------- */

/** Entries from the place on. */
static int64_t count_from(struct bptree_path *path)
{
	int64_t count = (int64_t)bptree_path_leaf(path)->count - bptree_path_pos(path);
	while (bptree_path_next_leaf(path))
		count += bptree_path_leaf(path)->count;
	return count;
}

/** Entries before the first that is not below (`is_upper`: is above) the key. */
static int64_t count_before(struct bptree *tree, const struct bptree_search *search, bool is_upper)
{
	struct bptree_path path;
	if (!bptree_seek(tree, search, is_upper, &path))
		return tree->size;
	return (int64_t)tree->size - count_from(&path);
}

/** Entries that equal the key: leaf by leaf from the first to the last. */
static int64_t count_equal(struct bptree *tree, const struct bptree_search *search)
{
	struct bptree_path path, end;
	if (!bptree_seek(tree, search, false, &path))
		return 0;
	bptree_seek(tree, search, true, &end);
	int64_t count = -(int64_t)bptree_path_pos(&path);
	while (bptree_path_leaf(&path) != bptree_path_leaf(&end)) {
		count += bptree_path_leaf(&path)->count;
		bptree_path_next_leaf(&path);
	}
	return count + bptree_path_pos(&end);
}

static int64_t tree_count(struct index *index, enum iterator_type type, const char *key,
			  uint32_t part_count)
{
	struct bptree *tree = tree_of(index);
	if (type == ITER_NP || type == ITER_PP) {
		struct prefix_bound bound;
		prefix_bound_create(&bound, index->def->key_def, type, key, part_count);
		int64_t count = bound.is_empty ? 0 :
			tree_count(index, bound.type, bound.key, bound.part_count);
		xfree(bound.memory);
		return count;
	}
	if (type > ITER_GT) {
		index_unsupported(index, "requested iterator type");
		return -1;
	}
	if (type == ITER_ALL || part_count == 0 || tree->depth == 0)
		return tree->size;
	struct bptree_search search;
	bptree_search_key(&search, tree, key, part_count);
	switch (type) {
	case ITER_LT:
		return count_before(tree, &search, false);
	case ITER_LE:
		return count_before(tree, &search, true);
	case ITER_GE:
		return (int64_t)tree->size - count_before(tree, &search, false);
	case ITER_GT:
		return (int64_t)tree->size - count_before(tree, &search, true);
	default:
		return count_equal(tree, &search);
	}
}

struct tuple *tree_index_find(struct index *index, const struct tuple *tuple, bool is_key)
{
	const struct key_def *def = is_key ? index->def->key_def : index->def->cmp_def;
	struct bptree_search search;
	bptree_search_tuple(&search, tree_of(index), tuple, def);
	return bptree_find(tree_of(index), &search);
}

/* Changes ---------------------------------------------------------------- */

/** Takes a tuple out; it must be there. */
static void tree_remove(struct index *index, struct tuple *tuple)
{
	struct bptree *tree = tree_of(index);
	struct bptree_search search;
	bptree_search_tuple(&search, tree, tuple, index->def->cmp_def);
	struct bptree_path path;
	bool is_found = bptree_seek(tree, &search, false, &path);
	(void)is_found;
	assert(is_found && bptree_path_tuple(&path) == tuple);
	bptree_remove(tree, &path);
}

/** What a nullable unique index has with an equal key that is free of nil. */
static struct tuple *tree_find_nullable_dup(struct index *index, const struct tuple *tuple)
{
	return tuple_key_has_null(tuple, index->def->key_def) ? NULL :
		tree_index_find(index, tuple, true);
}

static int tree_put(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
		    enum dup_replace_mode mode, struct tuple **result)
{
	struct bptree *tree = tree_of(index);
	struct index_def *def = index->def;
	if (def->is_unique && def->cmp_def->part_count > def->key_def->part_count) {
		struct tuple *dup = tree_find_nullable_dup(index, new_tuple);
		if (index_check_dup(index, old_tuple, dup, mode) != 0)
			return -1;
	}
	struct bptree_search search;
	bptree_search_tuple(&search, tree, new_tuple, def->cmp_def);
	struct bptree_path path;
	struct tuple *same = NULL;
	if (bptree_seek(tree, &search, false, &path) &&
	    bptree_path_compare(tree, &path, &search) == 0)
		same = bptree_path_tuple(&path);
	if (index_check_dup(index, old_tuple, same, mode) != 0)
		return -1;
	bool is_forced = index_is_undoing;
	int rc = same != NULL ? bptree_overwrite(tree, &path, new_tuple, is_forced) :
		bptree_insert(tree, &path, new_tuple, is_forced);
	if (rc != 0)
		return -1;
	if (same == NULL && old_tuple != NULL)
		tree_remove(index, old_tuple);
	*result = same != NULL ? same : old_tuple;
	return 0;
}

static int tree_replace(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
			enum dup_replace_mode mode, struct tuple **result)
{
	const struct key_def *key_def = index->def->key_def;
	if (key_def->has_exclude_null) {
		if (new_tuple != NULL && tuple_key_is_excluded(new_tuple, key_def))
			new_tuple = NULL;
		if (old_tuple != NULL && tuple_key_is_excluded(old_tuple, key_def))
			old_tuple = NULL;
	}
	if (new_tuple != NULL)
		return tree_put(index, old_tuple, new_tuple, mode, result);
	if (old_tuple != NULL)
		tree_remove(index, old_tuple);
	*result = old_tuple;
	return 0;
}

/* Iterators -------------------------------------------------------------- */

static struct tree_iterator *tree_iterator_alloc(void)
{
	struct tree_iterator *it = free_iterators;
	if (it == NULL)
		return xmalloc(sizeof(*it));
	free_iterators = it->next_free;
	free_iterator_count--;
	return it;
}

static void tree_iterator_free(struct iterator *base)
{
	struct tree_iterator *it = (struct tree_iterator *)base;
	if (it->last != NULL)
		tuple_unref(it->last);
	if (it->search.key != NULL && it->search.key != it->key_inline)
		xfree((char *)it->search.key);
	xfree(it->after);
	if (free_iterator_count >= FREE_ITERATOR_MAX) {
		xfree(it);
		return;
	}
	it->next_free = free_iterators;
	free_iterators = it;
	free_iterator_count++;
}

/** Seeks the first or last entry of what the iterator is for. */
static bool tree_iterator_start(struct tree_iterator *it)
{
	if (it->after != NULL) {
		const struct key_def *cmp_def = it->tree->cmp_def;
		struct bptree_search search;
		bptree_search_key(&search, it->tree, it->after, cmp_def->part_count);
		bool is_found = bptree_seek(it->tree, &search, !it->is_reverse, &it->path);
		return it->is_reverse ? bptree_path_prev(&it->path) : is_found;
	}
	if (it->search.part_count == 0)
		return it->is_reverse ? bptree_last(it->tree, &it->path) :
			bptree_first(it->tree, &it->path);
	bool is_upper = it->type == ITER_GT || it->type == ITER_LE || it->type == ITER_REQ;
	bool is_found = bptree_seek(it->tree, &it->search, is_upper, &it->path);
	return it->is_reverse ? bptree_path_prev(&it->path) : is_found;
}

/** Seeks the entry behind the last one in a tree that has changed. */
static bool tree_iterator_restart(struct tree_iterator *it)
{
	struct bptree_search search;
	bptree_search_tuple(&search, it->tree, it->last, it->tree->cmp_def);
	bool is_found = bptree_seek(it->tree, &search, !it->is_reverse, &it->path);
	return it->is_reverse ? bptree_path_prev(&it->path) : is_found;
}

static bool tree_iterator_move(struct tree_iterator *it)
{
	if (it->state == ITERATOR_FRESH)
		return tree_iterator_start(it);
	if (it->version != it->tree->version)
		return tree_iterator_restart(it);
	return it->is_reverse ? bptree_path_prev(&it->path) : bptree_path_next(&it->path);
}

/** Is the entry at the path within what the iterator is for? */
static bool tree_iterator_matches(const struct tree_iterator *it)
{
	if (it->type != ITER_EQ && it->type != ITER_REQ)
		return true;
	return bptree_path_compare(it->tree, &it->path, &it->search) == 0;
}

static int tree_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct tree_iterator *it = (struct tree_iterator *)base;
	*tuple = NULL;
	if (it->state == ITERATOR_DONE)
		return 0;
	if (!tree_iterator_move(it) || !tree_iterator_matches(it)) {
		it->state = ITERATOR_DONE;
		return 0;
	}
	*tuple = bptree_path_tuple(&it->path);
	if (it->is_single) {
		it->state = ITERATOR_DONE;
		return 0;
	}
	it->state = ITERATOR_ACTIVE;
	it->version = it->tree->version;
	tuple_ref(*tuple);
	if (it->last != NULL)
		tuple_unref(it->last);
	it->last = *tuple;
	return 0;
}

/** Is a position whose key compares so with the iterator's within what that is for? */
static bool tree_iterator_has(const struct tree_iterator *it, int order)
{
	switch (it->type) {
	case ITER_EQ:
	case ITER_REQ:
		return order == 0;
	case ITER_GE:
		return order >= 0;
	case ITER_GT:
		return order > 0;
	case ITER_LE:
		return order <= 0;
	default:
		return order < 0;
	}
}

static int tree_iterator_seek(struct iterator *base, const char *position)
{
	struct tree_iterator *it = (struct tree_iterator *)base;
	const struct key_def *cmp_def = it->tree->cmp_def;
	uint32_t part_count = it->search.part_count;
	assert(it->state != ITERATOR_ACTIVE && it->after == NULL);
	if (part_count > 0 &&
	    !tree_iterator_has(it, key_compare(position, it->search.key, part_count, cmp_def))) {
		client_error(ER_ITERATOR_POSITION);
		return -1;
	}
	size_t size = index_key_size(position, cmp_def->part_count);
	it->after = memcpy(xmalloc(size), position, size);
	return 0;
}

/** Keeps a copy of the key in the iterator. */
static void tree_iterator_set_key(struct tree_iterator *it, const char *key, uint32_t part_count)
{
	size_t size = index_key_size(key, part_count);
	char *copy = size <= sizeof(it->key_inline) ? it->key_inline : xmalloc(size);
	memcpy(copy, key, size);
	bptree_search_key(&it->search, it->tree, copy, part_count);
}

static struct iterator *tree_iterator(struct index *index, enum iterator_type type,
				      const char *key, uint32_t part_count);

static struct iterator *tree_prefix_iterator(struct index *index, enum iterator_type type,
					     const char *key, uint32_t part_count)
{
	struct prefix_bound bound;
	prefix_bound_create(&bound, index->def->key_def, type, key, part_count);
	struct iterator *it = tree_iterator(index, bound.type, bound.key, bound.part_count);
	if (it != NULL && bound.is_empty)
		((struct tree_iterator *)it)->state = ITERATOR_DONE;
	xfree(bound.memory);
	return it;
}

static struct iterator *tree_iterator(struct index *index, enum iterator_type type,
				      const char *key, uint32_t part_count)
{
	if (type == ITER_NP || type == ITER_PP)
		return tree_prefix_iterator(index, type, key, part_count);
	if (type > ITER_GT) {
		index_unsupported(index, "requested iterator type");
		return NULL;
	}
	bool is_reverse = type == ITER_LT || type == ITER_LE || type == ITER_REQ;
	if (type == ITER_ALL)
		type = ITER_GE;
	if (part_count == 0)
		type = is_reverse ? ITER_LE : ITER_GE;
	struct tree_iterator *it = tree_iterator_alloc();
	it->base = (struct iterator){
		.next = tree_iterator_next,
		.free = tree_iterator_free,
		.seek = tree_iterator_seek,
		.index = index,
		.space_id = index->def->space_id,
		.index_id = index->def->iid,
	};
	it->tree = tree_of(index);
	it->state = ITERATOR_FRESH;
	it->type = type;
	it->is_reverse = is_reverse;
	it->is_single = (type == ITER_EQ || type == ITER_REQ) &&
		tree_is_full_key(index, part_count);
	it->version = 0;
	it->last = NULL;
	it->after = NULL;
	if (part_count > 0)
		tree_iterator_set_key(it, key, part_count);
	else
		it->search = (struct bptree_search){0};
	return &it->base;
}

/* Frozen views ----------------------------------------------------------- */

struct tree_frozen_view {
	struct iterator base;
	struct bptree_view *view;
};

/** Asks for a tuple of the leaf that comes some entries later. */
static void tree_prefetch(const struct bptree_path *path)
{
	const struct bptree_block *leaf = bptree_path_leaf(path);
	unsigned pos = bptree_path_pos(path) + TREE_PREFETCH_DISTANCE;
	if (pos >= leaf->count)
		return;
	__builtin_prefetch(leaf->leaf.tuples[pos]);
	__builtin_prefetch((const char *)leaf->leaf.tuples[pos] + 64);
}

static int tree_frozen_next(struct iterator *base, struct tuple **tuple)
{
	struct bptree_view *view = ((struct tree_frozen_view *)base)->view;
	*tuple = NULL;
	if (view->has_entry) {
		tree_prefetch(&view->path);
		*tuple = bptree_path_tuple(&view->path);
		view->has_entry = bptree_path_next(&view->path);
	}
	return 0;
}

static void tree_frozen_free(struct iterator *base)
{
	bptree_view_delete(((struct tree_frozen_view *)base)->view);
	xfree(base);
}

static struct iterator *tree_frozen_view(struct index *index)
{
	struct tree_frozen_view *it = xcalloc(1, sizeof(*it));
	it->base.next = tree_frozen_next;
	it->base.free = tree_frozen_free;
	it->base.index = index;
	it->base.space_id = index->def->space_id;
	it->base.index_id = index->def->iid;
	it->view = bptree_view_new(tree_of(index));
	return &it->base;
}

static int tree_load_reserve(struct index *index, size_t count)
{
	return bptree_reserve(tree_of(index), bptree_load_block_count(count), false);
}

static bool tree_load(struct index *index, const struct index_load *load)
{
	bptree_load(tree_of(index), load);
	assert(load->count > 100000 || bptree_check(tree_of(index)) == NULL);
	return true;
}

static bool tree_check(struct index *index)
{
	return index_is_sound(index, bptree_check(tree_of(index)));
}

static const struct index_vtab tree_index_vtab = {
	.destroy = tree_destroy,
	.destroy_some = tree_destroy_some,
	.size = tree_size,
	.bsize = tree_bsize,
	.min = tree_min,
	.max = tree_max,
	.random = tree_random,
	.count = tree_count,
	.get = tree_get,
	.replace = tree_replace,
	.iterator = tree_iterator,
	.frozen_view = tree_frozen_view,
	.load_reserve = tree_load_reserve,
	.load = tree_load,
	.check = tree_check,
};

struct index *tree_index_new(struct index_def *def)
{
	struct tree_index *index = xcalloc(1, sizeof(*index));
	index->base.vtab = &tree_index_vtab;
	index->tree = bptree_new(def->cmp_def, def->hint);
	return &index->base;
}
