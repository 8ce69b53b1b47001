/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Functional indexes: what their functions return, checked; and rows of _func_index,
 * which tie an index to its function.
 */
#include <stdio.h>

#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/index/index.h"
#include "db/schema/access.h"
#include "db/schema/alter_shape.h"
#include "db/schema/func.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/txn/txn.h"

/* Keys ------------------------------------------------------------------------ */

static int format_error(const struct index *index, const char *text)
{
	client_error(ER_FUNC_INDEX_FORMAT, index->def->name, index->space_name, text);
	return -1;
}

/** The last error becomes the cause of one about the index. Returns -1. */
static int error_because(const struct index *index, unsigned code, const char *text)
{
	struct error *e = client_error_new(code, __FILE__, __LINE__, index->def->name,
					   index->space_name, text);
	diag_add_error(e);
	error_unref(e);
	return -1;
}

static int func_key_check(const struct index *index, const char *key)
{
	const struct key_def *def = index->def->key_def;
	if (mp_typeof(*key) != MP_ARRAY)
		return format_error(index, "supplied key type is invalid: expected array");
	uint32_t part_count = mp_decode_array(&key);
	if (part_count != def->part_count) {
		char text[128];
		snprintf(text, sizeof(text), "Invalid key part count in an exact match "
			 "(expected %u, got %u)", def->part_count, part_count);
		return format_error(index, text);
	}
	if (key_validate(def, key, part_count, true, true) != 0)
		return error_because(index, ER_FUNC_INDEX_FORMAT,
				     "key does not follow functional index definition");
	return 0;
}

/** Calls the function; what it returns is appended one behind the other. The count, or -1. */
static int func_call_for_row(const struct index *index, struct tuple *row, struct buf *out)
{
	struct func *func = index->def->func;
	struct port args, result;
	port_c_create(&args);
	port_c_add_tuple(&args, row);
	int count = -1;
	/* Whoever may change the space need not have a right to call the function. */
	if (func->vtab->call(func, &args, &result) == 0) {
		count = port_dump(&result, out, false);
		port_destroy(&result);
	}
	port_destroy(&args);
	return count >= 0 ? count :
		error_because(index, ER_FUNC_INDEX_FUNC, "can't evaluate function");
}

static int func_index_keys(const struct index *index, struct tuple *row, struct buf *out,
			   uint32_t *count)
{
	int value_count = func_call_for_row(index, row, out);
	if (value_count < 0)
		return -1;
	if (value_count != 1)
		return format_error(index, "to many values were returned");
	const char *pos = out->data;
	*count = 1;
	if (index->def->func->def->is_multikey) {
		if (mp_typeof(*pos) != MP_ARRAY)
			return format_error(index,
					    "a multikey function mustn't return a scalar");
		*count = mp_decode_array(&pos);
		buf_consume(out, pos - out->data);
		pos = out->data;
	}
	for (uint32_t i = 0; i < *count; i++) {
		if (func_key_check(index, pos) != 0)
			return -1;
		mp_next(&pos);
	}
	return 0;
}

void func_index_init(void)
{
	static const struct index_func_vtab vtab = {func_pin, func_unpin, func_index_keys};
	index_func_vtab = &vtab;
}

/* _func_index: [space id, index id, function id] ------------------------------- */

enum { FIELD_SPACE, FIELD_INDEX, FIELD_FUNC };

/** The function that a row names. NULL: an error is set. */
static struct func *row_func(const struct index *index, uint32_t func_id)
{
	struct func *func;
	if (index_func_find(func_id, &func) != 0)
		return NULL;
	if (func == NULL) {
		char id[16];
		snprintf(id, sizeof(id), "%u", func_id);
		client_error(ER_NO_SUCH_FUNCTION, id);
		return NULL;
	}
	if (index->def->func_id == func_id)
		return func;
	options_error(ER_WRONG_INDEX_OPTIONS, 0,
		      "Function ids defined in _index and _func_index don't match");
	return NULL;
}

int alter_on_func_index(struct txn *txn, struct txn_stmt *stmt)
{
	if (stmt->new_tuple != NULL && stmt->old_tuple != NULL) {
		client_error(ER_UNSUPPORTED, "functional index", "alter");
		return -1;
	}
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id, iid, func_id;
	if (tuple_field_u32(row, FIELD_SPACE, &id) != 0 ||
	    tuple_field_u32(row, FIELD_INDEX, &iid) != 0 ||
	    tuple_field_u32(row, FIELD_FUNC, &func_id) != 0)
		return -1;
	struct space *space = space_by_id(id);
	/* A row may outlive its index, whose own row was deleted by hand. */
	if (!db_is_configured && (space == NULL || space_index(space, iid) == NULL))
		return 0;
	space = space_find(id);
	struct index *index = space == NULL ? NULL : space_index_find(space, iid);
	if (index == NULL || access_check_ddl(PRIV_ALTER, OBJECT_SPACE, space_name(space),
					      space->def->uid, &space->access) != 0)
		return -1;
	struct func *func = stmt->new_tuple == NULL ? NULL : row_func(index, func_id);
	if (stmt->new_tuple != NULL && func == NULL)
		return -1;
	/* A row of _index finds a function that is there by itself. */
	if (index->def->func == func)
		return 0;
	struct index_def *def = index_def_dup(index->def);
	index_def_set_func(def, def->func_id, func);
	int rc = alter_index(txn, stmt, space, index, def);
	index_def_delete(def);
	return rc;
}
