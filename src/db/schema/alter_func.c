/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _func: functions are created and dropped; there is no alteration.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/constraint.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum {
	FIELD_ID, FIELD_OWNER, FIELD_NAME, FIELD_SETUID, FIELD_LANGUAGE, FIELD_BODY,
	FIELD_ROUTINE_TYPE, FIELD_PARAM_LIST, FIELD_RETURNS, FIELD_AGGREGATE,
	FIELD_SQL_DATA_ACCESS, FIELD_IS_DETERMINISTIC, FIELD_IS_SANDBOXED, FIELD_IS_NULL_CALL,
	FIELD_EXPORTS, FIELD_OPTS, FIELD_COMMENT,
};

enum {
	FUNC_ID_MAX = 32000,
	/** The index of _func_index by the function's number. */
	FUNC_INDEX_BY_FUNC = 1,
};

static int create_error(const struct func_def *def, const char *text)
{
	client_error(ER_CREATE_FUNCTION, def->name, text);
	return -1;
}

static bool str_is(const char *s, uint32_t len, const char *word)
{
	return strlen(word) == len && memcmp(s, word, len) == 0;
}

static int func_decode_language(struct func_def *def, struct tuple *tuple)
{
	const char *name;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_LANGUAGE, &name, &len) != 0)
		return -1;
	for (int i = 0; i < func_language_MAX; i++) {
		if (i != FUNC_SQL && strlen(func_language_names[i]) == len &&
		    strncasecmp(func_language_names[i], name, len) == 0) {
			def->language = i;
			return 0;
		}
	}
	char *text = xstrndup(name, len);
	client_error(ER_FUNCTION_LANGUAGE, text, def->name);
	xfree(text);
	return -1;
}

static int string_error(uint32_t fieldno)
{
	client_error(ER_FIELD_TYPE, tuple_field_no_str(fieldno),
		     field_type_names[FIELD_TYPE_STRING]);
	return -1;
}

static int func_decode_exports(struct func_def *def, const char *data)
{
	uint32_t count = mp_decode_array(&data);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		if (mp_typeof(*data) != MP_STR)
			return string_error(FIELD_EXPORTS);
		const char *name = mp_decode_str(&data, &len);
		if (str_is(name, len, "LUA"))
			def->exports_lua = true;
		else if (str_is(name, len, "SQL"))
			def->exports_sql = true;
		else
			return create_error(def, "invalid exports value");
	}
	return 0;
}

static int func_decode_opts(struct func_def *def, const char *data)
{
	uint32_t count = mp_decode_map(&data);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		const char *name = mp_typeof(*data) == MP_STR ? mp_decode_str(&data, &len) : NULL;
		if (name == NULL || !str_is(name, len, "is_multikey"))
			return create_error(def, "unexpected option");
		if (mp_typeof(*data) != MP_BOOL)
			return create_error(def, "'is_multikey' must be boolean");
		def->is_multikey = mp_decode_bool(&data);
	}
	return 0;
}

/** Types of arguments and results, which only SQL looks at. */
static int func_check_types(const struct func_def *def, struct tuple *tuple)
{
	const char *data = tuple_field(tuple, FIELD_PARAM_LIST);
	uint32_t count = mp_decode_array(&data), len;
	for (uint32_t i = 0; i < count; i++) {
		if (mp_typeof(*data) != MP_STR)
			return string_error(FIELD_PARAM_LIST);
		const char *type = mp_decode_str(&data, &len);
		if (field_type_by_name(type, len) == field_type_MAX)
			return create_error(def, "invalid argument type");
	}
	const char *returns, *aggregate, *routine, *access;
	bool is_null_call;
	if (tuple_field_str(tuple, FIELD_ROUTINE_TYPE, &routine, &len) != 0)
		return -1;
	if (!str_is(routine, len, "function"))
		return create_error(def, "unsupported routine_type value");
	if (tuple_field_str(tuple, FIELD_SQL_DATA_ACCESS, &access, &len) != 0)
		return -1;
	if (!str_is(access, len, "none"))
		return create_error(def, "unsupported sql_data_access value");
	if (tuple_field_bool(tuple, FIELD_IS_NULL_CALL, &is_null_call) != 0)
		return -1;
	if (!is_null_call)
		return create_error(def, "unsupported is_null_call value");
	if (tuple_field_str(tuple, FIELD_RETURNS, &returns, &len) != 0)
		return -1;
	if (field_type_by_name(returns, len) == field_type_MAX)
		return create_error(def, "invalid returns value");
	if (tuple_field_str(tuple, FIELD_AGGREGATE, &aggregate, &len) != 0)
		return -1;
	if (!str_is(aggregate, len, "none") && !str_is(aggregate, len, "group"))
		return create_error(def, "invalid aggregate value");
	return 0;
}

static int func_check(const struct func_def *def)
{
	if (def->id > FUNC_ID_MAX)
		return create_error(def, "function id is too big");
	if (def->language != FUNC_LUA && (def->body != NULL || def->is_sandboxed))
		return create_error(def, def->language == FUNC_C ?
				    "body and is_sandboxed options are not compatible with "
				    "C language" :
				    "body and is_sandboxed options are not compatible with "
				    "SQL language");
	if (def->is_sandboxed && def->body == NULL)
		return create_error(def, "is_sandboxed option may be set only for a persistent "
				    "Lua function (one with a non-empty body)");
	return 0;
}

static int func_decode_fields(struct func_def *def, struct tuple *tuple)
{
	const char *body, *comment;
	uint32_t setuid, len;
	if (tuple_field_u32(tuple, FIELD_ID, &def->id) != 0 ||
	    tuple_field_u32(tuple, FIELD_OWNER, &def->uid) != 0 ||
	    tuple_field_u32(tuple, FIELD_SETUID, &setuid) != 0 ||
	    func_decode_language(def, tuple) != 0)
		return -1;
	def->is_setuid = setuid != 0;
	/* Rows of old snapshots end here. */
	if (tuple_field_count(tuple) <= FIELD_BODY) {
		def->exports_lua = true;
		return func_check(def);
	}
	if (tuple_field_str(tuple, FIELD_BODY, &body, &len) != 0)
		return -1;
	def->body = len > 0 ? xstrndup(body, len) : NULL;
	if (tuple_field_str(tuple, FIELD_COMMENT, &comment, &len) != 0)
		return -1;
	def->comment = len > 0 ? xstrndup(comment, len) : NULL;
	if (func_check_types(def, tuple) != 0 ||
	    tuple_field_bool(tuple, FIELD_IS_DETERMINISTIC, &def->is_deterministic) != 0 ||
	    tuple_field_bool(tuple, FIELD_IS_SANDBOXED, &def->is_sandboxed) != 0 ||
	    func_decode_exports(def, tuple_field(tuple, FIELD_EXPORTS)) != 0 ||
	    func_decode_opts(def, tuple_field(tuple, FIELD_OPTS)) != 0)
		return -1;
	return func_check(def);
}

static struct func_def *func_def_decode(struct tuple *tuple)
{
	const char *name;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_NAME, &name, &len) != 0)
		return NULL;
	if (len > IDENTIFIER_MAX) {
		char text[65];
		snprintf(text, sizeof(text), "%.64s", name);
		client_error(ER_CREATE_FUNCTION, text, "function name is too long");
		return NULL;
	}
	if (identifier_check(name, len) != 0)
		return NULL;
	struct func_def *def = xcalloc(1, sizeof(*def));
	def->name = xstrndup(name, len);
	if (func_decode_fields(def, tuple) != 0) {
		func_def_delete(def);
		return NULL;
	}
	return def;
}

static void create_rollback(struct change *change)
{
	func_cache_del(change->object);
	schema_notice_func(change->object, false, true);
}

static int func_create(struct txn *txn, struct txn_stmt *stmt)
{
	struct func_def *def = func_def_decode(stmt->new_tuple);
	if (def == NULL)
		return -1;
	struct change *change = NULL;
	/* Those of a new database come before the instance is configured. */
	if (def->language == FUNC_SQL_BUILTIN && db_is_configured)
		create_error(def, "given built-in is not predefined");
	else if (access_check_ddl(PRIV_CREATE, OBJECT_FUNCTION, def->name, def->uid, NULL) == 0)
		change = change_new(txn, stmt, sizeof(*change), NULL, create_rollback);
	if (change == NULL) {
		func_def_delete(def);
		return -1;
	}
	struct func *func = func_new(def);
	if (func == NULL) {
		change_cancel(change);
		return -1;
	}
	change->object = func;
	func_cache_put(func);
	schema_notice_func(func, true, false);
	return 0;
}

static void drop_commit(struct change *change)
{
	func_delete(change->object);
}

static void drop_rollback(struct change *change)
{
	func_cache_put(change->object);
	schema_notice_func(change->object, true, false);
}

static int func_drop(struct txn *txn, struct txn_stmt *stmt, struct func *func)
{
	const struct func_def *def = func->def;
	if (access_check_ddl(PRIV_DROP, OBJECT_FUNCTION, def->name, def->uid, &func->access) != 0)
		return -1;
	const char *why = NULL;
	if (schema_object_is_granted("function", def->id))
		why = "function has grants";
	else if (def->language == FUNC_SQL_BUILTIN)
		why = "function is SQL built-in";
	else if (schema_index_has_row(SPACE_FUNC_INDEX, FUNC_INDEX_BY_FUNC, def->id))
		why = "function has references";
	else if (constraint_uses_func(def->id))
		why = "function is referenced by constraint";
	if (why != NULL) {
		/* The reference has the owner's number in this text. */
		client_error(ER_DROP_FUNCTION, def->uid, why);
		return -1;
	}
	struct change *change = change_new(txn, stmt, sizeof(*change), drop_commit, drop_rollback);
	if (change == NULL)
		return -1;
	change->object = func;
	func_cache_del(func);
	schema_notice_func(func, false, false);
	return 0;
}

static bool str_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool func_defs_equal(const struct func_def *a, const struct func_def *b)
{
	return a->id == b->id && a->uid == b->uid && str_equal(a->name, b->name) &&
		str_equal(a->body, b->body) && str_equal(a->comment, b->comment) &&
		a->language == b->language && a->is_setuid == b->is_setuid &&
		a->is_deterministic == b->is_deterministic &&
		a->is_sandboxed == b->is_sandboxed && a->is_multikey == b->is_multikey &&
		a->exports_lua == b->exports_lua && a->exports_sql == b->exports_sql;
}

/** Does a field, which is only kept in the row, have the same value? */
static bool func_field_equal(struct tuple *a, struct tuple *b, uint32_t fieldno)
{
	const char *x = tuple_field(a, fieldno), *y = tuple_field(b, fieldno);
	if (x == NULL || y == NULL)
		return x == y;
	const char *x_end = x, *y_end = y;
	mp_next(&x_end);
	mp_next(&y_end);
	return x_end - x == y_end - y && memcmp(x, y, x_end - x) == 0;
}

/** A row may be replaced by one that says the same. */
static int func_alter(struct txn_stmt *stmt)
{
	static const uint32_t kept[] = {FIELD_PARAM_LIST, FIELD_RETURNS, FIELD_AGGREGATE};
	struct func_def *def = func_def_decode(stmt->new_tuple);
	if (def == NULL)
		return -1;
	const struct func *func = func_by_id(def->id);
	bool is_same = func != NULL && func_defs_equal(func->def, def);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]) && is_same; i++)
		is_same = func_field_equal(stmt->old_tuple, stmt->new_tuple, kept[i]);
	func_def_delete(def);
	if (is_same)
		return 0;
	client_error(ER_UNSUPPORTED, "function", "alter");
	return -1;
}

int alter_on_func(struct txn *txn, struct txn_stmt *stmt)
{
	if (stmt->old_tuple != NULL && stmt->new_tuple != NULL)
		return func_alter(stmt);
	if (stmt->new_tuple != NULL)
		return func_create(txn, stmt);
	uint32_t id;
	if (tuple_field_u32(stmt->old_tuple, FIELD_ID, &id) != 0)
		return -1;
	return func_drop(txn, stmt, func_by_id(id));
}
