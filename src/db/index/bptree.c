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
#include <string.h>

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
	tree->use_skip = use_hint && cmp_def->hint_is_bytes;
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

/** Frees the last blocks of a subtree, `*count` at the most; true where it is gone. */
static bool bptree_free_last(struct bptree *tree, struct bptree_block *block, size_t *count)
{
	if (*count == 0)
		return false;
	while (!block->is_leaf && block->count > 0) {
		if (!bptree_free_last(tree, block->inner.children[block->count - 1], count))
			return false;
		block->count--;
	}
	bptree_block_release(tree, block);
	*count -= *count > 0;
	return true;
}

bool bptree_free_some(struct bptree *tree, size_t count)
{
	if (tree->depth == 0 || !list_empty(&tree->views))
		return true;
	if (!bptree_free_last(tree, tree->root, &count))
		return false;
	tree->depth = 0;
	tree->root = NULL;
	return true;
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
	size_t size = sizeof(struct bptree_block);
	return is_forced ? mem_alloc_forced(&index_memory, size) : mem_alloc(&index_memory, size);
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
	block->skip = 0;
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
	view->retired_count++;
	bptree_retired_size += sizeof(*block);
}

/* Search ----------------------------------------------------------------- */

/** Works out what the hint tells, of the first `part_count` parts. */
static inline void search_set_hint(struct bptree_search *search, const struct bptree *tree,
				   hint_t hint)
{
	search->open_bits = hint_open_bits(hint, search->part_count, tree->cmp_def);
	search->hint = hint & ~search->open_bits;
	search->is_exact = hint_settles(hint, search->part_count, tree->cmp_def);
}

/** One that says nothing of hints yet. */
static inline void search_create(struct bptree_search *search, const struct key_def *def,
				 uint32_t part_count)
{
	search->def = def;
	search->part_count = part_count;
	search->hint = search->open_bits = 0;
	search->is_exact = false;
}

void bptree_search_tuple(struct bptree_search *search, const struct bptree *tree,
			 const struct tuple *tuple, const struct key_def *def)
{
	search_create(search, def, def->part_count);
	search->tuple = tuple;
	search->key = NULL;
	if (tree->use_skip)
		search->bytes = tuple_hint_bytes(tuple, def);
	else if (tree->use_hint)
		search_set_hint(search, tree, tuple_hint(tuple, tree->cmp_def));
}

void bptree_search_key(struct bptree_search *search, const struct bptree *tree, const char *key,
		       uint32_t part_count)
{
	assert(part_count > 0);
	search_create(search, tree->cmp_def, part_count);
	search->tuple = NULL;
	search->key = key;
	if (tree->use_skip)
		search->bytes = key_hint_bytes(key);
	else if (tree->use_hint)
		search_set_hint(search, tree, key_hint(key, part_count, tree->cmp_def));
}

/**
 * The hint of what is looked for among those of a block into which it belongs: the least one, or
 * (is_upper) the greatest.
 */
static inline hint_t search_hint(const struct bptree *tree, const struct bptree_search *search,
				 const struct bptree_block *block, bool is_upper)
{
	if (!tree->use_skip)
		return is_upper ? search->hint | search->open_bits : search->hint;
	return hint_from_bytes(search->bytes, block->skip, tree->cmp_def);
}

static inline int compare_tuples(const struct tuple *tuple, const struct bptree_search *search)
{
	if (search->tuple != NULL)
		return tuple_compare(tuple, search->tuple, search->def);
	return tuple_compare_with_key(tuple, search->key, search->part_count, search->def);
}

int bptree_path_compare(const struct bptree *tree, const struct bptree_path *path,
			const struct bptree_search *search)
{
	/* What is looked for need not belong into this leaf, so a skip says nothing here. */
	const struct bptree_block *leaf = bptree_path_leaf(path);
	unsigned pos = bptree_path_pos(path);
	if (!tree->use_skip) {
		hint_t hint = leaf->leaf.hints[pos] & ~search->open_bits;
		if (hint != search->hint)
			return hint < search->hint ? -1 : 1;
		if (search->is_exact)
			return 0;
	}
	return compare_tuples(leaf->leaf.tuples[pos], search);
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

/**
 * The first of `count` entries that is not below (`is_upper`: is above) what is looked for,
 * which has the hint.
 */
static inline unsigned entries_bound(const hint_t *hints, struct tuple *const *tuples,
				     unsigned count, const struct bptree_search *search,
				     hint_t hint, bool is_upper)
{
	unsigned low = hints_lower_bound(hints, count, hint);
	if (low == count || hints[low] != hint)
		return low;
	if (search->is_exact && !is_upper)
		return low;
	unsigned high = count;
	if (hints[count - 1] != hint)
		high = low + hints_lower_bound(hints + low, count - low, hint + 1);
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

/** Asks for a block: the search is among the hints, and which tuple it takes is soon known. */
static inline void block_prefetch(const struct bptree_block *block)
{
	for (unsigned i = 0; i < BPTREE_BLOCK_SIZE; i += 64)
		__builtin_prefetch((const char *)block + i);
}

static inline unsigned inner_bound(const struct bptree *tree, const struct bptree_block *block,
				   const struct bptree_search *search, bool is_upper)
{
	return entries_bound(block->inner.hints, block->inner.tuples, block->count - 1, search,
			     search_hint(tree, search, block, is_upper), is_upper);
}

static inline unsigned leaf_bound(const struct bptree *tree, const struct bptree_block *block,
				  const struct bptree_search *search, bool is_upper)
{
	return entries_bound(block->leaf.hints, block->leaf.tuples, block->count, search,
			     search_hint(tree, search, block, is_upper), is_upper);
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
		unsigned pos = inner_bound(tree, block, search, is_upper);
		path->block[level] = block;
		path->pos[level] = pos;
		block = block->inner.children[pos];
		block_prefetch(block);
	}
	path->block[level] = block;
	path->pos[level] = leaf_bound(tree, block, search, is_upper);
	return path->pos[level] < block->count;
}

struct tuple *bptree_find(const struct bptree *tree, const struct bptree_search *search)
{
	struct bptree_block *block = tree->root;
	if (tree->depth == 0)
		return NULL;
	for (int level = 0; level < tree->depth - 1; level++) {
		block = block->inner.children[inner_bound(tree, block, search, false)];
		block_prefetch(block);
	}
	unsigned pos = leaf_bound(tree, block, search, false);
	if (pos == block->count || (block->leaf.hints[pos] & ~search->open_bits) !=
	    search_hint(tree, search, block, false))
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

/* Hints of blocks -------------------------------------------------------- */

hint_t bptree_block_hint(const struct bptree *tree, const struct bptree_block *block,
			 const struct tuple *tuple)
{
	if (!tree->use_hint)
		return HINT_NONE;
	if (!tree->use_skip)
		return tuple_hint(tuple, tree->cmp_def);
	return hint_from_bytes(tuple_hint_bytes(tuple, tree->cmp_def), block->skip, tree->cmp_def);
}

void bptree_block_set_skip(const struct bptree *tree, struct bptree_block *block, unsigned skip)
{
	bool is_leaf = block->is_leaf;
	unsigned count = is_leaf ? block->count : block->count - 1u;
	hint_t *hints = is_leaf ? block->leaf.hints : block->inner.hints;
	struct tuple **tuples = is_leaf ? block->leaf.tuples : block->inner.tuples;
	block->skip = skip;
	for (unsigned i = 0; i < count; i++) {
		__builtin_prefetch(tuples[i]);
		__builtin_prefetch((const char *)tuples[i] + 64);
	}
	for (unsigned i = 0; i < count; i++)
		hints[i] = bptree_block_hint(tree, block, tuples[i]);
}

/* Check ------------------------------------------------------------------ */

struct bptree_checker {
	const struct bptree *tree;
	const struct tuple *prev;
	size_t size, block_count;
};

/** The separators on either side; NULL where there is none. */
struct bptree_bounds {
	const struct tuple *lower, *upper;
};

static const char *check_hint(const struct bptree_checker *c, const struct bptree_block *block,
			      hint_t hint, const struct tuple *tuple)
{
	return hint == bptree_block_hint(c->tree, block, tuple) ? NULL :
		"a hint differs from its tuple's";
}

static const char *check_skip(const struct bptree_checker *c, const struct bptree_block *block,
			      struct bptree_bounds bounds)
{
	const struct key_def *def = c->tree->cmp_def;
	if (block->skip == 0)
		return NULL;
	if (bounds.lower == NULL || bounds.upper == NULL)
		return "a block at the edge skips bytes";
	return hint_bytes_common(tuple_hint_bytes(bounds.lower, def),
				 tuple_hint_bytes(bounds.upper, def), block->skip) == block->skip ?
		NULL : "a block skips bytes that differ";
}

static const char *check_leaf(struct bptree_checker *c, const struct bptree_block *leaf)
{
	const char *error = NULL;
	if (leaf->count == 0 || leaf->count > BPTREE_LEAF_MAX)
		return "a leaf's count is out of range";
	for (unsigned i = 0; i < leaf->count && error == NULL; i++) {
		const struct tuple *tuple = leaf->leaf.tuples[i];
		if (c->prev != NULL && tuple_compare(c->prev, tuple, c->tree->cmp_def) >= 0)
			return "entries do not ascend";
		c->prev = tuple;
		c->size++;
		error = check_hint(c, leaf, leaf->leaf.hints[i], tuple);
	}
	return error;
}

static const char *check_block(struct bptree_checker *c, const struct bptree_block *block,
			       int level, struct bptree_bounds bounds)
{
	c->block_count++;
	if (block->is_leaf != (level == c->tree->depth - 1))
		return "leaves differ in depth";
	if (block->epoch > c->tree->epoch)
		return "a block comes from the future";
	const char *error = check_skip(c, block, bounds);
	if (error != NULL)
		return error;
	if (block->is_leaf)
		return check_leaf(c, block);
	if (block->count < 2 || block->count > BPTREE_INNER_MAX)
		return "an inner block's count is out of range";
	for (unsigned i = 0; i < block->count && error == NULL; i++) {
		bool is_last = i + 1u == block->count;
		struct bptree_bounds inner = {
			i > 0 ? block->inner.tuples[i - 1] : bounds.lower,
			is_last ? bounds.upper : block->inner.tuples[i],
		};
		error = check_block(c, block->inner.children[i], level + 1, inner);
		if (error != NULL || is_last)
			continue;
		if (block->inner.tuples[i] != c->prev)
			return "a separator is not the last entry of its child";
		error = check_hint(c, block, block->inner.hints[i], block->inner.tuples[i]);
	}
	return error;
}

const char *bptree_check(const struct bptree *tree)
{
	struct bptree_checker c = {.tree = tree};
	const char *error = NULL;
	if (tree->depth > 0)
		error = check_block(&c, tree->root, 0, (struct bptree_bounds){NULL, NULL});
	if (error == NULL && c.size != tree->size)
		error = "the count of entries is wrong";
	if (error == NULL && list_empty(&tree->views) &&
	    c.block_count + tree->spare_count != tree->block_count)
		error = "blocks are lost";
	return error;
}
