/* SPDX-License-Identifier: BSD-2-Clause
 *
 * R*-tree: insertion and removal. Searches are in rtree_search.c.
 */
#include "db/index/rtree.h"

#include <assert.h>

#include "core/memory.h"
#include "db/index/rtree_private.h"

enum {
	/** A node takes about so many bytes, but has 8 to 32 entries. */
	NODE_BYTES = 1024, NODE_ENTRIES_MIN = 8, NODE_ENTRIES_MAX = 32,
	/** Of so many leaves the overlaps are compared when a box is put into one. */
	OVERLAP_CANDIDATES = 4,
};

/** A node and one of its entries on each level, from the leaf at [0] up. */
struct rtree_path {
	struct { struct rtree_node *node; unsigned pos; } level[RTREE_HEIGHT_MAX];
};

/* Nodes ------------------------------------------------------------------- */

static size_t rtree_node_size(const struct rtree *tree)
{
	return sizeof(struct rtree_node) + tree->node_max * tree->entry_size;
}

void rtree_create(struct rtree *tree, unsigned dimension, struct mem_account *account)
{
	assert(dimension >= 1 && dimension <= RTREE_DIMENSION_MAX);
	memset(tree, 0, sizeof(*tree));
	tree->dimension = dimension;
	tree->account = account;
	tree->entry_size = sizeof(struct rtree_entry) + 2 * dimension * sizeof(double);
	unsigned max = NODE_BYTES / tree->entry_size;
	tree->node_max = max < NODE_ENTRIES_MIN ? NODE_ENTRIES_MIN :
		max > NODE_ENTRIES_MAX ? NODE_ENTRIES_MAX : max;
	/* 40 %, as the paper found best. */
	tree->node_min = tree->node_max * 2 / 5;
	tree->scratch = xmalloc(rtree_scratch_size(tree));
}

static void rtree_node_free(struct rtree *tree, struct rtree_node *node)
{
	mem_free(tree->account, node, rtree_node_size(tree));
	tree->node_count--;
}

static void rtree_free_below(struct rtree *tree, struct rtree_node *node)
{
	for (unsigned i = 0; node->level > 0 && i < node->count; i++)
		rtree_free_below(tree, rtree_child(tree, node, i));
	rtree_node_free(tree, node);
}

/** Spare nodes are linked by their first bytes. */
static struct rtree_node *rtree_take_spare(struct rtree *tree, uint32_t level)
{
	struct rtree_node *node = tree->spare;
	memcpy(&tree->spare, node, sizeof(tree->spare));
	node->level = level;
	node->count = 0;
	return node;
}

static void rtree_free_spare(struct rtree *tree)
{
	while (tree->spare != NULL)
		rtree_node_free(tree, rtree_take_spare(tree, 0));
}

static int rtree_reserve(struct rtree *tree, unsigned count, bool is_forced)
{
	for (unsigned i = 0; i < count; i++) {
		size_t size = rtree_node_size(tree);
		struct rtree_node *node = is_forced ? mem_alloc_forced(tree->account, size) :
			mem_alloc(tree->account, size);
		if (node == NULL) {
			rtree_free_spare(tree);
			return -1;
		}
		tree->node_count++;
		memcpy(node, &tree->spare, sizeof(tree->spare));
		tree->spare = node;
	}
	return 0;
}

void rtree_destroy(struct rtree *tree)
{
	if (tree->root != NULL)
		rtree_free_below(tree, tree->root);
	xfree(tree->scratch);
}

size_t rtree_bsize(const struct rtree *tree)
{
	return tree->node_count * rtree_node_size(tree);
}

void rtree_node_box(const struct rtree *tree, const struct rtree_node *node, double *box)
{
	box_copy(box, rtree_entry(tree, node, 0)->box, tree->dimension);
	for (unsigned i = 1; i < node->count; i++)
		box_extend(box, rtree_entry(tree, node, i)->box, tree->dimension);
}

static void rtree_node_add(struct rtree *tree, struct rtree_node *node, const double *box,
			   void *ptr)
{
	assert(node->count < tree->node_max);
	struct rtree_entry *entry = rtree_entry(tree, node, node->count++);
	entry->ptr = ptr;
	box_copy(entry->box, box, tree->dimension);
}

/** The last entry takes the place. */
static void rtree_node_cut(struct rtree *tree, struct rtree_node *node, unsigned pos)
{
	node->count--;
	if (pos < node->count)
		memcpy(rtree_entry(tree, node, pos), rtree_entry(tree, node, node->count),
		       tree->entry_size);
}

/* Insertion --------------------------------------------------------------- */

static double rtree_enlargement(const struct rtree *tree, const double *box, const double *added)
{
	return box_union_area(box, added, tree->dimension) - box_area(box, tree->dimension);
}

/** By how much the entry's overlap with its siblings grows where the box is added to it. */
static double rtree_overlap_growth(const struct rtree *tree, const struct rtree_node *node,
				   unsigned pos, const double *added)
{
	const double *box = rtree_entry(tree, node, pos)->box;
	double grown[RTREE_COORDS_MAX], growth = 0;
	box_copy(grown, box, tree->dimension);
	box_extend(grown, added, tree->dimension);
	for (unsigned i = 0; i < node->count; i++) {
		const double *other = rtree_entry(tree, node, i)->box;
		if (i != pos)
			growth += box_overlap(grown, other, tree->dimension) -
				box_overlap(box, other, tree->dimension);
	}
	return growth;
}

/** A child that a box may go to. */
struct rtree_candidate {
	unsigned pos;
	double enlargement, area;
};

static bool candidate_is_better(const struct rtree_candidate *a, const struct rtree_candidate *b)
{
	return a->enlargement < b->enlargement ||
		(a->enlargement == b->enlargement && a->area < b->area);
}

/** The best children by enlargement, then area, the best first. Returns their count. */
static unsigned rtree_find_candidates(const struct rtree *tree, const struct rtree_node *node,
				      const double *added, unsigned max,
				      struct rtree_candidate *best)
{
	unsigned count = 0;
	for (unsigned i = 0; i < node->count; i++) {
		const double *box = rtree_entry(tree, node, i)->box;
		double area = box_area(box, tree->dimension);
		struct rtree_candidate candidate = {
			.pos = i,
			.enlargement = box_union_area(box, added, tree->dimension) - area,
			.area = area,
		};
		unsigned at = count < max ? count++ : max;
		for (; at > 0 && candidate_is_better(&candidate, &best[at - 1]); at--) {
			if (at < max)
				best[at] = best[at - 1];
		}
		if (at < max)
			best[at] = candidate;
	}
	return count;
}

/**
 * Which child a box goes to: see the paper's ChooseSubtree. Children that are leaves are
 * chosen by overlap, which is dear, so only the few that grow least are looked at.
 */
static unsigned rtree_choose(const struct rtree *tree, const struct rtree_node *node,
			     const double *added)
{
	struct rtree_candidate candidates[OVERLAP_CANDIDATES] = {{0}};
	unsigned max = node->level > 1 ? 1 : OVERLAP_CANDIDATES;
	unsigned count = rtree_find_candidates(tree, node, added, max, candidates);
	if (count == 1 || candidates[0].enlargement == 0)
		return candidates[0].pos;
	unsigned best = candidates[0].pos;
	double best_overlap = rtree_overlap_growth(tree, node, best, added);
	for (unsigned i = 1; i < count && best_overlap > 0; i++) {
		double overlap = rtree_overlap_growth(tree, node, candidates[i].pos, added);
		if (!(overlap < best_overlap))
			continue;
		best = candidates[i].pos;
		best_overlap = overlap;
	}
	return best;
}

static void rtree_descend(const struct rtree *tree, const double *box, struct rtree_path *path)
{
	struct rtree_node *node = tree->root;
	for (unsigned level = tree->height; level-- > 0;) {
		path->level[level].node = node;
		path->level[level].pos = 0;
		if (level == 0)
			break;
		unsigned pos = rtree_choose(tree, node, box);
		path->level[level].pos = pos;
		node = rtree_child(tree, node, pos);
	}
}

/** How many nodes an insertion at the path makes. */
static unsigned rtree_count_splits(const struct rtree *tree, const struct rtree_path *path)
{
	unsigned level = 0;
	while (level < tree->height && path->level[level].node->count == tree->node_max)
		level++;
	/* Above a root that is split comes another one. */
	return level == tree->height ? level + 1 : level;
}

/** Adds a node beside the root, in a new root above both. */
static void rtree_grow(struct rtree *tree, struct rtree_node *sibling)
{
	assert(tree->height < RTREE_HEIGHT_MAX);
	double box[RTREE_COORDS_MAX];
	struct rtree_node *root = rtree_take_spare(tree, tree->height);
	rtree_node_box(tree, tree->root, box);
	rtree_node_add(tree, root, box, tree->root);
	rtree_node_box(tree, sibling, box);
	rtree_node_add(tree, root, box, sibling);
	tree->root = root;
	tree->height++;
}

/** Adds the entry to the leaf of the path; splits what is full, from there up. */
static void rtree_add_at(struct rtree *tree, struct rtree_path *path, const double *box, void *ptr)
{
	double bound[RTREE_COORDS_MAX];
	unsigned height = tree->height;
	for (unsigned level = 0; level < height; level++) {
		struct rtree_node *node = path->level[level].node;
		if (node->count < tree->node_max) {
			rtree_node_add(tree, node, box, ptr);
			return;
		}
		struct rtree_node *sibling = rtree_take_spare(tree, level);
		rtree_split(tree, node, sibling, box, ptr);
		if (level + 1 == height) {
			rtree_grow(tree, sibling);
			return;
		}
		struct rtree_node *parent = path->level[level + 1].node;
		rtree_node_box(tree, node,
			       rtree_entry(tree, parent, path->level[level + 1].pos)->box);
		rtree_node_box(tree, sibling, bound);
		box = bound;
		ptr = sibling;
	}
}

int rtree_insert(struct rtree *tree, const double *box, void *ptr, bool is_forced)
{
	struct rtree_path path;
	if (tree->root == NULL) {
		if (rtree_reserve(tree, 1, is_forced) != 0)
			return -1;
		tree->root = rtree_take_spare(tree, 0);
		tree->height = 1;
	}
	rtree_descend(tree, box, &path);
	if (rtree_reserve(tree, rtree_count_splits(tree, &path), is_forced) != 0)
		return -1;
	for (unsigned level = 1; level < tree->height; level++)
		box_extend(rtree_entry(tree, path.level[level].node, path.level[level].pos)->box,
			   box, tree->dimension);
	rtree_add_at(tree, &path, box, ptr);
	assert(tree->spare == NULL);
	tree->size++;
	tree->version++;
	return 0;
}

/* Removal ------------------------------------------------------------------ */

/** The way to an entry; false where it is not below the node. */
static bool rtree_find(const struct rtree *tree, struct rtree_node *node, const double *box,
		       const void *ptr, struct rtree_path *path)
{
	path->level[node->level].node = node;
	for (unsigned i = 0; i < node->count; i++) {
		const struct rtree_entry *entry = rtree_entry(tree, node, i);
		path->level[node->level].pos = i;
		if (node->level == 0 ? entry->ptr == ptr :
		    rtree_matches(tree->dimension, RTREE_CONTAINS, entry->box, box) &&
		    rtree_find(tree, entry->ptr, box, ptr, path))
			return true;
	}
	return false;
}

/** The sibling with room for all of a child's entries that grows least by them; -1: none. */
static int rtree_choose_sibling(const struct rtree *tree, const struct rtree_node *parent,
				unsigned pos, const double *box)
{
	int best = -1;
	double best_enlargement = 0;
	unsigned count = rtree_child(tree, parent, pos)->count;
	for (unsigned i = 0; i < parent->count; i++) {
		if (i == pos || rtree_child(tree, parent, i)->count + count > tree->node_max)
			continue;
		double enlargement = rtree_enlargement(tree, rtree_entry(tree, parent, i)->box,
						       box);
		if (best >= 0 && !(enlargement < best_enlargement))
			continue;
		best = i;
		best_enlargement = enlargement;
	}
	return best;
}

/** A child has lost an entry: it goes, moves into a sibling, or only shrinks. */
static void rtree_condense(struct rtree *tree, struct rtree_node *parent, unsigned pos)
{
	struct rtree_entry *entry = rtree_entry(tree, parent, pos);
	struct rtree_node *child = entry->ptr;
	if (child->count == 0) {
		rtree_node_free(tree, child);
		rtree_node_cut(tree, parent, pos);
		return;
	}
	rtree_node_box(tree, child, entry->box);
	if (child->count >= tree->node_min)
		return;
	int sibling_pos = rtree_choose_sibling(tree, parent, pos, entry->box);
	if (sibling_pos < 0)
		return;
	struct rtree_entry *sibling_entry = rtree_entry(tree, parent, sibling_pos);
	struct rtree_node *sibling = sibling_entry->ptr;
	box_extend(sibling_entry->box, entry->box, tree->dimension);
	memcpy(rtree_entry(tree, sibling, sibling->count), child->entries,
	       child->count * tree->entry_size);
	sibling->count += child->count;
	rtree_node_free(tree, child);
	rtree_node_cut(tree, parent, pos);
}

/** A root with one child gives way to it, an empty one to nothing. */
static void rtree_shrink(struct rtree *tree)
{
	while (tree->root != NULL && tree->root->count <= (tree->root->level > 0 ? 1 : 0)) {
		struct rtree_node *root = tree->root;
		tree->root = root->count > 0 ? rtree_child(tree, root, 0) : NULL;
		tree->height = tree->root != NULL ? tree->height - 1 : 0;
		rtree_node_free(tree, root);
	}
}

void rtree_remove(struct rtree *tree, const double *box, void *ptr)
{
	struct rtree_path path;
	bool is_found = tree->root != NULL && rtree_find(tree, tree->root, box, ptr, &path);
	assert(is_found);
	if (!is_found)
		return;
	rtree_node_cut(tree, path.level[0].node, path.level[0].pos);
	for (unsigned level = 1; level < tree->height; level++)
		rtree_condense(tree, path.level[level].node, path.level[level].pos);
	rtree_shrink(tree);
	tree->size--;
	tree->version++;
}

void rtree_overwrite(struct rtree *tree, const double *box, void *old_ptr, void *new_ptr)
{
	struct rtree_path path;
	bool is_found = rtree_find(tree, tree->root, box, old_ptr, &path);
	assert(is_found);
	if (!is_found)
		return;
	rtree_entry(tree, path.level[0].node, path.level[0].pos)->ptr = new_ptr;
	tree->version++;
}

/* Check -------------------------------------------------------------------- */

static const char *rtree_check_node(const struct rtree *tree, const struct rtree_node *node,
				    size_t *size)
{
	double box[RTREE_COORDS_MAX];
	if (node->count == 0 || node->count > tree->node_max)
		return "a node has too few or too many entries";
	if (node->level == 0)
		*size += node->count;
	for (unsigned i = 0; node->level > 0 && i < node->count; i++) {
		const struct rtree_entry *entry = rtree_entry(tree, node, i);
		const struct rtree_node *child = entry->ptr;
		if (child->level + 1 != node->level)
			return "a node is on a wrong level";
		const char *error = rtree_check_node(tree, child, size);
		if (error != NULL)
			return error;
		rtree_node_box(tree, child, box);
		if (!rtree_matches(tree->dimension, RTREE_EQUAL, entry->box, box))
			return "a box is not the bounding box";
	}
	return NULL;
}

const char *rtree_check(const struct rtree *tree)
{
	size_t size = 0;
	if (tree->root == NULL)
		return tree->size == 0 && tree->height == 0 && tree->node_count == 0 ? NULL :
			"an empty tree has entries";
	if (tree->root->level + 1 != tree->height)
		return "the height is wrong";
	if (tree->height > 1 && tree->root->count < 2)
		return "the root has one child";
	const char *error = rtree_check_node(tree, tree->root, &size);
	if (error == NULL && size != tree->size)
		error = "the count of entries is wrong";
	return error;
}
