/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _index: indexes are created, altered and dropped. A new index, or one
 * whose order changes, is built from the rows at once.
 */
#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/alter_shape.h"
#include "db/schema/space_build.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

/** The keys and indexes of a space that is being altered, by id. */
struct index_list {
	struct key_def *keys[INDEX_ID_MAX];
	struct index *index[INDEX_ID_MAX];
	uint32_t count;
};

/** Position of the first index whose id is not below `iid`. */
static uint32_t index_position(const struct space *space, uint32_t iid)
{
	uint32_t i = 0;
	while (i < space->index_count && space->index[i]->def->iid < iid)
		i++;
	return i;
}

static void index_list_fill(struct index_list *list, const struct space *space)
{
	list->count = space->index_count;
	for (uint32_t i = 0; i < space->index_count; i++) {
		list->index[i] = space->index[i];
		list->keys[i] = space->index[i]->def->key_def;
	}
}

static int index_add(struct txn *txn, struct txn_stmt *stmt, struct space *space,
		     const struct index_def *def)
{
	if (def->iid != 0 && space_index(space, 0) == NULL) {
		client_error(ER_ALTER_SPACE, space_name(space),
			     "can not add a secondary key before primary");
		return -1;
	}
	struct index_list list;
	index_list_fill(&list, space);
	uint32_t pos = index_position(space, def->iid);
	memmove(&list.index[pos + 1], &list.index[pos],
		(list.count - pos) * sizeof(list.index[0]));
	memmove(&list.keys[pos + 1], &list.keys[pos], (list.count - pos) * sizeof(list.keys[0]));
	list.keys[pos] = def->key_def;
	list.count++;
	struct alter *alter = alter_begin(txn, stmt, space, space->def, list.keys, list.count,
					  false);
	if (alter == NULL)
		return -1;
	if (space_row_count(space) > 0 && alter_check_alone(txn, "index build") != 0) {
		alter_abort(alter);
		return -1;
	}
	list.index[pos] = space->vtab->index_create(space, def, alter->new.format);
	if (list.index[pos] == NULL || space_builds_complete(space) != 0) {
		alter_abort(alter);
		if (list.index[pos] != NULL)
			index_delete(list.index[pos]);
		return -1;
	}
	alter_finish(alter, list.index, list.count);
	return 0;
}

static int index_drop(struct txn *txn, struct txn_stmt *stmt, struct space *space,
		      struct index *old)
{
	bool is_primary = old->def->iid == 0;
	if (is_primary && space_is_system(space)) {
		client_error(ER_LAST_DROP, space_name(space));
		return -1;
	}
	if (is_primary && space->index_count > 1) {
		client_error(ER_DROP_PRIMARY_KEY, space_name(space));
		return -1;
	}
	if (is_primary && space->sequence != NULL) {
		client_error(ER_ALTER_SPACE, space_name(space),
			     "can not drop primary key while space sequence exists");
		return -1;
	}
	struct index_list list;
	index_list_fill(&list, space);
	uint32_t pos = index_position(space, old->def->iid);
	list.count--;
	memmove(&list.index[pos], &list.index[pos + 1],
		(list.count - pos) * sizeof(list.index[0]));
	memmove(&list.keys[pos], &list.keys[pos + 1], (list.count - pos) * sizeof(list.keys[0]));
	struct alter *alter = alter_begin(txn, stmt, space, space->def, list.keys, list.count,
					  false);
	if (alter == NULL)
		return -1;
	alter->drops_tuples = is_primary && space->vtab->owns_tuples;
	alter_finish(alter, list.index, list.count);
	return 0;
}

/* Another definition of the same order: a new name. The rest stays, since the index uses it. */

static void rename_commit(struct change *change)
{
	xfree(change->old);
}

static void rename_rollback(struct change *change)
{
	struct index *index = change->object;
	index->def->name = change->old;
	xfree(change->new);
	schema_version++;
	schema_notice_space(index->def->space_id);
}

static int index_rename(struct txn *txn, struct txn_stmt *stmt, struct index *index,
			const struct index_def *def)
{
	struct change *change = change_new(txn, stmt, sizeof(*change), rename_commit,
					   rename_rollback);
	if (change == NULL)
		return -1;
	change->object = index;
	change->old = index->def->name;
	change->new = index->def->name = xstrdup(def->name);
	schema_version++;
	schema_notice_space(def->space_id);
	return 0;
}

/** Deletes the first `count` indexes, save for those that the space has. */
static void index_list_drop_new(struct index_list *list, struct space *space, uint32_t count)
{
	space_builds_end(space);
	while (count-- > 0) {
		if (list->index[count] != space->index[count])
			index_delete(list->index[count]);
	}
}

/** Builds anew the index of `def`; where that is the primary one, those ordered by its key, too. */
static int index_rebuild(struct space *space, const struct index_def *def,
			 struct tuple_format *format, struct index_list *list)
{
	struct key_def *pk_def = def->iid == 0 ? def->key_def : space->index[0]->def->key_def;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct index_def *old = space->index[i]->def;
		struct index *index = list->index[i];
		if (old->iid == def->iid) {
			index = space->vtab->index_create(space, def, format);
		} else if (def->iid == 0) {
			struct index_def *copy = index_def_dup(old);
			index_def_set_pk(copy, pk_def);
			index = space->vtab->index_create(space, copy, NULL);
			index_def_delete(copy);
		}
		if (index == NULL) {
			index_list_drop_new(list, space, i);
			return -1;
		}
		list->index[i] = index;
	}
	if (space_builds_complete(space) == 0)
		return 0;
	index_list_drop_new(list, space, list->count);
	return -1;
}

/** The collation "none" is none at all. */
static bool coll_id_same(uint32_t a, uint32_t b)
{
	return (a != COLL_ID_NONE ? a : COLL_NONE) == (b != COLL_ID_NONE ? b : COLL_NONE);
}

/** Does the order hold where rows suit both parts? */
static bool part_keeps_order(const struct key_part *a, const struct key_part *b)
{
	return key_part_same_place(a, b) && a->exclude_null == b->exclude_null &&
		a->is_desc == b->is_desc && coll_id_same(a->coll_id, b->coll_id) &&
		(field_type_contains(a->type, b->type) || field_type_contains(b->type, a->type));
}

/** Does the old order hold for the new definition, if the rows suit its format? */
static bool index_keeps_order(const struct index_def *now, const struct index_def *old)
{
	/* Of equal keys the primary key decides, whether it is among the parts or not. */
	bool is_unique = now->is_unique || old->is_unique;
	const struct key_def *to = is_unique ? now->key_def : now->cmp_def;
	const struct key_def *from = is_unique ? old->key_def : old->cmp_def;
	if (now->type != old->type || now->func_id != old->func_id ||
	    (now->is_unique && !old->is_unique) || to->part_count != from->part_count)
		return false;
	for (uint32_t i = 0; i < to->part_count; i++) {
		if (!part_keeps_order(&to->parts[i], &from->parts[i]))
			return false;
	}
	return true;
}

/** What takes long over rows is no part of a longer transaction; what does not, may be. */
static int alter_index_check_alone(const struct txn *txn, const struct space *space,
				   const struct index_def *now, const struct index_def *old,
				   const struct tuple_format *format)
{
	if (space_row_count(space) == 0)
		return 0;
	if (!index_keeps_order(now, old))
		return alter_check_alone(txn, "index build");
	return tuple_format_is_wider(format, space->format) ? 0 :
		alter_check_alone(txn, "space format check");
}

int alter_index(struct txn *txn, struct txn_stmt *stmt, struct space *space, struct index *old,
		const struct index_def *def)
{
	if (old->def->type == def->type && old->def->is_unique == def->is_unique &&
	    old->def->dimension == def->dimension && old->def->distance == def->distance &&
	    old->def->hint == def->hint && old->def->func_id == def->func_id &&
	    old->def->func == def->func && key_def_equal(old->def->key_def, def->key_def))
		return index_rename(txn, stmt, old, def);
	if (space->vtab == &service_space_vtab) {
		client_error(ER_UNSUPPORTED, "Session_settings space", "altering of indexes");
		return -1;
	}
	if (def->iid == 0 && space_sequence_check_key(space, def) != 0)
		return -1;
	/* The reference need not build the index then; here no fiber runs meanwhile either way. */
	bool is_disabled = def->func_id != 0 && def->func == NULL;
	struct index_list list;
	index_list_fill(&list, space);
	list.keys[index_position(space, def->iid)] = def->key_def;
	struct alter *alter = alter_begin(txn, stmt, space, space->def, list.keys, list.count,
					  false);
	if (alter == NULL)
		return -1;
	if ((!is_disabled &&
	     alter_index_check_alone(txn, space, def, old->def, alter->new.format) != 0) ||
	    index_rebuild(space, def, alter->new.format, &list) != 0) {
		alter_abort(alter);
		return -1;
	}
	alter_finish(alter, list.index, list.count);
	return 0;
}

int alter_on_index(struct txn *txn, struct txn_stmt *stmt)
{
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id, iid;
	if (tuple_field_u32(row, 0, &id) != 0 || tuple_field_u32(row, 1, &iid) != 0)
		return -1;
	struct space *space = space_find(id);
	if (space == NULL)
		return -1;
	uint32_t privilege = stmt->new_tuple != NULL && stmt->old_tuple == NULL ? PRIV_CREATE :
		stmt->new_tuple != NULL ? PRIV_ALTER : PRIV_DROP;
	if (access_check_ddl(privilege, OBJECT_SPACE, space_name(space), space->def->uid,
			     &space->access) != 0 || space_check_unlocked(space) != 0)
		return -1;
	/* The first rows of _index are those of indexes that it took to write them. */
	struct index *old = space_index(space, iid);
	if (stmt->new_tuple == NULL) {
		assert(old != NULL);
		return index_drop(txn, stmt, space, old);
	}
	struct index_def *def = index_def_decode(stmt->new_tuple, space);
	if (def == NULL)
		return -1;
	int rc = old == NULL ? index_add(txn, stmt, space, def) :
		alter_index(txn, stmt, space, old, def);
	index_def_delete(def);
	return rc;
}
