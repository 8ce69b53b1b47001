/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `errno`: the last system error of this thread, its constants and
 * its texts. Manual: module errno.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lua/bridge.h"
#include "lua/modules.h"

/** errno(): the last error; errno(n): sets it and returns what it was. */
static int errno_call(lua_State *L)
{
	int before = errno;
	if (lua_gettop(L) >= 2) {
		if (!lua_isnumber(L, 2))
			return luaL_error(L, "bad argument #1 to '?' (cannot convert '%s' to 'int')",
					  luaL_typename(L, 2));
		errno = lua_tointeger(L, 2);
	}
	lua_pushinteger(L, before);
	return 1;
}

static int errno_strerror(lua_State *L)
{
	lua_Number code = errno;
	if (!lua_isnoneornil(L, 1)) {
		if (!lua_isnumber(L, 1))
			return luaL_error(L, "bad argument #1 to 'strerror' (cannot convert 'nil' to "
					     "'int')");
		code = lua_tonumber(L, 1);
	}
	/* What is no int is no error's number, the same one whatever it is. */
	lua_pushstring(L, strerror(code >= INT_MIN && code <= INT_MAX ? (int)code : INT_MIN));
	return 1;
}

static const struct { const char *name; int value; } constants[] = {
#define E(name) {#name, name}
	E(E2BIG), E(EACCES), E(EADDRINUSE), E(EADDRNOTAVAIL), E(EAFNOSUPPORT), E(EAGAIN),
	E(EALREADY), E(EBADF), E(EBADMSG), E(EBUSY), E(ECANCELED), E(ECHILD),
	E(ECONNABORTED), E(ECONNREFUSED), E(ECONNRESET), E(EDEADLK), E(EDESTADDRREQ),
	E(EDOM), E(EDQUOT), E(EEXIST), E(EFAULT), E(EFBIG), E(EHOSTUNREACH), E(EIDRM),
	E(EILSEQ), E(EINPROGRESS), E(EINTR), E(EINVAL), E(EIO), E(EISCONN), E(EISDIR),
	E(ELOOP), E(EMFILE), E(EMLINK), E(EMSGSIZE), E(EMULTIHOP), E(ENAMETOOLONG),
	E(ENETDOWN), E(ENETRESET), E(ENETUNREACH), E(ENFILE), E(ENOBUFS), E(ENODATA),
	E(ENODEV), E(ENOENT), E(ENOEXEC), E(ENOLCK), E(ENOLINK), E(ENOMEM), E(ENOMSG),
	E(ENOPROTOOPT), E(ENOSPC), E(ENOSR), E(ENOSTR), E(ENOSYS), E(ENOTCONN),
	E(ENOTDIR), E(ENOTEMPTY), E(ENOTSOCK), E(ENOTSUP), E(ENOTTY), E(ENXIO),
	E(EOPNOTSUPP), E(EOVERFLOW), E(EPERM), E(EPIPE), E(EPROTO), E(EPROTONOSUPPORT),
	E(EPROTOTYPE), E(ERANGE), E(EROFS), E(ESPIPE), E(ESRCH), E(ESTALE), E(ETIME),
	E(ETIMEDOUT), E(ETXTBSY), E(EWOULDBLOCK), E(EXDEV),
#undef E
	{NULL, 0},
};

static int errno_newindex(lua_State *L)
{
	return luaL_error(L, "Can't create new errno constants");
}

void lua_errno_init(lua_State *L)
{
	static const luaL_Reg functions[] = {{"strerror", errno_strerror}, {NULL, NULL}};
	lua_new_module(L, "errno", functions);
	lua_createtable(L, 0, 3);
	lua_createtable(L, 0, sizeof(constants) / sizeof(constants[0]));
	for (int i = 0; constants[i].name != NULL; i++) {
		lua_pushinteger(L, constants[i].value);
		lua_setfield(L, -2, constants[i].name);
	}
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, errno_call);
	lua_setfield(L, -2, "__call");
	lua_pushcfunction(L, errno_newindex);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
}
