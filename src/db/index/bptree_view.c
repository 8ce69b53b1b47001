/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Views of the tree. tx opens and closes them; another thread may walk one. It
 * reads blocks that tx no longer changes: of a retired block tx writes the link
 * only, which no reader looks at.
 */
#include "core/memory.h"
#include "db/index/bptree_private.h"
#include "db/index/index.h"

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

/* Garbage ---------------------------------------------------------------- */

/** So few blocks are freed at once. */
enum { FREED_AT_ONCE = 500 };

/** Lists of blocks that are to be freed. */
static struct bptree_block *garbage;
size_t bptree_retired_size;
void (*bptree_on_garbage)(void);

/** In the first block of a list of garbage: the next list. */
static struct bptree_block **garbage_link(struct bptree_block *block)
{
	return (struct bptree_block **)block->leaf.tuples;
}

/** Makes garbage of all that the view retired, without a look at it. */
static void view_discard(struct bptree_view *view)
{
	view->tree->block_count -= view->retired_count;
	*garbage_link(view->retired) = garbage;
	garbage = view->retired;
	bptree_on_garbage();
}

bool bptree_has_garbage(void)
{
	return garbage != NULL;
}

void bptree_collect_garbage(size_t count)
{
	for (; count > 0 && garbage != NULL; count--) {
		struct bptree_block *block = garbage, *link = *garbage_link(block);
		garbage = block->next;
		if (garbage == NULL)
			garbage = link;
		else
			*garbage_link(garbage) = link;
		bptree_retired_size -= sizeof(*block);
		mem_free(&index_memory, block, sizeof(*block));
	}
}

/** Gives blocks back, or to an older view that sees them. */
static void view_release(struct bptree_view *view, struct bptree_view *older)
{
	while (view->retired != NULL) {
		struct bptree_block *block = view->retired;
		view->retired = block->next;
		if (older != NULL && block->epoch <= older->epoch) {
			block->next = older->retired;
			older->retired = block;
			older->retired_count++;
		} else {
			bptree_retired_size -= sizeof(*block);
			bptree_block_release(view->tree, block);
		}
	}
}

void bptree_view_delete(struct bptree_view *view)
{
	struct bptree *tree = view->tree;
	struct bptree_view *older = view_older(view);
	list_del(&view->link);
	if (older == NULL && view->retired_count > FREED_AT_ONCE && bptree_on_garbage != NULL)
		view_discard(view);
	else
		view_release(view, older);
	xfree(view);
	if (tree->is_orphan && list_empty(&tree->views))
		bptree_destroy(tree);
}
