/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spaces for scripts: what a space is made of (for the objects in box.space, which
 * space.lua builds), its triggers, and tuples from maps.
 *
 * box.space follows the schema: the database calls on_change() for each space that
 * was created, altered or dropped, and this hands its number to space.lua, which
 * brings the object up to date and keeps its identity.
 */
#include "db/schema/func.h"
#include "db/schema/space.h"

#include <msgpuck.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "db/error.h"
#include "db/schema/constraint.h"
#include "db/txn/txn.h"
#include "db/tuple/field_path.h"
#include "db/tuple/tuple.h"
#include "lua/box/box.h"
#include "lua/box/key_def.h"
#include "lua/bridge.h"
#include "lua/modules.h"

static void set_string(lua_State *L, const char *name, const char *value)
{
	lua_pushstring(L, value);
	lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double value)
{
	lua_pushnumber(L, value);
	lua_setfield(L, -2, name);
}

static void set_bool(lua_State *L, const char *name, bool value)
{
	lua_pushboolean(L, value);
	lua_setfield(L, -2, name);
}

/** The row of a system space under an unsigned primary key, whoever asks; NULL: none. */
static struct tuple *system_row(uint32_t space_id, uint32_t id)
{
	struct space *space = space_by_id(space_id);
	struct index *pk = space != NULL ? space_index(space, 0) : NULL;
	struct tuple *row = NULL;
	char key[5];
	mp_encode_uint(key, id);
	if (pk == NULL || pk->vtab->get(pk, key, 1, &row) != 0)
		return NULL;
	return row;
}

/* Description ------------------------------------------------------------- */

/** The fields sequence_id, sequence_fieldno and sequence_path of the primary index. */
static void push_sequence(lua_State *L, const struct space *space)
{
	struct tuple *row = space->sequence != NULL ?
			    system_row(SPACE_SPACE_SEQUENCE, space_id(space)) : NULL;
	const char *id = row != NULL ? tuple_field(row, 1) : NULL;
	if (id == NULL || mp_typeof(*id) != MP_UINT)
		return;
	set_number(L, "sequence_id", (double)mp_decode_uint(&id));
	set_number(L, "sequence_fieldno", space->sequence_fieldno + 1);
	if (space->sequence_path != NULL)
		set_string(L, "sequence_path", space->sequence_path->text);
}

/** The field `func` of a functional index. */
static void push_func(lua_State *L, const struct index_def *def)
{
	lua_createtable(L, 0, 2);
	set_number(L, "fid", def->func_id);
	if (def->func != NULL)
		set_string(L, "name", def->func->def->name);
	lua_setfield(L, -2, "func");
}

static void push_index(lua_State *L, const struct space *space, const struct index_def *def)
{
	lua_createtable(L, 0, 8);
	set_number(L, "id", def->iid);
	set_number(L, "space_id", def->space_id);
	set_string(L, "name", def->name);
	set_string(L, "type", index_type_names[def->type]);
	if (def->type == INDEX_TREE || def->type == INDEX_HASH)
		set_bool(L, "unique", def->is_unique);
	if (def->type == INDEX_RTREE)
		set_number(L, "dimension", def->dimension);
	lua_push_key_parts(L, def->key_def);
	lua_setfield(L, -2, "parts");
	if (def->func_id != 0)
		push_func(L, def);
	if (def->iid == 0)
		push_sequence(L, space);
}

static void push_field_ref(lua_State *L, const struct field_ref *ref)
{
	if (ref->name != NULL)
		lua_pushstring(L, ref->name);
	else
		lua_pushinteger(L, (lua_Integer)ref->no + 1);
}

static void push_foreign_key(lua_State *L, const struct space *space, const struct foreign_key *key)
{
	const struct space *parent = key->space_id != 0 ? space_by_id(key->space_id) : space;
	lua_createtable(L, 0, 2);
	if (parent != NULL)
		set_string(L, "space", parent->def->name);
	else
		set_number(L, "space", key->space_id);
	lua_createtable(L, 0, (int)key->field_count);
	for (uint32_t i = 0; i < key->field_count; i++) {
		push_field_ref(L, &key->local[i]);
		push_field_ref(L, &key->foreign[i]);
		lua_rawset(L, -3);
	}
	lua_setfield(L, -2, "field");
}

static void push_constraint(lua_State *L, const struct space *space, const struct constraint *c)
{
	const struct func *func = c->fkey == NULL ? func_by_id(c->func_id) : NULL;
	if (c->fkey != NULL)
		push_foreign_key(L, space, c->fkey);
	else if (func != NULL)
		lua_pushstring(L, func->def->name);
	else
		lua_pushinteger(L, c->func_id);
}

/** Sets the table of what constrains whole rows: name -> function, or name -> foreign key. */
static void set_constraints(lua_State *L, const char *field, const struct space *space,
			    bool is_foreign)
{
	bool has_any = false;
	for (uint32_t i = 0; i < space->def->constraint_count; i++) {
		const struct constraint *c = &space->def->constraints[i];
		if (c->fieldno != NO_FIELD || (c->fkey != NULL) != is_foreign)
			continue;
		if (!has_any)
			lua_newtable(L);
		has_any = true;
		push_constraint(L, space, c);
		lua_setfield(L, -2, c->name);
	}
	if (has_any)
		lua_setfield(L, -2, field);
}

/** (id) -> the fields of the object in box.space, with a list `indexes`; nil: no such space. */
static int describe(lua_State *L)
{
	struct space *space = space_by_id(lua_box_uint(L, 1, "usage: describe(id)"));
	if (space == NULL)
		return 0;
	lua_createtable(L, 0, 10);
	set_number(L, "id", space->def->id);
	set_string(L, "name", space->def->name);
	set_string(L, "engine", space->def->engine_name);
	set_number(L, "field_count", space->def->exact_field_count);
	set_bool(L, "temporary", space->def->is_temporary);
	set_bool(L, "is_local", space->def->is_local);
	set_bool(L, "is_sync", space->def->is_sync);
	set_bool(L, "enabled", space_index(space, 0) != NULL);
	set_constraints(L, "constraint", space, false);
	set_constraints(L, "foreign_key", space, true);
	lua_createtable(L, (int)space->index_count, 0);
	for (uint32_t i = 0; i < space->index_count; i++) {
		push_index(L, space, space->index[i]->def);
		lua_rawseti(L, -2, (int)i + 1);
	}
	lua_setfield(L, -2, "indexes");
	return 1;
}

static int push_id(struct space *space, void *arg)
{
	lua_State *L = arg;
	lua_pushnumber(L, space_id(space));
	lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
	return 0;
}

/** () -> the ids of all spaces */
static int ids(lua_State *L)
{
	lua_newtable(L);
	space_foreach(push_id, L);
	return 1;
}

static int version(lua_State *L)
{
	lua_pushnumber(L, schema_version);
	return 1;
}

/* Changes of the schema --------------------------------------------------- */

/** The function of space.lua that follows a change. */
static int on_change_ref = LUA_NOREF;

static void on_change(uint32_t space_id)
{
	if (on_change_ref == LUA_NOREF)
		return;
	/* The error of the statement being undone, if any, must outlive this. */
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	lua_State *L = lua_state_get();
	lua_rawgeti(L, LUA_REGISTRYINDEX, on_change_ref);
	lua_pushnumber(L, space_id);
	if (lua_call_protected(L, 1, 0) != 0)
		diag_log();
	lua_state_put(L);
	diag_move(&saved, diag_get());
}

/** (function(id)): from now on it follows every change. */
static int follow(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	luaL_unref(L, LUA_REGISTRYINDEX, on_change_ref);
	on_change_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	space_on_change(on_change);
	return 0;
}

/* Triggers ---------------------------------------------------------------- */

/** Ids of spaces whose triggers space:run_triggers(false) has silenced. */
static struct map_u64 silenced;
static int push_stmt_ref = LUA_NOREF, take_new_tuple_ref = LUA_NOREF;

static bool is_silenced(const struct txn_stmt *stmt)
{
	return silenced.count > 0 && map_u64_get(&silenced, stmt->space_id) != NULL;
}

static void push_tuple_or_nil(lua_State *L, struct tuple *tuple)
{
	if (tuple != NULL)
		lua_push_tuple(L, tuple);
	else
		lua_pushnil(L);
}

/** What a trigger's call is about. */
struct replace_event {
	struct txn_stmt *stmt;
	/** The old tuple as the script got it, to be known again when it is returned. */
	const struct lua_tuple *old_tuple;
};

/** Old tuple, new tuple, space's name, what was asked for. */
static int push_stmt(lua_State *L)
{
	struct replace_event *event = lua_touserdata(L, 1);
	struct txn_stmt *stmt = event->stmt;
	push_tuple_or_nil(L, stmt->old_tuple);
	event->old_tuple = lua_to_tuple(L, -1);
	push_tuple_or_nil(L, stmt->new_tuple);
	lua_pushstring(L, space_name(stmt->space));
	lua_pushstring(L, iproto_type_name(stmt->type));
	return 4;
}

static bool same_bytes(const struct lua_tuple *a, const struct tuple *b)
{
	uint32_t size;
	const char *data = lua_tuple_data(a, &size);
	return b != NULL && size == b->bsize && memcmp(data, tuple_data(b), size) == 0;
}

/**
 * The tuple that a before_replace trigger returned: counted, or NULL with an error.
 * The old tuple itself means that nothing is to change; one that only looks like it is
 * a tuple like any other.
 */
static struct tuple *new_tuple_of(const struct replace_event *event,
				  const struct lua_tuple *returned)
{
	const struct txn_stmt *stmt = event->stmt;
	if (same_bytes(returned, stmt->new_tuple)) {
		tuple_ref(stmt->new_tuple);
		return stmt->new_tuple;
	}
	if (returned == event->old_tuple && same_bytes(returned, stmt->old_tuple)) {
		tuple_ref(stmt->old_tuple);
		return stmt->old_tuple;
	}
	uint32_t size;
	const char *data = lua_tuple_data(returned, &size);
	return tuple_new(stmt->space->format, data, data + size);
}

/** (event, results...): no result keeps the new tuple, nil drops it, a tuple replaces it. */
static int take_new_tuple(lua_State *L)
{
	const struct replace_event *event = lua_touserdata(L, 1);
	struct txn_stmt *stmt = event->stmt;
	/* Where the trigger has yielded, the statement is undone already. */
	if (lua_gettop(L) < 2 || stmt->space == NULL)
		return 0;
	void *payload;
	struct tuple *new_tuple = NULL;
	const struct lua_tuple *returned = lua_to_tuple(L, 2);
	if (returned != NULL) {
		new_tuple = new_tuple_of(event, returned);
		if (new_tuple == NULL)
			return lua_throw(L);
	} else if (!lua_isnil(L, 2) && lua_cdata(L, 2, &payload) != CDATA_NULL) {
		client_error(ER_BEFORE_REPLACE_RET, luaL_typename(L, 2));
		return lua_throw(L);
	}
	if (stmt->new_tuple != NULL)
		tuple_unref(stmt->new_tuple);
	stmt->new_tuple = new_tuple;
	return 0;
}

static int run_on_replace(struct trigger *trigger, void *event)
{
	struct txn_stmt *stmt = txn_stmt_current(event);
	if (stmt == NULL || is_silenced(stmt))
		return 0;
	struct replace_event e = {stmt, NULL};
	return lua_trigger_call(trigger, push_stmt_ref, LUA_NOREF, &e);
}

static int run_before_replace(struct trigger *trigger, void *event)
{
	struct txn_stmt *stmt = txn_stmt_current(event);
	if (stmt == NULL || is_silenced(stmt))
		return 0;
	struct replace_event e = {stmt, NULL};
	return lua_trigger_call(trigger, push_stmt_ref, take_new_tuple_ref, &e);
}

/** The space of the object at 1, by its field `id`. */
static struct space *check_space(lua_State *L, const char *usage)
{
	if (!lua_istable(L, 1))
		luaL_error(L, "%s", usage);
	lua_getfield(L, 1, "id");
	uint32_t id = lua_box_uint(L, -1, usage);
	lua_pop(L, 1);
	struct space *space = space_find(id);
	if (space == NULL)
		lua_throw(L);
	return space;
}

static int on_replace(lua_State *L)
{
	struct space *space = check_space(
		L, "usage: space:on_replace(function | nil, [function | nil])");
	return lua_trigger_reset(L, 2, &space->on_replace, run_on_replace);
}

static int before_replace(lua_State *L)
{
	struct space *space = check_space(
		L, "usage: space:before_replace(function | nil, [function | nil])");
	return lua_trigger_reset(L, 2, &space->before_replace, run_before_replace);
}

static int run_triggers(lua_State *L)
{
	struct space *space = check_space(L, "usage: space:run_triggers(true | false)");
	luaL_checktype(L, 2, LUA_TBOOLEAN);
	if (lua_toboolean(L, 2))
		map_u64_del(&silenced, space_id(space));
	else
		map_u64_put(&silenced, space_id(space), &silenced);
	return 0;
}

static int space_bsize(lua_State *L)
{
	struct space *space = space_find(lua_box_uint(L, 1, "usage: space.bsize(id)"));
	if (space == NULL)
		return lua_throw(L);
	lua_pushnumber(L, (double)space->bsize);
	return 1;
}

/* Tuples from maps -------------------------------------------------------- */

/** (id, array) -> a tuple of the space's format; or nil and the reason. */
static int new_tuple(lua_State *L)
{
	struct space *space = space_find(lua_box_uint(L, 1, "usage: new_tuple(id, array)"));
	if (space == NULL)
		return lua_throw(L);
	struct buf *b = lua_scratch_get();
	lua_encode_array(L, 2, b);
	struct tuple *tuple = tuple_new(space->format, b->data, buf_end(b));
	lua_scratch_put(b);
	if (tuple != NULL)
		return lua_box_push_counted(L, tuple);
	lua_pushnil(L);
	lua_pushstring(L, diag_last()->message);
	return 2;
}

/** (id, name) -> the field's number from 1, or nil */
static int field_number(lua_State *L)
{
	struct space *space = space_find(lua_box_uint(L, 1, "usage: field_number(id, name)"));
	if (space == NULL)
		return lua_throw(L);
	size_t len;
	const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &len) : NULL;
	int no = name != NULL ? tuple_dictionary_find(space->format->dict, name, len) : -1;
	if (no < 0)
		return 0;
	lua_pushinteger(L, no + 1);
	return 1;
}

/* Start-up ---------------------------------------------------------------- */

/** Limits and ids of system spaces: the fields of box.schema in capitals. */
static const struct {
	const char *name;
	uint32_t value;
} schema_constants[] = {
	{"SYSTEM_ID_MIN", SYSTEM_ID_MIN}, {"SYSTEM_ID_MAX", SYSTEM_ID_MAX},
	{"SPACE_MAX", SPACE_ID_MAX}, {"INDEX_MAX", INDEX_ID_MAX},
	{"INDEX_PART_MAX", KEY_PART_MAX}, {"INDEX_FIELD_MAX", KEY_FIELDNO_MAX},
	{"FIELD_MAX", TUPLE_FIELD_COUNT_MAX},
	/* One less, as the reference counts. */
	{"FORMAT_ID_MAX", FORMAT_ID_MAX - 1},
	{"NAME_MAX", IDENTIFIER_MAX}, {"REPLICA_MAX", 32}, {"SQL_BIND_PARAMETER_MAX", 65000},
	{"SYSTEM_USER_ID_MIN", USER_GUEST}, {"SYSTEM_USER_ID_MAX", ROLE_PUBLIC},
	{"GUEST_ID", USER_GUEST}, {"ADMIN_ID", USER_ADMIN}, {"PUBLIC_ROLE_ID", ROLE_PUBLIC},
	{"SUPER_ROLE_ID", ROLE_SUPER},
	{"VINYL_DEFERRED_DELETE_ID", SPACE_VINYL_DEFERRED_DELETE}, {"SCHEMA_ID", SPACE_SCHEMA},
	{"COLLATION_ID", SPACE_COLLATION}, {"VCOLLATION_ID", SPACE_VCOLLATION},
	{"SPACE_ID", SPACE_SPACE}, {"VSPACE_ID", SPACE_VSPACE}, {"SEQUENCE_ID", SPACE_SEQUENCE},
	{"SEQUENCE_DATA_ID", SPACE_SEQUENCE_DATA}, {"VSEQUENCE_ID", SPACE_VSEQUENCE},
	{"INDEX_ID", SPACE_INDEX}, {"VINDEX_ID", SPACE_VINDEX}, {"FUNC_ID", SPACE_FUNC},
	{"VFUNC_ID", SPACE_VFUNC}, {"USER_ID", SPACE_USER}, {"VUSER_ID", SPACE_VUSER},
	{"PRIV_ID", SPACE_PRIV}, {"VPRIV_ID", SPACE_VPRIV}, {"CLUSTER_ID", SPACE_CLUSTER},
	{"TRIGGER_ID", SPACE_TRIGGER}, {"TRUNCATE_ID", SPACE_TRUNCATE},
	{"SPACE_SEQUENCE_ID", SPACE_SPACE_SEQUENCE},
	{"FK_CONSTRAINT_ID", SPACE_FK_CONSTRAINT}, {"CK_CONSTRAINT_ID", SPACE_CK_CONSTRAINT},
	{"FUNC_INDEX_ID", SPACE_FUNC_INDEX}, {"SESSION_SETTINGS_ID", SPACE_SESSION_SETTINGS},
};

/** (table) sets them */
static int set_constants(lua_State *L)
{
	for (size_t i = 0; i < sizeof(schema_constants) / sizeof(schema_constants[0]); i++) {
		lua_pushinteger(L, schema_constants[i].value);
		lua_setfield(L, 1, schema_constants[i].name);
	}
	return 0;
}

void lua_space_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"describe", describe}, {"ids", ids}, {"version", version}, {"follow", follow},
		{"on_replace", on_replace}, {"before_replace", before_replace},
		{"run_triggers", run_triggers}, {"bsize", space_bsize}, {"new_tuple", new_tuple},
		{"field_number", field_number}, {"set_constants", set_constants}, {NULL, NULL},
	};
	map_u64_create(&silenced);
	push_stmt_ref = lua_box_ref(L, push_stmt);
	take_new_tuple_ref = lua_box_ref(L, take_new_tuple);
	lua_new_module(L, "tarn.space", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "schema_util.lua", "tarn.box.util");
	lua_load_embedded(L, "trigger.lua", "trigger");
	lua_load_embedded(L, "space.lua", "tarn.box.space");
	lua_load_embedded(L, "schema_constraint.lua", "tarn.box.constraint");
	lua_load_embedded(L, "schema_space.lua", "tarn.box.schema_space");
	lua_load_embedded(L, "schema_index.lua", "tarn.box.schema_index");
	lua_load_embedded(L, "schema_collation.lua", "tarn.box.schema_collation");
	lua_sequence_init(L);
	lua_user_init(L);
}
