/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Before a statement changes a space: values from its sequence, and triggers that
 * may put another tuple in the place of the new one.
 */
#include <string.h>

#include "core/fiber.h"
#include "data/mp.h"
#include "db/db_int.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/schema/sequence.h"
#include "db/tuple/field_path.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "db/txn/txn.h"

/* Sequences ------------------------------------------------------------------------ */

/** Writes the tuple anew with `value` in the place of the nil at `field`. */
static int put_value(struct request *request, const char *field, int64_t value,
		     struct region *region)
{
	size_t before = field - request->tuple, after = request->tuple_end - field - 1;
	char *tuple = region_alloc(region, before + after + 9);
	if (tuple == NULL)
		return -1;
	memcpy(tuple, request->tuple, before);
	char *p = tuple + before;
	p = value < 0 ? mp_encode_int(p, value) : mp_encode_uint(p, value);
	memcpy(p, field + 1, after);
	request->tuple = tuple;
	request->tuple_end = p + after;
	return 0;
}

int db_handle_sequence(struct space *space, struct request *request, struct region *region)
{
	if (request->type != IPROTO_INSERT && request->type != IPROTO_REPLACE)
		return 0;
	struct sequence *seq = space->sequence;
	const char *field = request->tuple;
	/* What is no array or too short is an error of the statement's. */
	if (mp_typeof(*field) != MP_ARRAY || mp_decode_array(&field) <= space->sequence_fieldno)
		return 0;
	for (uint32_t i = 0; i < space->sequence_fieldno; i++)
		mp_next(&field);
	if (space->sequence_path != NULL) {
		const struct field_path *path = space->sequence_path->path;
		field = field_path_walk(path, field, 0, path->step_count);
		if (field == NULL)
			return 0;
	}
	int64_t value;
	/* One that was made for the space needs no rights but the space's. */
	if (request->header == NULL && !seq->is_generated && sequence_access_check(seq) != 0)
		return -1;
	if (mp_typeof(*field) == MP_NIL && request->header == NULL) {
		if (sequence_advance(seq, &value) != 0)
			return -1;
		return put_value(request, field, value, region);
	}
	if (mp_read_int64(&field, &value))
		sequence_follow(seq, value);
	return 0;
}

/* Triggers ------------------------------------------------------------------------- */

/** The tuple that a change by key is about; NULL where there is none. */
static int find_old_by_key(struct space *space, const struct request *request,
			   struct tuple **tuple)
{
	struct index *index = space_index_find_unique(space, request->index_id);
	if (index == NULL)
		return -1;
	const char *key = request->key;
	if (mp_typeof(*key) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return -1;
	}
	uint32_t part_count = mp_decode_array(&key);
	if (key_validate(index->def->key_def, key, part_count, true, false) != 0)
		return index_explain_key(index, key, part_count);
	return index->vtab->get(index, key, part_count, tuple);
}

static int find_old_of(struct space *space, const struct tuple *new, struct tuple **old)
{
	struct index *pk = space_index_find(space, 0);
	if (pk == NULL)
		return -1;
	uint32_t size;
	const char *key = tuple_extract_key(new, pk->def->key_def, &fiber()->region, &size);
	if (key == NULL)
		return -1;
	uint32_t part_count = mp_decode_array(&key);
	return pk->vtab->get(pk, key, part_count, old);
}

/** The tuple that operations make of `old`; NULL with an error. */
static struct tuple *updated(struct space *space, const struct request *request,
			     const struct tuple *old)
{
	bool is_upsert = request->type == IPROTO_UPSERT;
	const char *ops = is_upsert ? request->ops : request->tuple;
	const char *ops_end = is_upsert ? request->ops_end : request->tuple_end;
	const char *row = tuple_data(old);
	uint32_t size;
	uint64_t mask;
	const char *data = (is_upsert ? upsert_execute : update_execute)
		(ops, ops_end, row, row + old->bsize, space->format->dict, space->format,
		 request->index_base, &fiber()->region, &size, &mask);
	return data == NULL ? NULL : tuple_new(space->format, data, data + size);
}

/** The old (borrowed) and the new tuple (counted) as they would be without triggers. */
static int find_tuples(struct space *space, const struct request *request, struct tuple **old,
		       struct tuple **new)
{
	*old = *new = NULL;
	if (request->type == IPROTO_DELETE || request->type == IPROTO_UPDATE) {
		if (find_old_by_key(space, request, old) != 0)
			return -1;
		if (*old == NULL || request->type == IPROTO_DELETE)
			return 0;
		*new = updated(space, request, *old);
		return *new == NULL ? -1 : 0;
	}
	*new = tuple_new(space->format, request->tuple, request->tuple_end);
	if (*new == NULL)
		return -1;
	if (find_old_of(space, *new, old) == 0) {
		if (request->type != IPROTO_UPSERT || *old == NULL)
			return 0;
		tuple_unref(*new);
		*new = updated(space, request, *old);
		return *new == NULL ? -1 : 0;
	}
	tuple_unref(*new);
	return -1;
}

static int check_by_format(const struct space *space, const struct tuple *tuple)
{
	if (tuple == NULL)
		return 0;
	const char *data = tuple_data(tuple);
	return tuple_format_validate(space->format, data, data + tuple->bsize);
}

/**
 * The request that has the effect of the tuple that triggers left. Triggers may have
 * changed the space: its primary key may be gone, or be one that the tuples do not have.
 */
static int request_from_tuples(struct space *space, struct request *request,
			       const struct tuple *old, const struct tuple *new,
			       struct region *region)
{
	uint32_t size;
	const char *data = NULL;
	const struct index *pk = space_index_find(space, 0);
	if (pk == NULL || check_by_format(space, old) != 0 || check_by_format(space, new) != 0)
		return -1;
	const struct key_def *key_def = pk->def->key_def;
	request->index_id = 0;
	if (new == old) {
		request->type = IPROTO_NOP;
	} else if (new == NULL) {
		data = tuple_extract_key(old, key_def, region, &size);
		request->type = IPROTO_DELETE;
		request->key = data;
		request->key_end = data + size;
	} else {
		if (old != NULL && tuple_compare(old, new, key_def) != 0) {
			client_error(ER_CANT_UPDATE_PRIMARY_KEY, pk->def->name, space_name(space));
			return -1;
		}
		data = tuple_data_range(new, &size);
		data = region_memdup(region, data, size);
		request->type = IPROTO_REPLACE;
		request->tuple = data;
		request->tuple_end = data + size;
		request->ops = request->ops_end = NULL;
	}
	if (request->type != IPROTO_NOP && data == NULL)
		return -1;
	return 0;
}

int db_before_replace(struct space *space, struct txn *txn, struct request *request)
{
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	struct tuple *old, *new;
	int rc = find_tuples(space, request, &old, &new);
	region_truncate(region, mark);
	if (rc != 0 || (old == NULL && new == NULL))
		return rc;
	struct txn_stmt *stmt = txn_stmt_current(txn);
	if (old != NULL)
		tuple_ref(old);
	stmt->old_tuple = old;
	stmt->new_tuple = new;
	if (new != NULL)
		tuple_ref(new);
	rc = trigger_run(&space->before_replace, txn);
	if (rc == 0)
		rc = txn_check(txn);
	if (rc == 0)
		txn_stmt_put_last(txn);
	struct tuple *wanted = stmt->new_tuple;
	stmt->old_tuple = stmt->new_tuple = NULL;
	if (rc == 0 && wanted != new)
		rc = request_from_tuples(space, request, old, wanted, &txn->region);
	if (old != NULL)
		tuple_unref(old);
	if (wanted != NULL)
		tuple_unref(wanted);
	if (new != NULL)
		tuple_unref(new);
	return rc;
}
