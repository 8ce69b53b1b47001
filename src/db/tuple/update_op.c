/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations: reading them. All are read and checked before the first is
 * applied, so a request that makes no sense fails whatever the row holds.
 */
#include <stdio.h>
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/update_private.h"

/** Where an operation is read from. */
struct op_reader {
	const char *pos;
	const struct tuple_dictionary *dict;
	int index_base;
};

const char *update_op_field_str(const struct update_op *op)
{
	static _Thread_local char text[256];
	if (op->name != NULL)
		snprintf(text, sizeof(text), "'%.*s'", (int)op->name_len, op->name);
	else
		snprintf(text, sizeof(text), "%lld",
			 op->field_no >= 0 ? op->field_no + 1LL : op->field_no);
	return text;
}

int update_error_arg_type(const struct update_op *op, const char *expected)
{
	client_error(ER_UPDATE_ARG_TYPE, op->opcode, update_op_field_str(op), expected);
	return -1;
}

int update_error_no_field(const struct update_op *op)
{
	client_error(op->name != NULL ? ER_NO_SUCH_FIELD_NAME : ER_NO_SUCH_FIELD_NO,
		     update_op_field_str(op));
	return -1;
}

int update_error_field(const struct update_op *op, const char *text)
{
	client_error(ER_UPDATE_FIELD, update_op_field_str(op), text);
	return -1;
}

static int error_params(const char *text)
{
	client_error(ER_ILLEGAL_PARAMS, text);
	return -1;
}

static int read_opcode(struct op_reader *r, uint32_t number, uint32_t arg_count,
		       struct update_op *op)
{
	if (mp_typeof(*r->pos) != MP_STR)
		return error_params("update operation name must be a string");
	uint32_t len;
	const char *name = mp_decode_str(&r->pos, &len);
	char text[128];
	if (len != 1 || memchr("+-&|^:=!#", *name, 9) == NULL) {
		snprintf(text, sizeof(text), "\"%.*s\"", len < 100 ? (int)len : 100, name);
		client_error(ER_UNKNOWN_UPDATE_OP, number, text);
		return -1;
	}
	op->opcode = *name;
	uint32_t expected = op->opcode == ':' ? 5 : 3;
	if (arg_count != expected) {
		snprintf(text, sizeof(text), "wrong number of arguments, expected %u, got %u",
			 expected, arg_count);
		client_error(ER_UNKNOWN_UPDATE_OP, number, text);
		return -1;
	}
	return 0;
}

/** A number in the range of int32_t; the value is stepped over. */
static bool read_int32(struct op_reader *r, int32_t *result)
{
	int64_t value;
	if (!mp_read_int64(&r->pos, &value) || value < INT32_MIN || value > INT32_MAX)
		return false;
	*result = value;
	return true;
}

static int read_field_number(struct op_reader *r, struct update_op *op)
{
	if (!read_int32(r, &op->field_no))
		return update_error_arg_type(op, "an integer");
	if (op->field_no < 0)
		return 0;
	op->field_no -= r->index_base;
	if (op->field_no < 0) {
		client_error(ER_NO_SUCH_FIELD_NO, "0");
		return -1;
	}
	return 0;
}

int update_error_path(const struct update_op *op, int position)
{
	char text[64];
	snprintf(text, sizeof(text), "invalid JSON in position %d", position);
	return update_error_field(op, text);
}

static int error_no_such_name(const struct update_op *op)
{
	char name[256];
	snprintf(name, sizeof(name), "%.*s", (int)op->name_len, op->name);
	client_error(ER_NO_SUCH_FIELD_NAME, name);
	return -1;
}

/** A field's name, or a path whose first step is the field. */
static int read_field_name(struct op_reader *r, struct update_op *op)
{
	op->name = mp_decode_str(&r->pos, &op->name_len);
	int found = r->dict != NULL ? tuple_dictionary_find(r->dict, op->name, op->name_len) : -1;
	if (found >= 0) {
		op->field_no = found;
		return 0;
	}
	op->path = json_path_of(op->name, op->name_len);
	struct json_token token;
	int position = json_path_next(&op->path, &token);
	if (position != 0)
		return update_error_path(op, position);
	switch (token.type) {
	case JSON_TOKEN_END:
	case JSON_TOKEN_ANY:
		return error_no_such_name(op);
	case JSON_TOKEN_INDEX:
		if (token.index > INT32_MAX)
			return update_error_no_field(op);
		op->field_no = token.index;
		break;
	case JSON_TOKEN_KEY:
		found = r->dict != NULL ?
			tuple_dictionary_find(r->dict, token.key, token.key_len) : -1;
		if (found < 0)
			return error_no_such_name(op);
		op->field_no = found;
		break;
	}
	/* The rest is checked when it is followed: upsert skips what is wrong there. */
	op->has_path = op->path.offset < op->path.len;
	return 0;
}

static int read_field(struct op_reader *r, struct update_op *op)
{
	switch (mp_typeof(*r->pos)) {
	case MP_UINT:
	case MP_INT:
		return read_field_number(r, op);
	case MP_STR:
		return read_field_name(r, op);
	default:
		return error_params("field id must be a number or a string");
	}
}

static int read_number(struct op_reader *r, struct update_op *op)
{
	if (!update_number_read(r->pos, &op->number))
		return update_error_arg_type(op, "a number");
	mp_next(&r->pos);
	return 0;
}

static int read_bits(struct op_reader *r, struct update_op *op)
{
	if (!mp_read_uint64(&r->pos, &op->bits))
		return update_error_arg_type(op, "a positive integer");
	return 0;
}

static int read_delete_count(struct op_reader *r, struct update_op *op)
{
	uint64_t count;
	if (!mp_read_uint64(&r->pos, &count))
		return update_error_arg_type(op, "a positive integer");
	/* The count is taken modulo 2^32, as in the reference. */
	op->delete_count = (uint32_t)count;
	if (op->delete_count == 0)
		return update_error_field(op, "cannot delete 0 fields");
	return 0;
}

static int read_splice(struct op_reader *r, struct update_op *op)
{
	int32_t offset, cut;
	if (!read_int32(r, &offset))
		return update_error_arg_type(op, "an integer");
	if (offset >= 0) {
		if (offset < r->index_base) {
			client_error(ER_UPDATE_SPLICE, update_op_field_str(op),
				     "offset is out of bound");
			return -1;
		}
		offset -= r->index_base;
	}
	if (!read_int32(r, &cut))
		return update_error_arg_type(op, "an integer");
	if (mp_typeof(*r->pos) != MP_STR)
		return update_error_arg_type(op, "a string");
	op->offset = offset;
	op->cut = cut;
	op->paste = mp_decode_str(&r->pos, &op->paste_len);
	return 0;
}

static int read_value(struct op_reader *r, struct update_op *op)
{
	op->value = r->pos;
	mp_next(&r->pos);
	op->value_size = r->pos - op->value;
	return 0;
}

static int read_args(struct op_reader *r, struct update_op *op)
{
	switch (op->opcode) {
	case '+':
	case '-':
		return read_number(r, op);
	case '&':
	case '|':
	case '^':
		return read_bits(r, op);
	case '#':
		return read_delete_count(r, op);
	case ':':
		return read_splice(r, op);
	default:
		return read_value(r, op);
	}
}

/** Reads operation `number`, counted from 1. */
static int read_op(struct op_reader *r, uint32_t number, struct update_op *op)
{
	op->name = NULL;
	op->field_no = 0;
	op->has_path = op->is_of_double = false;
	if (mp_typeof(*r->pos) != MP_ARRAY)
		return error_params("update operation must be an array {op,..}");
	uint32_t arg_count = mp_decode_array(&r->pos);
	if (arg_count == 0)
		return error_params("update operation must be an array {op,..}, got empty array");
	if (read_opcode(r, number, arg_count, op) != 0 || read_field(r, op) != 0)
		return -1;
	return read_args(r, op);
}

int update_read_ops(const char *ops, const char *ops_end, const struct tuple_dictionary *dict,
		    int index_base, struct region *region, struct update_op **result,
		    uint32_t *count)
{
	struct op_reader r = {.pos = ops, .dict = dict, .index_base = index_base};
	if (mp_typeof(*ops) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return -1;
	}
	*count = mp_decode_array(&r.pos);
	if (*count > UPDATE_OP_MAX)
		return error_params("too many operations for update");
	*result = region_alloc(region, *count * sizeof(**result) + 1);
	if (*result == NULL)
		return -1;
	for (uint32_t i = 0; i < *count; i++)
		if (read_op(&r, i + 1, &(*result)[i]) != 0)
			return -1;
	return 0;
}
