/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two small engines. `blackhole`: what is put there goes to the journal and
 * nowhere else. `service`: the space _session_settings, whose rows are not stored: each session
 * sees its own.
 */
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "db/txn/txn.h"

/* blackhole -------------------------------------------------------------------- */

static int blackhole_replace(struct space *space, struct txn *txn, struct request *request)
{
	struct txn_stmt *stmt = txn_stmt_current(txn);
	stmt->new_tuple = tuple_new(space->format, request->tuple, request->tuple_end);
	return stmt->new_tuple != NULL ? 0 : -1;
}

static int blackhole_refuse(struct space *space, struct txn *txn, struct request *request)
{
	(void)txn;
	client_error(ER_NO_SUCH_INDEX_ID, request->index_id, space_name(space));
	return -1;
}

static void no_undo(struct space *space, struct tuple *old, struct tuple *new)
{
	(void)space;
	(void)old;
	(void)new;
}

static struct index *blackhole_index_create(struct space *space, const struct index_def *def,
					struct tuple_format *format)
{
	(void)format;
	(void)space;
	(void)def;
	client_error(ER_UNSUPPORTED, "Blackhole", "indexes");
	return NULL;
}

const struct space_vtab blackhole_space_vtab = {
	.engine_name = "blackhole",
	.replace = blackhole_replace,
	.delete = blackhole_refuse,
	.update = blackhole_refuse,
	.upsert = blackhole_refuse,
	.undo = no_undo,
	.index_create = blackhole_index_create,
};

/* service ------------------------------------------------------------------------ */

/** A setting: a boolean where `text` is NULL. */
static const struct {
	const char *name;
	bool value;
	const char *text;
} settings[] = {
	{"error_marshaling_enabled", false, NULL},
	{"sql_default_engine", false, "memtx"},
	{"sql_defer_foreign_keys", false, NULL},
	{"sql_full_column_names", false, NULL},
	{"sql_full_metadata", false, NULL},
	{"sql_parser_debug", false, NULL},
	{"sql_recursive_triggers", true, NULL},
	{"sql_reverse_unordered_selects", false, NULL},
	{"sql_select_debug", false, NULL},
	{"sql_vdbe_debug", false, NULL},
};

enum { SETTING_COUNT = sizeof(settings) / sizeof(settings[0]) };

uint32_t *(*session_settings_get)(void);

/**
 * What an index of the engine has: two rows of each setting, as it is at first, and otherwise.
 * The index proper has the first ones; what is read gets the session's.
 */
struct service_rows {
	struct service_rows *next;
	const struct index *index;
	struct tuple *rows[SETTING_COUNT][2];
};
static struct service_rows *all_rows;

/** The index before it was wrapped. */
static struct index_vtab base_vtab;

/** The rows of the setting that `tuple`, the first of them, is about; its number. */
static struct tuple **service_find(const struct tuple *tuple, uint32_t *setting)
{
	for (struct service_rows *s = all_rows; s != NULL; s = s->next) {
		for (*setting = 0; *setting < SETTING_COUNT; ++*setting) {
			if (s->rows[*setting][0] == tuple)
				return s->rows[*setting];
		}
	}
	return NULL;
}

static struct tuple *service_row(const struct tuple *tuple)
{
	uint32_t bits = session_settings_get != NULL ? *session_settings_get() : 0, setting;
	struct tuple **pair = service_find(tuple, &setting);
	return pair != NULL ? pair[bits >> setting & 1] : NULL;
}

static int service_refuse(struct space *space, struct txn *txn, struct request *request)
{
	(void)space;
	(void)txn;
	const char *what = request->type == IPROTO_DELETE ? "delete()" :
		request->type == IPROTO_UPSERT ? "upsert()" : "replace()";
	client_error(ER_UNSUPPORTED, "Session_settings space", what);
	return -1;
}

/** Is a new value the one that the setting has at first? -1: it is none for the setting. */
static int service_check_value(uint32_t setting, const char *value)
{
	const char *name = settings[setting].name;
	bool is_text = settings[setting].text != NULL;
	if (mp_typeof(*value) != (is_text ? MP_STR : MP_BOOL)) {
		client_error(ER_SESSION_SETTING_INVALID_VALUE, name, is_text ? "string" : "boolean");
		return -1;
	}
	if (!is_text)
		return mp_decode_bool(&value) == settings[setting].value;
	uint32_t len;
	const char *text = mp_decode_str(&value, &len);
	if (len == 5 && memcmp(text, "memtx", 5) == 0)
		return 1;
	if (len == 5 && memcmp(text, "vinyl", 5) == 0)
		return 0;
	char engine[64];
	snprintf(engine, sizeof(engine), "%.*s", (int)len, text);
	client_error(ER_NO_SUCH_ENGINE, engine);
	return -1;
}

/** Sets what an updated row says. */
static int service_set(struct space *space, uint32_t setting, const char *data, uint32_t size)
{
	if (tuple_format_validate(space->format, data, data + size) != 0)
		return -1;
	uint32_t len;
	mp_decode_array(&data);
	const char *name = mp_decode_str(&data, &len);
	if (strlen(settings[setting].name) != len || memcmp(settings[setting].name, name, len) != 0) {
		client_error(ER_CANT_UPDATE_PRIMARY_KEY, space->index[0]->def->name,
			     space_name(space));
		return -1;
	}
	int is_default = service_check_value(setting, data);
	if (is_default < 0)
		return -1;
	uint32_t *bits = session_settings_get();
	*bits = is_default ? *bits & ~(1u << setting) : *bits | 1u << setting;
	return 0;
}

static int service_update(struct space *space, struct txn *txn, struct request *request)
{
	struct index *pk = space_index_find(space, request->index_id);
	const char *key = request->key;
	uint32_t part_count = mp_decode_array(&key), size, setting = 0;
	struct tuple *row;
	if (pk == NULL || session_settings_get == NULL)
		return pk == NULL ? -1 : 0;
	if (key_validate(pk->def->key_def, key, part_count, true, false) != 0)
		return index_explain_key(pk, key, part_count);
	if (base_vtab.get(pk, key, part_count, &row) != 0)
		return -1;
	if (row == NULL)
		return 0;
	struct tuple *first = row;
	service_find(first, &setting);
	row = service_row(first);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint64_t mask;
	const char *old = tuple_data(row);
	const char *data = update_execute(request->tuple, request->tuple_end, old, old + row->bsize,
					  space->format->dict, space->format, request->index_base,
					  region, &size, &mask);
	int rc = data == NULL ? -1 : service_set(space, setting, data, size);
	region_truncate(region, mark);
	if (rc != 0)
		return -1;
	struct txn_stmt *stmt = txn_stmt_current(txn);
	stmt->old_tuple = row;
	stmt->new_tuple = service_row(first);
	tuple_ref(stmt->old_tuple);
	tuple_ref(stmt->new_tuple);
	return 0;
}

/* Reads --------------------------------------------------------------------------- */

static int service_get(struct index *index, const char *key, uint32_t part_count,
		       struct tuple **result)
{
	int rc = base_vtab.get(index, key, part_count, result);
	if (rc == 0 && *result != NULL)
		*result = service_row(*result);
	return rc;
}

static int service_min(struct index *index, const char *key, uint32_t part_count,
		       struct tuple **result)
{
	int rc = base_vtab.min(index, key, part_count, result);
	if (rc == 0 && *result != NULL)
		*result = service_row(*result);
	return rc;
}

static int service_max(struct index *index, const char *key, uint32_t part_count,
		       struct tuple **result)
{
	int rc = base_vtab.max(index, key, part_count, result);
	if (rc == 0 && *result != NULL)
		*result = service_row(*result);
	return rc;
}

struct service_iterator {
	struct iterator base;
	struct iterator *inner;
};

static int service_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct iterator *inner = ((struct service_iterator *)base)->inner;
	int rc = inner->next(inner, tuple);
	if (rc == 0 && *tuple != NULL)
		*tuple = service_row(*tuple);
	return rc;
}

static int service_iterator_seek(struct iterator *base, const char *position)
{
	struct iterator *inner = ((struct service_iterator *)base)->inner;
	return inner->seek(inner, position);
}

static void service_iterator_free(struct iterator *base)
{
	struct iterator *inner = ((struct service_iterator *)base)->inner;
	inner->free(inner);
	xfree(base);
}

static struct iterator *service_iterator(struct index *index, enum iterator_type type,
					 const char *key, uint32_t part_count)
{
	struct iterator *inner = base_vtab.iterator(index, type, key, part_count);
	if (inner == NULL)
		return NULL;
	struct service_iterator *it = xcalloc(1, sizeof(*it));
	it->base.next = service_iterator_next;
	it->base.free = service_iterator_free;
	it->base.seek = service_iterator_seek;
	it->base.index = index;
	it->inner = inner;
	return &it->base;
}

/* The index ----------------------------------------------------------------------- */

static struct tuple *service_make_row(struct tuple_format *format, uint32_t setting,
				      bool is_default)
{
	char row[128], *p = mp_encode_array(row, 2);
	p = mp_encode_str(p, settings[setting].name, strlen(settings[setting].name));
	const char *text = settings[setting].text;
	if (text != NULL && !is_default)
		text = "vinyl";
	p = text != NULL ? mp_encode_str(p, text, strlen(text)) :
		mp_encode_bool(p, settings[setting].value == is_default);
	return tuple_new(format, row, p);
}

/** Puts a setting's rows into `made`, and the first into the index, which then owns that. */
static int service_add(struct tuple_format *format, struct index *index, uint32_t setting,
		       struct tuple **made)
{
	struct tuple *unused;
	made[1] = service_make_row(format, setting, false);
	if (made[1] == NULL)
		return -1;
	made[0] = service_make_row(format, setting, true);
	if (made[0] == NULL)
		return -1;
	if (index->vtab->replace(index, NULL, made[0], DUP_INSERT, &unused) == 0)
		return 0;
	tuple_unref(made[0]);
	return -1;
}

static int service_fill(struct tuple_format *format, struct index *index, struct service_rows *to)
{
	for (uint32_t i = 0; i < SETTING_COUNT; i++) {
		if (service_add(format, index, i, to->rows[i]) != 0)
			return -1;
	}
	return 0;
}

/** Gives back the rows that the index does not have. */
static void service_rows_delete(struct service_rows *s)
{
	for (uint32_t i = 0; i < SETTING_COUNT; i++) {
		if (s->rows[i][1] != NULL)
			tuple_unref(s->rows[i][1]);
	}
	xfree(s);
}

static void service_destroy(struct index *index)
{
	struct service_rows **at = &all_rows;
	while ((*at)->index != index)
		at = &(*at)->next;
	struct service_rows *s = *at;
	*at = s->next;
	service_rows_delete(s);
	base_vtab.destroy(index);
}

static struct index *service_index_create(struct space *space, const struct index_def *def,
					struct tuple_format *format)
{
	if (def->iid != 0) {
		client_error(ER_UNSUPPORTED, "Session_settings space", "secondary indexes");
		return NULL;
	}
	/* An index of memtx that does not tell its size. */
	static struct index_vtab vtab;
	struct index *index = index_new(def, space_name(space));
	if (index == NULL)
		return NULL;
	struct service_rows *s = xcalloc(1, sizeof(*s));
	s->index = index;
	if (service_fill(format != NULL ? format : space->format, index, s) != 0) {
		service_rows_delete(s);
		index_unref_tuples(index);
		index_delete(index);
		return NULL;
	}
	vtab = base_vtab = *index->vtab;
	vtab.destroy = service_destroy;
	vtab.get = service_get;
	vtab.min = service_min;
	vtab.max = service_max;
	vtab.iterator = service_iterator;
	vtab.size = NULL;
	vtab.random = NULL;
	s->next = all_rows;
	all_rows = s;
	index->vtab = &vtab;
	return index;
}

const struct space_vtab service_space_vtab = {
	.engine_name = "service",
	.owns_tuples = true,
	.replace = service_refuse,
	.delete = service_refuse,
	.update = service_update,
	.upsert = service_refuse,
	.undo = no_undo,
	.index_create = service_index_create,
};
