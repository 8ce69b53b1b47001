/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `iconv`: texts from one encoding to another, by the C library's iconv.
 * Manual: module iconv.
 */
#include <errno.h>
#include <iconv.h>

#include "lua/bridge.h"
#include "lua/modules.h"

static struct lua_class iconv_class = {.name = "iconv"};

/** new(to, from) -> a converter, which is called with a text. */
static int iconv_new(lua_State *L)
{
	if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "Usage: iconv.new(\"CP1251\", \"KOI8-R\")");
	iconv_t *cd = lua_newuserdata(L, sizeof(*cd));
	*cd = iconv_open(lua_tostring(L, 1), lua_tostring(L, 2));
	if (*cd == (iconv_t)-1) {
		diag_set_errno(SystemError, "iconv");
		return luaL_error(L, "%s", diag_last()->message);
	}
	lua_class_set(L, &iconv_class);
	return 1;
}

/** Converts what is in [*in, *in + *left) to the end of `out`; true when all of it is. */
static bool convert(iconv_t cd, char **in, size_t *left, struct buf *out)
{
	enum { STEP = 4096 };
	while (true) {
		char *p = buf_reserve(out, STEP);
		size_t room = STEP;
		size_t rc = iconv(cd, in, left, &p, &room);
		out->size += STEP - room;
		if (rc != (size_t)-1)
			return true;
		if (errno != E2BIG)
			return false;
	}
}

static int iconv_call(lua_State *L)
{
	iconv_t *cd = lua_class_check(L, 1, &iconv_class);
	size_t left;
	luaL_checktype(L, 2, LUA_TSTRING);
	char *in = (char *)luaL_checklstring(L, 2, &left);
	struct buf *out = lua_scratch_get();
	iconv(*cd, NULL, NULL, NULL, NULL);	/* to the state before the first text */
	bool ok = convert(*cd, &in, &left, out) && convert(*cd, NULL, NULL, out);
	if (!ok) {
		/* The words are the reference's, which has the two errors the other way round. */
		const char *what = errno == EILSEQ ? "Incomplete multibyte sequence" :
				   errno == EINVAL ? "Invalid multibyte sequence" :
				   "conversion failed";
		lua_scratch_put(out);
		return luaL_error(L, "%s", what);
	}
	lua_pushlstring(L, out->data, out->size);
	lua_scratch_put(out);
	return 1;
}

static int iconv_tostring(lua_State *L)
{
	lua_pushfstring(L, "iconv: %p", lua_class_check(L, 1, &iconv_class));
	return 1;
}

static int iconv_gc(lua_State *L)
{
	iconv_t *cd = lua_class_check(L, 1, &iconv_class);
	iconv_close(*cd);
	return 0;
}

void lua_iconv_init(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"__call", iconv_call},
		{"__tostring", iconv_tostring},
		{"__gc", iconv_gc},
		{NULL, NULL},
	};
	static const luaL_Reg functions[] = {{"new", iconv_new}, {NULL, NULL}};
	lua_class_new(L, &iconv_class);
	luaL_register(L, NULL, methods);
	lua_pop(L, 1);
	lua_new_module(L, "iconv", functions);
}
