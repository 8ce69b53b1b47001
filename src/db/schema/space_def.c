/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A row of _space, decoded and checked: [id, owner, name, engine, field_count,
 * flags, format].
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/constraint.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/tuple.h"

enum {
	FIELD_ID, FIELD_OWNER, FIELD_NAME, FIELD_ENGINE, FIELD_FIELD_COUNT, FIELD_FLAGS,
	FIELD_FORMAT,
};

/* The engine's name in a message or a definition. */
enum { ENGINE_NAME_MAX = 16 };

static int space_def_error(uint32_t errcode, const char *name, size_t len, const char *text)
{
	char *copy = xstrndup(name, len < IDENTIFIER_MAX ? len : IDENTIFIER_MAX);
	client_error(errcode, copy, text);
	xfree(copy);
	return -1;
}

struct space_flags {
	bool temporary, view, is_sync;
	uint32_t group_id;
	struct option_str sql, type;
	const char *constraint, *foreign_key;
};

static const struct option flag_table[] = {
	{"group_id", OPTION_U32, offsetof(struct space_flags, group_id)},
	{"temporary", OPTION_BOOL, offsetof(struct space_flags, temporary)},
	{"view", OPTION_BOOL, offsetof(struct space_flags, view)},
	{"is_sync", OPTION_BOOL, offsetof(struct space_flags, is_sync)},
	{"sql", OPTION_STR, offsetof(struct space_flags, sql)},
	{"type", OPTION_STR, offsetof(struct space_flags, type)},
	{"constraint", OPTION_MP, offsetof(struct space_flags, constraint)},
	{"foreign_key", OPTION_MP, offsetof(struct space_flags, foreign_key)},
	{"defer_deletes", OPTION_ANY, 0},
	{NULL, 0, 0},
};

/** "type": what else the flags say, in one word. */
static int space_type_decode(struct space_def *def, const struct option_str *type)
{
	if (option_str_is(type, "data-temporary", 14))
		def->is_temporary = true;
	else if (option_str_is(type, "data-local", 10))
		def->is_local = true;
	else if (!option_str_is(type, "normal", 6))
		return options_error(ER_WRONG_SPACE_OPTIONS, FIELD_FLAGS,
				     "unknown space type '%.*s'", (int)type->len, type->s);
	return 0;
}

static int space_flags_decode(struct space_def *def, unsigned errcode, const char *data)
{
	struct space_flags flags = {0};
	if (options_decode(&data, flag_table, &flags, ER_WRONG_SPACE_OPTIONS, FIELD_FLAGS,
			   false) != 0)
		return -1;
	if (flags.group_id > 1) {
		char id[16];
		snprintf(id, sizeof(id), "%u", flags.group_id);
		client_error(ER_NO_SUCH_GROUP, id);
		return -1;
	}
	if (flags.view) {
		if (flags.sql.s == NULL)
			client_error(ER_VIEW_MISSING_SQL);
		else
			client_error(ER_UNSUPPORTED, "tarn", "SQL views");
		return -1;
	}
	if (flags.is_sync && flags.group_id == 1) {
		client_error(errcode, def->name, "local space can't be synchronous");
		return -1;
	}
	def->is_temporary = flags.temporary;
	def->is_local = flags.group_id == 1;
	def->is_sync = flags.is_sync;
	if (flags.type.s != NULL && space_type_decode(def, &flags.type) != 0)
		return -1;
	if (flags.constraint != NULL &&
	    constraint_decode_funcs(def, errcode, NO_FIELD, flags.constraint) != 0)
		return -1;
	return flags.foreign_key == NULL ? 0 :
		constraint_decode_fkeys(def, errcode, NO_FIELD, flags.foreign_key);
}

struct field_options {
	struct option_str name, type, nullable_action;
	bool is_nullable;
	uint32_t collation, default_func;
	/** MessagePack. */
	const char *constraint, *foreign_key, *value;
};

static const struct option field_table[] = {
	{"name", OPTION_STR, offsetof(struct field_options, name)},
	{"type", OPTION_ENUM, offsetof(struct field_options, type)},
	{"is_nullable", OPTION_BOOL, offsetof(struct field_options, is_nullable)},
	{"nullable_action", OPTION_ENUM, offsetof(struct field_options, nullable_action)},
	{"collation", OPTION_U32, offsetof(struct field_options, collation)},
	{"constraint", OPTION_MP, offsetof(struct field_options, constraint)},
	{"foreign_key", OPTION_MP, offsetof(struct field_options, foreign_key)},
	{"default", OPTION_MP, offsetof(struct field_options, value)},
	{"default_func", OPTION_U32, offsetof(struct field_options, default_func)},
	{NULL, 0, 0},
};

static int field_error(const struct space_def *def, uint32_t errcode, uint32_t fieldno,
		       const char *format)
{
	char text[128];
	snprintf(text, sizeof(text), format, fieldno + 1);
	client_error(errcode, def->name, text);
	return -1;
}

/** nullable_action: what a NULL does to a statement; only "none" lets it through. */
static int nullable_action_decode(const struct space_def *def, uint32_t errcode, uint32_t fieldno,
				  const struct field_options *o)
{
	static const char *const actions[] = {
		"none", "rollback", "abort", "fail", "ignore", "replace", "default", NULL,
	};
	def->fields[fieldno].is_nullable = o->is_nullable;
	if (o->nullable_action.s == NULL)
		return 0;
	int i = 0;
	while (actions[i] != NULL &&
	       !option_str_is(&o->nullable_action, actions[i], strlen(actions[i])))
		i++;
	if (actions[i] == NULL)
		return field_error(def, errcode, fieldno,
				   "field %u has unknown field on conflict nullable action");
	if (o->is_nullable != (i == 0))
		return field_error(def, errcode, fieldno,
				   "field %u has conflicting nullability and nullable action "
				   "properties");
	def->fields[fieldno].nullable_action =
		o->is_nullable || strcmp(actions[i], "default") == 0 ? NULL : actions[i];
	return 0;
}

/** What a value is, in the words of field types. */
static const char *value_type_name(const char *value)
{
	switch (mp_typeof(*value)) {
	case MP_NIL: return "nil";
	case MP_UINT: return "unsigned";
	case MP_INT: return "integer";
	case MP_STR: return "string";
	case MP_BIN: return "varbinary";
	case MP_ARRAY: return "array";
	case MP_MAP: return "map";
	case MP_BOOL: return "boolean";
	case MP_FLOAT:
	case MP_DOUBLE: return "double";
	default: return "extension";
	}
}

/** What the field takes instead of nil. */
static int default_decode(struct space_def *def, uint32_t fieldno, const struct field_options *o)
{
	const struct field_def *field = &def->fields[fieldno];
	if (o->value == NULL && o->default_func == 0)
		return 0;
	/* With a function it is the function's argument. */
	if (o->default_func == 0 && !field_type_accepts(field->type, o->value, false)) {
		client_error(ER_DEFAULT_VALUE_TYPE, tuple_field_no_str(fieldno),
			     field_type_names[field->type], value_type_name(o->value));
		return -1;
	}
	const char *end = o->value;
	if (end != NULL)
		mp_next(&end);
	constraint_add_default(def, fieldno, o->value, end - o->value, o->default_func);
	return 0;
}

static int field_constraints_decode(struct space_def *def, uint32_t errcode, uint32_t fieldno,
				    const struct field_options *o)
{
	if (o->constraint != NULL &&
	    constraint_decode_funcs(def, errcode, fieldno, o->constraint) != 0)
		return -1;
	return o->foreign_key == NULL ? 0 :
		constraint_decode_fkeys(def, errcode, fieldno, o->foreign_key);
}

static bool has_string_keys(const char *map)
{
	for (uint32_t count = mp_decode_map(&map); count > 0; count--) {
		if (mp_typeof(*map) != MP_STR)
			return false;
		mp_next(&map);
		mp_next(&map);
	}
	return true;
}

static int field_decode(struct space_def *def, uint32_t errcode, uint32_t fieldno,
			const char **data)
{
	if (mp_typeof(**data) != MP_MAP)
		return field_error(def, errcode, fieldno, "field %u is not map");
	if (!has_string_keys(*data))
		return field_error(def, errcode, fieldno,
				   "field %u format is not map with string keys");
	struct field_options o = {.collation = COLL_NONE};
	if (options_decode(data, field_table, &o, ER_WRONG_SPACE_FORMAT, fieldno + 1, true) != 0)
		return -1;
	struct field_def *field = &def->fields[fieldno];
	if (o.name.s == NULL || o.name.len == 0)
		return field_error(def, errcode, fieldno, "field %u name is not specified");
	if (o.name.len > IDENTIFIER_MAX)
		return field_error(def, errcode, fieldno, "field %u name is too long");
	if (identifier_check(o.name.s, o.name.len) != 0)
		return -1;
	field->type = o.type.s == NULL ? FIELD_TYPE_ANY :
		field_type_by_name(o.type.s, o.type.len);
	if (field->type == field_type_MAX)
		return field_error(def, errcode, fieldno, "field %u has unknown field type");
	if (nullable_action_decode(def, errcode, fieldno, &o) != 0)
		return -1;
	if (o.collation != COLL_NONE && o.collation != COLL_ID_NONE &&
	    field->type != FIELD_TYPE_STRING && field->type != FIELD_TYPE_SCALAR &&
	    field->type != FIELD_TYPE_ANY)
		return field_error(def, errcode, fieldno, "collation is reasonable only for "
				   "string, scalar and any fields");
	if (o.collation != COLL_NONE && coll_id_by_id(o.collation) == NULL)
		return options_error(ER_WRONG_COLLATION_OPTIONS, fieldno + 1,
				     "collation was not found by ID");
	field->coll_id = o.collation;
	if (default_decode(def, fieldno, &o) != 0 ||
	    field_constraints_decode(def, errcode, fieldno, &o) != 0)
		return -1;
	field->name = xstrndup(o.name.s, o.name.len);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int field_names_check(const struct space_def *def)
{
	const char **names = xmalloc((def->field_count + 1) * sizeof(*names));
	for (uint32_t i = 0; i < def->field_count; i++)
		names[i] = def->fields[i].name;
	qsort(names, def->field_count, sizeof(*names), compare_names);
	int rc = 0;
	for (uint32_t i = 1; i < def->field_count && rc == 0; i++) {
		if (strcmp(names[i - 1], names[i]) == 0) {
			client_error(ER_SPACE_FIELD_IS_DUPLICATE, names[i]);
			rc = -1;
		}
	}
	xfree(names);
	return rc;
}

static int space_format_decode(struct space_def *def, uint32_t errcode, const char *data)
{
	uint32_t count = mp_decode_array(&data);
	if (count == 0)
		return 0;
	def->fields = xcalloc(count, sizeof(*def->fields));
	for (uint32_t i = 0; i < count; i++) {
		if (field_decode(def, errcode, i, &data) != 0)
			return -1;
		def->field_count++;
	}
	return 0;
}

static int space_id_check(uint32_t id, uint32_t errcode, const char *name, uint32_t name_len)
{
	if (id > SPACE_ID_MAX)
		return space_def_error(errcode, name, name_len, "space id is too big");
	if (id == 0)
		return space_def_error(errcode, name, name_len, "space id 0 is reserved");
	return 0;
}

static int exact_field_count_check(const struct space_def *def, uint32_t errcode)
{
	if (def->exact_field_count != 0 && def->exact_field_count < def->field_count)
		return space_def_error(errcode, def->name, strlen(def->name),
				       "exact_field_count must be either 0 or >= formatted "
				       "field count");
	return 0;
}

struct space_def *space_def_decode(struct tuple *tuple, uint32_t errcode)
{
	const char *name, *engine;
	uint32_t id, uid, name_len, engine_len, field_count;
	if (tuple_field_str(tuple, FIELD_NAME, &name, &name_len) != 0)
		return NULL;
	if (name_len > IDENTIFIER_MAX) {
		/* As long as it is, the name would hide the message. */
		space_def_error(errcode, name, 64, "space name is too long");
		return NULL;
	}
	if (identifier_check(name, name_len) != 0 ||
	    tuple_field_u32(tuple, FIELD_ID, &id) != 0 ||
	    tuple_field_u32(tuple, FIELD_OWNER, &uid) != 0 ||
	    tuple_field_str(tuple, FIELD_ENGINE, &engine, &engine_len) != 0 ||
	    tuple_field_u32(tuple, FIELD_FIELD_COUNT, &field_count) != 0 ||
	    space_id_check(id, errcode, name, name_len) != 0)
		return NULL;
	if (engine_len > ENGINE_NAME_MAX) {
		space_def_error(errcode, name, name_len, "space engine name is too long");
		return NULL;
	}
	if (identifier_check(engine, engine_len) != 0)
		return NULL;
	struct space_def *def = space_def_new(id, uid, name, name_len, engine, engine_len);
	def->exact_field_count = field_count;
	/* What the engine shows of other spaces is read only. */
	def->is_view = strcmp(def->engine_name, "sysview") == 0;
	if (space_format_decode(def, errcode, tuple_field(tuple, FIELD_FORMAT)) != 0 ||
	    exact_field_count_check(def, errcode) != 0 ||
	    space_flags_decode(def, errcode, tuple_field(tuple, FIELD_FLAGS)) != 0 ||
	    field_names_check(def) != 0) {
		space_def_delete(def);
		return NULL;
	}
	return def;
}
