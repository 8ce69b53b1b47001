/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The memtx engine: statements over all indexes of a space, in memory.
 *
 * The primary index holds one reference to each tuple. A statement takes over
 * that of the tuple it removed (old_tuple) and has one of its own to the tuple it
 * put (new_tuple), so that undoing it needs no memory and cannot fail.
 */
#include <assert.h>
#include <stddef.h>

#include <msgpuck.h>

#include "core/fiber.h"
#include "core/log.h"
#include "db/db.h"
#include "db/error.h"
#include "db/error_fields.h"
#include "db/schema/constraint.h"
#include "db/schema/memtx_recover.h"
#include "db/schema/schema.h"
#include "db/schema/space_build.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "db/txn/txn.h"

/** Changes secondary indexes back, from `count` - 1 down to 0, after a change of them. */
static void memtx_revert(struct space *space, uint32_t count, struct tuple *old, struct tuple *new)
{
	index_is_undoing = true;
	while (count-- > 0) {
		struct index *index = space->index[count];
		struct tuple *unused;
		int rc = index->vtab->replace(index, new, old, DUP_REPLACE_OR_INSERT, &unused);
		if (rc != 0)
			panic("can't put a tuple back into index '%s' of space '%s'",
			      index->def->name, space_name(space));
	}
	index_is_undoing = false;
}

/** Adds both rows to the error of a duplicate: the old one for those who may read it. */
static void memtx_explain_duplicate(struct space *space, const struct tuple *new)
{
	struct error *e = diag_last();
	if (e->code != ER_TUPLE_FOUND)
		return;
	error_set_row(e, "new_tuple", tuple_data(new), new->bsize);
	if (!access_allows(PRIV_READ, OBJECT_SPACE, space->def->uid, &space->access))
		error_del_field(e, "old_tuple");
}

/**
 * Puts `new` in the place of `old` in all indexes and notes it in the statement;
 * takes over the caller's reference to `new`. On failure that is given back.
 */
static int memtx_replace(struct space *space, struct txn_stmt *stmt, struct tuple *old,
			 struct tuple *new, enum dup_replace_mode mode)
{
	struct index *pk = space->index[0];
	struct tuple *unused;
	if (pk->vtab->replace(pk, old, new, mode, &old) != 0)
		goto fail;
	if (foreign_key_def_count > 0 && old != NULL && db_is_configured &&
	    foreign_key_check_parent(space, old, new) != 0) {
		memtx_revert(space, 1, old, new);
		goto fail;
	}
	for (uint32_t i = 1; i < space->index_count; i++) {
		struct index *index = space->index[i];
		if (index->vtab->replace(index, old, new, DUP_REPLACE_OR_INSERT, &unused) != 0) {
			memtx_revert(space, i, old, new);
			goto fail;
		}
	}
	if (old != NULL) {
		old->is_dirty = true;
		space->bsize -= old->bsize;
	}
	if (new != NULL) {
		tuple_ref(new);
		space->bsize += new->bsize;
	}
	if (!list_empty(&space->builds))
		space_builds_note(space, old, new);
	stmt->old_tuple = old;
	stmt->new_tuple = new;
	stmt->has_engine_change = old != NULL || new != NULL;
	return 0;
fail:
	if (new != NULL) {
		memtx_explain_duplicate(space, new);
		tuple_unref(new);
	}
	return -1;
}

static void memtx_space_undo(struct space *space, struct tuple *old, struct tuple *new)
{
	memtx_revert(space, space->index_count, old, new);
	if (!list_empty(&space->builds))
		space_builds_note(space, new, old);
	if (new != NULL) {
		new->is_dirty = true;
		space->bsize -= new->bsize;
		tuple_unref(new);
	}
	if (old != NULL) {
		old->is_dirty = false;
		space->bsize += old->bsize;
		tuple_ref(old);
	}
}

/** A new row of the space, checked against format and constraints. NULL: an error. */
static struct tuple *memtx_tuple_new(struct space *space, const char *data, const char *end)
{
	struct tuple *tuple = tuple_new(space->format, data, end);
	/* What is in the files has been checked when it was written. */
	if (tuple == NULL || space->def->constraint_count == 0 || !db_is_configured ||
	    constraint_check_row(space, space->def, tuple) == 0)
		return tuple;
	tuple_unref(tuple);
	return NULL;
}

/** Without an index, and nothing said of fields, there is nothing to check a row against. */
static int memtx_check_index(const struct space *space)
{
	return space->def->field_count > 0 || space_index_find(space, 0) != NULL ? 0 : -1;
}

static int memtx_space_replace(struct space *space, struct txn *txn, struct request *request)
{
	if (memtx_check_index(space) != 0)
		return -1;
	struct tuple *tuple = memtx_tuple_new(space, request->tuple, request->tuple_end);
	if (tuple == NULL)
		return -1;
	if (space_index_find(space, 0) == NULL) {
		tuple_unref(tuple);
		return -1;
	}
	return memtx_replace(space, txn_stmt_current(txn), NULL, tuple,
			     request->type == IPROTO_INSERT ? DUP_INSERT : DUP_REPLACE);
}

/** The tuple that a request's key names, by a unique index; NULL in *tuple where none is. */
static int memtx_find(struct space *space, const struct request *request, struct tuple **tuple)
{
	struct index *index = space_index_find_unique(space, request->index_id);
	if (index == NULL)
		return -1;
	const char *key = request->key;
	uint32_t part_count = mp_decode_array(&key);
	if (key_validate(index->def->key_def, key, part_count, true, false) != 0)
		return index_explain_key(index, key, part_count);
	return index->vtab->get(index, key, part_count, tuple);
}

static int memtx_space_delete(struct space *space, struct txn *txn, struct request *request)
{
	struct tuple *old;
	if (memtx_find(space, request, &old) != 0)
		return -1;
	if (old == NULL)
		return 0;
	return memtx_replace(space, txn_stmt_current(txn), old, NULL, DUP_REPLACE);
}

/** The tuple with the primary key of this one, or NULL. */
static struct tuple *memtx_find_key_of(struct space *space, const struct tuple *tuple)
{
	struct index *pk = space->index[0];
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	struct tuple *found = NULL;
	const char *key = tuple_extract_key(tuple, pk->def->key_def, region, &size);
	if (key != NULL) {
		uint32_t part_count = mp_decode_array(&key);
		if (pk->vtab->get(pk, key, part_count, &found) != 0)
			found = NULL;
	}
	region_truncate(region, mark);
	return found;
}

/** Makes the tuple that an update gives. `data` is on the fiber's region. */
static int memtx_replace_updated(struct space *space, struct txn *txn,
				 const struct request *request, struct tuple *old,
				 const char *data, uint32_t size)
{
	struct tuple *new = memtx_tuple_new(space, data, data + size);
	if (new == NULL)
		return -1;
	struct index *pk = space->index[0];
	if (tuple_compare(old, new, pk->def->key_def) != 0) {
		/* As in the reference, an update that would meet another row says that first. */
		struct tuple *other = request->type == IPROTO_UPDATE ?
			memtx_find_key_of(space, new) : NULL;
		if (other != NULL) {
			client_error(ER_TUPLE_FOUND, pk->def->name, space_name(space));
			error_set_row(diag_last(), "old_tuple", tuple_data(other), other->bsize);
			memtx_explain_duplicate(space, new);
		} else {
			client_error(ER_CANT_UPDATE_PRIMARY_KEY, pk->def->name, space_name(space));
		}
		tuple_unref(new);
		return -1;
	}
	return memtx_replace(space, txn_stmt_current(txn), old, new, DUP_REPLACE);
}

static int memtx_space_update(struct space *space, struct txn *txn, struct request *request)
{
	struct tuple *old;
	if (memtx_find(space, request, &old) != 0)
		return -1;
	if (old == NULL)
		return 0;
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	uint64_t mask;
	const char *row = tuple_data(old);
	const char *data = update_execute(request->tuple, request->tuple_end, row,
					  row + old->bsize, space->format->dict,
					  space->format, request->index_base, region, &size, &mask);
	int rc = data == NULL ? -1 : memtx_replace_updated(space, txn, request, old, data, size);
	region_truncate(region, mark);
	return rc;
}

/** There is a tuple: applies the operations to it. What cannot be applied is logged only. */
static int memtx_upsert_existing(struct space *space, struct txn *txn, struct request *request,
				 struct tuple *old)
{
	struct region *region = &fiber()->region;
	uint32_t size;
	uint64_t mask;
	const char *row = tuple_data(old);
	const char *data = upsert_execute(request->ops, request->ops_end, row, row + old->bsize,
					  space->format->dict, space->format, request->index_base,
					  region, &size, &mask);
	if (data == NULL)
		return -1;
	if (memtx_replace_updated(space, txn, request, old, data, size) == 0)
		return 0;
	if (diag_last()->code != ER_CANT_UPDATE_PRIMARY_KEY)
		return -1;
	diag_log();
	return 0;
}

/** There is none: puts the tuple. The operations have to make sense all the same. */
static int memtx_upsert_new(struct space *space, struct txn *txn, struct request *request)
{
	if (update_check_ops(request->ops, request->ops_end, space->format->dict,
			     request->index_base, &fiber()->region) != 0)
		return -1;
	struct tuple *tuple = memtx_tuple_new(space, request->tuple, request->tuple_end);
	return tuple == NULL ? -1 :
		memtx_replace(space, txn_stmt_current(txn), NULL, tuple, DUP_INSERT);
}

/** The row that an upsert's tuple names by its primary key, or NULL. The tuple is checked. */
static int memtx_find_upserted(struct space *space, struct index *pk, const struct request *request,
			       struct tuple **old)
{
	if (tuple_format_validate(space->format, request->tuple, request->tuple_end) != 0 ||
	    space_index_find(space, 0) == NULL)
		return -1;
	uint32_t size;
	const char *key = tuple_extract_key_raw(request->tuple, pk->def->key_def,
						&fiber()->region, &size);
	if (key == NULL)
		return -1;
	uint32_t part_count = mp_decode_array(&key);
	return pk->vtab->get(pk, key, part_count, old);
}

static int memtx_space_upsert(struct space *space, struct txn *txn, struct request *request)
{
	struct index *pk = space_index(space, 0);
	if (memtx_check_index(space) != 0 ||
	    tuple_check_size(space->format, request->tuple, request->tuple_end) != 0)
		return -1;
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	struct tuple *old;
	int rc = memtx_find_upserted(space, pk, request, &old);
	if (rc == 0)
		rc = old != NULL ? memtx_upsert_existing(space, txn, request, old) :
			memtx_upsert_new(space, txn, request);
	region_truncate(region, mark);
	return rc;
}

void index_unref_tuples(struct index *pk)
{
	struct iterator *it = pk->vtab->iterator(pk, ITER_ALL, NULL, 0);
	if (it == NULL)
		panic("no memory to free the tuples of space '%s'", pk->space_name);
	/* An iterator goes on behind its last tuple, so that one is freed after the step. */
	struct tuple *tuple, *last = NULL;
	while (it->next(it, &tuple) == 0 && tuple != NULL) {
		if (last != NULL)
			tuple_unref(last);
		last = tuple;
		last->is_dirty = true;
	}
	it->free(it);
	if (last != NULL)
		tuple_unref(last);
}

static struct index *memtx_index_create(struct space *space, const struct index_def *def,
					struct tuple_format *format)
{
	struct index *index = index_new(def, space_name(space));
	if (index == NULL)
		return NULL;
	if (memtx_defers(space, def)) {
		index_defer(index);
		return index;
	}
	if (space->index_count > 0 && space->index[0]->def->iid == 0 &&
	    space_build(space, index, format) != 0) {
		space_builds_end(space);
		index_delete(index);
		return NULL;
	}
	return index;
}

const struct space_vtab memtx_space_vtab = {
	.engine_name = "memtx",
	.owns_tuples = true,
	.replace = memtx_space_replace,
	.delete = memtx_space_delete,
	.update = memtx_space_update,
	.upsert = memtx_space_upsert,
	.undo = memtx_space_undo,
	.index_create = memtx_index_create,
};
