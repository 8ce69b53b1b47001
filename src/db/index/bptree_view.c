/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Views of the tree. tx opens and closes them; another thread may walk one. It
 * reads blocks that tx no longer changes: of a retired block tx writes the link
 * only, which no reader looks at.
 */
#include "core/memory.h"
#include "db/index/bptree_private.h"

struct bptree_view *bptree_view_new(struct bptree *tree)
{
	struct bptree_view *view = xcalloc(1, sizeof(*view));
	view->tree = tree;
	view->epoch = tree->epoch++;
	view->has_entry = bptree_first(tree, &view->path);
	list_add(&tree->views, &view->link);
	return view;
}

/** The next older open view, or NULL. */
static struct bptree_view *view_older(struct bptree_view *view)
{
	struct list *link = view->link.next;
	return link == &view->tree->views ? NULL : list_entry(link, struct bptree_view, link);
}

void bptree_view_delete(struct bptree_view *view)
{
	struct bptree *tree = view->tree;
	struct bptree_view *older = view_older(view);
	list_del(&view->link);
	while (view->retired != NULL) {
		struct bptree_block *block = view->retired;
		view->retired = block->next;
		if (older != NULL && block->epoch <= older->epoch) {
			block->next = older->retired;
			older->retired = block;
		} else {
			bptree_block_release(tree, block);
		}
	}
	xfree(view);
	if (tree->is_orphan && list_empty(&tree->views))
		bptree_destroy(tree);
}
