/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Error objects for scripts, and the module box.error.
 *
 * An error object is a cdata that holds a counted pointer to a struct error (see
 * core/diag.h); the collector gives the reference back.
 */
#include <string.h>

#include "core/diag.h"
#include "db/error.h"
#include "lua/bridge_impl.h"
#include "lua/modules.h"

static int ref_new_error;

void lua_error_release(struct error *e);

/** The finalizer of error objects; called through FFI, neither yields nor runs Lua. */
void lua_error_release(struct error *e)
{
	if (e != NULL)
		error_unref(e);
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

static struct error *check_error(lua_State *L, int idx)
{
	struct error *e = lua_to_error(L, idx);
	if (e == NULL)
		luaL_error(L, "Usage: error:method()");
	return e;
}

static int error_tostring(lua_State *L)
{
	lua_pushstring(L, check_error(L, 1)->message);
	return 1;
}

void lua_error_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"tostring", error_tostring},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.error", functions);
	lua_load_embedded(L, "error.lua", "internal.error");
	lua_getfield(L, -1, "new_error");
	ref_new_error = lua_ref_forever(L);
}
