/* SPDX-License-Identifier: BSD-2-Clause
 *
 * RTREE indexes: boxes and points in a field, an array of their coordinates, over the
 * R*-tree of rtree.h.
 *
 * An iterator over boxes walks the tree, and takes what is left to itself when the
 * tree is about to change; of that it returns what is still there. One over neighbours
 * starts anew in a changed tree and skips what is not behind its last tuple, by
 * distance, then by key.
 */
#include <assert.h>
#include <math.h>

#include "core/list.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/index/index_private.h"
#include "db/tuple/tuple.h"
#include "db/tuple/tuple_field.h"

struct rtree_index {
	struct index base;
	struct rtree tree;
	/** The primary key: orders rows that are equally far. */
	struct key_def *tie_def;
	/** Iterators that walk the tree. */
	struct list walkers;
};

static struct rtree_index *rtree_of(const struct index *index)
{
	return (struct rtree_index *)index;
}

/* Boxes --------------------------------------------------------------------- */

static int box_error(const char *what, unsigned dimension)
{
	client_error(ER_RTREE_RECT, what, dimension, 2 * dimension);
	return -1;
}

static bool is_number(const char *value)
{
	return mp_classof(value) == MP_CLASS_NUMBER;
}

/** A number that is exactly a double, and not NaN. */
static int coord_decode(const char **data, const char *what, unsigned dimension, unsigned pos,
			double *coord)
{
	const char *value = *data;
	/* Not decimals: no double is what most of them are. */
	if (mp_typeof(*value) != MP_EXT && is_number(value)) {
		char as_double[16];
		mp_read_double(data, coord);
		if (isnan(*coord))
			return box_error(what, dimension);
		mp_encode_double(as_double, *coord);
		if (mp_compare_number(value, as_double) == 0)
			return 0;
	}
	client_error(ER_FIELD_TYPE, tuple_field_no_str(pos), field_type_names[FIELD_TYPE_NUMBER]);
	return -1;
}

/** `count` coordinates: of a point, or of two opposite corners. */
static int box_decode(const char *data, uint32_t count, const char *what, unsigned dimension,
		      double *box)
{
	double coords[RTREE_COORDS_MAX];
	if (count != dimension && count != 2 * dimension)
		return box_error(what, dimension);
	for (uint32_t i = 0; i < count; i++) {
		if (coord_decode(&data, what, dimension, i, &coords[i]) != 0)
			return -1;
	}
	for (unsigned axis = 0; axis < dimension; axis++) {
		double a = coords[axis], b = count > dimension ? coords[dimension + axis] : a;
		box[2 * axis] = a < b ? a : b;
		box[2 * axis + 1] = a < b ? b : a;
	}
	return 0;
}

static int box_of_tuple(const struct index *index, const struct tuple *tuple, double *box)
{
	const char *field = tuple_field_by_part(tuple, &index->def->key_def->parts[0]);
	assert(field != NULL && mp_typeof(*field) == MP_ARRAY);
	uint32_t count = mp_decode_array(&field);
	return box_decode(field, count, "Field", index->def->dimension, box);
}

/** The key is one array, or its coordinates are the parts. */
static int box_of_key(const struct index *index, const char *key, uint32_t part_count, double *box)
{
	if (part_count == 1)
		part_count = mp_decode_array(&key);
	return box_decode(key, part_count, "Key", index->def->dimension, box);
}

static int check_numbers(const char *data, uint32_t count, bool is_array)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!is_number(data)) {
			client_error(ER_KEY_PART_TYPE, is_array ? 0 : i,
				     field_type_names[FIELD_TYPE_NUMBER]);
			return -1;
		}
		mp_next(&data);
	}
	return 0;
}

int rtree_check_key(const struct index *index, enum iterator_type type, const char *key,
		    uint32_t part_count)
{
	uint32_t dimension = index->def->dimension;
	if (part_count == 0 && type == ITER_ALL)
		return 0;
	if (part_count == 1) {
		if (mp_typeof(*key) != MP_ARRAY) {
			client_error(ER_KEY_PART_TYPE, 0, field_type_names[FIELD_TYPE_ARRAY]);
			return -1;
		}
		uint32_t count = mp_decode_array(&key);
		return check_numbers(key, count, true);
	}
	if (part_count != dimension && part_count != 2 * dimension) {
		client_error(ER_KEY_PART_COUNT, 2 * dimension, part_count);
		return -1;
	}
	return check_numbers(key, part_count, false);
}

/* Iterators over boxes -------------------------------------------------------- */

struct rtree_walker {
	struct iterator base;
	/** In the index's list while it walks. */
	struct list link;
	struct rtree_search search;
	/** What was left when the tree changed, referenced. */
	struct tuple **rest;
	size_t rest_count, rest_pos;
};

/** Takes what the search has not found yet out of a tree that is about to change. */
static void walker_collect(struct rtree_walker *it)
{
	size_t capacity = 0;
	struct tuple *tuple;
	while ((tuple = rtree_search_next(&it->search)) != NULL) {
		if (it->rest_count == capacity) {
			capacity = capacity > 0 ? capacity * 2 : 64;
			it->rest = xrealloc(it->rest, capacity * sizeof(*it->rest));
		}
		tuple_ref(tuple);
		it->rest[it->rest_count++] = tuple;
	}
	list_del(&it->link);
	list_create(&it->link);
}

/** The tuple as it is in the tree now: itself, or one with the same key and box; NULL: gone. */
static struct tuple *walker_find_current(struct rtree_walker *it, struct tuple *tuple)
{
	struct rtree_index *rtree = rtree_of(it->base.index);
	struct rtree_search search;
	struct tuple *found;
	double box[RTREE_COORDS_MAX];
	if (box_of_tuple(&rtree->base, tuple, box) != 0)
		return NULL;
	rtree_search_start(&search, &rtree->tree, RTREE_EQUAL, box);
	while ((found = rtree_search_next(&search)) != NULL) {
		if (found == tuple || tuple_compare(found, tuple, rtree->tie_def) == 0)
			return found;
	}
	return NULL;
}

static int walker_next(struct iterator *base, struct tuple **tuple)
{
	struct rtree_walker *it = (struct rtree_walker *)base;
	*tuple = NULL;
	if (!list_empty(&it->link)) {
		*tuple = rtree_search_next(&it->search);
		return 0;
	}
	while (it->rest_pos < it->rest_count && *tuple == NULL) {
		struct tuple *next = it->rest[it->rest_pos++];
		*tuple = walker_find_current(it, next);
		tuple_unref(next);
	}
	return 0;
}

static void walker_free(struct iterator *base)
{
	struct rtree_walker *it = (struct rtree_walker *)base;
	while (it->rest_pos < it->rest_count)
		tuple_unref(it->rest[it->rest_pos++]);
	list_del(&it->link);
	xfree(it->rest);
	xfree(it);
}

static bool relation_of_iterator(enum iterator_type type, enum rtree_relation *relation)
{
	switch (type) {
	case ITER_EQ: *relation = RTREE_EQUAL; return true;
	case ITER_ALL: *relation = RTREE_ALL; return true;
	case ITER_LT: *relation = RTREE_STRICTLY_WITHIN; return true;
	case ITER_LE: *relation = RTREE_WITHIN; return true;
	case ITER_GE: *relation = RTREE_CONTAINS; return true;
	case ITER_GT: *relation = RTREE_STRICTLY_CONTAINS; return true;
	case ITER_OVERLAPS: *relation = RTREE_OVERLAPS; return true;
	default: return false;
	}
}

static void iterator_set_index(struct iterator *it, struct index *index)
{
	it->index = index;
	it->space_id = index->def->space_id;
	it->index_id = index->def->iid;
}

static struct iterator *walker_new(struct rtree_index *rtree, enum rtree_relation relation,
				   const double *box)
{
	struct rtree_walker *it = xmalloc(sizeof(*it));
	it->base = (struct iterator){.next = walker_next, .free = walker_free};
	iterator_set_index(&it->base, &rtree->base);
	it->rest = NULL;
	it->rest_count = it->rest_pos = 0;
	rtree_search_start(&it->search, &rtree->tree, relation, box);
	list_add(&rtree->walkers, &it->link);
	return &it->base;
}

/* Iterators over neighbours ----------------------------------------------------- */

struct rtree_neighbors {
	struct iterator base;
	struct rtree_queue *queue;
	/** The tree's version that the queue is of. */
	uint64_t version;
	/** What was returned last, referenced; NULL at the beginning. */
	struct tuple *last;
	double last_distance;
	bool is_done;
};

static int neighbors_tie(const void *a, const void *b, void *arg)
{
	return tuple_compare(a, b, arg);
}

/** The next tuple of the queue that is behind the last one. */
static struct tuple *neighbors_find(struct rtree_neighbors *it, double *distance)
{
	const struct key_def *tie_def = rtree_of(it->base.index)->tie_def;
	struct tuple *tuple;
	do {
		tuple = rtree_queue_next(it->queue, distance);
	} while (tuple != NULL && it->last != NULL &&
		 (*distance < it->last_distance ||
		  (*distance == it->last_distance &&
		   tuple_compare(tuple, it->last, tie_def) <= 0)));
	return tuple;
}

static int neighbors_next(struct iterator *base, struct tuple **tuple)
{
	struct rtree_neighbors *it = (struct rtree_neighbors *)base;
	struct rtree *tree = &rtree_of(base->index)->tree;
	double distance;
	*tuple = NULL;
	if (it->is_done)
		return 0;
	if (it->version != tree->version) {
		rtree_queue_start(it->queue, tree, it->last != NULL ? it->last_distance : 0);
		it->version = tree->version;
	}
	*tuple = neighbors_find(it, &distance);
	if (*tuple == NULL) {
		it->is_done = true;
		return 0;
	}
	tuple_ref(*tuple);
	if (it->last != NULL)
		tuple_unref(it->last);
	it->last = *tuple;
	it->last_distance = distance;
	return 0;
}

static void neighbors_free(struct iterator *base)
{
	struct rtree_neighbors *it = (struct rtree_neighbors *)base;
	if (it->last != NULL)
		tuple_unref(it->last);
	rtree_queue_delete(it->queue);
	xfree(it);
}

static struct iterator *neighbors_new(struct rtree_index *rtree, const double *box)
{
	struct index_def *def = rtree->base.def;
	double point[RTREE_DIMENSION_MAX];
	for (unsigned axis = 0; axis < def->dimension; axis++)
		point[axis] = box[2 * axis];
	struct rtree_neighbors *it = xcalloc(1, sizeof(*it));
	it->base = (struct iterator){.next = neighbors_next, .free = neighbors_free};
	iterator_set_index(&it->base, &rtree->base);
	it->queue = rtree_queue_new(def->dimension, def->distance, point, neighbors_tie,
				    rtree->tie_def);
	rtree_queue_start(it->queue, &rtree->tree, 0);
	it->version = rtree->tree.version;
	return &it->base;
}

static struct iterator *rtree_iterator(struct index *index, enum iterator_type type,
				       const char *key, uint32_t part_count)
{
	struct rtree_index *rtree = rtree_of(index);
	enum rtree_relation relation;
	double box[RTREE_COORDS_MAX];
	if (part_count > 0 && box_of_key(index, key, part_count, box) != 0)
		return NULL;
	if (type == ITER_NEIGHBOR)
		return neighbors_new(rtree, box);
	if (!relation_of_iterator(type, &relation)) {
		index_unsupported(index, "requested iterator type");
		return NULL;
	}
	return walker_new(rtree, relation, part_count > 0 ? box : NULL);
}

static int64_t rtree_count(struct index *index, enum iterator_type type, const char *key,
			   uint32_t part_count)
{
	struct rtree_index *rtree = rtree_of(index);
	if (type == ITER_ALL)
		return rtree->tree.size;
	struct iterator *it = rtree_iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	int64_t count = -1;
	struct tuple *tuple;
	do {
		count++;
		it->next(it, &tuple);
	} while (tuple != NULL);
	it->free(it);
	return count;
}

/* Changes --------------------------------------------------------------------- */

static void rtree_before_change(struct rtree_index *rtree)
{
	struct rtree_walker *it, *tmp;
	list_foreach_entry_safe(it, tmp, &rtree->walkers, link)
		walker_collect(it);
}

static int rtree_replace(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
			 enum dup_replace_mode mode, struct tuple **result)
{
	struct rtree_index *rtree = rtree_of(index);
	struct rtree *tree = &rtree->tree;
	double old_box[RTREE_COORDS_MAX], new_box[RTREE_COORDS_MAX];
	if (new_tuple != NULL && box_of_tuple(index, new_tuple, new_box) != 0)
		return -1;
	/* What is in the tree has been decoded before. */
	if (old_tuple != NULL && box_of_tuple(index, old_tuple, old_box) != 0)
		return -1;
	*result = old_tuple;
	if (old_tuple != NULL && new_tuple != NULL &&
	    rtree_matches(tree->dimension, RTREE_EQUAL, old_box, new_box)) {
		rtree_overwrite(tree, old_box, old_tuple, new_tuple);
		return 0;
	}
	rtree_before_change(rtree);
	if (new_tuple != NULL && rtree_insert(tree, new_box, new_tuple, index_is_undoing) != 0)
		return -1;
	if (old_tuple != NULL)
		rtree_remove(tree, old_box, old_tuple);
	return 0;
}

/* The rest -------------------------------------------------------------------- */

static void rtree_index_destroy(struct index *index)
{
	struct rtree_index *rtree = rtree_of(index);
	assert(list_empty(&rtree->walkers));
	rtree_destroy(&rtree->tree);
	key_def_delete(rtree->tie_def);
	xfree(rtree);
}

static size_t rtree_index_size(struct index *index)
{
	return rtree_of(index)->tree.size;
}

static size_t rtree_index_bsize(struct index *index)
{
	return rtree_bsize(&rtree_of(index)->tree);
}

static bool rtree_index_check(struct index *index)
{
	return index_is_sound(index, rtree_check(&rtree_of(index)->tree));
}

static const struct index_vtab rtree_index_vtab = {
	.destroy = rtree_index_destroy,
	.size = rtree_index_size,
	.bsize = rtree_index_bsize,
	.count = rtree_count,
	.replace = rtree_replace,
	.iterator = rtree_iterator,
	.check = rtree_index_check,
};

struct index *rtree_index_new(struct index_def *def)
{
	/* Behind the array there are the parts of the primary key. */
	const struct key_def *cmp_def = def->cmp_def;
	uint32_t skip = cmp_def->part_count > 1 ? 1 : 0;
	struct key_def *tie_def = key_def_new(cmp_def->parts + skip, cmp_def->part_count - skip);
	if (tie_def == NULL)
		return NULL;
	struct rtree_index *rtree = xcalloc(1, sizeof(*rtree));
	rtree->tie_def = tie_def;
	rtree->base.vtab = &rtree_index_vtab;
	rtree_create(&rtree->tree, def->dimension, &index_memory);
	list_create(&rtree->walkers);
	return &rtree->base;
}
