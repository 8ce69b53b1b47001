/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The session of a console's client: it begins and ends with the fiber that serves the
 * socket, and box.session.push() reaches a Lua function that prints the value there.
 */
#include <sys/socket.h>

#include "core/diag.h"
#include "core/memory.h"
#include "core/trigger.h"
#include "data/mp.h"
#include "db/port.h"
#include "lua/bridge.h"
#include "lua/lib/console_session.h"
#include "net/session.h"

struct console_session {
	struct session *session;
	/** The function that prints a message, in the registry. */
	int push_ref;
};

/** (function, MessagePack as light userdata): calls the function with the value. */
static int call_push(lua_State *L)
{
	const char *data = lua_touserdata(L, 2);
	/* Tables without hints, so that they print as those of a script do. */
	struct lua_codec codec = lua_codec_default;
	codec.decode_save_metatables = false;
	lua_settop(L, 1);
	lua_decode(L, &data, &codec);
	lua_call(L, 1, 0);
	return 0;
}

static int console_push(struct session *session, uint64_t sync, struct port *values)
{
	(void)sync;
	struct console_session *console = session->owner;
	struct buf data = BUF_INIT;
	if (port_dump(values, &data, false) <= 0) {
		buf_free(&data);
		return diag_last() != NULL ? -1 : 0;
	}
	lua_State *L = lua_state_get();
	lua_pushcfunction(L, call_push);
	lua_rawgeti(L, LUA_REGISTRYINDEX, console->push_ref);
	lua_pushlightuserdata(L, data.data);
	int rc = lua_call_protected(L, 2, 0);
	lua_state_put(L);
	buf_free(&data);
	return rc;
}

static const struct session_vtab console_vtab = {.push = console_push};

static void console_session_delete(lua_State *L, struct console_session *console)
{
	session_leave();
	session_delete(console->session);
	luaL_unref(L, LUA_REGISTRYINDEX, console->push_ref);
	xfree(console);
}

int lua_console_session_begin(lua_State *L)
{
	int fd = luaL_checkint(L, 1);
	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	int ref = luaL_ref(L, LUA_REGISTRYINDEX);
	struct console_session *console = xcalloc(1, sizeof(*console));
	console->push_ref = ref;
	console->session = session_new(SESSION_CONSOLE, fd, USER_ADMIN);
	console->session->owner = console;
	console->session->vtab = &console_vtab;
	struct address *peer = &console->session->peer;
	peer->len = sizeof(peer->sa);
	if (getpeername(fd, (struct sockaddr *)&peer->sa, &peer->len) != 0)
		peer->len = 0;
	session_enter(console->session, 0);
	/* Whoever reaches a console is the admin: that counts as a login. */
	struct session_auth auth = {console->session, "admin", true};
	if (trigger_run(&session_connect_triggers, console->session) != 0 ||
	    trigger_run(&session_auth_triggers, &auth) != 0) {
		console_session_delete(L, console);
		return lua_throw(L);
	}
	return 0;
}

int lua_console_session_end(lua_State *L)
{
	struct session *session = session_peek();
	if (session == NULL || session->vtab != &console_vtab)
		return 0;
	if (trigger_run(&session_disconnect_triggers, session) != 0)
		diag_log();
	session->fd = -1;
	console_session_delete(L, session->owner);
	return 0;
}
