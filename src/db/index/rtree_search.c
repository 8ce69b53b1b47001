/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Searches in the R*-tree: boxes in a relation to a key, and the nearest ones.
 */
#include <assert.h>
#include <math.h>

#include "core/memory.h"
#include "db/index/rtree_private.h"

/* Relations ----------------------------------------------------------------- */

static bool box_equals(const double *a, const double *b, unsigned dimension)
{
	for (unsigned i = 0; i < 2 * dimension; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

static bool box_overlaps(const double *a, const double *b, unsigned dimension)
{
	for (unsigned axis = 0; axis < dimension; axis++) {
		if (box_low(a, axis) > box_high(b, axis) || box_high(a, axis) < box_low(b, axis))
			return false;
	}
	return true;
}

static bool box_contains(const double *outer, const double *inner, unsigned dimension)
{
	for (unsigned axis = 0; axis < dimension; axis++) {
		if (box_low(outer, axis) > box_low(inner, axis) ||
		    box_high(outer, axis) < box_high(inner, axis))
			return false;
	}
	return true;
}

static bool box_strictly_contains(const double *outer, const double *inner, unsigned dimension)
{
	for (unsigned axis = 0; axis < dimension; axis++) {
		if (box_low(outer, axis) >= box_low(inner, axis) ||
		    box_high(outer, axis) <= box_high(inner, axis))
			return false;
	}
	return true;
}

bool rtree_matches(unsigned dimension, enum rtree_relation relation, const double *box,
		   const double *key)
{
	switch (relation) {
	case RTREE_EQUAL:
		return box_equals(box, key, dimension);
	case RTREE_OVERLAPS:
		return box_overlaps(box, key, dimension);
	case RTREE_WITHIN:
		return box_contains(key, box, dimension);
	case RTREE_STRICTLY_WITHIN:
		return box_strictly_contains(key, box, dimension);
	case RTREE_CONTAINS:
		return box_contains(box, key, dimension);
	case RTREE_STRICTLY_CONTAINS:
		return box_strictly_contains(box, key, dimension);
	default:
		return true;
	}
}

/** Which relation a node's box has where a box below it may have the other. */
static enum rtree_relation rtree_relation_above(enum rtree_relation relation)
{
	switch (relation) {
	case RTREE_EQUAL:
		return RTREE_CONTAINS;
	case RTREE_WITHIN:
	case RTREE_STRICTLY_WITHIN:
		return RTREE_OVERLAPS;
	default:
		return relation;
	}
}

void rtree_search_start(struct rtree_search *search, const struct rtree *tree,
			enum rtree_relation relation, const double *key)
{
	search->tree = tree;
	search->relation = relation;
	if (key != NULL)
		box_copy(search->key, key, tree->dimension);
	search->depth = tree->root != NULL ? 0 : -1;
	search->path[0].node = tree->root;
	search->path[0].pos = 0;
}

void *rtree_search_next(struct rtree_search *search)
{
	const struct rtree *tree = search->tree;
	while (search->depth >= 0) {
		const struct rtree_node *node = search->path[search->depth].node;
		unsigned pos = search->path[search->depth].pos++;
		if (pos == node->count) {
			search->depth--;
			continue;
		}
		const struct rtree_entry *entry = rtree_entry(tree, node, pos);
		enum rtree_relation relation = node->level == 0 ? search->relation :
			rtree_relation_above(search->relation);
		if (!rtree_matches(tree->dimension, relation, entry->box, search->key))
			continue;
		if (node->level == 0)
			return entry->ptr;
		search->depth++;
		search->path[search->depth].node = entry->ptr;
		search->path[search->depth].pos = 0;
	}
	return NULL;
}

/* Nearest first -------------------------------------------------------------- */

/** A node still to be looked into, or the pointer of an entry. */
struct queue_item {
	double distance;
	bool is_node;
	void *ptr;
};

struct rtree_queue {
	unsigned dimension;
	enum rtree_distance distance;
	rtree_tie tie;
	void *tie_arg;
	const struct rtree *tree;
	/** What is nearer is left out. */
	double distance_min;
	/** A heap: the least first, children of i at 2i + 1 and 2i + 2. */
	struct queue_item *items;
	size_t count, capacity;
	double point[RTREE_DIMENSION_MAX];
};

static double queue_distance(const struct rtree_queue *queue, const double *box)
{
	double sum = 0;
	for (unsigned axis = 0; axis < queue->dimension; axis++) {
		double at = queue->point[axis], low = box_low(box, axis);
		double high = box_high(box, axis);
		double gap = at < low ? low - at : at > high ? at - high : 0;
		sum += queue->distance == RTREE_EUCLID ? gap * gap : gap;
	}
	return sum;
}

/** Of the corner that is farthest. */
static double queue_distance_max(const struct rtree_queue *queue, const double *box)
{
	double sum = 0;
	for (unsigned axis = 0; axis < queue->dimension; axis++) {
		double at = queue->point[axis];
		double below = fabs(at - box_low(box, axis));
		double above = fabs(box_high(box, axis) - at);
		double gap = below > above ? below : above;
		sum += queue->distance == RTREE_EUCLID ? gap * gap : gap;
	}
	return sum;
}

/** Nodes come before entries that are as far, so that equal entries are in the heap together. */
static bool queue_less(const struct rtree_queue *queue, const struct queue_item *a,
		       const struct queue_item *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if (a->is_node || b->is_node)
		return a->is_node && !b->is_node;
	return queue->tie(a->ptr, b->ptr, queue->tie_arg) < 0;
}

static void queue_push(struct rtree_queue *queue, struct queue_item item)
{
	if (queue->count == queue->capacity) {
		queue->capacity = queue->capacity > 0 ? queue->capacity * 2 : 64;
		queue->items = xrealloc(queue->items, queue->capacity * sizeof(*queue->items));
	}
	size_t at = queue->count++;
	while (at > 0 && queue_less(queue, &item, &queue->items[(at - 1) / 2])) {
		queue->items[at] = queue->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	queue->items[at] = item;
}

static struct queue_item queue_pop(struct rtree_queue *queue)
{
	struct queue_item top = queue->items[0], last = queue->items[--queue->count];
	size_t at = 0, child;
	while ((child = 2 * at + 1) < queue->count) {
		if (child + 1 < queue->count &&
		    queue_less(queue, &queue->items[child + 1], &queue->items[child]))
			child++;
		if (!queue_less(queue, &queue->items[child], &last))
			break;
		queue->items[at] = queue->items[child];
		at = child;
	}
	queue->items[at] = last;
	return top;
}

struct rtree_queue *rtree_queue_new(unsigned dimension, enum rtree_distance distance,
				    const double *point, rtree_tie tie, void *arg)
{
	struct rtree_queue *queue = xcalloc(1, sizeof(*queue));
	queue->dimension = dimension;
	queue->distance = distance;
	queue->tie = tie;
	queue->tie_arg = arg;
	memcpy(queue->point, point, dimension * sizeof(*point));
	return queue;
}

void rtree_queue_delete(struct rtree_queue *queue)
{
	xfree(queue->items);
	xfree(queue);
}

void rtree_queue_start(struct rtree_queue *queue, const struct rtree *tree, double distance_min)
{
	assert(tree->dimension == queue->dimension);
	queue->tree = tree;
	queue->distance_min = distance_min;
	queue->count = 0;
	if (tree->root != NULL)
		queue_push(queue, (struct queue_item){.is_node = true, .ptr = tree->root});
}

static void queue_push_entries(struct rtree_queue *queue, const struct rtree_node *node)
{
	for (unsigned i = 0; i < node->count; i++) {
		const struct rtree_entry *entry = rtree_entry(queue->tree, node, i);
		struct queue_item item = {
			.distance = queue_distance(queue, entry->box),
			.is_node = node->level > 0,
			.ptr = entry->ptr,
		};
		double farthest = item.is_node ? queue_distance_max(queue, entry->box) :
			item.distance;
		if (!(farthest < queue->distance_min))
			queue_push(queue, item);
	}
}

void *rtree_queue_next(struct rtree_queue *queue, double *distance)
{
	while (queue->count > 0) {
		struct queue_item item = queue_pop(queue);
		if (!item.is_node) {
			*distance = item.distance;
			return item.ptr;
		}
		queue_push_entries(queue, item.ptr);
	}
	return NULL;
}
