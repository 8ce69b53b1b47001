/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spaces: a definition, indexes, a format, triggers, and an engine that carries
 * out statements.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "db/index/index.h"
#include "db/schema/user.h"
#include "db/tuple/format.h"
#include "db/wal/xrow.h"

struct space;
struct txn;
struct txn_stmt;
struct sequence;
struct field_path_text;

enum {
	SYSTEM_ID_MIN = 256, SYSTEM_ID_MAX = 511, SPACE_ID_MAX = 0x7fffffff,
	INDEX_ID_MAX = 128, KEY_PART_MAX = 255, IDENTIFIER_MAX = 65000,
	/** A format describes all fields up to the last indexed one, so there is a bound. */
	KEY_FIELDNO_MAX = INT16_MAX,

	SPACE_VINYL_DEFERRED_DELETE = 257,
	SPACE_SCHEMA = 272, SPACE_COLLATION = 276, SPACE_VCOLLATION = 277, SPACE_SPACE = 280,
	SPACE_VSPACE = 281, SPACE_SEQUENCE = 284, SPACE_SEQUENCE_DATA = 285,
	SPACE_VSEQUENCE = 286, SPACE_INDEX = 288, SPACE_VINDEX = 289, SPACE_FUNC = 296,
	SPACE_VFUNC = 297, SPACE_USER = 304, SPACE_VUSER = 305, SPACE_PRIV = 312,
	SPACE_VPRIV = 313, SPACE_CLUSTER = 320, SPACE_TRIGGER = 328, SPACE_TRUNCATE = 330,
	SPACE_SPACE_SEQUENCE = 340, SPACE_FK_CONSTRAINT = 356, SPACE_CK_CONSTRAINT = 364,
	SPACE_FUNC_INDEX = 372, SPACE_SESSION_SETTINGS = 380,
};

struct space_def {
	uint32_t id, uid;
	char *name;
	char *engine_name;
	uint32_t exact_field_count;
	struct field_def *fields;
	uint32_t field_count;
	bool is_temporary, is_local, is_view, is_sync;
	/** Of fields and of rows; and what fields take instead of nil (constraint.h). */
	struct constraint *constraints;
	struct field_default *defaults;
	uint32_t constraint_count, default_count;
};

/**
 * How an engine carries out statements. Each slot is called inside an open
 * statement (txn_stmt_begin) with a checked space and request; it changes the
 * indexes and fills old_tuple and new_tuple of the current statement. -1 with an
 * error set leaves the space unchanged. None yields but
 * index_create.
 */
struct space_vtab {
	const char *engine_name;
	/** Its primary index holds a reference to each tuple. */
	bool owns_tuples;
	/** Also insert. */
	int (*replace)(struct space *space, struct txn *txn, struct request *request);
	int (*delete)(struct space *space, struct txn *txn, struct request *request);
	int (*update)(struct space *space, struct txn *txn, struct request *request);
	int (*upsert)(struct space *space, struct txn *txn, struct request *request);
	/** Puts back what a statement changed, in every index. */
	void (*undo)(struct space *space, struct tuple *old_tuple, struct tuple *new_tuple);
	/**
	 * An index of this space; filled from the primary one where that has rows, each of
	 * which is checked against `format` (NULL: none is). May yield (space_build.h). NULL with
	 * an error.
	 */
	struct index *(*index_create)(struct space *space, const struct index_def *def,
				      struct tuple_format *format);
};

struct space {
	const struct space_vtab *vtab;
	struct space_def *def;
	struct tuple_format *format;
	/** Formats that older tuples have, counted; their names follow those of `format`. */
	struct tuple_format **old_formats;
	uint32_t old_format_count;
	/** By position; [0] is the primary one where there is any. */
	struct index **index;
	uint32_t index_count;
	/** By id; `index_id_max + 1` entries. */
	struct index **index_map;
	uint32_t index_id_max;
	struct access access;
	/**
	 * Triggers; event: struct txn *, whose txn_stmt_current() has the old and the new
	 * tuple. One in before_replace may put another new_tuple (counted) or NULL there.
	 */
	struct list before_replace, on_replace;
	/** What a change of a row of a system space does to the schema, or NULL. */
	int (*on_system_change)(struct txn *txn, struct txn_stmt *stmt);
	/** Builds of indexes and checks of rows under way (space_build.h). */
	struct list builds;
	/** Foreign keys that lead here; kept by foreign_key.c. */
	struct list referrers;
	struct sequence *sequence;
	/** Where its values go: a field, or the place inside of it (NULL: the field itself). */
	uint32_t sequence_fieldno;
	const struct field_path_text *sequence_path;
	/** Bytes of all tuples. */
	size_t bsize;
};

static inline uint32_t space_id(const struct space *space)
{
	return space->def->id;
}

static inline const char *space_name(const struct space *space)
{
	return space->def->name;
}

static inline bool space_is_system(const struct space *space)
{
	return space->def->id >= SYSTEM_ID_MIN && space->def->id <= SYSTEM_ID_MAX;
}

/** By id, or NULL without an error. Hot: one look into a cache of the last, then a map. */
struct space *space_by_id(uint32_t id);
/** The same with ER_NO_SUCH_SPACE ('512'). */
struct space *space_find(uint32_t id);
struct space *space_by_name(const char *name, size_t len);

/** By id; NULL without an error. */
static inline struct index *space_index(const struct space *space, uint32_t iid)
{
	return space->index_map && iid <= space->index_id_max ? space->index_map[iid] : NULL;
}

/** The same with ER_NO_SUCH_INDEX_ID. */
struct index *space_index_find(const struct space *space, uint32_t iid);

/** -1: ER_ACCESS_DENIED, for the current user. */
int space_access_check(const struct space *space, uint32_t privileges);

enum {
	/** Whatever the session encodes has errors as extensions: error_marshaling_enabled. */
	SETTING_MARSHALS_ERRORS = 1,
};

/**
 * The settings of the current session (space _session_settings): a bit for each that is not as at
 * first, from the lowest on in the order of the rows. Set by the layer of sessions; NULL: there are
 * none.
 */
extern uint32_t *(*session_settings_get)(void);

/** Grows by one with each change of the schema; what clients compare. */
extern uint32_t schema_version;

/** Creates the system spaces' structures; the rest comes from rows. */
void schema_init(void);
void schema_free(void);

/** Fills the system spaces of a new database, as the reference's 2.6.0 has them. */
int schema_bootstrap(void);

/** Calls `cb` for each space, in order of id, until it returns non-zero. */
int space_foreach(int (*cb)(struct space *space, void *arg), void *arg);

/**
 * Calls `cb` when a space or its indexes were created, altered or dropped: in the
 * statement that does so, and again where it is undone. For box.space; space_by_id()
 * tells what is there now. `cb` may not fail, yield or change data. Runs in a fiber
 * that changes data or the schema, never in the scheduler's.
 */
void space_on_change(void (*cb)(uint32_t space_id));
