/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Multikey and functional indexes: the index interface over a TREE of key tuples
 * (row_keys.h).
 *
 * A change takes the keys of the old row out and puts those of the new one in; keys of
 * one row that are equal go in once. What a function returned for a row is kept for as
 * long as the row lives: it is called once for each row, and taking a row out or undoing
 * a change never calls it.
 */
#include <assert.h>
#include <string.h>

#include "core/list.h"
#include "core/map.h"
#include "core/memory.h"
#include "db/error.h"
#include "db/index/index_private.h"
#include "db/index/row_keys.h"
#include "db/tuple/format.h"

struct keys_index {
	struct index base;
	/** Of key tuples. */
	struct index *tree;
	struct tuple_format *format;
	/** Bytes of the key tuples in the tree. */
	size_t key_bytes;
	/** Functional: struct row_keys by row, for all rows that are alive. */
	struct map_u64 rows;
	/** In `func_indexes`. */
	struct list link;
	/** While it is destroyed: where in `rows`, then where in the tree. */
	size_t dropped_rows;
	struct iterator *drop;
	/** No rows and keys are left, only blocks. */
	bool is_drained;
};

static struct list func_indexes = LIST_INIT(func_indexes);

static inline struct index *tree_of(const struct index *index)
{
	return ((const struct keys_index *)index)->tree;
}

static inline struct tuple *row_of(const struct tuple *key)
{
	return key != NULL ? key_tuple_row(key) : NULL;
}

/* Keys of rows --------------------------------------------------------------- */

/** A row goes: what functions returned for it goes, too. */
static void forget_row(struct tuple *row)
{
	struct list *link;
	for (link = func_indexes.next; link != &func_indexes; link = link->next) {
		struct keys_index *index = list_entry(link, struct keys_index, link);
		struct row_keys *keys = map_u64_del(&index->rows, (uintptr_t)row);
		if (keys != NULL)
			row_keys_delete(keys);
	}
}

/** The row's keys; give them back by keys_put(). NULL: as row_keys_new(). */
static struct row_keys *keys_get(struct keys_index *index, struct tuple *row)
{
	bool is_func = index->base.def->key_def->is_func;
	struct row_keys *keys = is_func ? map_u64_get(&index->rows, (uintptr_t)row) : NULL;
	if (keys != NULL)
		return keys;
	assert(!is_func || !index_is_undoing);
	keys = row_keys_new(&index->base, index->format, row);
	if (keys != NULL && is_func) {
		map_u64_put(&index->rows, (uintptr_t)row, keys);
		row->has_keys = true;
	}
	return keys;
}

static void keys_put(struct keys_index *index, struct row_keys *keys)
{
	if (keys != NULL && !index->base.def->key_def->is_func)
		row_keys_delete(keys);
}

/* Changes -------------------------------------------------------------------- */

static size_t key_bytes(const struct tuple *key)
{
	return (size_t)key->data_offset + key->bsize;
}

/** Takes the keys of a row out of the tree. Never fails. */
static void take_out(struct keys_index *index, const struct row_keys *keys)
{
	struct tuple *unused;
	for (uint32_t i = 0; i < keys->count; i++) {
		struct tuple *found = tree_index_find(index->tree, keys->keys[i], false);
		/* It may have been an equal key of the same row, and be out already. */
		if (found == NULL || row_of(found) != row_of(keys->keys[i]))
			continue;
		index->tree->vtab->replace(index->tree, found, NULL, DUP_REPLACE, &unused);
		index->key_bytes -= key_bytes(found);
		tuple_unref(found);
	}
}

/** Puts the keys of a row into the tree; its equal keys once. -1: OutOfMemory, part is in. */
static int put_in(struct keys_index *index, const struct row_keys *keys)
{
	struct tuple *unused;
	for (uint32_t i = 0; i < keys->count; i++) {
		struct tuple *key = keys->keys[i];
		if (tree_index_find(index->tree, key, false) != NULL)
			continue;
		if (index->tree->vtab->replace(index->tree, NULL, key, DUP_INSERT, &unused) != 0)
			return -1;
		index->key_bytes += key_bytes(key);
		tuple_ref(key);
	}
	return 0;
}

/** Is any of the keys another row's, in a unique index? -1: ER_TUPLE_FOUND. */
static int check_unique(struct keys_index *index, const struct row_keys *keys,
			const struct tuple *old_row, enum dup_replace_mode mode)
{
	const struct index_def *def = index->tree->def;
	for (uint32_t i = 0; i < keys->count && def->is_unique; i++) {
		if (tuple_key_has_null(keys->keys[i], def->key_def))
			continue;
		struct tuple *found = tree_index_find(index->tree, keys->keys[i], true);
		if (index_check_dup(&index->base, old_row, row_of(found), mode) != 0)
			return -1;
	}
	return 0;
}

static void put_back(struct keys_index *index, const struct row_keys *old,
		     const struct row_keys *new)
{
	bool was_undoing = index_is_undoing;
	index_is_undoing = true;
	take_out(index, new);
	if (old != NULL)
		put_in(index, old);
	index_is_undoing = was_undoing;
}

static int keys_change(struct keys_index *index, struct tuple *old_row, struct tuple *new_row,
		       enum dup_replace_mode mode)
{
	int rc = -1;
	struct row_keys *old = NULL, *new = NULL;
	if (new_row != NULL) {
		new = keys_get(index, new_row);
		if (new == NULL || check_unique(index, new, old_row, mode) != 0)
			goto out;
	}
	if (old_row != NULL) {
		/* Removals never fail. */
		bool was_undoing = index_is_undoing;
		index_is_undoing = true;
		old = keys_get(index, old_row);
		index_is_undoing = was_undoing;
		take_out(index, old);
	}
	rc = new != NULL ? put_in(index, new) : 0;
	if (rc != 0)
		put_back(index, old, new);
out:
	keys_put(index, old);
	keys_put(index, new);
	return rc;
}

static int keys_replace(struct index *base, struct tuple *old_row, struct tuple *new_row,
			enum dup_replace_mode mode, struct tuple **result)
{
	*result = old_row;
	return keys_change((struct keys_index *)base, old_row, new_row, mode);
}

/* Look-ups ------------------------------------------------------------------- */

static int keys_get_row(struct index *index, const char *key, uint32_t part_count,
			struct tuple **result)
{
	struct tuple *found = NULL;
	int rc = tree_of(index)->vtab->get(tree_of(index), key, part_count, &found);
	*result = row_of(found);
	return rc;
}

static int keys_min(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct tuple *found = NULL;
	int rc = tree_of(index)->vtab->min(tree_of(index), key, part_count, &found);
	*result = row_of(found);
	return rc;
}

static int keys_max(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct tuple *found = NULL;
	int rc = tree_of(index)->vtab->max(tree_of(index), key, part_count, &found);
	*result = row_of(found);
	return rc;
}

static int keys_random(struct index *index, uint32_t seed, struct tuple **result)
{
	struct tuple *found = NULL;
	int rc = tree_of(index)->vtab->random(tree_of(index), seed, &found);
	*result = row_of(found);
	return rc;
}

static int64_t keys_count(struct index *index, enum iterator_type type, const char *key,
			  uint32_t part_count)
{
	return tree_of(index)->vtab->count(tree_of(index), type, key, part_count);
}

static size_t keys_size(struct index *index)
{
	return tree_of(index)->vtab->size(tree_of(index));
}

static size_t keys_bsize(struct index *index)
{
	return tree_of(index)->vtab->bsize(tree_of(index)) +
		((struct keys_index *)index)->key_bytes;
}

static bool keys_check(struct index *index)
{
	return tree_of(index)->vtab->check(tree_of(index));
}

/* Iterators ------------------------------------------------------------------ */

struct keys_iterator {
	struct iterator base;
	/** Over the key tuples. */
	struct iterator *inner;
	/** What that returned last, for as long as nothing changes. */
	struct tuple *last_key;
	/** What was returned last; referenced. NULL in a frozen view. */
	struct tuple *last;
	bool is_frozen;
};

static int keys_iterator_next(struct iterator *base, struct tuple **row)
{
	struct keys_iterator *it = (struct keys_iterator *)base;
	struct tuple *key = NULL;
	int rc = it->inner->next(it->inner, &key);
	if (key != NULL)
		it->last_key = key;
	*row = row_of(key);
	if (it->is_frozen || *row == NULL)
		return rc;
	tuple_ref(*row);
	if (it->last != NULL)
		tuple_unref(it->last);
	it->last = *row;
	return rc;
}

static int keys_iterator_seek(struct iterator *base, const char *position)
{
	struct iterator *inner = ((struct keys_iterator *)base)->inner;
	return inner->seek(inner, position);
}

static const char *keys_iterator_position(struct iterator *base, struct region *region,
					  uint32_t *size)
{
	struct keys_iterator *it = (struct keys_iterator *)base;
	return tuple_extract_key(it->last_key, tree_of(base->index)->def->cmp_def, region, size);
}

static void keys_iterator_free(struct iterator *base)
{
	struct keys_iterator *it = (struct keys_iterator *)base;
	it->inner->free(it->inner);
	if (it->last != NULL)
		tuple_unref(it->last);
	xfree(it);
}

static struct iterator *keys_iterator_new(struct index *index, struct iterator *inner,
					  bool is_frozen)
{
	if (inner == NULL)
		return NULL;
	struct keys_iterator *it = xcalloc(1, sizeof(*it));
	it->base.next = keys_iterator_next;
	it->base.free = keys_iterator_free;
	it->base.seek = inner->seek != NULL ? keys_iterator_seek : NULL;
	it->base.position = keys_iterator_position;
	it->base.index = index;
	it->base.space_id = index->def->space_id;
	it->base.index_id = index->def->iid;
	it->inner = inner;
	it->is_frozen = is_frozen;
	return &it->base;
}

static struct iterator *keys_iterator(struct index *index, enum iterator_type type,
				      const char *key, uint32_t part_count)
{
	struct index *tree = tree_of(index);
	return keys_iterator_new(index, tree->vtab->iterator(tree, type, key, part_count), false);
}

static struct iterator *keys_frozen_view(struct index *index)
{
	return keys_iterator_new(index, tree_of(index)->vtab->frozen_view(tree_of(index)), true);
}

/* The end -------------------------------------------------------------------- */

/** Gives back what functions returned, of `count` rows; true where nothing is left. */
static bool drop_rows(struct keys_index *index, size_t count)
{
	uint64_t row;
	void *keys;
	/* Rows that go from now on are no matter of this index. */
	if (!list_empty(&index->link))
		list_del(&index->link);
	list_create(&index->link);
	for (; count > 0; count--) {
		if (!map_u64_next(&index->rows, &index->dropped_rows, &row, &keys))
			return true;
		row_keys_delete(keys);
	}
	return false;
}

/** Gives back `count` keys of the tree, whose blocks stay; true where none are left. */
static bool drop_keys(struct keys_index *index, size_t count)
{
	struct index *tree = index->tree;
	if (index->drop == NULL)
		index->drop = tree->vtab->iterator(tree, ITER_ALL, NULL, 0);
	for (; count > 0; count--) {
		struct tuple *key;
		if (index->drop->next(index->drop, &key) != 0 || key == NULL)
			return true;
		/* The iterator has a reference of its own to the key it returned last. */
		tuple_unref(key);
	}
	return false;
}

static bool keys_destroy_some(struct index *base, size_t count)
{
	struct keys_index *index = (struct keys_index *)base;
	if (!index->is_drained) {
		index->is_drained = drop_rows(index, count) && drop_keys(index, count);
		return false;
	}
	if (index->drop != NULL)
		index->drop->free(index->drop);
	index->drop = NULL;
	return index->tree->vtab->destroy_some(index->tree, count);
}

static void keys_destroy(struct index *base)
{
	struct keys_index *index = (struct keys_index *)base;
	if (!index->is_drained) {
		drop_rows(index, SIZE_MAX);
		drop_keys(index, SIZE_MAX);
	}
	if (index->drop != NULL)
		index->drop->free(index->drop);
	map_u64_destroy(&index->rows);
	index_delete(index->tree);
	tuple_format_unref(index->format);
	xfree(index);
}

static const struct index_vtab keys_index_vtab = {
	.destroy = keys_destroy,
	.destroy_some = keys_destroy_some,
	.size = keys_size,
	.bsize = keys_bsize,
	.min = keys_min,
	.max = keys_max,
	.random = keys_random,
	.count = keys_count,
	.get = keys_get_row,
	.replace = keys_replace,
	.iterator = keys_iterator,
	.frozen_view = keys_frozen_view,
	.check = keys_check,
};

/* A functional index whose function is not known yet ---------------------------- */

static int disabled_get(struct index *index, const char *key, uint32_t part_count,
			struct tuple **result)
{
	(void)key;
	(void)part_count;
	*result = NULL;
	index_unsupported(index, "get()");
	return -1;
}

static int disabled_bound(struct index *index, const char *key, uint32_t part_count,
			  struct tuple **result)
{
	(void)key;
	(void)part_count;
	*result = NULL;
	index_unsupported(index, "read view");
	return -1;
}

static int64_t disabled_count(struct index *index, enum iterator_type type, const char *key,
			      uint32_t part_count)
{
	(void)type;
	(void)key;
	(void)part_count;
	index_unsupported(index, "read view");
	return -1;
}

static int disabled_replace(struct index *index, struct tuple *old_row, struct tuple *new_row,
			    enum dup_replace_mode mode, struct tuple **result)
{
	(void)index;
	(void)new_row;
	(void)mode;
	*result = old_row;
	return 0;
}

static struct iterator *disabled_iterator(struct index *index, enum iterator_type type,
					  const char *key, uint32_t part_count)
{
	disabled_count(index, type, key, part_count);
	return NULL;
}

static const struct index_vtab disabled_index_vtab = {
	.destroy = keys_destroy,
	.bsize = keys_bsize,
	.min = disabled_bound,
	.max = disabled_bound,
	.count = disabled_count,
	.get = disabled_get,
	.replace = disabled_replace,
	.iterator = disabled_iterator,
	.frozen_view = keys_frozen_view,
	.check = keys_check,
};

/* The beginning -------------------------------------------------------------- */

/** The definition of the tree of key tuples: parts are fields in their order. */
static struct key_def *key_tuple_def(const struct key_def *def)
{
	struct key_part *parts = xmalloc(def->part_count * sizeof(*parts));
	memcpy(parts, def->parts, def->part_count * sizeof(*parts));
	for (uint32_t i = 0; i < def->part_count; i++) {
		parts[i].fieldno = i;
		parts[i].path = NULL;
		parts[i].path_text = NULL;
		/* What is left out does not get there. */
		parts[i].exclude_null = false;
	}
	struct key_def *result = key_def_new(parts, def->part_count);
	xfree(parts);
	return result;
}

static struct index_def *tree_def_new(const struct index_def *def)
{
	struct key_def *key_def = key_tuple_def(def->key_def);
	struct key_def *cmp_def = key_def == NULL ? NULL : key_tuple_def(def->cmp_def);
	struct index_def *result = NULL;
	if (cmp_def != NULL) {
		result = index_def_new(def->space_id, def->iid, def->name, strlen(def->name),
				       INDEX_TREE, def->is_unique, def->hint, key_def, NULL);
		key_def_delete(result->cmp_def);
		result->cmp_def = cmp_def;
		cmp_def->unique_part_count = key_def->part_count;
	}
	if (key_def != NULL)
		key_def_delete(key_def);
	return result;
}

struct index *keys_index_new(struct index_def *def)
{
	struct index_def *tree_def = tree_def_new(def);
	if (tree_def == NULL)
		return NULL;
	struct keys_index *index = xcalloc(1, sizeof(*index));
	list_create(&index->link);
	map_u64_create(&index->rows);
	index->format = tuple_format_new(NULL, 0, NULL, 0, 0);
	index->tree = index->format == NULL ? NULL : index_new(tree_def, "");
	index_def_delete(tree_def);
	if (index->tree == NULL) {
		if (index->format != NULL)
			tuple_format_unref(index->format);
		xfree(index);
		return NULL;
	}
	index->format->account = &index_memory;
	bool is_disabled = def->key_def->is_func && def->func == NULL;
	index->base.vtab = is_disabled ? &disabled_index_vtab : &keys_index_vtab;
	if (def->key_def->is_func) {
		list_add(&func_indexes, &index->link);
		tuple_on_delete = forget_row;
	}
	return &index->base;
}
