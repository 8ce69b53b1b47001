/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update and upsert of a row: see update.h. The row is taken apart into its
 * fields, the operations are applied one after the other, and the fields are put
 * together; runs of fields that did not change are copied as they are.
 */
#include "db/tuple/update.h"

#include <assert.h>
#include <string.h>

#include "core/log.h"
#include "core/region.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/update_private.h"

struct update_field {
	struct update_value value;
	/** It was set or computed, so nothing more may be computed from it. */
	bool is_updated;
};

struct update {
	/** Of the space that the row is of, or NULL. */
	const struct tuple_format *format;
	struct region *region;
	struct update_field *fields;
	uint32_t count, capacity;
	uint64_t column_mask;
	struct update_op *ops;
	uint32_t op_count;
};

/** Bits of the field, and of all behind it. */
static uint64_t column_bit(uint32_t field_no)
{
	return 1ull << (field_no < 63 ? field_no : 63);
}

static uint64_t columns_from(uint32_t field_no)
{
	return ~(column_bit(field_no) - 1);
}

/** Insertions that the operations may make: each one field. */
static uint32_t insertion_count(const struct update_op *ops, uint32_t op_count)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < op_count; i++)
		count += !ops[i].has_path && (ops[i].opcode == '!' || ops[i].opcode == '=');
	return count;
}

static int update_open(struct update *u, const char *row)
{
	u->count = mp_decode_array(&row);
	u->capacity = u->count + insertion_count(u->ops, u->op_count);
	u->fields = region_alloc(u->region, u->capacity * sizeof(*u->fields) + 1);
	if (u->fields == NULL)
		return -1;
	for (uint32_t i = 0; i < u->count; i++) {
		const char *field = row;
		mp_next(&row);
		u->fields[i].value = (struct update_value){field, row - field};
		u->fields[i].is_updated = false;
	}
	return 0;
}

/**
 * Finds the field's number from 0 for an operation. '!' and '=' may name the one behind the last.
 */
static int update_resolve(const struct update *u, struct update_op *op)
{
	bool may_append = !op->has_path && (op->opcode == '!' || op->opcode == '=');
	if (op->field_no < 0) {
		int64_t field_no = (int64_t)op->field_no + u->count + (op->opcode == '!' &&
								       !op->has_path);
		if (field_no < 0)
			return update_error_no_field(op);
		op->field_no = field_no;
	}
	if ((uint32_t)op->field_no < u->count + may_append)
		return 0;
	return update_error_no_field(op);
}

static int update_insert(struct update *u, const struct update_op *op)
{
	uint32_t no = op->field_no;
	assert(u->count < u->capacity && no <= u->count);
	if (u->count >= TUPLE_FIELD_COUNT_MAX) {
		client_error(ER_TUPLE_FIELD_COUNT_LIMIT);
		return -1;
	}
	memmove(&u->fields[no + 1], &u->fields[no], (u->count - no) * sizeof(*u->fields));
	u->fields[no].value = (struct update_value){op->value, op->value_size};
	u->fields[no].is_updated = false;
	u->count++;
	u->column_mask |= columns_from(no);
	return 0;
}

static void update_delete(struct update *u, const struct update_op *op)
{
	uint32_t no = op->field_no, left = u->count - no;
	uint32_t n = op->delete_count < left ? op->delete_count : left;
	memmove(&u->fields[no], &u->fields[no + n], (left - n) * sizeof(*u->fields));
	u->count -= n;
	u->column_mask |= columns_from(no);
}

/** Has an earlier operation set or computed the same place inside the field? */
static bool update_is_place_updated(const struct update *u, const struct update_op *op,
				    uint32_t op_index)
{
	for (uint32_t i = 0; i < op_index; i++) {
		const struct update_op *other = &u->ops[i];
		if (other->has_path && other->opcode != '#' && other->name_len == op->name_len &&
		    memcmp(other->name, op->name, op->name_len) == 0)
			return true;
	}
	return false;
}

static int update_apply_inside(struct update *u, const struct update_op *op, uint32_t op_index)
{
	if (update_op_is_scalar(op) && update_is_place_updated(u, op, op_index))
		return update_error_field(op, "double update of the same field");
	struct update_field *field = &u->fields[op->field_no];
	if (update_inside(op, field->value, u->region, &field->value) != 0)
		return -1;
	u->column_mask |= column_bit(op->field_no);
	return 0;
}

static int update_apply_scalar(struct update *u, const struct update_op *op)
{
	struct update_field *field = &u->fields[op->field_no];
	if (field->is_updated)
		return update_error_field(op, "double update of the same field");
	if (update_scalar(op, field->value.data, u->region, &field->value) != 0)
		return -1;
	field->is_updated = true;
	u->column_mask |= column_bit(op->field_no);
	return 0;
}

/** Applies one operation; on failure nothing has changed. */
static int update_apply(struct update *u, uint32_t op_index)
{
	struct update_op *op = &u->ops[op_index];
	if (update_resolve(u, op) != 0)
		return -1;
	if (op->has_path)
		return update_apply_inside(u, op, op_index);
	op->is_of_double = u->format != NULL && (uint32_t)op->field_no < u->format->field_count &&
		u->format->fields[op->field_no].type == FIELD_TYPE_DOUBLE;
	switch (op->opcode) {
	case '!':
		return update_insert(u, op);
	case '#':
		update_delete(u, op);
		return 0;
	case '=':
		if ((uint32_t)op->field_no == u->count)
			return update_insert(u, op);
		u->fields[op->field_no].value = (struct update_value){op->value, op->value_size};
		u->fields[op->field_no].is_updated = true;
		u->column_mask |= column_bit(op->field_no);
		return 0;
	default:
		return update_apply_scalar(u, op);
	}
}

static const char *update_join(const struct update *u, uint32_t *new_size)
{
	size_t size = mp_sizeof_array(u->count);
	for (uint32_t i = 0; i < u->count; i++)
		size += u->fields[i].value.size;
	if (size > INT32_MAX) {
		diag_set(OutOfMemory, "A tuple of %zu bytes is too long", size);
		return NULL;
	}
	char *row = region_alloc(u->region, size);
	if (row == NULL)
		return NULL;
	char *p = mp_encode_array(row, u->count);
	for (uint32_t i = 0; i < u->count;) {
		const char *run = u->fields[i].value.data;
		size_t run_size = 0;
		do {
			run_size += u->fields[i].value.size;
			i++;
		} while (i < u->count && u->fields[i].value.data == run + run_size);
		p = mempcpy(p, run, run_size);
	}
	*new_size = size;
	return row;
}

static const char *update_run(const char *ops, const char *ops_end, const char *row,
			      const struct tuple_dictionary *dict,
			      const struct tuple_format *format, int index_base,
			      struct region *region, uint32_t *new_size, uint64_t *column_mask,
			      bool is_upsert)
{
	struct update u = {.region = region, .format = format};
	if (update_read_ops(ops, ops_end, dict, index_base, region, &u.ops, &u.op_count) != 0 ||
	    update_open(&u, row) != 0)
		return NULL;
	for (uint32_t i = 0; i < u.op_count; i++) {
		if (update_apply(&u, i) == 0)
			continue;
		if (!is_upsert || !error_is(diag_last(), &type_ClientError))
			return NULL;
		say_error("UPSERT operation failed:");
		diag_log();
		diag_clear(diag_get());
	}
	*column_mask = u.column_mask;
	return update_join(&u, new_size);
}

const char *update_execute(const char *ops, const char *ops_end, const char *row,
			   const char *row_end, const struct tuple_dictionary *dict,
			   const struct tuple_format *format, int index_base, struct region *region,
			   uint32_t *new_size, uint64_t *column_mask)
{
	return update_run(ops, ops_end, row, dict, format, index_base, region, new_size,
			  column_mask, false);
}

const char *upsert_execute(const char *ops, const char *ops_end, const char *row,
			   const char *row_end, const struct tuple_dictionary *dict,
			   const struct tuple_format *format, int index_base, struct region *region,
			   uint32_t *new_size, uint64_t *column_mask)
{
	return update_run(ops, ops_end, row, dict, format, index_base, region, new_size,
			  column_mask, true);
}

int update_check_ops(const char *ops, const char *ops_end, const struct tuple_dictionary *dict,
		     int index_base, struct region *region)
{
	struct update_op *list;
	uint32_t count;
	size_t mark = region_used(region);
	int rc = update_read_ops(ops, ops_end, dict, index_base, region, &list, &count);
	region_truncate(region, mark);
	return rc;
}
