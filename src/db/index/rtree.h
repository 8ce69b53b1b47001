/* SPDX-License-Identifier: BSD-2-Clause
 *
 * R*-tree: boxes of 1 to 20 dimensions, each with a pointer of the caller's. The order
 * of RTREE indexes is made of it (rtree_index.c).
 *
 * Insertion and split are those of N. Beckmann, H.-P. Kriegel, R. Schneider, B. Seeger,
 * "The R*-tree: an efficient and robust access method for points and rectangles",
 * SIGMOD 1990, without forced reinsertion. A removal needs no memory, so it cannot
 * fail: a node that gets too small moves into a sibling where there is room, or stays
 * small. Nearest neighbours are found as G. Hjaltason and H. Samet describe in
 * "Distance browsing in spatial databases", TODS 1999.
 *
 * A box is an array of doubles: low and high of the first dimension, of the second
 * and so on; low is at most high, and none is NaN. They may be infinite.
 *
 * Invariants (rtree_check):
 *  1. All leaves are on level 0; a node is on the level below its parent's.
 *  2. A node has 1 to `node_max` entries; a root that is no leaf has at least 2.
 *  3. The box of an inner entry is the bounding box of its child's entries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_account;
struct rtree_node;

enum {
	RTREE_DIMENSION_MAX = 20,
	RTREE_COORDS_MAX = 2 * RTREE_DIMENSION_MAX,
	/**
	 * A level is added when a root is full, which takes 3 insertions at least into each of
	 * its children since their last split, and so on: more insertions than there can be.
	 */
	RTREE_HEIGHT_MAX = 32,
};

enum rtree_distance { RTREE_EUCLID, RTREE_MANHATTAN, rtree_distance_MAX };

struct rtree {
	unsigned dimension;
	/** Entries of a node, at most, and at least after a split. */
	unsigned node_max, node_min;
	size_t entry_size;
	struct rtree_node *root;
	/** Levels; 0: empty. */
	unsigned height;
	/** Of boxes. */
	size_t size;
	size_t node_count;
	/** Grows with each change. */
	uint64_t version;
	struct mem_account *account;
	/** Nodes that the insertion under way will need. */
	struct rtree_node *spare;
	/** Room for a split. */
	void *scratch;
};

/** Which boxes a search finds; `key` is the box it is given. */
enum rtree_relation {
	RTREE_ALL,
	/** The same box. */
	RTREE_EQUAL,
	/** Boxes that have a point in common with the key. */
	RTREE_OVERLAPS,
	/** Boxes within the key, and those that touch none of its sides. */
	RTREE_WITHIN, RTREE_STRICTLY_WITHIN,
	/** Boxes that the key is within. */
	RTREE_CONTAINS, RTREE_STRICTLY_CONTAINS,
};

struct rtree_search {
	const struct rtree *tree;
	enum rtree_relation relation;
	double key[RTREE_COORDS_MAX];
	/** Nodes on the way, from the root at `depth` 0, and their next entries. */
	struct { const struct rtree_node *node; unsigned pos; } path[RTREE_HEIGHT_MAX];
	int depth;
};

void rtree_create(struct rtree *tree, unsigned dimension, struct mem_account *account);
void rtree_destroy(struct rtree *tree);

/** Bytes of all nodes. */
size_t rtree_bsize(const struct rtree *tree);

/** -1: OutOfMemory, nothing has changed. `is_forced` passes the account's limit. */
int rtree_insert(struct rtree *tree, const double *box, void *ptr, bool is_forced);

/** Takes out an entry that must be there. Never fails. */
void rtree_remove(struct rtree *tree, const double *box, void *ptr);

/** Puts another pointer in the place of one that must be there. */
void rtree_overwrite(struct rtree *tree, const double *box, void *old_ptr, void *new_ptr);

/** A search lasts until the tree changes; overwriting is no change. `key` is copied. */
void rtree_search_start(struct rtree_search *search, const struct rtree *tree,
			enum rtree_relation relation, const double *key);
/** NULL at the end. */
void *rtree_search_next(struct rtree_search *search);

/** Is the box of the relation to the key? */
bool rtree_matches(unsigned dimension, enum rtree_relation relation, const double *box,
		   const double *key);

/** Entries by their distance from a point. */
struct rtree_queue;

/** Orders pointers whose boxes are equally far: below zero, zero, above zero. */
typedef int (*rtree_tie)(const void *a, const void *b, void *arg);

struct rtree_queue *rtree_queue_new(unsigned dimension, enum rtree_distance distance,
				    const double *point, rtree_tie tie, void *arg);
void rtree_queue_delete(struct rtree_queue *queue);
/**
 * Starts at the nearest entry that is at least so far away (0: at the nearest). To be called
 * again where the tree has changed.
 */
void rtree_queue_start(struct rtree_queue *queue, const struct rtree *tree, double distance_min);
/** The next pointer and its distance (of squares for RTREE_EUCLID); NULL at the end. */
void *rtree_queue_next(struct rtree_queue *queue, double *distance);

/** NULL, or what is wrong with the tree. */
const char *rtree_check(const struct rtree *tree);
