/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two small engines. `blackhole`: what is put there goes to the journal and
 * nowhere else. `service`: the space _session_settings, whose rows are not stored;
 * they have their defaults, since nothing reads them yet.
 */
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
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

static int service_refuse(struct space *space, struct txn *txn, struct request *request)
{
	(void)space;
	(void)txn;
	const char *what = request->type == IPROTO_DELETE ? "delete()" :
		request->type == IPROTO_UPSERT ? "upsert()" :
		request->type == IPROTO_UPDATE ? "update()" : "replace()";
	client_error(ER_UNSUPPORTED, "Session_settings space", what);
	return -1;
}

static int service_fill(struct tuple_format *format, struct index *index)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		char row[128], *p = mp_encode_array(row, 2);
		p = mp_encode_str(p, settings[i].name, strlen(settings[i].name));
		p = settings[i].text != NULL ?
			mp_encode_str(p, settings[i].text, strlen(settings[i].text)) :
			mp_encode_bool(p, settings[i].value);
		struct tuple *tuple = tuple_new(format, row, p), *unused;
		if (tuple == NULL)
			return -1;
		if (index->vtab->replace(index, NULL, tuple, DUP_INSERT, &unused) != 0) {
			tuple_unref(tuple);
			return -1;
		}
	}
	return 0;
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
	if (service_fill(format != NULL ? format : space->format, index) != 0) {
		index_unref_tuples(index);
		index_delete(index);
		return NULL;
	}
	vtab = *index->vtab;
	vtab.size = NULL;
	vtab.random = NULL;
	index->vtab = &vtab;
	return index;
}

const struct space_vtab service_space_vtab = {
	.engine_name = "service",
	.owns_tuples = true,
	.replace = service_refuse,
	.delete = service_refuse,
	.update = service_refuse,
	.upsert = service_refuse,
	.undo = no_undo,
	.index_create = service_index_create,
};
