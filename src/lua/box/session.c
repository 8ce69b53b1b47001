/* SPDX-License-Identifier: BSD-2-Clause
 *
 * box.session: who the running fiber works for, and box.session.su().
 */
#include "net/session.h"

#include "core/fiber.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/port.h"
#include "db/schema/access.h"
#include "db/schema/space.h"
#include "lua/box/box.h"
#include "lua/box/call.h"
#include "lua/bridge.h"
#include "lua/guard.h"
#include "lua/modules.h"

/** The session of the optional id at 1; raises where it does not live. */
static struct session *session_arg(lua_State *L, const char *name)
{
	if (lua_gettop(L) == 0)
		return session_current();
	struct session *s = session_by_id((uint64_t)luaL_checknumber(L, 1));
	if (s == NULL)
		luaL_error(L, "session.%s(): session does not exist", name);
	return s;
}

static int id(lua_State *L)
{
	lua_pushnumber(L, (double)session_current()->id);
	return 1;
}

static int type(lua_State *L)
{
	lua_pushstring(L, session_type_names[session_current()->type]);
	return 1;
}

static int sync(lua_State *L)
{
	lua_push_uint64(L, session_sync());
	return 1;
}

static int uid(lua_State *L)
{
	lua_pushnumber(L, session_current()->credentials.uid);
	return 1;
}

static uint32_t effective_uid(void)
{
	session_current();	/* a fiber without one gets one, with its user */
	return credentials_current()->uid;
}

static int euid(lua_State *L)
{
	lua_pushnumber(L, effective_uid());
	return 1;
}

static int push_user_name(lua_State *L, uint32_t uid)
{
	const struct user *u = user_find(uid);
	if (u == NULL && uid != USER_ADMIN)
		return 0;
	/* Before box.cfg() there are no users, and scripts act as admin. */
	lua_pushstring(L, u != NULL ? u->name : "admin");
	return 1;
}

static int user(lua_State *L)
{
	return push_user_name(L, session_current()->credentials.uid);
}

static int effective_user(lua_State *L)
{
	return push_user_name(L, effective_uid());
}

static int fd(lua_State *L)
{
	lua_pushinteger(L, session_arg(L, "fd")->fd);
	return 1;
}

static int peer(lua_State *L)
{
	const struct session *s = session_arg(L, "peer");
	if (s->peer.len == 0) {
		lua_pushnil(L);
		return 1;
	}
	char text[ADDRESS_TEXT_MAX];
	lua_pushstring(L, address_format((const struct sockaddr *)&s->peer.sa, s->peer.len, text,
					 sizeof(text)));
	return 1;
}

static int exists(lua_State *L)
{
	if (lua_gettop(L) > 1)
		return luaL_error(L, "session.exists(sid): bad arguments");
	bool is_there = lua_gettop(L) == 0 || session_by_id((uint64_t)luaL_checknumber(L, 1));
	lua_pushboolean(L, is_there);
	return 1;
}

/* su ---------------------------------------------------------------------- */

static const struct user *user_arg(lua_State *L)
{
	const struct user *u;
	if (lua_type(L, 1) == LUA_TSTRING) {
		size_t len;
		const char *name = lua_tolstring(L, 1, &len);
		u = user_by_name(name, len);
		if (u != NULL && u->is_role) {
			client_error(ER_NO_SUCH_USER, u->name);
			u = NULL;
		}
	} else {
		u = user_by_id((uint32_t)luaL_checknumber(L, 1));
	}
	if (u == NULL || access_check_session(u) != 0)
		lua_throw(L);
	return u;
}

/**
 * (user) changes the session's user; (user, function, arguments...) runs the
 * function with the rights of the user and returns what it returns.
 */
static int su(lua_State *L)
{
	int top = lua_gettop(L);
	if (top < 1)
		return luaL_error(L, "session.su(): bad arguments");
	const struct user *u = user_arg(L);
	struct session *session = session_current();
	if (top == 1) {
		session_set_user(session, u);
		return 0;
	}
	if (lua_check_c_stack() != 0)
		return lua_throw(L);
	struct credentials cr;
	credentials_create(&cr, u);
	struct credentials *old = credentials_set(&cr);
	int rc = lua_pcall(L, top - 2, LUA_MULTRET, 0);
	credentials_set(old);
	return rc == 0 ? lua_gettop(L) - 1 : lua_error(L);
}

/* push, storage ----------------------------------------------------------- */

/** (value) -> true, or nil and the error */
static int push(lua_State *L)
{
	if (lua_gettop(L) != 1)
		return luaL_error(L, "Usage: box.session.push(data)");
	if (lua_compat.push_is_refused)
		return luaL_error(L, "box.session.push is deprecated");
	struct buf *b = lua_scratch_get();
	struct port port;
	/* By a port of Lua, since what can't be encoded is no error that is raised. */
	port_lua_create(&port, L, 0, 1);
	if (port_dump(&port, b, false) < 0) {
		lua_scratch_put(b);
		return lua_push_failure(L);
	}
	port_c_create(&port);
	port_c_add_mp(&port, b->data, buf_end(b));
	lua_scratch_put(b);
	int rc = session_push(session_current(), session_sync(), &port);
	port_destroy(&port);
	if (rc == 0) {
		lua_pushboolean(L, true);
		return 1;
	}
	return lua_push_failure(L);
}

/** The table of the session's own, made at its first use. */
static int storage(lua_State *L)
{
	struct session *s = session_current();
	if (s->storage == 0) {
		lua_newtable(L);
		s->storage = luaL_ref(L, LUA_REGISTRYINDEX);
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, (int)s->storage);
	return 1;
}

static void drop_storage(struct session *s)
{
	if (s->storage != 0)
		luaL_unref(lua_main, LUA_REGISTRYINDEX, (int)s->storage);
	s->storage = 0;
}

/* Triggers ---------------------------------------------------------------- */

static int push_nothing_ref = LUA_NOREF, push_auth_ref = LUA_NOREF, push_denial_ref = LUA_NOREF;

static int push_nothing(lua_State *L)
{
	return 0;
}

static int push_auth(lua_State *L)
{
	const struct session_auth *auth = lua_touserdata(L, 1);
	lua_pushstring(L, auth->user_name);
	lua_pushboolean(L, auth->is_authenticated);
	return 2;
}

/** A field of the error, whose value is a string. */
static void push_field(lua_State *L, const struct error *e, const char *name)
{
	uint32_t len;
	const char *value = error_field(e, name);
	const char *text = mp_decode_str(&value, &len);
	lua_pushlstring(L, text, len);
}

static int push_denial(lua_State *L)
{
	const struct error *e = lua_touserdata(L, 1);
	push_field(L, e, "access_type");
	push_field(L, e, "object_type");
	push_field(L, e, "object_name");
	return 3;
}

static int run_denial(struct trigger *trigger, void *event)
{
	return lua_trigger_call(trigger, push_denial_ref, LUA_NOREF, event);
}

static int run_plain(struct trigger *trigger, void *event)
{
	return lua_trigger_call(trigger, push_nothing_ref, LUA_NOREF, event);
}

static int run_auth(struct trigger *trigger, void *event)
{
	return lua_trigger_call(trigger, push_auth_ref, LUA_NOREF, event);
}

static int on_connect(lua_State *L)
{
	return lua_trigger_reset(L, 1, &session_connect_triggers, run_plain);
}

static int on_disconnect(lua_State *L)
{
	return lua_trigger_reset(L, 1, &session_disconnect_triggers, run_plain);
}

static int on_access_denied(lua_State *L)
{
	return lua_trigger_reset(L, 1, &access_denied_triggers, run_denial);
}

/** ([is_on]) -> error_marshaling_enabled of the session; sets it where it is given */
static int marshal_errors(lua_State *L)
{
	struct session *s = session_current();
	if (lua_gettop(L) > 0)
		s->settings = lua_toboolean(L, 1) ? s->settings | SETTING_MARSHALS_ERRORS :
			s->settings & ~SETTING_MARSHALS_ERRORS;
	lua_pushboolean(L, (s->settings & SETTING_MARSHALS_ERRORS) != 0);
	return 1;
}

static int on_auth(lua_State *L)
{
	return lua_trigger_reset(L, 1, &session_auth_triggers, run_auth);
}

void lua_session_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"id", id}, {"type", type}, {"sync", sync}, {"uid", uid}, {"euid", euid},
		{"user", user}, {"effective_user", effective_user}, {"fd", fd}, {"peer", peer},
		{"exists", exists}, {"su", su}, {"push", push}, {"storage", storage},
		{"on_connect", on_connect}, {"on_disconnect", on_disconnect},
		{"on_auth", on_auth}, {"on_access_denied", on_access_denied},
		{"marshal_errors", marshal_errors}, {NULL, NULL},
	};
	push_nothing_ref = lua_box_ref(L, push_nothing);
	push_auth_ref = lua_box_ref(L, push_auth);
	push_denial_ref = lua_box_ref(L, push_denial);
	session_on_destroy(drop_storage);
	lua_new_module(L, "tarn.session", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "session.lua", "tarn.box.session");
}
