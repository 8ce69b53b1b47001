/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Start and end of the schema, and the spaces that are there before any row.
 */
#include "db/schema/schema.h"

#include "core/log.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/bootstrap.h"
#include "db/tuple/coll_id.h"
#include "db/schema/sequence.h"
#include "db/tuple/tuple.h"

system_change_func system_change_by_id(uint32_t space_id)
{
	switch (space_id) {
	case SPACE_SCHEMA: return alter_on_schema;
	case SPACE_COLLATION: return alter_on_collation;
	case SPACE_SPACE: return alter_on_space;
	case SPACE_SEQUENCE: return alter_on_sequence;
	case SPACE_SEQUENCE_DATA: return alter_on_sequence_data;
	case SPACE_INDEX: return alter_on_index;
	case SPACE_FUNC: return alter_on_func;
	case SPACE_FUNC_INDEX: return alter_on_func_index;
	case SPACE_USER: return alter_on_user;
	case SPACE_PRIV: return alter_on_priv;
	case SPACE_CLUSTER: return alter_on_cluster;
	case SPACE_TRUNCATE: return alter_on_truncate;
	case SPACE_SPACE_SEQUENCE: return alter_on_space_sequence;
	case SPACE_TRIGGER:
	case SPACE_FK_CONSTRAINT:
	case SPACE_CK_CONSTRAINT: return alter_on_unsupported;
	default: return NULL;
	}
}

int schema_add_first_space(const char *space_row, const char *index_row, const char *end)
{
	struct tuple *row = tuple_new(tuple_format_default, space_row, index_row);
	struct space_def *def = row == NULL ? NULL : space_def_decode(row, ER_CREATE_SPACE);
	struct space *space = def == NULL ? NULL : space_new(def);
	struct tuple *index_tuple = space == NULL ? NULL :
		tuple_new(tuple_format_default, index_row, end);
	struct index_def *index_def = index_tuple == NULL ? NULL :
		index_def_decode(index_tuple, space);
	if (row != NULL)
		tuple_unref(row);
	if (index_tuple != NULL)
		tuple_unref(index_tuple);
	int rc = index_def == NULL ? -1 : space_set_first_index(space, index_def);
	if (index_def != NULL)
		index_def_delete(index_def);
	if (rc == 0)
		space_cache_add(space);
	else if (space != NULL)
		space_delete(space);
	return rc;
}

void schema_init(void)
{
	credentials_init();
	space_cache_init();
	coll_id_cache_init();
	func_cache_init();
	func_index_init();
	sequence_cache_init();
	if (bootstrap_first_spaces() != 0) {
		diag_log();
		panic("can't create the first system spaces");
	}
	schema_version = 0;
}

void schema_free(void)
{
	space_cache_free();
	sequence_cache_free();
	func_cache_free();
	coll_id_cache_free();
	user_cache_free();
}
