/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of the R*-tree share: nodes, entries, boxes.
 */
#pragma once

#include <string.h>

#include "db/index/rtree.h"

/** In a leaf `ptr` is the caller's, else a node. */
struct rtree_entry {
	void *ptr;
	double box[];
};

struct rtree_node {
	/** 0 for leaves. */
	uint32_t level;
	uint32_t count;
	/** `node_max` entries of `entry_size` bytes. */
	char entries[];
};

static inline struct rtree_entry *rtree_entry(const struct rtree *tree,
					      const struct rtree_node *node, unsigned pos)
{
	return (struct rtree_entry *)(node->entries + pos * tree->entry_size);
}

static inline struct rtree_node *rtree_child(const struct rtree *tree,
					     const struct rtree_node *node, unsigned pos)
{
	return rtree_entry(tree, node, pos)->ptr;
}

static inline double box_low(const double *box, unsigned axis)
{
	return box[2 * axis];
}

static inline double box_high(const double *box, unsigned axis)
{
	return box[2 * axis + 1];
}

static inline void box_copy(double *to, const double *from, unsigned dimension)
{
	memcpy(to, from, 2 * dimension * sizeof(*to));
}

/** Makes `box` the bounding box of itself and the other. */
static inline void box_extend(double *box, const double *other, unsigned dimension)
{
	for (unsigned i = 0; i < 2 * dimension; i += 2) {
		box[i] = other[i] < box[i] ? other[i] : box[i];
		box[i + 1] = other[i + 1] > box[i + 1] ? other[i + 1] : box[i + 1];
	}
}

/** May be infinite, or NaN where sides are infinite; compares as false then. */
static inline double box_area(const double *box, unsigned dimension)
{
	double area = 1;
	for (unsigned i = 0; i < 2 * dimension; i += 2)
		area *= box[i + 1] - box[i];
	return area;
}

/** The area of the bounding box of both. */
static inline double box_union_area(const double *a, const double *b, unsigned dimension)
{
	double area = 1;
	for (unsigned i = 0; i < 2 * dimension; i += 2) {
		double low = b[i] < a[i] ? b[i] : a[i];
		double high = b[i + 1] > a[i + 1] ? b[i + 1] : a[i + 1];
		area *= high - low;
	}
	return area;
}

/** The sum of the sides. */
static inline double box_margin(const double *box, unsigned dimension)
{
	double margin = 0;
	for (unsigned i = 0; i < 2 * dimension; i += 2)
		margin += box[i + 1] - box[i];
	return margin;
}

/** The area that both have in common. */
static inline double box_overlap(const double *a, const double *b, unsigned dimension)
{
	double area = 1;
	for (unsigned i = 0; i < 2 * dimension; i += 2) {
		double low = a[i] > b[i] ? a[i] : b[i];
		double high = a[i + 1] < b[i + 1] ? a[i + 1] : b[i + 1];
		if (high <= low)
			return 0;
		area *= high - low;
	}
	return area;
}

/** The bounding box of a node that is not empty. */
void rtree_node_box(const struct rtree *tree, const struct rtree_node *node, double *box);

/** Bytes of the room for a split. */
size_t rtree_scratch_size(const struct rtree *tree);

/**
 * Distributes a full node's entries and one more over the node and `sibling`, which is empty
 * and of the same level.
 */
void rtree_split(struct rtree *tree, struct rtree_node *node, struct rtree_node *sibling,
		 const double *box, void *ptr);
