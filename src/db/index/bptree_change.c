/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Changes of the tree. Each goes in two steps: all blocks it may need are made
 * spare, which can fail and has changed nothing; then the change, which cannot.
 */
#include <assert.h>
#include <string.h>

#include "db/index/bptree_private.h"

/* Copies on write -------------------------------------------------------- */

/** A block that may be changed, with the same content; the old one is retired. */
static struct bptree_block *block_own(struct bptree *tree, struct bptree_block *block)
{
	if (bptree_block_is_own(tree, block))
		return block;
	struct bptree_block *copy = bptree_block_new(tree, block->is_leaf);
	copy->count = block->count;
	copy->skip = block->skip;
	memcpy((char *)copy + BPTREE_HEAD_SIZE, (const char *)block + BPTREE_HEAD_SIZE,
	       sizeof(*block) - BPTREE_HEAD_SIZE);
	bptree_block_free(tree, block);
	return copy;
}

/** Makes all blocks of a path changeable. */
static void path_own(struct bptree *tree, struct bptree_path *path)
{
	if (list_empty(&tree->views))
		return;
	for (int level = 0; level < path->depth; level++) {
		struct bptree_block *block = block_own(tree, path->block[level]);
		path->block[level] = block;
		if (level == 0)
			tree->root = block;
		else
			path->block[level - 1]->inner.children[path->pos[level - 1]] = block;
	}
}

/** Makes a child of a changeable block changeable. */
static struct bptree_block *child_own(struct bptree *tree, struct bptree_block *parent,
				      unsigned pos)
{
	parent->inner.children[pos] = block_own(tree, parent->inner.children[pos]);
	return parent->inner.children[pos];
}

/* Arrays ----------------------------------------------------------------- */

#define ARRAY_OPEN(array, count, pos, n) \
	memmove((array) + (pos) + (n), (array) + (pos), ((count) - (pos)) * sizeof((array)[0]))
#define ARRAY_CLOSE(array, count, pos, n) \
	memmove((array) + (pos), (array) + (pos) + (n), \
		((count) - (pos) - (n)) * sizeof((array)[0]))
#define ARRAY_COPY(to, to_pos, from, from_pos, n) \
	memcpy((to) + (to_pos), (from) + (from_pos), (n) * sizeof((to)[0]))

static void leaf_put(const struct bptree *tree, struct bptree_block *leaf, unsigned pos,
		     struct tuple *tuple)
{
	ARRAY_OPEN(leaf->leaf.hints, leaf->count, pos, 1);
	ARRAY_OPEN(leaf->leaf.tuples, leaf->count, pos, 1);
	leaf->leaf.hints[pos] = bptree_block_hint(tree, leaf, tuple);
	leaf->leaf.tuples[pos] = tuple;
	leaf->count++;
}

static void leaf_cut(struct bptree_block *leaf, unsigned pos, unsigned n)
{
	ARRAY_CLOSE(leaf->leaf.hints, leaf->count, pos, n);
	ARRAY_CLOSE(leaf->leaf.tuples, leaf->count, pos, n);
	leaf->count -= n;
}

/** Copies `n` entries; counts are left alone. */
static void leaf_copy(struct bptree_block *to, unsigned to_pos, const struct bptree_block *from,
		      unsigned from_pos, unsigned n)
{
	ARRAY_COPY(to->leaf.hints, to_pos, from->leaf.hints, from_pos, n);
	ARRAY_COPY(to->leaf.tuples, to_pos, from->leaf.tuples, from_pos, n);
}

static void separator_set(const struct bptree *tree, struct bptree_block *inner, unsigned pos,
			  struct tuple *tuple)
{
	inner->inner.hints[pos] = bptree_block_hint(tree, inner, tuple);
	inner->inner.tuples[pos] = tuple;
}

static struct tuple *leaf_last(const struct bptree_block *leaf)
{
	return leaf->leaf.tuples[leaf->count - 1];
}

/** Puts a child behind the one at `pos`, whose greatest entry is now `separator`. */
static void inner_put(const struct bptree *tree, struct bptree_block *inner, unsigned pos,
		      struct bptree_block *child, struct tuple *separator)
{
	ARRAY_OPEN(inner->inner.hints, inner->count - 1u, pos, 1);
	ARRAY_OPEN(inner->inner.tuples, inner->count - 1u, pos, 1);
	ARRAY_OPEN(inner->inner.children, inner->count, pos + 1, 1);
	separator_set(tree, inner, pos, separator);
	inner->inner.children[pos + 1] = child;
	inner->count++;
}

/** Takes out the child at `pos + 1` and the separator before it. */
static void inner_cut(struct bptree_block *inner, unsigned pos)
{
	ARRAY_CLOSE(inner->inner.hints, inner->count - 1u, pos, 1);
	ARRAY_CLOSE(inner->inner.tuples, inner->count - 1u, pos, 1);
	ARRAY_CLOSE(inner->inner.children, inner->count, pos + 1, 1);
	inner->count--;
}

static void inner_copy_separators(struct bptree_block *to, unsigned to_pos,
				  const struct bptree_block *from, unsigned from_pos, unsigned n)
{
	ARRAY_COPY(to->inner.hints, to_pos, from->inner.hints, from_pos, n);
	ARRAY_COPY(to->inner.tuples, to_pos, from->inner.tuples, from_pos, n);
}

/* What blocks skip ------------------------------------------------------- */

/** The separators on either side of the path's block on a level; NULL: none. */
static struct tuple *path_lower_bound(const struct bptree_path *path, int level)
{
	while (--level >= 0)
		if (path->pos[level] > 0)
			return path->block[level]->inner.tuples[path->pos[level] - 1];
	return NULL;
}

static struct tuple *path_upper_bound(const struct bptree_path *path, int level)
{
	while (--level >= 0)
		if (path->pos[level] + 1 < path->block[level]->count)
			return path->block[level]->inner.tuples[path->pos[level]];
	return NULL;
}

static unsigned tuples_common(const struct bptree *tree, const struct tuple *a,
			      const struct tuple *b)
{
	return hint_bytes_common(tuple_hint_bytes(a, tree->cmp_def),
				 tuple_hint_bytes(b, tree->cmp_def), UINT8_MAX);
}

static bool block_has_equal_hints(const struct bptree_block *block)
{
	unsigned count = block->is_leaf ? block->count : block->count - 1u;
	const hint_t *hints = block->is_leaf ? block->leaf.hints : block->inner.hints;
	for (unsigned i = 1; i < count; i++)
		if (hints[i - 1] == hints[i])
			return true;
	return false;
}

void bptree_block_skip_more(const struct bptree *tree, struct bptree_block *block,
			    const struct tuple *lower, const struct tuple *upper)
{
	if (!tree->use_skip || lower == NULL || upper == NULL || !block_has_equal_hints(block))
		return;
	unsigned common = tuples_common(tree, lower, upper);
	if (common > block->skip)
		bptree_block_set_skip(tree, block, common);
}

/** `block` took entries of a neighbour: it may skip what both skipped. */
static void block_skip_both(const struct bptree *tree, struct bptree_block *block,
			    const struct bptree_block *neighbour)
{
	if (block->skip != neighbour->skip)
		bptree_block_set_skip(tree, block, block->skip < neighbour->skip ? block->skip :
				      neighbour->skip);
}

/** Lets the first blocks below a child skip no more than `max`: their lower bound has moved. */
static void edge_skip_less(struct bptree *tree, struct bptree_block *parent, unsigned pos,
			   unsigned max)
{
	bool is_needed = false;
	struct bptree_block *block = parent->inner.children[pos];
	for (;; block = block->inner.children[0]) {
		is_needed |= block->skip > max;
		if (block->is_leaf)
			break;
	}
	if (!is_needed)
		return;
	do {
		block = child_own(tree, parent, pos);
		if (block->skip > max)
			bptree_block_set_skip(tree, block, max);
		parent = block;
		pos = 0;
	} while (!block->is_leaf);
}

/* Insertion -------------------------------------------------------------- */

/** A block that came out of a split, to be put behind the one that was split. */
struct split {
	struct bptree_block *right;
	/** The greatest entry that stayed. */
	struct tuple *separator;
};

static bool block_is_full(const struct bptree_block *block)
{
	return block->count == (block->is_leaf ? (int)BPTREE_LEAF_MAX : (int)BPTREE_INNER_MAX);
}

/** Is the path on the very first (`is_last`: last) place of each level above `level`? */
static bool path_is_at_edge(const struct bptree_path *path, int level, bool is_last)
{
	for (int i = 0; i < level; i++)
		if (path->pos[i] != (is_last ? path->block[i]->count - 1 : 0))
			return false;
	return true;
}

/**
 * How many entries stay on the left of a split. Rows that come in ascending or
 * descending order leave full blocks behind.
 */
static unsigned split_point(const struct bptree_path *path, int level, unsigned pos,
			    unsigned count)
{
	if (pos == count && path_is_at_edge(path, level, true))
		return count;
	if (pos == 0 && path_is_at_edge(path, level, false))
		return 0;
	return count / 2;
}

/** Both halves of a split have the separator for a new bound. */
static void split_skip_more(const struct bptree *tree, const struct bptree_path *path, int level,
			    struct split split)
{
	bptree_block_skip_more(tree, path->block[level], path_lower_bound(path, level),
			       split.separator);
	bptree_block_skip_more(tree, split.right, split.separator,
			       path_upper_bound(path, level));
}

static struct split leaf_split_put(struct bptree *tree, struct bptree_path *path,
				   struct tuple *tuple)
{
	int level = path->depth - 1;
	struct bptree_block *left = path->block[level];
	unsigned pos = path->pos[level], count = left->count;
	unsigned stay = split_point(path, level, pos, count);
	struct bptree_block *right = bptree_block_new(tree, true);
	right->skip = left->skip;
	leaf_copy(right, 0, left, stay, count - stay);
	right->count = count - stay;
	left->count = stay;
	if (pos > stay || stay == count)
		leaf_put(tree, right, pos - stay, tuple);
	else
		leaf_put(tree, left, pos, tuple);
	struct split result = {right, leaf_last(left)};
	split_skip_more(tree, path, level, result);
	return result;
}

/** Splits an inner block and puts what came out of its child's split into one half. */
static struct split inner_split_put(struct bptree *tree, struct bptree_path *path, int level,
				    struct split child)
{
	struct bptree_block *left = path->block[level];
	unsigned pos = path->pos[level], count = left->count;
	unsigned stay = pos == count - 1 && path_is_at_edge(path, level, true) ? count - 1 :
		count / 2;
	struct bptree_block *right = bptree_block_new(tree, false);
	right->skip = left->skip;
	ARRAY_COPY(right->inner.children, 0, left->inner.children, stay, count - stay);
	inner_copy_separators(right, 0, left, stay, count - 1 - stay);
	struct split result = {right, left->inner.tuples[stay - 1]};
	right->count = count - stay;
	left->count = stay;
	if (pos < stay)
		inner_put(tree, left, pos, child.right, child.separator);
	else
		inner_put(tree, right, pos - stay, child.right, child.separator);
	split_skip_more(tree, path, level, result);
	return result;
}

static void root_grow(struct bptree *tree, struct split split)
{
	struct bptree_block *root = bptree_block_new(tree, false);
	root->count = 1;
	root->inner.children[0] = tree->root;
	inner_put(tree, root, 0, split.right, split.separator);
	tree->root = root;
	tree->depth++;
	assert(tree->depth < BPTREE_DEPTH_MAX);
}

/** Blocks that an insertion at the path takes. */
static unsigned insert_block_count(const struct bptree *tree, const struct bptree_path *path)
{
	unsigned count = list_empty(&tree->views) ? 0 : path->depth;
	int level = path->depth - 1;
	while (level >= 0 && block_is_full(path->block[level])) {
		count++;
		level--;
	}
	return level < 0 ? count + 1 : count;
}

int bptree_insert(struct bptree *tree, struct bptree_path *path, struct tuple *tuple,
		  bool is_forced)
{
	unsigned need = insert_block_count(tree, path);
	if (need > 0 && bptree_reserve(tree, need, is_forced) != 0)
		return -1;
	tree->version++;
	tree->size++;
	if (path->depth == 0) {
		tree->root = bptree_block_new(tree, true);
		tree->depth = 1;
		leaf_put(tree, tree->root, 0, tuple);
		return 0;
	}
	path_own(tree, path);
	int level = path->depth - 1;
	if (!block_is_full(path->block[level])) {
		leaf_put(tree, path->block[level], path->pos[level], tuple);
		return 0;
	}
	struct split split = leaf_split_put(tree, path, tuple);
	while (--level >= 0) {
		if (!block_is_full(path->block[level])) {
			inner_put(tree, path->block[level], path->pos[level], split.right,
				  split.separator);
			return 0;
		}
		split = inner_split_put(tree, path, level, split);
	}
	root_grow(tree, split);
	return 0;
}

/* Separators ------------------------------------------------------------- */

/** Tells the nearest ancestor above `level` that has a separator for the path what it is now. */
static void path_set_separator(struct bptree *tree, struct bptree_path *path, int level,
			       struct tuple *tuple)
{
	while (--level >= 0) {
		struct bptree_block *block = path->block[level];
		unsigned pos = path->pos[level];
		if (pos + 1u == block->count)
			continue;
		struct tuple *old = block->inner.tuples[pos];
		separator_set(tree, block, pos, tuple);
		if (tree->use_skip)
			edge_skip_less(tree, block, pos + 1, tuples_common(tree, old, tuple));
		return;
	}
}

/** The last entry of the path's leaf has changed, or is gone. */
static void path_last_changed(struct bptree *tree, struct bptree_path *path)
{
	int level = path->depth - 1;
	struct bptree_block *leaf = path->block[level];
	if (leaf->count > 0) {
		path_set_separator(tree, path, level, leaf_last(leaf));
		return;
	}
	/* An empty leaf goes; the greatest entry left in its parent is its sibling's. */
	if (level == 0)
		return;
	struct bptree_block *parent = path->block[level - 1];
	unsigned pos = path->pos[level - 1];
	if (pos + 1u == parent->count)
		path_set_separator(tree, path, level - 1, parent->inner.tuples[pos - 1]);
}

int bptree_overwrite(struct bptree *tree, struct bptree_path *path, struct tuple *tuple,
		     bool is_forced)
{
	if (!list_empty(&tree->views) && bptree_reserve(tree, path->depth, is_forced) != 0)
		return -1;
	path_own(tree, path);
	tree->version++;
	struct bptree_block *leaf = bptree_path_leaf(path);
	unsigned pos = bptree_path_pos(path);
	leaf->leaf.hints[pos] = bptree_block_hint(tree, leaf, tuple);
	leaf->leaf.tuples[pos] = tuple;
	if (pos + 1u == leaf->count)
		path_last_changed(tree, path);
	return 0;
}

/* Removal ---------------------------------------------------------------- */

/** Moves entries between neighbours so that both have about as many. */
static void leaves_balance(struct bptree *tree, struct bptree_block *parent, unsigned pos,
			   struct bptree_block *left, struct bptree_block *right)
{
	unsigned target = (left->count + right->count) / 2;
	if (left->count < target) {
		unsigned n = target - left->count;
		leaf_copy(left, left->count, right, 0, n);
		left->count += n;
		leaf_cut(right, 0, n);
		block_skip_both(tree, left, right);
	} else {
		unsigned n = left->count - target;
		ARRAY_OPEN(right->leaf.hints, right->count, 0, n);
		ARRAY_OPEN(right->leaf.tuples, right->count, 0, n);
		leaf_copy(right, 0, left, target, n);
		right->count += n;
		left->count = target;
		block_skip_both(tree, right, left);
	}
	separator_set(tree, parent, pos, leaf_last(left));
}

/** The same for inner blocks: separators turn through the parent's. */
static void inners_balance(struct bptree *tree, struct bptree_block *parent, unsigned pos,
			   struct bptree_block *left, struct bptree_block *right)
{
	unsigned target = (left->count + right->count) / 2;
	struct tuple *separator = parent->inner.tuples[pos];
	if (left->count < target) {
		unsigned n = target - left->count;
		separator_set(tree, left, left->count - 1, separator);
		inner_copy_separators(left, left->count, right, 0, n - 1);
		ARRAY_COPY(left->inner.children, left->count, right->inner.children, 0, n);
		separator_set(tree, parent, pos, right->inner.tuples[n - 1]);
		ARRAY_CLOSE(right->inner.hints, right->count - 1u, 0, n);
		ARRAY_CLOSE(right->inner.tuples, right->count - 1u, 0, n);
		ARRAY_CLOSE(right->inner.children, right->count, 0, n);
		left->count += n;
		right->count -= n;
		block_skip_both(tree, left, right);
	} else {
		unsigned n = left->count - target;
		ARRAY_OPEN(right->inner.hints, right->count - 1u, 0, n);
		ARRAY_OPEN(right->inner.tuples, right->count - 1u, 0, n);
		ARRAY_OPEN(right->inner.children, right->count, 0, n);
		separator_set(tree, right, n - 1, separator);
		inner_copy_separators(right, 0, left, target, n - 1);
		ARRAY_COPY(right->inner.children, 0, left->inner.children, target, n);
		separator_set(tree, parent, pos, left->inner.tuples[target - 1]);
		left->count -= n;
		right->count += n;
		block_skip_both(tree, right, left);
	}
}

/** Takes all of `right`, the next child of the parent, into `left`. */
static void blocks_merge(struct bptree *tree, struct bptree_block *parent, unsigned pos,
			 struct bptree_block *left, struct bptree_block *right)
{
	if (left->is_leaf) {
		leaf_copy(left, left->count, right, 0, right->count);
	} else {
		separator_set(tree, left, left->count - 1, parent->inner.tuples[pos]);
		inner_copy_separators(left, left->count, right, 0, right->count - 1);
		ARRAY_COPY(left->inner.children, left->count, right->inner.children, 0,
			   right->count);
	}
	left->count += right->count;
	block_skip_both(tree, left, right);
	inner_cut(parent, pos);
	bptree_block_free(tree, right);
}

/** Merges a small child with a neighbour, or takes from it. */
static void child_refill(struct bptree *tree, struct bptree_block *parent, unsigned pos)
{
	unsigned left_pos = pos + 1u < parent->count ? pos : pos - 1;
	struct bptree_block *left = child_own(tree, parent, left_pos);
	struct bptree_block *right = parent->inner.children[left_pos + 1];
	unsigned max = left->is_leaf ? BPTREE_LEAF_MAX : BPTREE_INNER_MAX;
	/* Some room is left so that the next insertion does not split at once. */
	if (left->count + right->count <= max - max / 8) {
		blocks_merge(tree, parent, left_pos, left, right);
		return;
	}
	right = child_own(tree, parent, left_pos + 1);
	if (left->is_leaf)
		leaves_balance(tree, parent, left_pos, left, right);
	else
		inners_balance(tree, parent, left_pos, left, right);
}

static bool block_is_small(const struct bptree_block *block)
{
	return block->count < (block->is_leaf ? (int)BPTREE_LEAF_MIN : (int)BPTREE_INNER_MIN);
}

/** A root with one child, or without entries, goes. */
static void root_shrink(struct bptree *tree)
{
	struct bptree_block *root = tree->root;
	if (root->is_leaf ? root->count > 0 : root->count > 1)
		return;
	tree->root = root->is_leaf ? NULL : root->inner.children[0];
	tree->depth--;
	bptree_block_free(tree, root);
}

void bptree_remove(struct bptree *tree, struct bptree_path *path)
{
	/* Copies: of the path, of one neighbour of each, and of the blocks behind a separator. */
	if (!list_empty(&tree->views))
		bptree_reserve(tree, 3 * path->depth, true);
	path_own(tree, path);
	tree->version++;
	tree->size--;
	int level = path->depth - 1;
	unsigned pos = path->pos[level];
	leaf_cut(path->block[level], pos, 1);
	if (pos == path->block[level]->count)
		path_last_changed(tree, path);
	for (; level > 0 && block_is_small(path->block[level]); level--)
		child_refill(tree, path->block[level - 1], path->pos[level - 1]);
	root_shrink(tree);
}
