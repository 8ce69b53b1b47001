/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module interface (include/tarn/module.h): changes of data, results of stored
 * procedures, errors, the log, the end of the process.
 *
 * A tuple that a function returns lives until the fiber's next call of such a
 * function, unless the module counts it with box_tuple_ref().
 */
#include "lua/module/module_box.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "lua/module/module_guard.h"
#include "net/session.h"

static int slot;

static void recycle(struct fiber *f, void *value)
{
	tuple_unref(value);
	f->slot[slot] = NULL;
}

struct tuple *module_keep(struct tuple *tuple)
{
	struct fiber *f = fiber();
	if (f->slot[slot] != NULL)
		tuple_unref(f->slot[slot]);
	f->slot[slot] = tuple;
	return tuple;
}

int module_give(int rc, struct tuple *tuple, struct tuple **result)
{
	if (rc == 0 && tuple != NULL)
		module_keep(tuple);
	if (rc == 0 && result != NULL)
		*result = tuple;
	return rc;
}

/* Results ------------------------------------------------------------------------ */

MODULE_API int box_return_tuple(struct box_function_ctx *ctx, struct tuple *tuple);
MODULE_API int box_return_mp(struct box_function_ctx *ctx, const char *mp, const char *mp_end);

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

/* Names ------------------------------------------------------------------------------ */

MODULE_API uint32_t box_space_id_by_name(const char *name, uint32_t len);
MODULE_API uint32_t box_index_id_by_name(uint32_t space_id, const char *name, uint32_t len);

/** BOX_ID_NIL of the header. */
static const uint32_t ID_NIL = INT32_MAX;

uint32_t box_space_id_by_name(const char *name, uint32_t len)
{
	const struct space *space = space_by_name(name, len);
	return space != NULL ? space->def->id : ID_NIL;
}

uint32_t box_index_id_by_name(uint32_t space_id, const char *name, uint32_t len)
{
	const struct space *space = space_by_id(space_id);
	for (uint32_t i = 0; space != NULL && i < space->index_count; i++) {
		const char *s = space->index[i]->def->name;
		if (strlen(s) == len && memcmp(s, name, len) == 0)
			return space->index[i]->def->iid;
	}
	return ID_NIL;
}

/* Changes ---------------------------------------------------------------------------- */

MODULE_API int box_insert(uint32_t space_id, const char *tuple, const char *tuple_end,
			  struct tuple **result);
MODULE_API int box_replace(uint32_t space_id, const char *tuple, const char *tuple_end,
			   struct tuple **result);
MODULE_API int box_delete(uint32_t space_id, uint32_t index_id, const char *key,
			  const char *key_end, struct tuple **result);
MODULE_API int box_update(uint32_t space_id, uint32_t index_id, const char *key,
			  const char *key_end, const char *ops, const char *ops_end,
			  int index_base, struct tuple **result);
MODULE_API int box_upsert(uint32_t space_id, uint32_t index_id, const char *tuple,
			  const char *tuple_end, const char *ops, const char *ops_end,
			  int index_base, struct tuple **result);
MODULE_API int box_truncate(uint32_t space_id);

int box_insert(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result)
{
	MODULE_GUARD();
	struct tuple *t = NULL;
	int rc = db_insert(space_id, tuple, tuple_end, &t);
	return module_give(rc, t, result);
}

int box_replace(uint32_t space_id, const char *tuple, const char *tuple_end,
		struct tuple **result)
{
	MODULE_GUARD();
	struct tuple *t = NULL;
	int rc = db_replace(space_id, tuple, tuple_end, &t);
	return module_give(rc, t, result);
}

int box_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       struct tuple **result)
{
	MODULE_GUARD();
	struct tuple *t = NULL;
	int rc = db_delete(space_id, index_id, key, key_end, &t);
	return module_give(rc, t, result);
}

int box_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	       const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	MODULE_GUARD();
	struct tuple *t = NULL;
	int rc = db_update(space_id, index_id, key, key_end, ops, ops_end, index_base, &t);
	return module_give(rc, t, result);
}

int box_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
	       const char *ops, const char *ops_end, int index_base, struct tuple **result)
{
	MODULE_GUARD();
	struct tuple *t = NULL;
	int rc = db_upsert(space_id, index_id, tuple, tuple_end, ops, ops_end, index_base, &t);
	return module_give(rc, t, result);
}

int box_truncate(uint32_t space_id)
{
	MODULE_GUARD();
	return db_truncate(space_id);
}

/* Sequences -------------------------------------------------------------------------- */

MODULE_API int box_sequence_next(uint32_t seq_id, int64_t *result);
MODULE_API int box_sequence_current(uint32_t seq_id, int64_t *result);
MODULE_API int box_sequence_set(uint32_t seq_id, int64_t value);
MODULE_API int box_sequence_reset(uint32_t seq_id);

int box_sequence_next(uint32_t seq_id, int64_t *result)
{
	MODULE_GUARD();
	return db_sequence_next(seq_id, result);
}

int box_sequence_current(uint32_t seq_id, int64_t *result)
{
	return db_sequence_current(seq_id, result);
}

int box_sequence_set(uint32_t seq_id, int64_t value)
{
	MODULE_GUARD();
	return db_sequence_set(seq_id, value);
}

int box_sequence_reset(uint32_t seq_id)
{
	MODULE_GUARD();
	return db_sequence_reset(seq_id);
}

/* Errors ------------------------------------------------------------------------------ */

MODULE_API struct error *box_error_last(void);
MODULE_API const char *box_error_type(const struct error *e);
MODULE_API uint32_t box_error_code(const struct error *e);
MODULE_API const char *box_error_message(const struct error *e);
MODULE_API void box_error_clear(void);
MODULE_API int box_error_set(const char *file, unsigned line, uint32_t code,
			     const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct error *box_error_last(void)
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

/* The session, the log, the end ------------------------------------------------------- */

typedef void (*sayfunc_t)(int level, const char *file, int line, const char *error,
			  const char *format, ...);

MODULE_API int box_session_push(const char *data, const char *data_end);
extern MODULE_API sayfunc_t _say;
MODULE_API int box_on_shutdown(void *arg, int (*handler)(void *), int (*old)(void *));

int box_session_push(const char *data, const char *data_end)
{
	MODULE_GUARD();
	struct port port;
	port_c_create(&port);
	port_c_add_mp(&port, data, data_end);
	int rc = session_push(session_current(), session_sync(), &port);
	port_destroy(&port);
	return rc;
}

sayfunc_t _say = log_write;

struct shutdown_handler {
	struct list link;
	int (*handler)(void *);
	void *arg;
};

/** The last one first. */
static struct list shutdown_handlers = LIST_INIT(shutdown_handlers);

static struct shutdown_handler *find_handler(int (*handler)(void *))
{
	struct shutdown_handler *h;
	list_foreach_entry(h, &shutdown_handlers, link) {
		if (h->handler == handler)
			return h;
	}
	return NULL;
}

static void remove_handler(struct shutdown_handler *h)
{
	list_del(&h->link);
	xfree(h);
}

int box_on_shutdown(void *arg, int (*handler)(void *), int (*old)(void *))
{
	struct shutdown_handler *h = old != NULL ? find_handler(old) : NULL;
	if (h == NULL && (old != NULL || handler == NULL)) {
		errno = EINVAL;
		diag_set(IllegalParams, "box_on_shutdown: there is no such handler");
		return -1;
	}
	if (handler == NULL) {
		remove_handler(h);
		return 0;
	}
	if (h == NULL) {
		h = xmalloc(sizeof(*h));
		list_add(&shutdown_handlers, &h->link);
	}
	h->handler = handler;
	h->arg = arg;
	return 0;
}

void module_run_shutdown(void)
{
	while (!list_empty(&shutdown_handlers)) {
		struct shutdown_handler h =
			*list_first_entry(&shutdown_handlers, struct shutdown_handler, link);
		remove_handler(list_first_entry(&shutdown_handlers, struct shutdown_handler, link));
		if (h.handler(h.arg) != 0 && diag_last() != NULL)
			diag_log();
	}
}

void lua_module_box_init(void)
{
	slot = fiber_slot_new(recycle);
}
