/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bulk load of the tree: leaves are filled one after the other, then each level
 * above from what is below it.
 *
 * Entries are spread evenly over as many blocks as it takes to leave a little room
 * in each, so that the first insertions do not split at once, and no block is small.
 */
#include <assert.h>

#include "core/memory.h"
#include "db/index/bptree_private.h"
#include "db/index/load.h"

enum {
	LEAF_FILL = BPTREE_LEAF_MAX - BPTREE_LEAF_MAX / 16,
	INNER_FILL = BPTREE_INNER_MAX - BPTREE_INNER_MAX / 16,
};

/** A block of the level that is being built, and its greatest entry. */
struct node {
	struct bptree_block *block;
	struct tuple *last;
};

static size_t blocks_for(size_t count, size_t fill)
{
	return (count + fill - 1) / fill;
}

size_t bptree_load_block_count(size_t count)
{
	size_t level = blocks_for(count, LEAF_FILL), sum = level;
	while (level > 1) {
		level = blocks_for(level, INNER_FILL);
		sum += level;
	}
	return sum;
}

/** Where the part `i` of `count` things that are spread over `parts` begins. */
static size_t part_begin(size_t count, size_t parts, size_t i)
{
	return (unsigned __int128)count * i / parts;
}

/** The block lies between the greatest entries of two neighbours; at the edges it skips nothing. */
static void set_skip(struct bptree *tree, const struct node *nodes, size_t count, size_t i)
{
	if (i > 0 && i + 1 < count)
		bptree_block_skip_more(tree, nodes[i].block, nodes[i - 1].last, nodes[i].last);
}

/** Fills a leaf; one at the edge of the tree has hints of its own, since it skips nothing. */
static void leaf_fill(struct bptree *tree, struct bptree_block *leaf,
		      const struct index_entry *entries, unsigned count, bool has_own_hints)
{
	leaf->count = count;
	for (unsigned i = 0; i < count; i++) {
		leaf->leaf.tuples[i] = entries[i].tuple;
		leaf->leaf.hints[i] = has_own_hints ?
			bptree_block_hint(tree, leaf, entries[i].tuple) : entries[i].hint;
	}
}

static void leaves_make(struct bptree *tree, const struct index_load *load, struct node *nodes,
			size_t node_count)
{
	for (size_t i = 0; i < node_count; i++) {
		size_t begin = part_begin(load->count, node_count, i);
		size_t end = part_begin(load->count, node_count, i + 1);
		bool is_at_edge = i == 0 || i + 1 == node_count;
		struct bptree_block *leaf = bptree_block_new(tree, true);
		if (tree->use_skip && !is_at_edge)
			leaf->skip = load->skip;
		leaf_fill(tree, leaf, load->entries + begin, end - begin,
			  !tree->use_hint || leaf->skip != load->skip);
		nodes[i] = (struct node){leaf, load->entries[end - 1].tuple};
		__builtin_prefetch(nodes[i].last);
	}
	for (size_t i = 0; tree->use_skip && i < node_count; i++)
		set_skip(tree, nodes, node_count, i);
}

static void inner_fill(struct bptree *tree, struct bptree_block *inner, const struct node *below,
		       unsigned count)
{
	inner->count = count;
	for (unsigned i = 0; i < count; i++) {
		inner->inner.children[i] = below[i].block;
		if (i + 1 == count)
			break;
		inner->inner.hints[i] = bptree_block_hint(tree, inner, below[i].last);
		inner->inner.tuples[i] = below[i].last;
	}
}

/** Makes a level from the one in `nodes`, in its place. */
static size_t level_make(struct bptree *tree, struct node *nodes, size_t count)
{
	size_t node_count = blocks_for(count, INNER_FILL);
	for (size_t i = 0; i < node_count; i++) {
		size_t begin = part_begin(count, node_count, i);
		size_t end = part_begin(count, node_count, i + 1);
		struct node node = {bptree_block_new(tree, false), nodes[end - 1].last};
		inner_fill(tree, node.block, nodes + begin, end - begin);
		nodes[i] = node;
	}
	for (size_t i = 0; tree->use_skip && i < node_count; i++)
		set_skip(tree, nodes, node_count, i);
	return node_count;
}

void bptree_load(struct bptree *tree, const struct index_load *load)
{
	size_t count = load->count;
	assert(tree->size == 0 && tree->spare_count >= bptree_load_block_count(count));
	if (count == 0)
		return;
	size_t node_count = blocks_for(count, LEAF_FILL);
	struct node *nodes = xmalloc(node_count * sizeof(*nodes));
	leaves_make(tree, load, nodes, node_count);
	tree->depth = 1;
	while (node_count > 1) {
		node_count = level_make(tree, nodes, node_count);
		tree->depth++;
	}
	tree->root = nodes[0].block;
	tree->size = count;
	tree->version++;
	xfree(nodes);
}
