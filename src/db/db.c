/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Start-up of the layer, and changes of data.
 */
#include "db/db.h"

#include <assert.h>
#include <string.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "core/ticks.h"
#include "data/mp.h"
#include "db/db_int.h"
#include "db/error.h"
#include "db/error_fields.h"
#include "db/proc_stat.h"
#include "db/schema/constraint.h"
#include "db/schema/memtx_gc.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/schema/sequence.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

static bool is_read_only;

void db_init(void)
{
	ticks_init();
	error_log_name = client_error_log_name;
	error_log_fields = error_print_fields;
	tuple_init();
	txn_init();
	schema_init();
	memtx_gc_init();
	tuple_memory.partner = &index_memory;
	index_memory.partner = &tuple_memory;
}

void db_free(void)
{
	proc_stat_reset();
	memtx_gc_run();
	schema_free();
	tuple_free();
}

void db_set_memory(size_t size)
{
	tuple_memory.limit = index_memory.limit = size;
}

void db_set_read_only(bool yesno)
{
	is_read_only = yesno;
}

bool db_is_read_only(void)
{
	return is_read_only;
}

int db_check_writable(const struct space *space)
{
	if (is_read_only && !space->def->is_temporary && !space->def->is_local) {
		client_error(ER_READONLY);
		error_set_string(diag_last(), "reason", "config");
		error_set_string(diag_last(), "space", space_name(space));
		return -1;
	}
	return 0;
}

/* One statement ------------------------------------------------------------------ */

static int engine_execute(struct space *space, struct txn *txn, struct request *request)
{
	switch (request->type) {
	case IPROTO_INSERT:
	case IPROTO_REPLACE:
		return space->vtab->replace(space, txn, request);
	case IPROTO_DELETE:
		return space->vtab->delete(space, txn, request);
	case IPROTO_UPDATE:
		return space->vtab->update(space, txn, request);
	case IPROTO_UPSERT:
		return space->vtab->upsert(space, txn, request);
	case IPROTO_NOP:
		return 0;
	default:
		client_error(ER_UNKNOWN_REQUEST_TYPE, request->type);
		return -1;
	}
}

/**
 * Rows of system spaces are small, and without them nothing could be dropped or emptied where
 * memory is full: no limit is for them.
 */
static int space_execute(struct space *space, struct txn *txn, struct request *request)
{
	if (!space_is_system(space))
		return engine_execute(space, txn, request);
	size_t tuple_limit = tuple_memory.limit, index_limit = index_memory.limit;
	tuple_memory.limit = index_memory.limit = SIZE_MAX;
	int rc = engine_execute(space, txn, request);
	tuple_memory.limit = tuple_limit;
	index_memory.limit = index_limit;
	return rc;
}

/**
 * The journal has changes by the primary key only, since other indexes may be gone
 * when it is read. False: there is nothing to write.
 */
static bool rebind_to_primary_key(struct space *space, struct txn *txn,
				  const struct txn_stmt *stmt, struct request *request)
{
	if (request->index_id == 0 ||
	    (request->type != IPROTO_DELETE && request->type != IPROTO_UPDATE))
		return true;
	if (stmt->old_tuple == NULL)
		return false;
	uint32_t size;
	const char *key = tuple_extract_key(stmt->old_tuple, space->index[0]->def->key_def,
					    &txn->region, &size);
	if (key == NULL)
		return false;
	request->index_id = 0;
	request->key = key;
	request->key_end = key + size;
	return true;
}

/** Is an error of the code about a row or its change, and does not say of which space? */
static bool is_about_row(unsigned code)
{
	switch (code) {
	case ER_FIELD_TYPE:
	case ER_FIELD_MISSING:
	case ER_EXACT_FIELD_COUNT:
	case ER_TUPLE_NOT_ARRAY:
	case ER_MORE_THAN_ONE_TUPLE:
	case ER_MEMTX_MAX_TUPLE_SIZE:
	case ER_UPDATE_ARG_TYPE:
	case ER_UPDATE_FIELD:
	case ER_UPDATE_SPLICE:
	case ER_UPDATE_INTEGER_OVERFLOW:
	case ER_UPDATE_DECIMAL_OVERFLOW:
	case ER_UNKNOWN_UPDATE_OP:
	case ER_NO_SUCH_FIELD_NO:
	case ER_NO_SUCH_FIELD_NAME:
		return true;
	default:
		return false;
	}
}

/** Adds to the error of a statement what only the space knows: its name, and the field's. */
static void explain_failure(const struct space *space, const struct request *request)
{
	struct error *e = diag_last();
	if (!is_about_row(e->code) || error_field(e, "space") != NULL)
		return;
	error_set_string(e, "space", space_name(space));
	const char *field = error_field(e, "field");
	uint32_t len, no = 0;
	if (field != NULL && mp_typeof(*field) == MP_STR) {
		const char *text = mp_decode_str(&field, &len);
		while (len > 0 && *text >= '0' && *text <= '9' && no < space->def->field_count) {
			no = no * 10 + (*text++ - '0');
			len--;
		}
	}
	if (no > 0 && len == 0 && no <= space->def->field_count)
		error_set_string(e, "field_name", space->def->fields[no - 1].name);
	if (request->key != NULL)
		error_set_row(e, "key", request->key, request->key_end - request->key);
	else if (request->tuple != NULL)
		error_set_row(e, "new_tuple", request->tuple,
			      request->tuple_end - request->tuple);
}

int db_execute(struct space *space, struct request *request, struct tuple **result)
{
	struct txn *txn = txn_stmt_begin(space, request->type);
	if (txn == NULL)
		return -1;
	struct txn_stmt *stmt = txn_stmt_current(txn);
	if (space->sequence != NULL && db_handle_sequence(space, request, &txn->region) != 0)
		goto fail;
	if (space->def->default_count > 0 && request->header == NULL &&
	    constraint_apply_defaults(space, request, &txn->region) != 0)
		goto fail;
	if (!list_empty(&space->before_replace) && request->header == NULL &&
	    db_before_replace(space, txn, request) != 0)
		goto fail;
	if (space_execute(space, txn, request) != 0)
		goto fail;
	bool has_row = rebind_to_primary_key(space, txn, stmt, request);
	struct tuple *tuple = request->type == IPROTO_DELETE ? stmt->old_tuple :
		request->type == IPROTO_UPSERT ? NULL : stmt->new_tuple;
	if (result != NULL && tuple != NULL)
		tuple_ref(tuple);
	if (txn_stmt_commit(txn, has_row ? request : NULL) != 0) {
		if (result != NULL && tuple != NULL)
			tuple_unref(tuple);
		return -1;
	}
	fiber()->usage.rows_written++;
	if (result != NULL)
		*result = tuple;
	return 0;
fail:
	explain_failure(space, request);
	txn_stmt_rollback(txn);
	return -1;
}

int db_process_unchecked(struct request *request, struct tuple **result)
{
	struct space *space = space_find(request->space_id);
	return space == NULL ? -1 : db_execute(space, request, result);
}

int db_process(struct request *request, struct tuple **result)
{
	struct space *space = space_find(request->space_id);
	if (space == NULL || fiber_check_slice() != 0 || db_check_writable(space) != 0 ||
	    space_access_check(space, PRIV_WRITE) != 0)
		return -1;
	return db_execute(space, request, result);
}

bool db_is_plain_change(uint32_t space_id)
{
	struct space *space = space_by_id(space_id);
	if (space == NULL || space->vtab != &memtx_space_vtab ||
	    !txn_ends_quietly(!space->def->is_temporary) || space->on_system_change != NULL ||
	    space->sequence != NULL || space->def->constraint_count > 0 ||
	    space->def->default_count > 0 || !list_empty(&space->before_replace) ||
	    !list_empty(&space->on_replace))
		return false;
	for (uint32_t i = 1; i < space->index_count; i++)
		if (space->index[i]->def->key_def->is_func)
			return false;
	return true;
}

/* By name ------------------------------------------------------------------------- */

/** Puts a tuple, as `type` has it. */
static int put(uint32_t type, uint32_t space_id, const char *tuple, const char *tuple_end,
	       struct tuple **result)
{
	struct request request;
	request_create(&request, type, space_id);
	request.tuple = tuple;
	request.tuple_end = tuple_end;
	return db_process(&request, result);
}

int db_insert(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result)
{
	return put(IPROTO_INSERT, space_id, tuple, tuple_end, result);
}

int db_replace(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result)
{
	return put(IPROTO_REPLACE, space_id, tuple, tuple_end, result);
}

int db_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	      struct tuple **result)
{
	struct request request;
	request_create(&request, IPROTO_DELETE, space_id);
	request.index_id = index_id;
	request.key = key;
	request.key_end = key_end;
	return db_process(&request, result);
}

int db_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	      const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	struct request request;
	request_create(&request, IPROTO_UPDATE, space_id);
	request.index_id = index_id;
	request.key = key;
	request.key_end = key_end;
	request.tuple = ops;
	request.tuple_end = ops_end;
	request.index_base = index_base;
	return db_process(&request, result);
}

int db_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
	      const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	struct request request;
	request_create(&request, IPROTO_UPSERT, space_id);
	request.index_id = index_id;
	request.tuple = tuple;
	request.tuple_end = tuple_end;
	request.ops = ops;
	request.ops_end = ops_end;
	request.index_base = index_base;
	return db_process(&request, result);
}

int db_truncate(uint32_t space_id)
{
	if (space_find(space_id) == NULL)
		return -1;
	struct space *truncate = space_find(SPACE_TRUNCATE);
	if (truncate == NULL || db_check_writable(truncate) != 0)
		return -1;
	/* {id, 1}, or one more where there is a row: [["+", 1, 1]] by field numbers from 0. */
	char tuple[16], ops[16], *end = tuple, *ops_end = ops;
	end = mp_encode_array(end, 2);
	end = mp_encode_uint(end, space_id);
	end = mp_encode_uint(end, 1);
	ops_end = mp_encode_array(ops_end, 1);
	ops_end = mp_encode_array(ops_end, 3);
	ops_end = mp_encode_str(ops_end, "+", 1);
	ops_end = mp_encode_uint(ops_end, 1);
	ops_end = mp_encode_uint(ops_end, 1);
	struct request request = {
		.type = IPROTO_UPSERT, .space_id = SPACE_TRUNCATE,
		.tuple = tuple, .tuple_end = end, .ops = ops, .ops_end = ops_end,
	};
	/* The change of _truncate checks the right to write to the space. */
	return db_process_unchecked(&request, NULL);
}
