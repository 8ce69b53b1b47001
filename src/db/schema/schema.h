/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of this folder share: the caches of the schema, and how a change
 * of a system space's row becomes a change of the caches.
 *
 * Each system space has a function that is called for every change of its rows,
 * inside the statement (`space->on_system_change`). It checks the change, applies
 * it to the caches at once, and hangs what undoes it, or what frees the old state,
 * on the statement (txn_stmt.on_rollback, on_commit). Transactions are undone
 * newest first, so each undo finds the caches as its change left them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/trigger.h"
#include "db/schema/space.h"

struct txn;
struct txn_stmt;
struct tuple;
struct func;

/* Notices to upper layers ----------------------------------------------- */

/** A space or its indexes changed: tells those of space_on_change(). */
void schema_notice_space(uint32_t space_id);
/** A function was created or dropped; in the latter case `func_delete()` is called in the end. */
void schema_notice_func(struct func *func, bool is_new, bool deletes);
/** From now on notices are kept back, until schema_send_notices(). */
void schema_defer_notices(void);
void schema_send_notices(void);

/* Statements ------------------------------------------------------------- */

/**
 * A change of the caches: what frees the old state when it is committed and what
 * puts it back when it is undone. Lives on the transaction's region; `commit` may
 * be NULL. `data` is the change's own.
 */
struct change;
typedef void (*change_func)(struct change *change);

struct change {
	struct trigger _on_commit, _on_rollback;
	change_func commit, rollback;
	struct txn_stmt *stmt;
	/** The cached object, and what it was or becomes. */
	void *object, *old, *new;
};

/**
 * Hangs a change on a statement, with zeroes in the rest; `size` may be that of a
 * structure that begins with one. NULL: OutOfMemory.
 */
void *change_new(struct txn *txn, struct txn_stmt *stmt, size_t size, change_func commit,
		 change_func rollback);

/** Takes back a change that was hung on a statement and not made. */
void change_cancel(struct change *change);

/** The functions called on changes of system spaces. */
typedef int (*system_change_func)(struct txn *txn, struct txn_stmt *stmt);
int alter_on_space(struct txn *txn, struct txn_stmt *stmt);
int alter_on_index(struct txn *txn, struct txn_stmt *stmt);
int alter_on_truncate(struct txn *txn, struct txn_stmt *stmt);
int alter_on_schema(struct txn *txn, struct txn_stmt *stmt);
int alter_on_cluster(struct txn *txn, struct txn_stmt *stmt);
int alter_on_collation(struct txn *txn, struct txn_stmt *stmt);
int alter_on_user(struct txn *txn, struct txn_stmt *stmt);
int alter_on_priv(struct txn *txn, struct txn_stmt *stmt);
int alter_on_func(struct txn *txn, struct txn_stmt *stmt);
int alter_on_sequence(struct txn *txn, struct txn_stmt *stmt);
int alter_on_sequence_data(struct txn *txn, struct txn_stmt *stmt);
int alter_on_func_index(struct txn *txn, struct txn_stmt *stmt);
int alter_on_space_sequence(struct txn *txn, struct txn_stmt *stmt);
/** Spaces whose rows have no meaning yet (SQL): any row is refused. */
int alter_on_unsupported(struct txn *txn, struct txn_stmt *stmt);

/* Spaces ----------------------------------------------------------------- */

/** The function for the rows of a system space, or NULL. */
system_change_func system_change_by_id(uint32_t space_id);

/** Engine by name; NULL with ER_NO_SUCH_ENGINE. */
const struct space_vtab *engine_by_name(const char *name);
extern const struct space_vtab memtx_space_vtab, sysview_space_vtab, blackhole_space_vtab,
	service_space_vtab;

/** Makes a space without indexes; takes the definition, also on failure. */
struct space *space_new(struct space_def *def);
void space_delete(struct space *space);

void space_cache_init(void);
void space_cache_free(void);
void space_cache_add(struct space *space);
void space_cache_del(struct space *space);
/** The name of a cached space changes from `old_name` to that of its definition. */
void space_cache_rename(struct space *space, const char *old_name);

/** A unique index; ER_NO_SUCH_INDEX_ID, ER_MORE_THAN_ONE_TUPLE. */
struct index *space_index_find_unique(const struct space *space, uint32_t iid);
/** Gives back the primary index's references; the index is to be deleted then. */
void index_unref_tuples(struct index *pk);

/** A definition without fields. */
struct space_def *space_def_new(uint32_t id, uint32_t uid, const char *name, size_t name_len,
				const char *engine, size_t engine_len);
void space_def_delete(struct space_def *def);

/**
 * From a row of _space; checks it. `errcode` is ER_CREATE_SPACE or ER_ALTER_SPACE.
 * NULL: an error is set.
 */
struct space_def *space_def_decode(struct tuple *tuple, uint32_t errcode);

/** From a row of _index; checks it against the space. NULL: an error is set. */
struct index_def *index_def_decode(struct tuple *tuple, const struct space *space);

/**
 * The function of a functional index; NULL in *func where there is none (yet). -1:
 * ER_WRONG_INDEX_OPTIONS, it is not fit for that.
 */
int index_func_find(uint32_t id, struct func **func);

/** What an alteration replaces in a space as a whole. */
struct space_shape {
	struct space_def *def;
	struct tuple_format *format;
	/**
	 * The format's own names: while the shape is not in force it has others (alter_shape.c).
	 */
	const struct tuple_dictionary *dict;
	struct index **index;
	uint32_t index_count;
	struct index **index_map;
	uint32_t index_id_max;
	size_t bsize;
};
void space_shape_get(const struct space *space, struct space_shape *shape);
void space_shape_set(struct space *space, const struct space_shape *shape);

/** Gives a new space without rows its primary index. */
int space_set_first_index(struct space *space, const struct index_def *def);

/**
 * An iterator that survives the index: it finds no more rows once that is gone. It
 * and the tuples it returns are as index.h says of any. NULL: the index's error.
 */
struct iterator *index_iterator_new(struct index *index, enum iterator_type type, const char *key,
				    uint32_t part_count);
/** Ends the iterators over an index that goes away. */
void index_end_iterators(struct index *index);

/* Users ------------------------------------------------------------------- */

struct user;

enum { HASH_TEXT_SIZE = 29 };

void user_cache_free(void);
/** Gives the user a token of its own. -1: ER_USER_MAX. */
int user_cache_add(struct user *user);
/** Puts it back with the token it had. */
void user_cache_put(struct user *user);
void user_cache_del(struct user *user);
void user_delete(struct user *user);

/* Functions and sequences --------------------------------------------------- */

struct func_def;

/** Lets indexes call functions. */
void func_index_init(void);

void func_cache_init(void);
void func_cache_free(void);
void func_cache_put(struct func *func);
void func_cache_del(struct func *func);
/** Takes the definition, also on failure. NULL: the language's error. */
struct func *func_new(struct func_def *def);
/** Frees it, or leaves that to the last call that runs. */
void func_delete(struct func *func);
void func_def_delete(struct func_def *def);

/* Values of tuples ---------------------------------------------------------- */

/** A field that must be an unsigned number of 32 bits: -1 with ER_FIELD_TYPE. */
int tuple_field_u32(const struct tuple *tuple, uint32_t fieldno, uint32_t *value);
/** A string field (not copied); -1 with ER_FIELD_TYPE. */
int tuple_field_str(const struct tuple *tuple, uint32_t fieldno, const char **value,
		    uint32_t *len);
/** A boolean field; -1 with ER_FIELD_TYPE. */
int tuple_field_bool(const struct tuple *tuple, uint32_t fieldno, bool *value);

/** Printable UTF-8 of at most IDENTIFIER_MAX bytes, not empty: -1 with ER_IDENTIFIER. */
int identifier_check(const char *name, size_t len);
