/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stored procedures in C: how a function of the language C is found and called.
 *
 * `module.name` is the function `name` of the shared library that package.cpath has
 * for `module`; without a dot both have that name. It is looked for at the first call,
 * and the library stays loaded.
 */
#include <dlfcn.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/func.h"
#include "lua/bridge.h"
#include "lua/box/call.h"
#include "lua/module/module_box.h"

static int ref_search_path;

struct box_function_ctx {
	struct port *result;
};

typedef int (*c_function)(struct box_function_ctx *ctx, const char *args, const char *args_end);

struct port *box_function_result(struct box_function_ctx *ctx)
{
	return ctx->result;
}

/** Protected: (name) -> the path, or nil. */
static int search(lua_State *L)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "searchpath");
	lua_pushvalue(L, 1);
	lua_getfield(L, -3, "cpath");
	lua_call(L, 2, 1);
	return 1;
}

/** The library's file; the caller frees it. NULL with the error. */
static char *find_library(const char *module)
{
	char *path = NULL;
	lua_State *L = lua_state_get();
	int top = lua_gettop(L);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_search_path);
	lua_pushstring(L, module);
	if (lua_call_protected(L, 1, 1) == 0) {
		if (lua_type(L, -1) == LUA_TSTRING)
			path = xstrdup(lua_tostring(L, -1));
		else
			client_error(ER_LOAD_MODULE, module, "module not found");
	}
	lua_settop(L, top);
	lua_state_put(L);
	return path;
}

static c_function load(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *symbol = dot != NULL ? dot + 1 : name;
	char *module = dot != NULL ? xstrndup(name, dot - name) : xstrdup(name);
	char *path = find_library(module);
	c_function f = NULL;
	if (path != NULL) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (library == NULL) {
			client_error(ER_LOAD_MODULE, module, dlerror());
		} else if ((*(void **)&f = dlsym(library, symbol)) == NULL) {
			client_error(ER_LOAD_FUNCTION, symbol, dlerror());
			dlclose(library);
		}
		xfree(path);
	}
	xfree(module);
	return f;
}

/** The arguments as one array, in the buffer; where it begins, or NULL with the error. */
static const char *collect_args(struct port *args, struct buf *out)
{
	/* How long the head is, is known when the values are there. */
	enum { HEAD_MAX = 5 };
	buf_alloc(out, HEAD_MAX);
	int count = port_dump(args, out, false);
	if (count < 0)
		return NULL;
	char *begin = out->data + HEAD_MAX - mp_sizeof_array((uint32_t)count);
	mp_encode_array(begin, (uint32_t)count);
	return begin;
}

/** In struct func: `impl` is the function, 0 until the first call. */
static int c_call(struct func *func, struct port *args, struct port *result)
{
	if (func->impl == 0)
		func->impl = (intptr_t)load(func->def->name);
	if (func->impl == 0)
		return -1;
	const char *data, *end;
	struct buf buf = BUF_INIT;
	if (args->vtab == &port_msgpack_vtab) {
		data = port_msgpack_data(args, &end);
	} else {
		data = collect_args(args, &buf);
		if (data == NULL) {
			buf_free(&buf);
			return -1;
		}
		end = buf_end(&buf);
	}
	port_c_create(result);
	struct box_function_ctx ctx = {result};
	diag_clear(diag_get());
	int rc = ((c_function)func->impl)(&ctx, data, end);
	buf_free(&buf);
	if (rc == 0)
		return 0;
	port_destroy(result);
	if (diag_last() == NULL)
		client_error(ER_PROC_C, "unknown error");
	return -1;
}

static void c_destroy(struct func *func)
{
	(void)func;
}

static const struct func_vtab c_vtab = {c_call, c_destroy};

static int c_function_new(struct func *func)
{
	func->vtab = &c_vtab;
	func->impl = 0;
	return 0;
}

void lua_func_c_init(lua_State *L)
{
	lua_pushcfunction(L, search);
	ref_search_path = luaL_ref(L, LUA_REGISTRYINDEX);
	func_language_register(FUNC_C, c_function_new);
	lua_module_box_init();
}
