/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows against constraints: calls of functions, and defaults for what a row leaves out.
 */
#include "db/schema/constraint.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/port.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/schema/space_build.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "db/wal/xrow.h"

const char *constraint_field_text(const struct space_def *def, uint32_t fieldno)
{
	static _Thread_local char text[256];
	if (fieldno < def->field_count)
		snprintf(text, sizeof(text), "%u (%s)", fieldno + 1, def->fields[fieldno].name);
	else
		snprintf(text, sizeof(text), "%u", fieldno + 1);
	return text;
}

/**
 * Calls a function that may look but not touch: statements in it fail. Its results are
 * appended; their count, or -1.
 */
static int call(struct func *func, struct port *args, struct buf *out)
{
	struct port result;
	struct txn *txn = txn_current();
	bool was_read_only = txn != NULL && txn->is_read_only;
	int count = -1;
	func_pin(func);
	if (txn != NULL)
		txn->is_read_only = true;
	/* Whoever may change the space need not have a right to call the function. */
	if (func->vtab->call(func, args, &result) == 0) {
		count = port_dump(&result, out, false);
		port_destroy(&result);
	}
	func_unpin(func);
	if (txn == NULL)
		return count;
	/* It has not ended meanwhile: a statement of it is open. */
	txn->is_read_only = was_read_only;
	if (!txn->is_aborted)
		return count;
	client_error(ER_TRANSACTION_YIELD);
	return -1;
}

/** Takes the error and sets it; what the function raised, if anything, becomes its cause. */
static void set_error(struct error *e, bool has_cause, const struct space_def *def)
{
	if (has_cause)
		diag_add_error(e);
	else
		diag_set_error(e);
	error_unref(e);
	error_set_string(diag_last(), "space", def->name);
}

static int constraint_failed(const struct space_def *def, const struct constraint *c,
			     bool has_cause)
{
	struct error *e;
	if (c->fieldno == NO_FIELD)
		e = client_error_new(ER_TUPLE_CONSTRAINT_FAILED, __FILE__, __LINE__, c->name);
	else
		e = client_error_new(ER_FIELD_CONSTRAINT_FAILED, __FILE__, __LINE__, c->name,
				     constraint_field_text(def, c->fieldno));
	set_error(e, has_cause, def);
	return -1;
}

static bool is_aborted(void)
{
	const struct txn *txn = txn_current();
	return txn != NULL && txn->is_aborted;
}

/** (field or row, name) has to give true, and nothing else. */
static int check_func(const struct space_def *def, const struct constraint *c, struct tuple *row)
{
	const char *field = c->fieldno == NO_FIELD ? NULL : tuple_field(row, c->fieldno);
	/* What is not there is a matter of is_nullable. */
	if (c->fieldno != NO_FIELD && (field == NULL || mp_typeof(*field) == MP_NIL))
		return 0;
	struct func *func = func_by_id(c->func_id);
	if (func == NULL) {
		client_error(ER_CREATE_CONSTRAINT, c->name, def->name, "function was not found");
		return -1;
	}
	struct port args;
	port_c_create(&args);
	if (field == NULL) {
		port_c_add_tuple(&args, row);
	} else {
		const char *end = field;
		mp_next(&end);
		port_c_add_mp(&args, field, end);
	}
	char name[IDENTIFIER_MAX + 5];
	port_c_add_mp(&args, name, mp_encode_str(name, c->name, strlen(c->name)));
	struct buf out = {0};
	int count = call(func, &args, &out);
	bool is_true =
		count == 1 && mp_typeof(*out.data) == MP_BOOL && *(uint8_t *)out.data == 0xc3;
	buf_free(&out);
	port_destroy(&args);
	if (count < 0 && is_aborted())
		return -1;
	return is_true ? 0 : constraint_failed(def, c, count < 0);
}

int constraint_check_row(struct space *space, const struct space_def *def, struct tuple *row)
{
	for (uint32_t i = 0; i < def->constraint_count; i++) {
		const struct constraint *c = &def->constraints[i];
		int rc = c->fkey != NULL ? foreign_key_check_row(space, def, c, row) :
			check_func(def, c, row);
		if (rc != 0)
			return -1;
	}
	return 0;
}

struct rows_check {
	struct space *space;
	const struct space_def *def;
	struct tuple_format *format;
};

/** A row of the new format, by whose names the functions know the fields. */
static int check_stored_row(struct tuple *row, void *arg)
{
	const struct rows_check *check = arg;
	const char *data = tuple_data(row);
	struct tuple *copy = tuple_new(check->format, data, data + row->bsize);
	int rc = copy == NULL ? -1 : 0;
	for (uint32_t i = 0; i < check->def->constraint_count && rc == 0; i++) {
		if (check->def->constraints[i].fkey == NULL)
			rc = check_func(check->def, &check->def->constraints[i], copy);
	}
	if (copy != NULL)
		tuple_unref(copy);
	return rc;
}

static int check_stored_keys(struct space *space, const struct space_def *def)
{
	struct iterator *it = index_iterator_new(space->index[0], ITER_ALL, NULL, 0);
	if (it == NULL)
		return -1;
	struct tuple *row;
	int rc;
	while ((rc = it->next(it, &row)) == 0 && row != NULL) {
		for (uint32_t i = 0; i < def->constraint_count && rc == 0; i++) {
			if (def->constraints[i].fkey != NULL)
				rc = foreign_key_check_row(space, def, &def->constraints[i], row);
		}
		if (rc != 0)
			break;
	}
	it->free(it);
	return rc;
}

int constraint_check_rows(struct space *space, const struct space_def *def,
			  struct tuple_format *format)
{
	bool has_funcs = false, has_keys = false;
	for (uint32_t i = 0; i < def->constraint_count; i++) {
		if (def->constraints[i].fkey != NULL)
			has_keys = true;
		else
			has_funcs = true;
	}
	if (space->index_count == 0 || space->vtab != &memtx_space_vtab)
		return 0;
	struct rows_check check = {space, def, format};
	if (has_funcs && space_check_each(space, check_stored_row, &check) != 0)
		return -1;
	return has_keys ? check_stored_keys(space, def) : 0;
}

/* Defaults ---------------------------------------------------------------------- */

/** `count` values came of the function, which is wrong; below 0: it failed. */
static void default_func_failed(const struct space_def *def, const struct field_default *d,
				const struct func *func, int count)
{
	if (count < 0 && is_aborted())
		return;
	char text[64];
	snprintf(text, sizeof(text), "expected one value, got %d", count);
	const char *why = count < 0 ? diag_last()->message : text;
	set_error(client_error_new(ER_DEFAULT_FUNC_FAILED, __FILE__, __LINE__, func->def->name, why),
		  count < 0, def);
	error_set_string(diag_last(), "field", constraint_field_text(def, d->fieldno));
}

/**
 * The value of a default: its own, or what its function makes of that and the row as it was
 * given, on the region. NULL: an error.
 */
static const char *default_value(const struct space_def *def, const struct field_default *d,
				 struct tuple *row, struct region *region, uint32_t *size)
{
	if (d->func_id == 0) {
		*size = d->value_size;
		return d->value;
	}
	struct func *func = func_by_id(d->func_id);
	if (func == NULL) {
		client_error(ER_NO_SUCH_FUNCTION, tuple_field_no_str(d->func_id - 1));
		return NULL;
	}
	static const char nil = '\xc0';
	struct port args;
	struct buf out = {0};
	port_c_create(&args);
	if (d->value != NULL)
		port_c_add_mp(&args, d->value, d->value + d->value_size);
	else
		port_c_add_mp(&args, &nil, &nil + 1);
	port_c_add_tuple(&args, row);
	int count = call(func, &args, &out);
	const char *value = NULL;
	if (count == 1) {
		*size = out.size;
		value = region_memdup(region, out.data, out.size);
	} else {
		default_func_failed(def, d, func, count);
	}
	buf_free(&out);
	port_destroy(&args);
	return value;
}

static const struct field_default *default_of(const struct space_def *def, uint32_t fieldno)
{
	for (uint32_t i = 0; i < def->default_count; i++) {
		if (def->defaults[i].fieldno == fieldno)
			return &def->defaults[i];
	}
	return NULL;
}

int constraint_apply_defaults(struct space *space, struct request *request,
			      struct region *region)
{
	const struct space_def *def = space->def;
	const char *pos = request->tuple;
	if (request->type != IPROTO_INSERT && request->type != IPROTO_REPLACE &&
	    request->type != IPROTO_UPSERT)
		return 0;
	if (mp_typeof(*pos) != MP_ARRAY)
		return 0;
	uint32_t count = mp_decode_array(&pos);
	uint32_t last = def->defaults[def->default_count - 1].fieldno;
	uint32_t new_count = count > last ? count : last + 1;
	/* For functions; made at need. */
	struct tuple *row = NULL;
	struct buf out = {0};
	buf_reserve(&out, 5);
	out.size = mp_encode_array(out.data, new_count) - out.data;
	bool is_changed = new_count != count;
	int rc = -1;
	for (uint32_t i = 0; i < new_count; i++) {
		static const char nil = '\xc0';
		const char *value = i < count ? pos : &nil;
		uint32_t size = 1;
		if (i < count) {
			mp_next(&pos);
			size = pos - value;
		}
		const struct field_default *d = mp_typeof(*value) == MP_NIL ?
			default_of(def, i) : NULL;
		if (d != NULL && d->func_id != 0 && row == NULL) {
			row = tuple_new(tuple_format_default, request->tuple, request->tuple_end);
			if (row == NULL)
				goto out;
		}
		if (d != NULL) {
			value = default_value(def, d, row, region, &size);
			if (value == NULL)
				goto out;
			is_changed = true;
		}
		buf_append(&out, value, size);
	}
	rc = 0;
	if (is_changed) {
		const char *data = region_memdup(region, out.data, out.size);
		rc = data == NULL ? -1 : 0;
		request->tuple = data != NULL ? data : request->tuple;
		request->tuple_end = data != NULL ? data + out.size : request->tuple_end;
	}
out:
	buf_free(&out);
	if (row != NULL)
		tuple_unref(row);
	return rc;
}
