/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tree's blocks, search and places; changes are in bptree_change.c.
 *
 * A search goes by hints first: they stand side by side in a block, so a binary
 * search over them touches few cache lines and no tuple. Only among entries with
 * the same hint are tuples compared.
 */
#include "db/index/bptree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "db/index/bptree_private.h"
#include "db/index/index.h"

enum {
	/** So many free blocks stay with the tree. */
	SPARE_MAX = 16,
};

struct bptree *bptree_new(const struct key_def *cmp_def, bool use_hint)
{
	struct bptree *tree = xcalloc(1, sizeof(*tree));
	tree->cmp_def = cmp_def;
	tree->use_hint = use_hint;
	tree->epoch = 1;
	list_create(&tree->views);
	return tree;
}

/** Gives the blocks of a subtree back. Recurses as deep as the tree. */
static void bptree_free_subtree(struct bptree *tree, struct bptree_block *block)
{
	if (!block->is_leaf)
		for (unsigned i = 0; i < block->count; i++)
			bptree_free_subtree(tree, block->inner.children[i]);
	bptree_block_release(tree, block);
}

void bptree_destroy(struct bptree *tree)
{
	if (tree->depth > 0)
		bptree_free_subtree(tree, tree->root);
	while (tree->spare != NULL) {
		struct bptree_block *block = tree->spare;
		tree->spare = block->next;
		mem_free(&index_memory, block, sizeof(*block));
	}
	xfree(tree);
}

void bptree_delete(struct bptree *tree)
{
	if (list_empty(&tree->views))
		bptree_destroy(tree);
	else
		tree->is_orphan = true;
}

/* Blocks ----------------------------------------------------------------- */

static struct bptree_block *bptree_block_alloc(bool is_forced)
{
	if (!is_forced)
		return mem_alloc(&index_memory, sizeof(struct bptree_block));
	size_t limit = index_memory.limit;
	index_memory.limit = SIZE_MAX;
	struct bptree_block *block = mem_alloc(&index_memory, sizeof(*block));
	index_memory.limit = limit;
	if (block == NULL) {
		say(LOG_FATAL, "no memory to undo a change of an index");
		abort();
	}
	return block;
}

int bptree_reserve(struct bptree *tree, unsigned count, bool is_forced)
{
	while (tree->spare_count < count) {
		struct bptree_block *block = bptree_block_alloc(is_forced);
		if (block == NULL)
			return -1;
		block->next = tree->spare;
		tree->spare = block;
		tree->spare_count++;
		tree->block_count++;
	}
	return 0;
}

struct bptree_block *bptree_block_new(struct bptree *tree, bool is_leaf)
{
	struct bptree_block *block = tree->spare;
	assert(block != NULL);
	tree->spare = block->next;
	tree->spare_count--;
	block->epoch = tree->epoch;
	block->count = 0;
	block->is_leaf = is_leaf;
	block->next = NULL;
	return block;
}

void bptree_block_release(struct bptree *tree, struct bptree_block *block)
{
	if (tree->spare_count >= SPARE_MAX) {
		mem_free(&index_memory, block, sizeof(*block));
		tree->block_count--;
		return;
	}
	block->next = tree->spare;
	tree->spare = block;
	tree->spare_count++;
}

void bptree_block_free(struct bptree *tree, struct bptree_block *block)
{
	if (bptree_block_is_own(tree, block)) {
		bptree_block_release(tree, block);
		return;
	}
	struct bptree_view *view = bptree_newest_view(tree);
	block->next = view->retired;
	view->retired = block;
}

/* Search ----------------------------------------------------------------- */

static struct bptree_search bptree_search(const struct bptree *tree, const struct key_def *def,
					  hint_t hint, uint32_t part_count)
{
	struct bptree_search search = {.def = def, .hint = hint, .part_count = part_count};
	search.is_exact = tree->use_hint && part_count == 1 && def->hint_is_exact &&
		hint != UINT64_MAX;
	return search;
}

struct bptree_search bptree_search_tuple(const struct bptree *tree, const struct tuple *tuple,
					 const struct key_def *def)
{
	hint_t hint = tree->use_hint ? tuple_hint(tuple, def) : HINT_NONE;
	struct bptree_search search = bptree_search(tree, def, hint, def->part_count);
	search.tuple = tuple;
	return search;
}

struct bptree_search bptree_search_key(const struct bptree *tree, const char *key,
				       uint32_t part_count)
{
	assert(part_count > 0);
	hint_t hint = tree->use_hint ? key_hint(key, part_count, tree->cmp_def) : HINT_NONE;
	struct bptree_search search = bptree_search(tree, tree->cmp_def, hint, part_count);
	search.key = key;
	return search;
}

static inline int compare_tuples(const struct tuple *tuple, const struct bptree_search *search)
{
	if (search->tuple != NULL)
		return tuple_compare(tuple, search->tuple, search->def);
	return tuple_compare_with_key(tuple, search->key, search->part_count, search->def);
}

int bptree_compare(const struct bptree *tree, hint_t hint, const struct tuple *tuple,
		   const struct bptree_search *search)
{
	if (hint != search->hint)
		return hint < search->hint ? -1 : 1;
	return search->is_exact ? 0 : compare_tuples(tuple, search);
}

/** The first of `count` ascending hints that is not below `hint`; without branches. */
static inline unsigned hints_lower_bound(const hint_t *hints, unsigned count, hint_t hint)
{
	const hint_t *base = hints;
	unsigned n = count;
	while (n > 1) {
		unsigned half = n / 2;
		base += base[half - 1] < hint ? half : 0;
		n -= half;
	}
	return base - hints + (n == 1 && *base < hint);
}

/** The first of `count` entries that is not below (`is_upper`: is above) what is looked for. */
static inline unsigned entries_bound(const hint_t *hints, struct tuple *const *tuples,
				     unsigned count, const struct bptree_search *search,
				     bool is_upper)
{
	unsigned low = hints_lower_bound(hints, count, search->hint);
	if (low == count || hints[low] != search->hint)
		return low;
	if (search->is_exact && !is_upper)
		return low;
	unsigned high = count;
	if (hints[count - 1] != search->hint)
		high = low + hints_lower_bound(hints + low, count - low, search->hint + 1);
	if (search->is_exact)
		return high;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		int rc = compare_tuples(tuples[middle], search);
		if (rc < 0 || (is_upper && rc == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Asks for the cache lines that the search of a block will touch: head and hints. */
static inline void block_prefetch(const struct bptree_block *block)
{
	for (unsigned i = 0; i < BPTREE_BLOCK_SIZE / 2; i += 64)
		__builtin_prefetch((const char *)block + i);
}

bool bptree_seek(const struct bptree *tree, const struct bptree_search *search, bool is_upper,
		 struct bptree_path *path)
{
	path->depth = tree->depth;
	if (tree->depth == 0)
		return false;
	struct bptree_block *block = tree->root;
	int level = 0;
	for (; level < tree->depth - 1; level++) {
		unsigned pos = entries_bound(block->inner.hints, block->inner.tuples,
					     block->count - 1, search, is_upper);
		path->block[level] = block;
		path->pos[level] = pos;
		block = block->inner.children[pos];
		block_prefetch(block);
	}
	path->block[level] = block;
	path->pos[level] = entries_bound(block->leaf.hints, block->leaf.tuples, block->count,
					 search, is_upper);
	return path->pos[level] < block->count;
}

struct tuple *bptree_find(const struct bptree *tree, const struct bptree_search *search)
{
	struct bptree_block *block = tree->root;
	if (tree->depth == 0)
		return NULL;
	for (int level = 0; level < tree->depth - 1; level++) {
		unsigned pos = entries_bound(block->inner.hints, block->inner.tuples,
					     block->count - 1, search, false);
		block = block->inner.children[pos];
		block_prefetch(block);
	}
	unsigned pos = entries_bound(block->leaf.hints, block->leaf.tuples, block->count, search,
				     false);
	if (pos == block->count || block->leaf.hints[pos] != search->hint)
		return NULL;
	struct tuple *tuple = block->leaf.tuples[pos];
	return search->is_exact || compare_tuples(tuple, search) == 0 ? tuple : NULL;
}

/* Places ----------------------------------------------------------------- */

/** Completes a path from `level` on, along the first children. */
static void path_descend_first(struct bptree_path *path, int level, struct bptree_block *block)
{
	for (; level < path->depth; level++) {
		path->block[level] = block;
		path->pos[level] = 0;
		if (!block->is_leaf)
			block = block->inner.children[0];
	}
}

static void path_descend_last(struct bptree_path *path, int level, struct bptree_block *block)
{
	for (; level < path->depth; level++) {
		path->block[level] = block;
		path->pos[level] = block->count - 1;
		if (!block->is_leaf)
			block = block->inner.children[block->count - 1];
	}
}

bool bptree_first(const struct bptree *tree, struct bptree_path *path)
{
	path->depth = tree->depth;
	path_descend_first(path, 0, tree->root);
	return tree->depth > 0;
}

bool bptree_last(const struct bptree *tree, struct bptree_path *path)
{
	path->depth = tree->depth;
	path_descend_last(path, 0, tree->root);
	return tree->depth > 0;
}

bool bptree_path_next_leaf(struct bptree_path *path)
{
	for (int level = path->depth - 2; level >= 0; level--) {
		struct bptree_block *block = path->block[level];
		if (path->pos[level] + 1 < block->count) {
			unsigned pos = ++path->pos[level];
			path_descend_first(path, level + 1, block->inner.children[pos]);
			return true;
		}
	}
	return false;
}

bool bptree_path_next(struct bptree_path *path)
{
	if (path->depth == 0)
		return false;
	int level = path->depth - 1;
	if (path->pos[level] + 1 < path->block[level]->count) {
		path->pos[level]++;
		return true;
	}
	return bptree_path_next_leaf(path);
}

bool bptree_path_prev(struct bptree_path *path)
{
	for (int level = path->depth - 1; level >= 0; level--) {
		if (path->pos[level] == 0)
			continue;
		unsigned pos = --path->pos[level];
		if (level < path->depth - 1)
			path_descend_last(path, level + 1,
					  path->block[level]->inner.children[pos]);
		return true;
	}
	return false;
}

/* Check ------------------------------------------------------------------ */

struct bptree_checker {
	const struct bptree *tree;
	const struct tuple *prev;
	size_t size, block_count;
};

static const char *check_entry(struct bptree_checker *c, const struct bptree_block *leaf,
			       unsigned pos)
{
	const struct tuple *tuple = leaf->leaf.tuples[pos];
	const struct key_def *def = c->tree->cmp_def;
	if (leaf->leaf.hints[pos] != (c->tree->use_hint ? tuple_hint(tuple, def) : HINT_NONE))
		return "a hint differs from its tuple's";
	if (c->prev != NULL && tuple_compare(c->prev, tuple, def) >= 0)
		return "entries do not ascend";
	c->prev = tuple;
	c->size++;
	return NULL;
}

static const char *check_block(struct bptree_checker *c, const struct bptree_block *block,
			       int level)
{
	const char *error = NULL;
	c->block_count++;
	if (block->is_leaf != (level == c->tree->depth - 1))
		return "leaves differ in depth";
	if (block->epoch > c->tree->epoch)
		return "a block comes from the future";
	if (block->is_leaf) {
		if (block->count == 0 || block->count > BPTREE_LEAF_MAX)
			return "a leaf's count is out of range";
		for (unsigned i = 0; i < block->count && error == NULL; i++)
			error = check_entry(c, block, i);
		return error;
	}
	if (block->count < 2 || block->count > BPTREE_INNER_MAX)
		return "an inner block's count is out of range";
	for (unsigned i = 0; i < block->count && error == NULL; i++) {
		error = check_block(c, block->inner.children[i], level + 1);
		if (error == NULL && i + 1 < block->count && block->inner.tuples[i] != c->prev)
			error = "a separator is not the last entry of its child";
	}
	return error;
}

const char *bptree_check(const struct bptree *tree)
{
	struct bptree_checker c = {.tree = tree};
	const char *error = NULL;
	if (tree->depth > 0)
		error = check_block(&c, tree->root, 0);
	if (error == NULL && c.size != tree->size)
		error = "the count of entries is wrong";
	if (error == NULL && list_empty(&tree->views) &&
	    c.block_count + tree->spare_count != tree->block_count)
		error = "blocks are lost";
	return error;
}
