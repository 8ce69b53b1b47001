/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replaces the shape of a space: see the header.
 */
#include "db/schema/alter_shape.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/constraint.h"
#include "db/schema/memtx_gc.h"
#include "db/schema/space_build.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

size_t space_row_count(const struct space *space)
{
	if (space->index_count == 0 || space->vtab != &memtx_space_vtab)
		return 0;
	return space->index[0]->vtab->size(space->index[0]);
}

int alter_check_alone(const struct txn *txn, const char *what)
{
	if (txn_is_first_stmt(txn))
		return 0;
	client_error(ER_MULTISTATEMENT_TRANSACTION, what);
	return -1;
}

static bool shape_has_index(const struct space_shape *shape, const struct index *index)
{
	for (uint32_t i = 0; i < shape->index_count; i++) {
		if (shape->index[i] == index)
			return true;
	}
	return false;
}

/** Frees what is in `shape` and not in `kept`. */
static void shape_free(struct space_shape *shape, const struct space_shape *kept,
		       bool drops_tuples)
{
	for (uint32_t i = shape->index_count; i > 0; i--) {
		struct index *index = shape->index[i - 1];
		if (shape_has_index(kept, index))
			continue;
		memtx_gc_add(index, drops_tuples && index->def->iid == 0);
	}
	tuple_format_unref(shape->format);
	xfree(shape->index);
	xfree(shape->index_map);
	if (shape->def != kept->def)
		space_def_delete(shape->def);
}

static void alter_commit(struct change *change)
{
	struct alter *alter = (struct alter *)change;
	shape_free(&alter->old, &alter->new, alter->drops_tuples);
}

static void index_set_space_name(struct index *index, const char *name)
{
	if (strcmp(index->space_name, name) == 0)
		return;
	xfree((char *)index->space_name);
	index->space_name = xstrdup(name);
}

/** Keeps the format for as long as tuples have it. */
static void space_keep_format(struct space *space, struct tuple_format *format)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < space->old_format_count; i++) {
		struct tuple_format *old = space->old_formats[i];
		if (old->refs == 1 || old == format)
			tuple_format_unref(old);
		else
			space->old_formats[count++] = old;
	}
	space->old_formats = xrealloc(space->old_formats,
				      (count + 1) * sizeof(*space->old_formats));
	tuple_format_ref(format);
	space->old_formats[count] = format;
	space->old_format_count = count + 1;
}

/** Fields of all tuples, old ones too, are called what the format in force calls them. */
static void space_put_format(struct space *space, const struct space_shape *shape)
{
	if (shape->format == space->format)
		return;
	space_keep_format(space, space->format);
	for (uint32_t i = 0; i < space->old_format_count; i++)
		space->old_formats[i]->dict = shape->dict;
	shape->format->dict = shape->dict;
}

static void space_put_shape(struct space *space, const struct space_shape *shape)
{
	space_put_format(space, shape);
	for (uint32_t i = 0; i < space->index_count; i++) {
		if (!shape_has_index(shape, space->index[i]))
			index_end_iterators(space->index[i]);
	}
	space_shape_set(space, shape);
	for (uint32_t i = 0; i < space->index_count; i++)
		index_set_space_name(space->index[i], space_name(space));
	schema_version++;
	schema_notice_space(space_id(space));
}

static void alter_rollback(struct change *change)
{
	struct alter *alter = (struct alter *)change;
	bool is_renamed = strcmp(alter->old.def->name, alter->new.def->name) != 0;
	space_put_shape(alter->space, &alter->old);
	if (is_renamed)
		space_cache_rename(alter->space, alter->new.def->name);
	shape_free(&alter->new, &alter->old, false);
}

/** Checks each row against a new format. May yield. */
static int space_check_rows(struct space *space, struct tuple_format *format)
{
	int rc = space_build(space, NULL, format);
	if (rc == 0)
		rc = space_builds_complete(space);
	space_builds_end(space);
	return rc;
}

/** Checks the rows against a new format where any of them may not suit it. May yield. */
static int alter_check_format(struct txn *txn, struct space *space, struct tuple_format *format)
{
	/* Rows of a service space come into being with its index. */
	if (space->vtab == &service_space_vtab && space->index_count > 0 &&
	    !tuple_format_is_wider(format, space->format)) {
		client_error(ER_UNSUPPORTED, "Session_settings space", "other formats");
		return -1;
	}
	if (space_row_count(space) == 0 || tuple_format_is_wider(format, space->format))
		return 0;
	if (alter_check_alone(txn, "space format check") != 0)
		return -1;
	return space_check_rows(space, format);
}

/** Checks the rows against a new format, and then, which does not yield, new constraints. */
static int alter_check_rows(struct txn *txn, struct space *space, const struct space_def *def,
			    struct tuple_format *format)
{
	if (alter_check_format(txn, space, format) != 0)
		return -1;
	/* What is in the files has been checked when it was written. */
	if (!db_is_configured || constraint_defs_equal(space->def, def))
		return 0;
	return constraint_check_rows(space, def, format);
}

struct alter *alter_begin(struct txn *txn, struct txn_stmt *stmt, struct space *space,
			  struct space_def *def, struct key_def *const *keys, uint32_t key_count,
			  bool checks_rows)
{
	struct alter *alter = NULL;
	struct tuple_format *format = tuple_format_new(keys, key_count, def->fields,
						       def->field_count, def->exact_field_count);
	if (format == NULL)
		goto fail;
	format->is_temporary = def->is_temporary;
	if (checks_rows && alter_check_rows(txn, space, def, format) != 0)
		goto fail;
	alter = change_new(txn, stmt, sizeof(*alter), alter_commit, alter_rollback);
	if (alter == NULL)
		goto fail;
	alter->space = space;
	space_shape_get(space, &alter->old);
	alter->new.def = def;
	alter->new.format = format;
	alter->new.dict = format->dict;
	return alter;
fail:
	if (format != NULL)
		tuple_format_unref(format);
	if (def != space->def)
		space_def_delete(def);
	return NULL;
}

static void shape_set_indexes(struct space_shape *shape, struct index *const *index,
			      uint32_t index_count)
{
	shape->index_count = index_count;
	if (index_count == 0)
		return;
	shape->index = xmalloc(index_count * sizeof(*shape->index));
	memcpy(shape->index, index, index_count * sizeof(*index));
	shape->index_id_max = index[index_count - 1]->def->iid;
	shape->index_map = xcalloc(shape->index_id_max + 1, sizeof(*shape->index_map));
	for (uint32_t i = 0; i < index_count; i++)
		shape->index_map[index[i]->def->iid] = index[i];
}

int space_set_first_index(struct space *space, const struct index_def *def)
{
	assert(space->index_count == 0);
	struct tuple_format *format = tuple_format_new(&def->key_def, 1, space->def->fields,
						       space->def->field_count,
						       space->def->exact_field_count);
	if (format == NULL)
		return -1;
	struct index *index = space->vtab->index_create(space, def, NULL);
	if (index == NULL) {
		tuple_format_unref(format);
		return -1;
	}
	struct space_shape shape;
	space_shape_get(space, &shape);
	tuple_format_unref(shape.format);
	shape.format = format;
	shape_set_indexes(&shape, &index, 1);
	space_shape_set(space, &shape);
	return 0;
}

void alter_finish(struct alter *alter, struct index *const *index, uint32_t index_count)
{
	struct space_shape *shape = &alter->new;
	/* Rows may have changed while indexes were built. */
	shape->bsize = alter->old.bsize = alter->space->bsize;
	shape_set_indexes(shape, index, index_count);
	if (alter->drops_tuples)
		shape->bsize = 0;
	bool is_renamed = strcmp(alter->old.def->name, shape->def->name) != 0;
	space_put_shape(alter->space, shape);
	space_builds_end(alter->space);
	if (is_renamed)
		space_cache_rename(alter->space, alter->old.def->name);
}

void alter_abort(struct alter *alter)
{
	space_builds_end(alter->space);
	change_cancel(&alter->base);
	tuple_format_unref(alter->new.format);
	if (alter->new.def != alter->old.def)
		space_def_delete(alter->new.def);
}
