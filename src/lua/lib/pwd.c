/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Users and groups of the system, for pwd.lua. The C library may ask a server on the
 * network for them, so a worker thread does: these functions yield.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "core/buf.h"
#include "core/latch.h"
#include "core/worker.h"
#include "lua/bridge.h"
#include "lua/modules.h"

enum { RECORD_SIZE_MAX = 1 << 20 };

struct look_up {
	int (*ask)(struct look_up *l, char *text, size_t size);
	/** NULL: by the number. */
	const char *name;
	uint32_t id;
	struct passwd user, *found_user;
	struct group group, *found_group;
	/** What the record's pointers lead to. */
	struct buf *text;
};

static int ask_user(struct look_up *l, char *text, size_t size)
{
	if (l->name != NULL)
		return getpwnam_r(l->name, &l->user, text, size, &l->found_user);
	return getpwuid_r(l->id, &l->user, text, size, &l->found_user);
}

static int ask_group(struct look_up *l, char *text, size_t size)
{
	if (l->name != NULL)
		return getgrnam_r(l->name, &l->group, text, size, &l->found_group);
	return getgrgid_r(l->id, &l->group, text, size, &l->found_group);
}

/** Asks until the record fits. */
static int look_up_run(void *arg)
{
	struct look_up *l = arg;
	size_t size = 1024;
	int rc;
	do {
		size *= 2;
		rc = l->ask(l, buf_reserve(l->text, size), size);
	} while (rc == ERANGE && size < RECORD_SIZE_MAX);
	return 0;
}

/** Takes a name or a number at `idx`, and looks it up. */
static void look_up(lua_State *L, int idx, struct look_up *l)
{
	if (lua_type(L, idx) == LUA_TSTRING)
		l->name = lua_tostring(L, idx);
	else
		l->id = (uint32_t)(int64_t)luaL_checknumber(L, idx);
	l->text = lua_scratch_get();
	worker_call(look_up_run, l);
}

/** (name or number) -> name, id, id of the group, home, shell; nothing where there is none. */
static int pwd_user(lua_State *L)
{
	struct look_up l = {.ask = ask_user};
	look_up(L, 1, &l);
	if (l.found_user == NULL) {
		lua_scratch_put(l.text);
		return 0;
	}
	lua_pushstring(L, l.user.pw_name);
	lua_pushnumber(L, l.user.pw_uid);
	lua_pushnumber(L, l.user.pw_gid);
	lua_pushstring(L, l.user.pw_dir);
	lua_pushstring(L, l.user.pw_shell);
	lua_scratch_put(l.text);
	return 5;
}

static void push_members(lua_State *L, char **members)
{
	lua_newtable(L);
	for (int i = 0; members[i] != NULL; i++) {
		lua_pushstring(L, members[i]);
		lua_rawseti(L, -2, i + 1);
	}
}

/** (name or number) -> name, id, list of members; nothing where there is none. */
static int pwd_group(lua_State *L)
{
	struct look_up l = {.ask = ask_group};
	look_up(L, 1, &l);
	if (l.found_group == NULL) {
		lua_scratch_put(l.text);
		return 0;
	}
	lua_pushstring(L, l.group.gr_name);
	lua_pushnumber(L, l.group.gr_gid);
	push_members(L, l.group.gr_mem);
	lua_scratch_put(l.text);
	return 3;
}

/** Names, one by one, each with its zero. Not reentrant: one thread at a time. */
static int list_users(void *arg)
{
	struct passwd *p;
	setpwent();
	while ((p = getpwent()) != NULL)
		buf_append(arg, p->pw_name, strlen(p->pw_name) + 1);
	endpwent();
	return 0;
}

static int list_groups(void *arg)
{
	struct group *g;
	setgrent();
	while ((g = getgrent()) != NULL)
		buf_append(arg, g->gr_name, strlen(g->gr_name) + 1);
	endgrent();
	return 0;
}

static int push_names(lua_State *L, int (*list)(void *))
{
	static struct latch *latch;
	if (latch == NULL)
		latch = latch_new();
	struct buf *names = lua_scratch_get();
	latch_lock(latch);
	worker_call(list, names);
	latch_unlock(latch);
	lua_newtable(L);
	const char *end = names->data + names->size;
	int count = 0;
	for (const char *p = names->data; p < end; p += strlen(p) + 1) {
		lua_pushstring(L, p);
		lua_rawseti(L, -2, ++count);
	}
	lua_scratch_put(names);
	return 1;
}

/** () -> the names of all users. */
static int pwd_users(lua_State *L)
{
	return push_names(L, list_users);
}

/** () -> the names of all groups. */
static int pwd_groups(lua_State *L)
{
	return push_names(L, list_groups);
}

void lua_pwd_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"user", pwd_user},
		{"group", pwd_group},
		{"users", pwd_users},
		{"groups", pwd_groups},
		{NULL, NULL},
	};
	lua_new_module(L, "internal.pwd", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "pwd.lua", "pwd");
}
