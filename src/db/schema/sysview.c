/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sysview engine: spaces that show those rows of a system space which the
 * current user may know of. An index of a view reads the index of the same number
 * of the space behind it and leaves out what the user may not see.
 */
#include <assert.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/bootstrap.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"
#include "db/schema/sequence.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

/* Who sees what --------------------------------------------------------------- */

enum {
	/** Rights on an object that let one know of it, or of all objects. */
	VISIBLE = PRIV_READ | PRIV_WRITE | PRIV_DROP | PRIV_ALTER,
};

/** Has the user any right on an object of the type? To execute all shows what can be executed. */
static bool has_any_right(const struct credentials *cr, enum object_type type, uint32_t owner_id,
			  const struct access *access)
{
	uint32_t rights = access->effective[cr->token] | entity_access[type].effective[cr->token] |
		credentials_universal(cr);
	return owner_id == cr->uid ||
		(rights & (type != OBJECT_SPACE ? VISIBLE | PRIV_EXECUTE : VISIBLE)) != 0;
}

static bool space_is_visible(const struct credentials *cr, struct tuple *row)
{
	uint32_t id;
	struct space *space = tuple_field_u32(row, 0, &id) == 0 ? space_by_id(id) : NULL;
	return space != NULL && has_any_right(cr, OBJECT_SPACE, space->def->uid, &space->access);
}

static bool func_is_visible(const struct credentials *cr, struct tuple *row)
{
	uint32_t id;
	struct func *func = tuple_field_u32(row, 0, &id) == 0 ? func_by_id(id) : NULL;
	return func != NULL && has_any_right(cr, OBJECT_FUNCTION, func->def->uid, &func->access);
}

static bool sequence_is_visible(const struct credentials *cr, struct tuple *row)
{
	uint32_t id;
	struct sequence *seq = tuple_field_u32(row, 0, &id) == 0 ? sequence_by_id(id) : NULL;
	return seq != NULL && has_any_right(cr, OBJECT_SEQUENCE, seq->def->uid, &seq->access);
}

/** Oneself, what one owns, and the role that everybody has. */
static bool user_is_visible(const struct credentials *cr, struct tuple *row)
{
	uint32_t id, owner;
	return tuple_field_u32(row, 0, &id) == 0 && tuple_field_u32(row, 1, &owner) == 0 &&
		(id == cr->uid || owner == cr->uid || id == ROLE_PUBLIC);
}

/** What one was granted or has granted. */
static bool priv_is_visible(const struct credentials *cr, struct tuple *row)
{
	uint32_t grantor, grantee;
	return tuple_field_u32(row, 0, &grantor) == 0 && tuple_field_u32(row, 1, &grantee) == 0 &&
		(grantor == cr->uid || grantee == cr->uid);
}

static bool row_is_visible(uint32_t base_id, struct tuple *row)
{
	const struct credentials *cr = credentials_current();
	if (credentials_universal(cr) & VISIBLE)
		return true;
	if (users[cr->token] == NULL || users[cr->token]->id != cr->uid)
		return false;
	/* Who may read the space itself sees all of it here, too. */
	const struct space *base = space_by_id(base_id);
	if (base != NULL && (base->access.effective[cr->token] & PRIV_READ))
		return true;
	switch (base_id) {
	case SPACE_SPACE:
	case SPACE_INDEX: return space_is_visible(cr, row);
	case SPACE_FUNC: return func_is_visible(cr, row);
	case SPACE_SEQUENCE: return sequence_is_visible(cr, row);
	case SPACE_USER: return user_is_visible(cr, row);
	case SPACE_PRIV: return priv_is_visible(cr, row);
	default: return true;
	}
}

/* The index -------------------------------------------------------------------- */

static uint32_t view_base_id(const struct index *index)
{
	return system_view_base(index->def->space_id);
}

/** The index behind; NULL with an error where it is gone. */
static struct index *view_base_index(const struct index *index)
{
	struct space *space = space_find(view_base_id(index));
	return space == NULL ? NULL : space_index_find(space, index->def->iid);
}

struct view_iterator {
	struct iterator base;
	/** Over the index behind. */
	struct iterator *inner;
	uint32_t base_id;
};

static int view_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct view_iterator *it = (struct view_iterator *)base;
	int rc;
	while ((rc = it->inner->next(it->inner, tuple)) == 0 && *tuple != NULL) {
		if (row_is_visible(it->base_id, *tuple))
			break;
	}
	return rc;
}

static int view_iterator_seek(struct iterator *base, const char *position)
{
	struct iterator *inner = ((struct view_iterator *)base)->inner;
	return inner->seek(inner, position);
}

static void view_iterator_free(struct iterator *base)
{
	struct view_iterator *it = (struct view_iterator *)base;
	it->inner->free(it->inner);
	xfree(it);
}

static struct iterator *view_iterator(struct index *index, enum iterator_type type,
				      const char *key, uint32_t part_count)
{
	struct index *behind = view_base_index(index);
	/* The view's iterator may outlive the index behind: so does this one. */
	struct iterator *inner = behind == NULL ? NULL :
		index_iterator_new(behind, type, key, part_count);
	if (inner == NULL)
		return NULL;
	struct view_iterator *it = xcalloc(1, sizeof(*it));
	it->base.next = view_iterator_next;
	it->base.free = view_iterator_free;
	it->base.seek = inner->seek != NULL ? view_iterator_seek : NULL;
	it->base.index = index;
	it->inner = inner;
	it->base_id = view_base_id(index);
	return &it->base;
}

static void view_destroy(struct index *index)
{
	xfree(index);
}

static size_t view_bsize(struct index *index)
{
	(void)index;
	return 0;
}

/** The first row that an iterator finds. */
static int view_first(struct index *index, enum iterator_type type, const char *key,
		      uint32_t part_count, struct tuple **result)
{
	struct iterator *it = view_iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	int rc = it->next(it, result);
	it->free(it);
	return rc;
}

static int view_min(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	return view_first(index, part_count == 0 ? ITER_ALL : ITER_EQ, key, part_count, result);
}

static int view_max(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	return view_first(index, part_count == 0 ? ITER_LE : ITER_REQ, key, part_count, result);
}

static int view_get(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct index *behind = view_base_index(index);
	if (behind == NULL || behind->vtab->get(behind, key, part_count, result) != 0)
		return -1;
	if (*result != NULL && !row_is_visible(view_base_id(index), *result))
		*result = NULL;
	return 0;
}

static int64_t view_count(struct index *index, enum iterator_type type, const char *key,
			  uint32_t part_count)
{
	struct iterator *it = view_iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	int64_t count = 0;
	struct tuple *tuple;
	int rc;
	while ((rc = it->next(it, &tuple)) == 0 && tuple != NULL)
		count++;
	it->free(it);
	return rc == 0 ? count : -1;
}

/* What is NULL is not supported: see db_index_len() and db_index_random(). */
static const struct index_vtab view_index_vtab = {
	.destroy = view_destroy,
	.bsize = view_bsize,
	.min = view_min,
	.max = view_max,
	.count = view_count,
	.get = view_get,
	.iterator = view_iterator,
};

static struct index *view_index_create(struct space *space, const struct index_def *def,
					struct tuple_format *format)
{
	(void)format;
	if (system_view_base(space_id(space)) == space_id(space)) {
		client_error(ER_MODIFY_INDEX, def->name, space_name(space),
			     "unknown space for system view");
		return NULL;
	}
	struct index *index = xcalloc(1, sizeof(*index));
	index->vtab = &view_index_vtab;
	index->def = index_def_dup(def);
	index->space_name = xstrdup(space_name(space));
	return index;
}

/* Statements ------------------------------------------------------------------------ */

static int view_refuse(struct space *space, struct txn *txn, struct request *request)
{
	(void)txn;
	(void)request;
	client_error(ER_VIEW_IS_RO, space_name(space));
	return -1;
}

static void view_undo(struct space *space, struct tuple *old, struct tuple *new)
{
	(void)space;
	(void)old;
	(void)new;
	assert(false);
}

const struct space_vtab sysview_space_vtab = {
	.engine_name = "sysview",
	.replace = view_refuse,
	.delete = view_refuse,
	.update = view_refuse,
	.upsert = view_refuse,
	.undo = view_undo,
	.index_create = view_index_create,
};
