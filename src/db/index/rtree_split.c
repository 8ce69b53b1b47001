/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The split of the R*-tree (section 4.2 of the paper, see rtree.h): of all axes the one
 * whose distributions have the least sum of margins; on it the distribution with the
 * least overlap, then the least area.
 *
 * A distribution is a place to cut the entries, sorted by their low or their high on an
 * axis: `node_min` entries at least on either side.
 */
#include "db/index/rtree_private.h"

/** The room of a split: pointers into one block of memory. */
struct rtree_scratch {
	/** All entries, the new one last. */
	char *entries;
	/** Bounding boxes of the first 1, 2 ... and of the last 1, 2 ... entries in an order. */
	double *heads, *tails;
	/** Positions of entries in the order that is looked at, and in the best one so far. */
	uint8_t *order, *best;
};

/** How good a way to split is: less is better. */
struct split_quality {
	double overlap, area;
};

static unsigned split_count(const struct rtree *tree)
{
	return tree->node_max + 1;
}

size_t rtree_scratch_size(const struct rtree *tree)
{
	unsigned count = split_count(tree);
	return count * (tree->entry_size + 2 * 2 * tree->dimension * sizeof(double) + 2);
}

static struct rtree_scratch rtree_scratch(const struct rtree *tree)
{
	unsigned count = split_count(tree);
	struct rtree_scratch s;
	s.entries = tree->scratch;
	s.heads = (double *)(s.entries + count * tree->entry_size);
	s.tails = s.heads + count * 2 * tree->dimension;
	s.order = (uint8_t *)(s.tails + count * 2 * tree->dimension);
	s.best = s.order + count;
	return s;
}

static struct rtree_entry *scratch_entry(const struct rtree *tree, const struct rtree_scratch *s,
					 unsigned pos)
{
	return (struct rtree_entry *)(s->entries + pos * tree->entry_size);
}

/** Sorts by coordinate `coord` of the boxes; insertion keeps equal ones where they are. */
static void split_sort(const struct rtree *tree, struct rtree_scratch *s, unsigned coord)
{
	for (unsigned i = 0; i < split_count(tree); i++) {
		double value = scratch_entry(tree, s, i)->box[coord];
		unsigned at = i;
		for (; at > 0 && scratch_entry(tree, s, s->order[at - 1])->box[coord] > value; at--)
			s->order[at] = s->order[at - 1];
		s->order[at] = i;
	}
}

static void split_bound(const struct rtree *tree, struct rtree_scratch *s)
{
	unsigned count = split_count(tree), width = 2 * tree->dimension;
	for (unsigned i = 0; i < count; i++) {
		double *head = s->heads + i * width, *tail = s->tails + i * width;
		box_copy(head, scratch_entry(tree, s, s->order[i])->box, tree->dimension);
		box_copy(tail, scratch_entry(tree, s, s->order[count - 1 - i])->box,
			 tree->dimension);
		if (i > 0) {
			box_extend(head, head - width, tree->dimension);
			box_extend(tail, tail - width, tree->dimension);
		}
	}
}

/** The boxes of the two groups where the first has `cut` entries. */
static const double *split_head(const struct rtree *tree, const struct rtree_scratch *s,
				unsigned cut)
{
	return s->heads + (cut - 1) * 2 * tree->dimension;
}

static const double *split_tail(const struct rtree *tree, const struct rtree_scratch *s,
				unsigned cut)
{
	return s->tails + (split_count(tree) - cut - 1) * 2 * tree->dimension;
}

static double split_margin(const struct rtree *tree, const struct rtree_scratch *s)
{
	double margin = 0;
	for (unsigned cut = tree->node_min; cut <= split_count(tree) - tree->node_min; cut++)
		margin += box_margin(split_head(tree, s, cut), tree->dimension) +
			box_margin(split_tail(tree, s, cut), tree->dimension);
	return margin;
}

static unsigned split_choose_axis(const struct rtree *tree, struct rtree_scratch *s)
{
	unsigned best = 0;
	double best_margin = 0;
	for (unsigned axis = 0; axis < tree->dimension; axis++) {
		double margin = 0;
		for (unsigned side = 0; side < 2; side++) {
			split_sort(tree, s, 2 * axis + side);
			split_bound(tree, s);
			margin += split_margin(tree, s);
		}
		if (axis == 0 || margin < best_margin) {
			best = axis;
			best_margin = margin;
		}
	}
	return best;
}

static struct split_quality split_quality(const struct rtree *tree, const struct rtree_scratch *s,
					  unsigned cut)
{
	const double *head = split_head(tree, s, cut), *tail = split_tail(tree, s, cut);
	return (struct split_quality){
		.overlap = box_overlap(head, tail, tree->dimension),
		.area = box_area(head, tree->dimension) + box_area(tail, tree->dimension),
	};
}

static bool quality_is_better(const struct split_quality *a, const struct split_quality *b)
{
	return a->overlap < b->overlap || (a->overlap == b->overlap && a->area < b->area);
}

/** Leaves the best order on the axis in `best`; returns where to cut it. */
static unsigned split_choose_cut(const struct rtree *tree, struct rtree_scratch *s, unsigned axis)
{
	unsigned count = split_count(tree), best_cut = 0;
	struct split_quality best;
	for (unsigned side = 0; side < 2; side++) {
		split_sort(tree, s, 2 * axis + side);
		split_bound(tree, s);
		for (unsigned cut = tree->node_min; cut <= count - tree->node_min; cut++) {
			struct split_quality quality = split_quality(tree, s, cut);
			if (best_cut != 0 && !quality_is_better(&quality, &best))
				continue;
			best = quality;
			best_cut = cut;
			memcpy(s->best, s->order, count);
		}
	}
	return best_cut;
}

void rtree_split(struct rtree *tree, struct rtree_node *node, struct rtree_node *sibling,
		 const double *box, void *ptr)
{
	struct rtree_scratch s = rtree_scratch(tree);
	unsigned count = split_count(tree);
	memcpy(s.entries, node->entries, node->count * tree->entry_size);
	struct rtree_entry *added = scratch_entry(tree, &s, count - 1);
	added->ptr = ptr;
	box_copy(added->box, box, tree->dimension);
	unsigned axis = split_choose_axis(tree, &s);
	unsigned cut = split_choose_cut(tree, &s, axis);
	node->count = sibling->count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct rtree_node *to = i < cut ? node : sibling;
		memcpy(rtree_entry(tree, to, to->count++), scratch_entry(tree, &s, s.best[i]),
		       tree->entry_size);
	}
}
