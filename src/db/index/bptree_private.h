/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks of the tree: what the files that make up bptree tell each other.
 */
#pragma once

#include "db/index/bptree.h"

/** A spare block; there must be one. */
struct bptree_block *bptree_block_new(struct bptree *tree, bool is_leaf);

/** Gives a block back, or retires it where a view sees it. */
void bptree_block_free(struct bptree *tree, struct bptree_block *block);

/** Gives a block that no view sees back. */
void bptree_block_release(struct bptree *tree, struct bptree_block *block);

/** Frees the tree and all its blocks. */
void bptree_destroy(struct bptree *tree);

/** The hint of a tuple in a block. */
hint_t bptree_block_hint(const struct bptree *tree, const struct bptree_block *block,
			 const struct tuple *tuple);

/** Sets what a block skips and makes its hints anew. */
void bptree_block_set_skip(const struct bptree *tree, struct bptree_block *block, unsigned skip);

/** A block has got closer bounds: lets it skip more where its hints tell too little. */
void bptree_block_skip_more(const struct bptree *tree, struct bptree_block *block,
			    const struct tuple *lower, const struct tuple *upper);

/** The newest view. */
static inline struct bptree_view *bptree_newest_view(const struct bptree *tree)
{
	return list_empty(&tree->views) ? NULL :
		list_first_entry(&tree->views, struct bptree_view, link);
}

/** May the block be changed in place? */
static inline bool bptree_block_is_own(const struct bptree *tree, const struct bptree_block *block)
{
	const struct bptree_view *view = bptree_newest_view(tree);
	return view == NULL || block->epoch > view->epoch;
}
