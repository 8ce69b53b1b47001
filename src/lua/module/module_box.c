/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module interface (include/tarn/module.h): tuples, data, errors, results of
 * stored procedures. None of the header is included here, since it names tuples and
 * errors by types of its own.
 *
 * A tuple that a function returns lives until the fiber's next call of such a
 * function, unless the module counts it with box_tuple_ref().
 */
#include "lua/module/module_box.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"

#define API __attribute__((visibility("default")))

static int slot;

static void recycle(struct fiber *f, void *value)
{
	tuple_unref(value);
	f->slot[slot] = NULL;
}

/** The fiber holds the counted tuple now, in place of the one before. */
static struct tuple *keep(struct tuple *tuple)
{
	struct fiber *f = fiber();
	if (f->slot[slot] != NULL)
		tuple_unref(f->slot[slot]);
	f->slot[slot] = tuple;
	return tuple;
}

/** By address, since it is the other argument's evaluation that sets it. */
static int give(int rc, struct tuple **tuple, struct tuple **result)
{
	if (rc == 0 && *tuple != NULL)
		keep(*tuple);
	if (rc == 0 && result != NULL)
		*result = *tuple;
	return rc;
}

/* Tuples ----------------------------------------------------------------------- */

API struct tuple_format *box_tuple_format_default(void);
API struct tuple *box_tuple_new(struct tuple_format *format, const char *data, const char *end);
API int box_tuple_ref(struct tuple *tuple);
API void box_tuple_unref(struct tuple *tuple);
API uint32_t box_tuple_field_count(struct tuple *tuple);
API size_t box_tuple_bsize(struct tuple *tuple);
API ssize_t box_tuple_to_buf(struct tuple *tuple, char *buf, size_t size);
API const char *box_tuple_field(struct tuple *tuple, uint32_t fieldno);

struct tuple_format *box_tuple_format_default(void)
{
	return tuple_format_default;
}

struct tuple *box_tuple_new(struct tuple_format *format, const char *data, const char *end)
{
	struct tuple *tuple = tuple_new(format, data, end);
	if (tuple == NULL)
		return NULL;
	tuple_ref(tuple);
	return keep(tuple);
}

int box_tuple_ref(struct tuple *tuple)
{
	tuple_ref(tuple);
	return 0;
}

void box_tuple_unref(struct tuple *tuple)
{
	tuple_unref(tuple);
}

uint32_t box_tuple_field_count(struct tuple *tuple)
{
	return tuple_field_count(tuple);
}

size_t box_tuple_bsize(struct tuple *tuple)
{
	return tuple->bsize;
}

ssize_t box_tuple_to_buf(struct tuple *tuple, char *buf, size_t size)
{
	if (tuple->bsize <= size)
		memcpy(buf, tuple_data(tuple), tuple->bsize);
	return tuple->bsize;
}

const char *box_tuple_field(struct tuple *tuple, uint32_t fieldno)
{
	return tuple_field(tuple, fieldno);
}

/* Results ------------------------------------------------------------------------ */

API int box_return_tuple(struct box_function_ctx *ctx, struct tuple *tuple);
API int box_return_mp(struct box_function_ctx *ctx, const char *mp, const char *mp_end);

int box_return_tuple(struct box_function_ctx *ctx, struct tuple *tuple)
{
	port_c_add_tuple(box_function_result(ctx), tuple);
	return 0;
}

int box_return_mp(struct box_function_ctx *ctx, const char *mp, const char *mp_end)
{
	port_c_add_mp(box_function_result(ctx), mp, mp_end);
	return 0;
}

/* Data ------------------------------------------------------------------------------ */

API uint32_t box_space_id_by_name(const char *name, uint32_t len);
API uint32_t box_index_id_by_name(uint32_t space_id, const char *name, uint32_t len);
API int box_insert(uint32_t space_id, const char *tuple, const char *tuple_end,
		   struct tuple **result);
API int box_replace(uint32_t space_id, const char *tuple, const char *tuple_end,
		    struct tuple **result);
API int box_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		   struct tuple **result);
API int box_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		   const char *ops, const char *ops_end, int index_base, struct tuple **result);
API int box_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
		   const char *ops, const char *ops_end, int index_base, struct tuple **result);
API int box_truncate(uint32_t space_id);
API ssize_t box_index_len(uint32_t space_id, uint32_t index_id);
API ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type, const char *key,
			    const char *key_end);
API int box_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		      struct tuple **result);

uint32_t box_space_id_by_name(const char *name, uint32_t len)
{
	const struct space *space = space_by_name(name, len);
	return space != NULL ? space->def->id : UINT32_MAX;
}

uint32_t box_index_id_by_name(uint32_t space_id, const char *name, uint32_t len)
{
	const struct space *space = space_by_id(space_id);
	for (uint32_t i = 0; space != NULL && i < space->index_count; i++) {
		const char *s = space->index[i]->def->name;
		if (strlen(s) == len && memcmp(s, name, len) == 0)
			return space->index[i]->def->iid;
	}
	return UINT32_MAX;
}

int box_insert(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_insert(space_id, tuple, tuple_end, &t), &t, result);
}

int box_replace(uint32_t space_id, const char *tuple, const char *tuple_end,
		struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_replace(space_id, tuple, tuple_end, &t), &t, result);
}

int box_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_delete(space_id, index_id, key, key_end, &t), &t, result);
}

int box_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_update(space_id, index_id, key, key_end, ops, ops_end, index_base, &t), &t,
		    result);
}

int box_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
	       const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_upsert(space_id, index_id, tuple, tuple_end, ops, ops_end, index_base, &t),
		    &t, result);
}

int box_truncate(uint32_t space_id)
{
	return db_truncate(space_id);
}

ssize_t box_index_len(uint32_t space_id, uint32_t index_id)
{
	return db_index_len(space_id, index_id);
}

ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type, const char *key,
			const char *key_end)
{
	return db_index_count(space_id, index_id, (uint32_t)type, key, key_end);
}

int box_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  struct tuple **result)
{
	struct tuple *t = NULL;
	return give(db_index_get(space_id, index_id, key, key_end, &t), &t, result);
}

/* Errors ------------------------------------------------------------------------------ */

API const struct error *box_error_last(void);
API const char *box_error_type(const struct error *e);
API uint32_t box_error_code(const struct error *e);
API const char *box_error_message(const struct error *e);
API void box_error_clear(void);
API int box_error_set(const char *file, unsigned line, uint32_t code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

const struct error *box_error_last(void)
{
	return diag_last();
}

const char *box_error_type(const struct error *e)
{
	return error_type_name(e);
}

uint32_t box_error_code(const struct error *e)
{
	return error_client_code(e);
}

const char *box_error_message(const struct error *e)
{
	return e->message;
}

void box_error_clear(void)
{
	diag_clear(diag_get());
}

int box_error_set(const char *file, unsigned line, uint32_t code, const char *format, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	struct error *e = error_new(&type_ClientError, code, file, line, "%s", text);
	diag_set_error(e);
	error_unref(e);
	return -1;
}

void lua_module_box_init(void)
{
	slot = fiber_slot_new(recycle);
}
