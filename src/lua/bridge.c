/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The state, the coroutines of fibers, protected calls and the conversion of what
 * was thrown. See bridge.h for the idea; cdata.c, encode.c, decode.c and tuple.c
 * hold the values.
 *
 * A coroutine belongs to a pooled fiber: it is made when the fiber first needs Lua,
 * its stack is emptied when a fiber's life ends, and it goes to the list of spares
 * when the pool gives the fiber's stack back.
 */
#include <assert.h>
#include <luajit.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "lua/alloc.h"
#include "lua/bridge_impl.h"
#include "lua/guard.h"
#include "lua/init.h"
#include "lua/source.h"

lua_State *lua_main;

/** Coroutines without a fiber beyond this are left to the collector. */
enum { SPARE_MAX = 64 };

static int lua_slot;
static struct lua_fiber *spares;
static size_t spare_count, coroutine_count;
/** Those that lua_state_get() handed out. */
static struct lua_fiber *borrowed;
static int ref_tostring, ref_collect;
/** A coroutine must come to be, whatever the limit of the heap. */
static int coroutines_being_made;

/* Coroutines ------------------------------------------------------------- */

static struct lua_fiber *lua_fiber_new(void)
{
	struct lua_fiber *lf = spares;
	if (lf != NULL) {
		spares = lf->next_spare;
		spare_count--;
		return lf;
	}
	lf = xmalloc(sizeof(*lf));
	coroutines_being_made++;
	lf->L = lua_newthread(lua_main);
	lf->ref = luaL_ref(lua_main, LUA_REGISTRYINDEX);
	coroutines_being_made--;
	coroutine_count++;
	lf->is_guarded = false;
	lf->bytes_at_begin = 0;
	list_create(&lf->scratches);
	lf->scratch_count = 0;
	return lf;
}

static void lua_fiber_spare(struct lua_fiber *lf)
{
	if (spare_count >= SPARE_MAX) {
		luaL_unref(lua_main, LUA_REGISTRYINDEX, lf->ref);
		xfree(lf);
		coroutine_count--;
		return;
	}
	spare_count++;
	lf->next_spare = spares;
	spares = lf;
}

static struct lua_fiber *lua_fiber_of(struct fiber *f)
{
	struct lua_fiber *lf = f->slot[lua_slot];
	if (lf == NULL) {
		f->slot[lua_slot] = lf = lua_fiber_new();
		f->warm = lf->L;
	}
	return lf;
}

size_t lua_coroutine_count(void)
{
	return coroutine_count;
}

struct lua_fiber *lua_fiber_get(void)
{
	return lua_fiber_of(fiber());
}

lua_State *lua_fiber_state(void)
{
	return lua_fiber_of(fiber())->L;
}

lua_State *lua_state_of(struct fiber *f)
{
	return lua_fiber_of(f)->L;
}

lua_State *lua_state_peek(struct fiber *f)
{
	struct lua_fiber *lf = f->slot[lua_slot];
	return lf == NULL ? NULL : lf->L;
}

void lua_state_restore_globals(lua_State *L)
{
	if (lua_topointer(L, LUA_GLOBALSINDEX) == lua_topointer(lua_main, LUA_GLOBALSINDEX) ||
	    !lua_checkstack(L, 1))
		return;
	lua_pushvalue(lua_main, LUA_GLOBALSINDEX);
	lua_xmove(lua_main, L, 1);
	lua_replace(L, LUA_GLOBALSINDEX);
}

/** A fiber's life ends: what is left of it goes, the coroutine stays with the pooled fiber. */
static void lua_fiber_recycle(struct fiber *f, void *value)
{
	struct lua_fiber *lf = value;
	lua_settop(lf->L, 0);
	lua_state_restore_globals(lf->L);
	if (!list_empty(&lf->scratches))
		lua_scratch_release_all(lf);
}

static void lua_fiber_destroy(struct fiber *f)
{
	struct lua_fiber *lf = f->slot[lua_slot];
	if (lf != NULL)
		lua_fiber_spare(lf);
	f->slot[lua_slot] = NULL;
	f->warm = NULL;
}

lua_State *lua_state_get(void)
{
	lua_Debug ar;
	lua_State *L = lua_fiber_state();
	if (lua_getstack(L, 0, &ar) == 0)
		return L;
	struct lua_fiber *lf = lua_fiber_new();
	lf->is_guarded = lua_heap_guard(false);
	lf->next_spare = borrowed;
	borrowed = lf;
	return lf->L;
}

void lua_state_put(lua_State *L)
{
	for (struct lua_fiber **p = &borrowed; *p != NULL; p = &(*p)->next_spare) {
		struct lua_fiber *lf = *p;
		if (lf->L == L) {
			lua_settop(L, 0);
			lua_state_restore_globals(L);
			*p = lf->next_spare;
			lua_heap_guard(lf->is_guarded);
			lua_fiber_spare(lf);
			return;
		}
	}
}

bool lua_heap_guard(bool yesno)
{
	struct lua_fiber *lf = lua_fiber_get();
	bool old = lf->is_guarded;
	lf->is_guarded = yesno;
	return old;
}

bool lua_heap_is_guarded(uint64_t *asked)
{
	struct lua_fiber *lf = fiber()->slot[lua_slot];
	if (coroutines_being_made > 0 || lf == NULL || !lf->is_guarded)
		return false;
	*asked = fiber()->usage.heap_bytes - lf->bytes_at_begin;
	return true;
}

/* Calls and errors ------------------------------------------------------- */

int lua_ref_forever(lua_State *L)
{
	return luaL_ref(L, LUA_REGISTRYINDEX);
}

const char *lua_push_text(lua_State *L, int idx)
{
	if (lua_type(L, idx) == LUA_TSTRING) {
		lua_pushvalue(L, idx);
		return lua_tostring(L, -1);
	}
	lua_pushvalue(L, idx);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_tostring);
	lua_insert(L, -2);
	if (lua_pcall(L, 1, 1, 0) != 0 || lua_type(L, -1) != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushliteral(L, "(error object without a text)");
	}
	return lua_tostring(L, -1);
}

void lua_to_diag(lua_State *L)
{
	struct error *e = lua_to_error(L, -1);
	if (e != NULL) {
		diag_set_error(e);
		lua_pop(L, 1);
		return;
	}
	diag_set(LuajitError, "%s", lua_push_text(L, -1));
	lua_pop(L, 2);
}

static int collect(lua_State *L)
{
	lua_gc(L, LUA_GCCOLLECT, 0);
	return 0;
}

/** Takes the message of Lua, which has no memory. Makes room for those who come next. */
static void no_memory_to_diag(lua_State *L)
{
	lua_pop(L, 1);
	if (lua_heap_is_nearly_full()) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, ref_collect);
		if (lua_pcall(L, 0, 0, 0) != 0)
			lua_pop(L, 1);
	}
	if (lua_heap_limit() != 0)
		diag_set(OutOfMemory, "Not enough memory for Lua: lua_memory is %zu bytes",
			 lua_heap_limit());
	else
		diag_set(OutOfMemory, "Not enough memory for Lua");
}

/** Was it lack of memory, raised by Lua or passed on by who caught it? */
static bool is_no_memory(lua_State *L, int rc)
{
	return rc == LUA_ERRMEM || (lua_type(L, -1) == LUA_TSTRING &&
		strcmp(lua_tostring(L, -1), "not enough memory") == 0);
}

int lua_call_protected(lua_State *L, int arg_count, int result_count)
{
	if (lua_check_c_stack() != 0) {
		lua_pop(L, arg_count + 1);
		return -1;
	}
	struct lua_fiber *lf = lua_fiber_get();
	bool was_guarded = lf->is_guarded;
	lf->is_guarded = true;
	if (!was_guarded && L == lf->L)
		lf->bytes_at_begin = fiber()->usage.heap_bytes;
	int rc = lua_pcall(L, arg_count, result_count, 0);
	lf->is_guarded = was_guarded;
	if (rc == 0)
		return 0;
	if (is_no_memory(L, rc))
		no_memory_to_diag(L);
	else
		lua_to_diag(L);
	return -1;
}

int lua_throw(lua_State *L)
{
	access_denied_tell();
	struct error *e = diag_last();
	assert(e != NULL);
	lua_push_error(L, e);
	return lua_error(L);
}

int lua_throw_params(lua_State *L, const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	client_error(ER_ILLEGAL_PARAMS, text);
	return lua_throw(L);
}

/* Classes of userdata ---------------------------------------------------- */

void lua_class_new(lua_State *L, struct lua_class *class)
{
	luaL_newmetatable(L, class->name);
	class->metatable = lua_topointer(L, -1);
	lua_pushvalue(L, -1);
	class->ref = lua_ref_forever(L);
}

void lua_class_new_with_gc(lua_State *L, struct lua_class *class, lua_CFunction gc)
{
	lua_class_new(L, class);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
}

int lua_push_failure(lua_State *L)
{
	lua_pushnil(L);
	lua_push_error(L, diag_last());
	return 2;
}

void lua_class_set(lua_State *L, const struct lua_class *class)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, class->ref);
	lua_setmetatable(L, -2);
}

void *lua_class_check(lua_State *L, int idx, const struct lua_class *class)
{
	void *object = lua_touserdata(L, idx);
	if (object != NULL && lua_getmetatable(L, idx)) {
		bool is_it = lua_topointer(L, -1) == class->metatable;
		lua_pop(L, 1);
		if (is_it)
			return object;
	}
	return luaL_checkudata(L, idx, class->name);
}

void *lua_class_push_marked(lua_State *L, const struct lua_class *class, size_t size)
{
	const struct lua_class **mark = lua_newuserdata(L, sizeof(class) + size);
	*mark = class;
	lua_class_set(L, class);
	return mark + 1;
}

/* Modules ---------------------------------------------------------------- */

static const struct lua_source *source_find(const char *file)
{
	for (const struct lua_source *s = lua_sources; s->name != NULL; s++) {
		if (strcmp(s->name, file) == 0)
			return s;
	}
	panic("the program has no embedded file '%s'", file);
}

void lua_load_embedded(lua_State *L, const char *file, const char *name)
{
	const struct lua_source *s = source_find(file);
	char chunk[128];
	snprintf(chunk, sizeof(chunk), "@builtin/%s", file);
	if (luaL_loadbuffer(L, s->begin, s->end - s->begin, chunk) != 0)
		panic("%s", lua_tostring(L, -1));
	lua_pushstring(L, name);
	lua_call(L, 1, 1);
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	if (!lua_isnil(L, -2)) {
		lua_pushvalue(L, -2);
		lua_setfield(L, -2, name);
	} else {
		lua_getfield(L, -1, name);
		if (lua_isnil(L, -1)) {
			lua_pushboolean(L, 1);
			lua_setfield(L, -3, name);
		}
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
}

void lua_new_module(lua_State *L, const char *name, const luaL_Reg *funcs)
{
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, name);
	if (!lua_istable(L, -1)) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_setfield(L, -3, name);
	}
	lua_remove(L, -2);
	for (const luaL_Reg *r = funcs; r != NULL && r->name != NULL; r++) {
		lua_pushcfunction(L, r->func);
		lua_setfield(L, -2, r->name);
	}
}

/* Start and stop --------------------------------------------------------- */

static int init_protected(lua_State *L)
{
	lua_init_modules(L);
	return 0;
}

/**
 * Takes so many references and gives them back, the first on top: the registry then has
 * them in its array, where they are found at once, and not in its hash.
 */
static void reserve_refs(lua_State *L)
{
	enum { REF_COUNT = 1500 };
	int refs[REF_COUNT];
	for (int i = 0; i < REF_COUNT; i++) {
		lua_pushboolean(L, true);
		refs[i] = luaL_ref(L, LUA_REGISTRYINDEX);
	}
	for (int i = REF_COUNT - 1; i >= 0; i--)
		luaL_unref(L, LUA_REGISTRYINDEX, refs[i]);
}

void lua_bridge_init(int argc, char **argv)
{
	lua_main = lua_newstate(lua_heap_alloc, NULL);
	if (lua_main == NULL)
		panic("failed to make the Lua state");
	reserve_refs(lua_main);
	lua_slot = fiber_slot_new(lua_fiber_recycle);
	fiber_on_destroy(lua_fiber_destroy);
	luaL_openlibs(lua_main);
	luaJIT_setmode(lua_main, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
	lua_getglobal(lua_main, "tostring");
	ref_tostring = lua_ref_forever(lua_main);
	lua_pushcfunction(lua_main, collect);
	ref_collect = lua_ref_forever(lua_main);
	lua_init_args(lua_main, argc, argv);
	if (lua_cpcall(lua_main, init_protected, NULL) != 0)
		panic("start-up of Lua: %s", lua_push_text(lua_main, -1));
	lua_settop(lua_main, 0);
}

void lua_bridge_free(void)
{
	lua_close(lua_main);
	lua_main = NULL;
}
