/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Foreign keys at work: a child's row has to find its parent by a unique index of the parent
 * over just the fields of the key, and a parent's row may not go while a child's needs it.
 *
 * The children's rows are found by an index that begins with the fields of the key, else by
 * looking at all. A key with nil in it leads nowhere and needs nothing.
 */
#include "db/schema/constraint.h"

#include <assert.h>
#include <string.h>

#include "core/fiber.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple.h"

/** The number of a field, or NO_FIELD where the definition has no such name. */
static uint32_t field_number(const struct space_def *def, const struct field_ref *ref)
{
	if (ref->name == NULL)
		return ref->no;
	for (uint32_t i = 0; i < def->field_count; i++) {
		if (strcmp(def->fields[i].name, ref->name) == 0)
			return i;
	}
	return NO_FIELD;
}

static struct space *parent_of(struct space *child, const struct foreign_key *key)
{
	return key->space_id == 0 ? child : space_by_id(key->space_id);
}

/** Which pair of the key a part of an index is about; -1: none. */
static int find_pair(const struct key_part *part, const struct foreign_key *key,
		     const struct field_ref *refs, const struct space_def *def)
{
	for (uint32_t i = 0; i < key->field_count && part->path == NULL; i++) {
		if (field_number(def, &refs[i]) == part->fieldno)
			return i;
	}
	return -1;
}

static bool has_pairs(const struct index_def *def, uint32_t part_count,
		      const struct foreign_key *key, const struct field_ref *refs,
		      const struct space_def *space_def)
{
	if (def->key_def->part_count < part_count || def->key_def->is_func ||
	    (def->type != INDEX_TREE && def->type != INDEX_HASH))
		return false;
	for (uint32_t i = 0; i < part_count; i++) {
		if (find_pair(&def->key_def->parts[i], key, refs, space_def) < 0)
			return false;
	}
	return true;
}

/** The unique index of a parent over just the foreign fields, or NULL. */
static struct index *parent_index(struct space *parent, const struct foreign_key *key)
{
	for (uint32_t i = 0; i < parent->index_count; i++) {
		struct index *index = parent->index[i];
		if (index->def->is_unique && index->def->key_def->part_count == key->field_count &&
		    has_pairs(index->def, key->field_count, key, key->foreign, parent->def))
			return index;
	}
	return NULL;
}

/**
 * The values of a row that stand for the first parts of an index, one behind the other, on the
 * region. `of_index` are the fields that the index is about, `of_row` the row's. NULL where one of
 * them is nil or missing, or there is no memory.
 */
static const char *make_key(const struct foreign_key *key, const struct key_def *key_def,
			    const struct field_ref *of_index, const struct space_def *index_space,
			    const struct field_ref *of_row, const struct space_def *row_space,
			    const struct tuple *row, struct region *region)
{
	const char *fields[key->field_count];
	size_t sizes[key->field_count], size = 0;
	for (uint32_t i = 0; i < key->field_count; i++) {
		int pair = find_pair(&key_def->parts[i], key, of_index, index_space);
		assert(pair >= 0);
		fields[i] = tuple_field(row, field_number(row_space, &of_row[pair]));
		if (fields[i] == NULL || mp_typeof(*fields[i]) == MP_NIL)
			return NULL;
		const char *end = fields[i];
		mp_next(&end);
		sizes[i] = end - fields[i];
		size += sizes[i];
	}
	char *data = region_alloc(region, size), *pos = data;
	if (data == NULL)
		return NULL;
	for (uint32_t i = 0; i < key->field_count; i++) {
		memcpy(pos, fields[i], sizes[i]);
		pos += sizes[i];
	}
	return data;
}

/* Children ---------------------------------------------------------------------- */

static int child_error(const struct space *space, const struct constraint *c, const char *why)
{
	if (c->fieldno == NO_FIELD)
		client_error(ER_COMPLEX_FOREIGN_KEY_FAILED, c->name, why);
	else
		client_error(ER_FIELD_FOREIGN_KEY_FAILED, c->name,
			     constraint_field_text(space->def, c->fieldno), why);
	error_set_string(diag_last(), "space", space_name(space));
	return -1;
}

/** Have all of the key's own fields a value? */
static bool is_complete(const struct space_def *def, const struct foreign_key *key,
			const struct tuple *row)
{
	for (uint32_t i = 0; i < key->field_count; i++) {
		const char *field = tuple_field(row, field_number(def, &key->local[i]));
		if (field == NULL || mp_typeof(*field) == MP_NIL)
			return false;
	}
	return true;
}

static bool knows_names(const struct space_def *def, const struct foreign_key *key,
			const struct field_ref *refs)
{
	for (uint32_t i = 0; i < key->field_count; i++) {
		if (field_number(def, &refs[i]) == NO_FIELD)
			return false;
	}
	return true;
}

int foreign_key_check_row(struct space *space, const struct space_def *def,
			  const struct constraint *c, struct tuple *row)
{
	const struct foreign_key *key = c->fkey;
	if (!knows_names(def, key, key->local))
		return child_error(space, c, "wrong local field name");
	if (!is_complete(def, key, row))
		return 0;
	struct space *parent = parent_of(space, key);
	if (parent == NULL)
		return child_error(space, c, "foreign space was not found");
	if (!knows_names(parent->def, key, key->foreign))
		return child_error(space, c, "wrong foreign field name");
	struct index *index = parent_index(parent, key);
	if (index == NULL)
		return child_error(space, c, "foreign index was not found");
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	const char *data = make_key(key, index->def->key_def, key->foreign, parent->def,
				    key->local, def, row, region);
	struct tuple *found = NULL;
	int rc = 0;
	if (data == NULL)
		rc = -1;
	else if (key_validate(index->def->key_def, data, key->field_count, true, false) != 0)
		rc = child_error(space, c, "wrong key type");
	else if (index->vtab->get(index, data, key->field_count, &found) != 0)
		rc = -1;
	else if (found == NULL)
		rc = child_error(space, c, "foreign tuple was not found");
	region_truncate(region, mark);
	return rc;
}

/* Parents ----------------------------------------------------------------------- */

static uint32_t linked_version;

static int unlink_space(struct space *space, void *arg)
{
	(void)arg;
	list_create(&space->referrers);
	return 0;
}

static int link_space(struct space *space, void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < space->def->constraint_count; i++) {
		struct foreign_key *key = space->def->constraints[i].fkey;
		struct space *parent = key == NULL ? NULL : parent_of(space, key);
		if (parent == NULL)
			continue;
		key->child = space;
		key->name = space->def->constraints[i].name;
		list_add_tail(&parent->referrers, &key->link);
	}
	return 0;
}

/** Gives each space the list of foreign keys that lead to it. */
static void link_all(void)
{
	if (linked_version == schema_version)
		return;
	space_foreach(unlink_space, NULL);
	space_foreach(link_space, NULL);
	linked_version = schema_version;
}

/** Does a child's index order a part as the parent's does, so that either finds the same? */
static bool has_same_order(const struct foreign_key *key, const struct index_def *child,
			   const struct space *child_space, const struct index_def *parent,
			   const struct space *parent_space)
{
	for (uint32_t i = 0; i < key->field_count; i++) {
		int a = find_pair(&child->key_def->parts[i], key, key->local, child_space->def);
		for (uint32_t j = 0; j < key->field_count; j++) {
			int b = find_pair(&parent->key_def->parts[j], key, key->foreign,
					  parent_space->def);
			if (a == b && child->key_def->parts[i].coll_id !=
			    parent->key_def->parts[j].coll_id)
				return false;
		}
	}
	return true;
}

/** An index of the child that finds rows by the key, or NULL. */
static struct index *child_index(const struct foreign_key *key, struct space *parent,
				 const struct index *parent_index)
{
	struct space *child = key->child;
	for (uint32_t i = 0; i < child->index_count; i++) {
		struct index *index = child->index[i];
		bool is_whole = index->def->key_def->part_count == key->field_count;
		if ((index->def->type == INDEX_TREE || is_whole) &&
		    has_pairs(index->def, key->field_count, key, key->local, child->def) &&
		    has_same_order(key, index->def, child, parent_index->def, parent))
			return index;
	}
	return NULL;
}

/** Does one of the rows that the iterator finds need `old_row`? Frees it. */
static int is_needed(struct iterator *it, const struct foreign_key *key, struct space *parent,
		     const struct index *index, const struct tuple *old_row)
{
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	struct tuple *row;
	int rc = 0;
	while (rc == 0 && it->next(it, &row) == 0 && row != NULL) {
		if (row == old_row)
			continue;
		const char *data = make_key(key, index->def->key_def, key->foreign, parent->def,
					    key->local, key->child->def, row, region);
		rc = data != NULL &&
			key_validate(index->def->key_def, data, key->field_count, true,
				     false) == 0 &&
			tuple_compare_with_key(old_row, data, key->field_count,
					       index->def->key_def) == 0;
		region_truncate(region, mark);
	}
	it->free(it);
	return rc;
}

static struct iterator *find_children(const struct foreign_key *key, struct space *parent,
				      struct index *parent_by, const struct tuple *old_row)
{
	struct space *child = key->child;
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	struct index *by = child_index(key, parent, parent_by);
	const char *data = by == NULL ? NULL :
		make_key(key, by->def->key_def, key->local, child->def, key->foreign, parent->def,
			 old_row, region);
	struct iterator *it;
	if (data != NULL &&
	    key_validate(by->def->key_def, data, key->field_count, false, false) == 0)
		it = by->vtab->iterator(by, ITER_EQ, data, key->field_count);
	else
		it = child->index[0]->vtab->iterator(child->index[0], ITER_ALL, NULL, 0);
	region_truncate(region, mark);
	return it;
}

static int check_referrer(const struct foreign_key *key, struct space *parent,
			  struct tuple *old_row, struct tuple *new_row)
{
	struct space *child = key->child;
	if (child->vtab != &memtx_space_vtab || child->index_count == 0 ||
	    !knows_names(parent->def, key, key->foreign) ||
	    !knows_names(child->def, key, key->local))
		return 0;
	struct index *index = parent_index(parent, key);
	if (index == NULL || tuple_key_has_null(old_row, index->def->key_def) ||
	    (new_row != NULL && tuple_compare(old_row, new_row, index->def->key_def) == 0))
		return 0;
	struct iterator *it = find_children(key, parent, index, old_row);
	if (it == NULL)
		return -1;
	if (!is_needed(it, key, parent, index, old_row))
		return 0;
	client_error(ER_FOREIGN_KEY_INTEGRITY, key->name, "tuple is referenced");
	error_set_string(diag_last(), "space", space_name(parent));
	error_set_string(diag_last(), "child_space", space_name(child));
	return -1;
}

int foreign_key_check_parent(struct space *space, struct tuple *old_row, struct tuple *new_row)
{
	link_all();
	struct foreign_key *key;
	list_foreach_entry(key, &space->referrers, link) {
		if (check_referrer(key, space, old_row, new_row) != 0)
			return -1;
	}
	return 0;
}

bool constraint_is_parent(const struct space *space)
{
	if (foreign_key_def_count == 0)
		return false;
	link_all();
	struct foreign_key *key;
	list_foreach_entry(key, &space->referrers, link) {
		if (key->child != space)
			return true;
	}
	return false;
}

int constraint_check_truncate(const struct space *space)
{
	if (foreign_key_def_count == 0)
		return 0;
	link_all();
	struct foreign_key *key;
	list_foreach_entry(key, &space->referrers, link) {
		struct space *child = key->child;
		if (child == space || child->vtab != &memtx_space_vtab || child->index_count == 0 ||
		    child->index[0]->vtab->size(child->index[0]) == 0)
			continue;
		client_error(ER_FOREIGN_KEY_INTEGRITY, key->name,
			     "space is referenced by foreign key");
		error_set_string(diag_last(), "space", space_name(space));
		error_set_string(diag_last(), "child_space", space_name(child));
		return -1;
	}
	return 0;
}
