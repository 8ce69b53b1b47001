/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stored functions in Lua, and box.func.
 *
 * A body is compiled once, with an empty environment, and must be an expression that
 * gives a function; the function then sees the globals or, where it is sandboxed, a
 * few harmless ones (func.lua). A function without a body is found by its name at each
 * call.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "db/error.h"
#include "db/proc_stat.h"
#include "db/schema/func.h"
#include "lua/bridge_impl.h"
#include "lua/box/call.h"

static int ref_sandbox, ref_on_create, ref_on_drop;

/** In struct func: `impl` is the registry reference of a compiled body. */
static int body_call(struct func *func, struct port *args, struct port *result)
{
	struct lua_callee callee = {.kind = CALLEE_REF, .ref = (int)func->impl};
	return lua_callee_run(&callee, args, result);
}

static void body_destroy(struct func *func)
{
	if (lua_main != NULL)
		luaL_unref(lua_main, LUA_REGISTRYINDEX, (int)func->impl);
}

static int name_call(struct func *func, struct port *args, struct port *result)
{
	struct lua_callee callee = {
		.kind = CALLEE_NAME, .text = func->def->name, .len = strlen(func->def->name),
	};
	return lua_callee_run(&callee, args, result);
}

static void name_destroy(struct func *func)
{
}

static const struct func_vtab body_vtab = {body_call, body_destroy};
static const struct func_vtab name_vtab = {name_call, name_destroy};

/* Bodies --------------------------------------------------------------------- */

static int load_error(const struct func *func, const char *text)
{
	client_error(ER_LOAD_FUNCTION, func->def->name, text);
	return -1;
}

/** The last error's text becomes the reason of a load error. */
static int load_error_from_diag(const struct func *func)
{
	struct error *e = diag_last();
	error_ref(e);
	load_error(func, e->message);
	error_unref(e);
	return -1;
}

/** Pushes the environment of the body's function. */
static void push_environment(lua_State *L, const struct func *func)
{
	if (func->def->is_sandboxed)
		lua_rawgeti(L, LUA_REGISTRYINDEX, ref_sandbox);
	else
		lua_pushvalue(L, LUA_GLOBALSINDEX);
}

/** Leaves the body's function at the top of L. -1 with ER_LOAD_FUNCTION. */
static int push_body(lua_State *L, const struct func *func)
{
	char *text = xasprintf("return %s", func->def->body);
	int rc = luaL_loadstring(L, text);
	xfree(text);
	if (rc != 0) {
		lua_to_diag(L);
		return load_error_from_diag(func);
	}
	lua_newtable(L);
	lua_setfenv(L, -2);
	if (lua_call_protected(L, 0, 1) != 0)
		return load_error_from_diag(func);
	if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1))
		return load_error(func, "given body doesn't define a function");
	push_environment(L, func);
	lua_setfenv(L, -2);
	return 0;
}

static int lua_function_new(struct func *func)
{
	if (func->def->body == NULL || *func->def->body == '\0') {
		func->vtab = &name_vtab;
		return 0;
	}
	lua_State *L = lua_state_get();
	int top = lua_gettop(L);
	int rc = push_body(L, func);
	if (rc == 0) {
		func->impl = luaL_ref(L, LUA_REGISTRYINDEX);
		func->vtab = &body_vtab;
	}
	lua_settop(L, top);
	lua_state_put(L);
	return rc;
}

/* box.func --------------------------------------------------------------------- */

static void set_bool(lua_State *L, const char *name, bool value)
{
	lua_pushboolean(L, value);
	lua_setfield(L, -2, name);
}

static void set_string(lua_State *L, const char *name, const char *value)
{
	if (value == NULL)
		return;
	lua_pushstring(L, value);
	lua_setfield(L, -2, name);
}

/** Pushes a table that describes the function, as box.func shows it. */
static void push_description(lua_State *L, const struct func_def *def)
{
	lua_newtable(L);
	lua_pushinteger(L, def->id);
	lua_setfield(L, -2, "id");
	set_string(L, "name", def->name);
	set_string(L, "body", def->body);
	set_string(L, "comment", def->comment != NULL && *def->comment ? def->comment : NULL);
	set_string(L, "language", func_language_names[def->language]);
	set_string(L, "aggregate", "none");
	set_string(L, "returns", "any");
	set_bool(L, "setuid", def->is_setuid);
	set_bool(L, "is_deterministic", def->is_deterministic);
	if (def->body != NULL)
		set_bool(L, "is_sandboxed", def->is_sandboxed);
	set_bool(L, "is_multikey", def->is_multikey);
	lua_newtable(L);
	set_bool(L, "lua", def->exports_lua);
	set_bool(L, "sql", def->exports_sql);
	lua_setfield(L, -2, "exports");
}

static void on_change(struct func *func, bool is_new)
{
	lua_State *L = lua_state_get();
	lua_rawgeti(L, LUA_REGISTRYINDEX, is_new ? ref_on_create : ref_on_drop);
	push_description(L, func->def);
	if (lua_call_protected(L, 1, 0) != 0)
		diag_log();
	lua_state_put(L);
}

/** call(name, args): what the function returns. Yields. */
static int func_call_by_name(lua_State *L)
{
	size_t len;
	const char *name = luaL_checklstring(L, 1, &len);
	struct func *func = func_by_name(name, len);
	if (func == NULL) {
		client_error(ER_NO_SUCH_FUNCTION, name);
		return lua_throw(L);
	}
	int count = lua_isnoneornil(L, 2) ? 0 : (int)lua_objlen(L, 2);
	luaL_checkstack(L, count + 4, "too many arguments");
	for (int i = 1; i <= count; i++)
		lua_rawgeti(L, 2, i);
	struct port args, result;
	port_lua_create(&args, L, lua_gettop(L) - count, count);
	struct proc_mark mark;
	proc_stat_begin(&mark);
	int rc = func_call(func, &args, &result);
	proc_stat_end(&mark, lua_tostring(L, 1), len, rc != 0);
	if (rc != 0)
		return lua_throw(L);
	lua_settop(L, 2);
	/* Only memory for the stack can fail here; the coroutine of the result is then lost. */
	int result_count = lua_push_port(L, &result);
	port_destroy(&result);
	return result_count;
}

static int ref_field(lua_State *L, const char *name)
{
	lua_getfield(L, -1, name);
	return lua_ref_forever(L);
}

void lua_func_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"call", func_call_by_name},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.func", functions);
	lua_load_embedded(L, "func.lua", "internal.func");
	ref_sandbox = ref_field(L, "sandbox");
	ref_on_create = ref_field(L, "on_create");
	ref_on_drop = ref_field(L, "on_drop");
	func_language_register(FUNC_LUA, lua_function_new);
	func_on_change(on_change);
}
