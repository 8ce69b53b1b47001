/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Error objects for scripts, and the module box.error.
 *
 * An error object is a cdata that holds a counted pointer to a struct error (see
 * core/diag.h); the collector gives the reference back. Forms of calls and texts are
 * those observed of the reference.
 */
#include <assert.h>
#include <string.h>

#include "core/diag.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/error_fields.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"

static int ref_new_error, ref_format;

void lua_error_release(struct error *e);

/** The finalizer of error objects; called through FFI, neither yields nor runs Lua. */
void lua_error_release(struct error *e)
{
	if (e != NULL)
		error_unref(e);
}

struct error **lua_push_error_new(lua_State *L)
{
	return lua_push_new(L, ref_new_error);
}

void lua_push_error(lua_State *L, struct error *e)
{
	struct error **p = lua_push_new(L, ref_new_error);
	*p = e;
	error_ref(e);
}

struct error *lua_to_error(lua_State *L, int idx)
{
	void *payload;
	if (lua_cdata(L, idx, &payload) != CDATA_ERROR)
		return NULL;
	return *(struct error **)payload;
}

static int throw_text(lua_State *L, const char *text)
{
	lua_pushstring(L, text);
	return lua_error(L);
}

static struct error *check_error(lua_State *L, int idx, const char *usage)
{
	struct error *e = lua_to_error(L, idx);
	if (e == NULL)
		throw_text(L, usage);
	return e;
}

/* Making ------------------------------------------------------------------- */

/** Where the caller of box.error stands. */
static void caller_place(lua_State *L, const char **file, unsigned *line)
{
	static lua_Debug ar;
	*file = "";
	*line = 0;
	if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sl", &ar)) {
		*file = ar.short_src;
		*line = (unsigned)ar.currentline;
	}
}

/** Makes an error with the text at the top of the stack; the caller owns it. */
static struct error *make(lua_State *L, const char *custom_type, int code)
{
	const char *file;
	unsigned line;
	caller_place(L, &file, &line);
	const struct error_type *type = custom_type != NULL ? &type_CustomError : &type_ClientError;
	struct error *e = error_new(type, (uint32_t)code, file, line, "%s", lua_tostring(L, -1));
	if (custom_type != NULL)
		snprintf(e->custom_type, sizeof(e->custom_type), "%s", custom_type);
	return e;
}

/** Replaces `count` arguments at the top by string.format(format, ...). */
static void format_text(lua_State *L, const char *format, int count)
{
	luaL_checkstack(L, 4, "too many arguments");
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_format);
	lua_pushstring(L, format);
	lua_insert(L, -count - 2);
	lua_insert(L, -count - 2);
	lua_call(L, count + 1, 1);
}

/** The values of a code's text, of which there are `count` from `first` on, become fields. */
static void name_arguments(lua_State *L, int first, int count, struct error *e)
{
	for (int i = 0; i < count; i++) {
		char name[ERROR_ARGUMENT_NAME_SIZE];
		if (!error_argument_name(e->code, i, name))
			return;
		if (lua_type(L, first + i) == LUA_TSTRING)
			error_set_string(e, name, lua_tostring(L, first + i));
	}
}

/** Names that an error has anyway: none of them can be given along. */
static bool is_own_name(const char *name)
{
	static const char *const names[] = {
		"reason", "code", "type", "base_type", "custom_type", "errno", "message", "prev",
		"trace",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/** All else that the table has under names becomes fields of the error, which is on the stack. */
static void add_payload(lua_State *L, int idx, struct error *e)
{
	struct buf *value = lua_scratch_get();
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING || is_own_name(lua_tostring(L, -2)))
			continue;
		buf_truncate(value, 0);
		lua_encode(L, lua_gettop(L), value, &lua_codec_default);
		error_set_field(e, lua_tostring(L, -2), value->data, value->size);
	}
	lua_scratch_put(value);
}

/**
 * {code = number, reason = string, type = string}, all optional, and what is to go with the
 * error.
 */
static struct error *make_from_table(lua_State *L, int idx)
{
	lua_getfield(L, idx, "type");
	const char *custom_type = lua_tostring(L, -1);
	lua_getfield(L, idx, "code");
	int code = (int)lua_tointeger(L, -1);
	lua_getfield(L, idx, "reason");
	if (lua_tostring(L, -1) == NULL)
		lua_pushliteral(L, "");
	/* The object holds the error where a value cannot be encoded. */
	struct error **object = lua_push_error_new(L);
	lua_insert(L, -2);
	struct error *e = *object = make(L, custom_type, code);
	add_payload(L, idx, e);
	error_ref(e);
	return e;
}

/**
 * The error that the arguments from `idx` on describe: (code, values...), (type,
 * format, values...) or (table). NULL where they describe none; the caller owns it.
 */
static struct error *make_from_args(lua_State *L, int idx)
{
	int count = lua_gettop(L) - idx;
	if (lua_istable(L, idx))
		return make_from_table(L, idx);
	if (lua_type(L, idx) == LUA_TNUMBER) {
		int code = (int)lua_tointeger(L, idx);
		const char *format = error_code_format((unsigned)code);
		if (count == 0 && strchr(format, '%') != NULL)
			return NULL;
		int first = lua_gettop(L) - count + 1;
		for (int i = 0; i < count; i++)
			lua_pushvalue(L, first + i);
		format_text(L, format, count);
		struct error *e = make(L, NULL, code);
		name_arguments(L, first, count, e);
		return e;
	}
	if (lua_type(L, idx) != LUA_TSTRING || count < 1)
		return NULL;
	if (lua_tostring(L, idx + 1) == NULL)
		return NULL;
	format_text(L, lua_tostring(L, idx + 1), count - 1);
	return make(L, lua_tostring(L, idx), 0);
}

/** Makes an error the last one and throws it; takes the reference. */
static int throw_owned(lua_State *L, struct error *e)
{
	diag_set_error(e);
	error_unref(e);
	return lua_throw(L);
}

/** box.error(...): (box.error, arguments). Without arguments throws the last error again. */
static int error_call(lua_State *L)
{
	if (lua_gettop(L) <= 1)
		return diag_last() != NULL ? lua_throw(L) : 0;
	struct error *e = lua_to_error(L, 2);
	if (e != NULL && lua_gettop(L) == 2) {
		diag_set_error(e);
		return lua_throw(L);
	}
	e = make_from_args(L, 2);
	if (e == NULL)
		return throw_text(L, "box.error(): bad arguments");
	return throw_owned(L, e);
}

static int error_new_lua(lua_State *L)
{
	struct error *e = lua_gettop(L) > 0 ? make_from_args(L, 1) : NULL;
	if (e == NULL)
		return throw_text(L, "Usage: box.error.new(code, args) or "
				     "box.error.new(type, args)");
	lua_push_error(L, e);
	error_unref(e);
	return 1;
}

/* The last error ------------------------------------------------------------- */

static int error_last(lua_State *L)
{
	if (lua_gettop(L) > 0)
		return throw_text(L, "box.error.last(): bad arguments");
	if (diag_last() == NULL)
		lua_pushnil(L);
	else
		lua_push_error(L, diag_last());
	return 1;
}

static int error_clear(lua_State *L)
{
	if (lua_gettop(L) > 0)
		return throw_text(L, "box.error.clear(): bad arguments");
	diag_clear(diag_get());
	return 0;
}

static int error_set(lua_State *L)
{
	if (lua_gettop(L) == 0)
		return throw_text(L, "Usage: box.error.set(error)");
	struct error *e = lua_to_error(L, 1);
	if (e == NULL) {
		lua_pushfstring(L, "Invalid argument #1 (error expected, got %s)",
				luaL_typename(L, 1));
		return lua_error(L);
	}
	diag_set_error(e);
	return 0;
}

/* Methods ----------------------------------------------------------------------- */

static int error_tostring(lua_State *L)
{
	lua_pushstring(L, check_error(L, 1, "Usage: tostring(error)")->message);
	return 1;
}

/** Are both objects of one error? */
static int error_is_same(lua_State *L)
{
	struct error *e = lua_to_error(L, 1);
	lua_pushboolean(L, e != NULL && e == lua_to_error(L, 2));
	return 1;
}

/** Is the value an error object? */
static int error_is_lua(lua_State *L)
{
	lua_pushboolean(L, lua_to_error(L, 1) != NULL);
	return 1;
}

/** Throws it; the last error stays what it was. */
static int error_raise(lua_State *L)
{
	check_error(L, 1, "Usage: error:raise()");
	lua_settop(L, 1);
	return lua_error(L);
}

/** Is `e` in the chain that begins with `cause`? */
static bool is_in_chain(const struct error *e, const struct error *cause)
{
	for (; cause != NULL; cause = cause->cause) {
		if (cause == e)
			return true;
	}
	return false;
}

static int error_set_prev(lua_State *L)
{
	static const char usage[] = "Usage: error1:set_prev(error2)";
	struct error *e = check_error(L, 1, usage);
	struct error *cause = lua_to_error(L, 2);
	void *payload;
	bool is_none = lua_isnoneornil(L, 2) || lua_cdata(L, 2, &payload) == CDATA_NULL;
	if (cause == NULL && !is_none)
		return throw_text(L, usage);
	if (is_in_chain(e, cause))
		return throw_text(L, "Cycles are not allowed");
	if (cause != NULL)
		error_ref(cause);
	if (e->cause != NULL)
		error_unref(e->cause);
	e->cause = cause;
	return 0;
}

/* Attributes ----------------------------------------------------------------------- */

static bool has_code(const struct error *e)
{
	return error_is(e, &type_ClientError) || e->type == &type_CustomError;
}

/** The list of places where it was raised: one. */
static void push_trace(lua_State *L, const struct error *e)
{
	lua_createtable(L, 1, 0);
	if (*e->file == '\0')
		return;
	lua_createtable(L, 0, 2);
	lua_pushstring(L, e->file);
	lua_setfield(L, -2, "file");
	lua_pushnumber(L, e->line);
	lua_setfield(L, -2, "line");
	lua_rawseti(L, -2, 1);
}

/** Pushes the attribute, or nil. */
static void push_attribute(lua_State *L, struct error *e, const char *name)
{
	const char *value;
	if (strcmp(name, "type") == 0) {
		lua_pushstring(L, error_type_name(e));
	} else if (strcmp(name, "message") == 0) {
		lua_pushstring(L, e->message);
	} else if (strcmp(name, "base_type") == 0) {
		lua_pushstring(L, e->type->name);
	} else if (strcmp(name, "code") == 0 && has_code(e)) {
		lua_pushinteger(L, (int32_t)e->code);
	} else if (strcmp(name, "custom_type") == 0 && *e->custom_type != '\0') {
		lua_pushstring(L, e->custom_type);
	} else if (strcmp(name, "errno") == 0 && error_is(e, &type_SystemError)) {
		lua_pushinteger(L, e->saved_errno);
	} else if (strcmp(name, "trace") == 0) {
		push_trace(L, e);
	} else if (strcmp(name, "prev") == 0 && e->cause != NULL) {
		lua_push_error(L, e->cause);
	} else if ((value = error_field(e, name)) != NULL) {
		lua_decode(L, &value, &lua_codec_default);
	} else {
		lua_pushnil(L);
	}
}

/** attribute(error, name) */
static int error_attribute(lua_State *L)
{
	struct error *e = check_error(L, 1, "an error expected");
	if (lua_type(L, 2) != LUA_TSTRING)
		return 0;
	push_attribute(L, e, lua_tostring(L, 2));
	return 1;
}

/** unpack(error): all attributes as a table. */
static int error_unpack(lua_State *L)
{
	static const char *const names[] = {
		"type", "message", "base_type", "code", "custom_type", "errno", "trace", "prev",
	};
	struct error *e = check_error(L, 1, "Usage: error:unpack()");
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		push_attribute(L, e, names[i]);
		lua_setfield(L, -2, names[i]);
	}
	for (struct error_field *f = e->fields; f != NULL; f = f->next) {
		push_attribute(L, e, f->data);
		lua_setfield(L, -2, f->data);
	}
	return 1;
}

/* Set-up ----------------------------------------------------------------------------- */

/** Fills the table at the top with the codes, without their "ER_". */
static void add_codes(lua_State *L)
{
	for (unsigned code = 0; code < box_error_code_MAX; code++) {
		const char *name = error_code_name(code);
		if (name == NULL)
			continue;
		lua_pushinteger(L, code);
		lua_setfield(L, -2, name + strlen("ER_"));
	}
}

void lua_error_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"call", error_call}, {"new", error_new_lua}, {"last", error_last},
		{"clear", error_clear}, {"set", error_set}, {"tostring", error_tostring},
		{"raise", error_raise}, {"set_prev", error_set_prev}, {"unpack", error_unpack},
		{"attribute", error_attribute}, {"is_same", error_is_same},
		{"is", error_is_lua},
		{NULL, NULL},
	};
	lua_getglobal(L, "string");
	lua_getfield(L, -1, "format");
	ref_format = lua_ref_forever(L);
	lua_new_module(L, "tarn.error", functions);
	lua_newtable(L);
	add_codes(L);
	lua_setfield(L, -2, "codes");
	lua_load_embedded(L, "error.lua", "internal.error");
	lua_getfield(L, -1, "new_error");
	ref_new_error = lua_ref_forever(L);
}
