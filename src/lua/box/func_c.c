/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stored procedures in C: how a function of the language C is found and called.
 *
 * `module.name` is the function `name` of the shared library that package.cpath has
 * for `module`; without a dot both have that name. It is looked for at the first call
 * (lua/module/c_library.h).
 */
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/func.h"
#include "db/schema/user.h"
#include "db/tuple/format_map.h"
#include "lua/bridge.h"
#include "lua/box/call.h"
#include "lua/module/c_library.h"
#include "lua/module/module_box.h"

struct box_function_ctx {
	struct port *result;
};

struct port *box_function_result(struct box_function_ctx *ctx)
{
	return ctx->result;
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

static int call_proc(const struct c_proc *proc, struct box_function_ctx *ctx, const char *args,
		     const char *end)
{
	/* It may be dropped, or taken to another version of the library, while it runs. */
	struct c_library *library = proc->library;
	c_library_enter(library);
	int rc = proc->function(ctx, args, end);
	c_library_leave(library);
	return rc;
}

/** In struct func: `impl` is its struct c_proc. */
static int c_call(struct func *func, struct port *args, struct port *result)
{
	struct c_proc *proc = (struct c_proc *)func->impl;
	if (proc->library == NULL && c_proc_load(proc) != 0)
		return -1;
	const char *data, *end;
	struct buf buf = BUF_INIT;
	if (args->vtab == &port_msgpack_vtab) {
		data = port_msgpack_data(args, &end);
		if (port_msgpack_formats(args) != NULL) {
			format_map_strip(&buf, data, end);
			data = buf.data;
			end = buf_end(&buf);
		}
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
	int rc = call_proc(proc, &ctx, data, end);
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
	struct c_proc *proc = (struct c_proc *)func->impl;
	c_proc_unload(proc);
	xfree(proc);
}

static const struct func_vtab c_vtab = {c_call, c_destroy};

static int c_function_new(struct func *func)
{
	struct c_proc *proc = xcalloc(1, sizeof(*proc));
	proc->name = func->def->name;
	func->vtab = &c_vtab;
	func->impl = (intptr_t)proc;
	return 0;
}

/** reload(name) */
static int reload(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	if (access_check(PRIV_EXECUTE | PRIV_USAGE, OBJECT_UNIVERSE, NULL, UINT32_MAX, NULL) != 0 ||
	    c_library_reload(name) != 0)
		return lua_throw(L);
	return 0;
}

void lua_func_c_init(lua_State *L)
{
	static const luaL_Reg functions[] = {{"reload", reload}, {NULL, NULL}};
	lua_new_module(L, "tarn.func_c", functions);
	func_language_register(FUNC_C, c_function_new);
	c_library_init(L);
	lua_module_box_init();
}
