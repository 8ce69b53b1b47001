/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _space: spaces are created, altered and dropped; and of _truncate:
 * they are emptied.
 */
#include <assert.h>
#include <string.h>

#include "db/db.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/alter_shape.h"
#include "db/schema/constraint.h"
#include "db/schema/space_build.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

static void space_cached(struct space *space)
{
	space_cache_add(space);
	schema_version++;
	schema_notice_space(space_id(space));
}

static void space_uncached(struct space *space)
{
	space_cache_del(space);
	schema_version++;
	schema_notice_space(space_id(space));
}

static void create_rollback(struct change *change)
{
	space_uncached(change->object);
	space_delete(change->object);
}

static int space_create(struct txn *txn, struct txn_stmt *stmt, struct space_def *def)
{
	if (access_check_ddl(PRIV_CREATE, OBJECT_SPACE, def->name, def->uid, NULL) != 0) {
		space_def_delete(def);
		return -1;
	}
	if (constraint_check_def(def) != 0) {
		space_def_delete(def);
		return -1;
	}
	struct space *space = space_new(def);
	if (space == NULL)
		return -1;
	struct change *change = change_new(txn, stmt, sizeof(*change), NULL, create_rollback);
	if (change == NULL) {
		space_delete(space);
		return -1;
	}
	change->object = space;
	space_cached(space);
	return 0;
}

static void drop_commit(struct change *change)
{
	space_delete(change->object);
}

static void drop_rollback(struct change *change)
{
	space_cached(change->object);
}

static int drop_error(const struct space *space, const char *text)
{
	client_error(ER_DROP_SPACE, space_name(space), text);
	return -1;
}

static int space_drop(struct txn *txn, struct txn_stmt *stmt, struct space *space)
{
	if (access_check_ddl(PRIV_DROP, OBJECT_SPACE, space_name(space), space->def->uid,
			     &space->access) != 0 || space_check_unlocked(space) != 0)
		return -1;
	if (space->index_count > 0)
		return drop_error(space, "the space has indexes");
	if (schema_object_is_granted("space", space_id(space)))
		return drop_error(space, "the space has grants");
	if (schema_space_has_row(SPACE_TRUNCATE, space_id(space)))
		return drop_error(space, "the space has truncate record");
	if (constraint_is_parent(space))
		return drop_error(space, "space is referenced by foreign key");
	struct change *change = change_new(txn, stmt, sizeof(*change), drop_commit, drop_rollback);
	if (change == NULL)
		return -1;
	change->object = space;
	space_uncached(space);
	return 0;
}

static int alter_error(const struct space *space, const char *text)
{
	client_error(ER_ALTER_SPACE, space_name(space), text);
	return -1;
}

static int space_alter_check(struct space *space, const struct space_def *def)
{
	const struct space_def *old = space->def;
	if (access_check_ddl(PRIV_ALTER, OBJECT_SPACE, def->name, old->uid,
			     &space->access) != 0 || space_check_unlocked(space) != 0)
		return -1;
	/* The reference knows one engine more, and says of it what it says of those here. */
	if (strcmp(def->engine_name, "vinyl") != 0 && engine_by_name(def->engine_name) == NULL)
		return -1;
	if (strcmp(def->engine_name, old->engine_name) != 0)
		return alter_error(space, "can not change space engine");
	/* The server's own code knows them by name. */
	if (db_is_configured && space_is_system(space) && strcmp(def->name, old->name) != 0)
		return alter_error(space, "can not rename a system space");
	if (def->is_local != old->is_local)
		return alter_error(space, "replication group is immutable");
	if (def->is_temporary != old->is_temporary && space_row_count(space) > 0)
		return alter_error(space, "can not switch temporary flag on a non-empty space");
	return 0;
}

/** Takes the definition. */
static int space_alter(struct txn *txn, struct txn_stmt *stmt, struct space *space,
		       struct space_def *def)
{
	if (space_alter_check(space, def) != 0 || constraint_check_def(def) != 0) {
		space_def_delete(def);
		return -1;
	}
	struct key_def *keys[INDEX_ID_MAX];
	for (uint32_t i = 0; i < space->index_count; i++)
		keys[i] = space->index[i]->def->key_def;
	struct alter *alter = alter_begin(txn, stmt, space, def, keys, space->index_count,
					  true);
	if (alter == NULL)
		return -1;
	alter_finish(alter, space->index, space->index_count);
	return 0;
}

int alter_on_space(struct txn *txn, struct txn_stmt *stmt)
{
	uint32_t id;
	if (tuple_field_u32(stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple, 0,
			    &id) != 0)
		return -1;
	/* The first rows of _space are those of spaces that it took to write them. */
	struct space *space = space_by_id(id);
	if (stmt->new_tuple == NULL) {
		assert(space != NULL);
		return space_drop(txn, stmt, space);
	}
	struct space_def *def = space_def_decode(stmt->new_tuple, space == NULL ?
						 ER_CREATE_SPACE : ER_ALTER_SPACE);
	if (def == NULL)
		return -1;
	return space == NULL ? space_create(txn, stmt, def) : space_alter(txn, stmt, space, def);
}

/** Makes empty indexes like those of the space. */
static int truncate_make_indexes(struct space *space, struct index **index)
{
	uint32_t count = space->index_count;
	for (uint32_t i = 0; i < count; i++) {
		/* Without a primary index there are no rows to fill it with. */
		space->index_count = 0;
		index[i] = space->vtab->index_create(space, space->index[i]->def, NULL);
		space->index_count = count;
		if (index[i] == NULL) {
			while (i-- > 0)
				index_delete(index[i]);
			return -1;
		}
	}
	return 0;
}

int alter_on_truncate(struct txn *txn, struct txn_stmt *stmt)
{
	uint32_t id;
	if (stmt->new_tuple == NULL)
		return 0;
	if (tuple_field_u32(stmt->new_tuple, 0, &id) != 0)
		return -1;
	struct space *space = space_find(id);
	if (space == NULL)
		return -1;
	if (!db_is_configured && space->index_count == 0)
		return 0;
	if (space_is_system(space)) {
		client_error(ER_TRUNCATE_SYSTEM_SPACE, space_name(space));
		return -1;
	}
	if (space_access_check(space, PRIV_WRITE) != 0 || space_check_unlocked(space) != 0 ||
	    (db_is_configured && constraint_check_truncate(space) != 0))
		return -1;
	struct key_def *keys[INDEX_ID_MAX];
	struct index *index[INDEX_ID_MAX];
	for (uint32_t i = 0; i < space->index_count; i++)
		keys[i] = space->index[i]->def->key_def;
	if (truncate_make_indexes(space, index) != 0)
		return -1;
	uint32_t version = schema_version;
	uint32_t index_count = space->index_count;
	struct alter *alter = alter_begin(txn, stmt, space, space->def, keys, index_count,
					  false);
	if (alter == NULL) {
		while (index_count-- > 0)
			index_delete(index[index_count]);
		return -1;
	}
	alter->drops_tuples = space->vtab->owns_tuples;
	alter_finish(alter, index, index_count);
	schema_version = version;
	return 0;
}
