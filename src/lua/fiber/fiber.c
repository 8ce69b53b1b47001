/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `fiber`: fibers that run Lua functions.
 *
 * A fiber object is a userdata with the fiber's id, which is never used again:
 * so the object of a fiber that ended says so, whoever has the structure now.
 * All functions here go through the Lua C interface, which is never part of a
 * compiled trace: a yield in them needs no guard.
 *
 * Reference: the manual, module fiber.
 */
#include <math.h>
#include <string.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "lua/bridge.h"
#include "lua/fiber/fiber.h"
#include "lua/finalizer.h"
#include "lua/modules.h"
#include "net/iproto.h"

static struct lua_class fiber_class = {.name = "fiber"};

/** What the module keeps of a fiber, in a slot, for good with the pooled structure. */
struct lua_fiber {
	/** Registry references: `fiber.storage`, and the results of an ended joinable fiber. */
	int storage_ref, results_ref;
	uint64_t id;
};

static int slot;
/** The table of methods. */
static int methods_ref;

static void drop_refs(struct lua_fiber *lf)
{
	luaL_unref(lua_main, LUA_REGISTRYINDEX, lf->storage_ref);
	luaL_unref(lua_main, LUA_REGISTRYINDEX, lf->results_ref);
	lf->storage_ref = lf->results_ref = LUA_NOREF;
}

/** The module's part of a fiber's current life. */
static struct lua_fiber *lua_fiber_of(struct fiber *f)
{
	struct lua_fiber *lf = f->slot[slot];
	if (lf == NULL) {
		lf = f->slot[slot] = xmalloc(sizeof(*lf));
		lf->storage_ref = lf->results_ref = LUA_NOREF;
		lf->id = f->id;
	} else if (lf->id != f->id) {
		drop_refs(lf);
		lf->id = f->id;
	}
	return lf;
}

/** At the fiber's end: the storage goes, results stay for whoever joins. */
static void recycle(struct fiber *f, void *value)
{
	struct lua_fiber *lf = value;
	luaL_unref(lua_main, LUA_REGISTRYINDEX, lf->storage_ref);
	lf->storage_ref = LUA_NOREF;
}

/** A request is over: what it left in its fiber's storage is not for the next one. */
static void end_request(void)
{
	struct lua_fiber *lf = fiber()->slot[slot];
	if (lf != NULL)
		recycle(fiber(), lf);
}

static void destroy(struct fiber *f)
{
	struct lua_fiber *lf = f->slot[slot];
	if (lf == NULL)
		return;
	drop_refs(lf);
	xfree(lf);
	f->slot[slot] = NULL;
}

static void push_fiber(lua_State *L, struct fiber *f)
{
	*(uint64_t *)lua_class_push_marked(L, &fiber_class, sizeof(f->id)) = f->id;
}

bool lua_fiber_is_visible(const struct fiber *f)
{
	return f->id > FIBER_ID_RESERVED;
}

/** A fiber by its id, for scripts: NULL where there is none. */
static struct fiber *find_visible(uint64_t id)
{
	struct fiber *f = fiber_find(id);
	return f != NULL && lua_fiber_is_visible(f) ? f : NULL;
}

struct fiber *lua_check_fiber(lua_State *L, int idx, bool allow_id)
{
	const uint64_t *object = lua_class_test_marked(L, idx, &fiber_class);
	uint64_t id = 0;
	if (object != NULL)
		id = *object;
	else if (allow_id && lua_type(L, idx) == LUA_TNUMBER)
		id = lua_tonumber(L, idx);
	else
		luaL_typerror(L, idx, fiber_class.name);
	struct fiber *f = allow_id ? find_visible(id) : fiber_find(id);
	if (f == NULL)
		luaL_error(L, "the fiber is dead");
	return f;
}

static void check_cancel(lua_State *L)
{
	if (fiber_testcancel() != 0)
		lua_throw(L);
}

/* Birth ---------------------------------------------------------------- */

/** Keeps the values on top of the coroutine's stack for who joins this fiber. */
static void keep_results(lua_State *L, int count)
{
	lua_createtable(L, count, 1);
	lua_insert(L, 1);
	for (int i = count; i > 0; i--)
		lua_rawseti(L, 1, i);
	lua_pushinteger(L, count);
	lua_setfield(L, 1, "n");
	lua_fiber_of(fiber())->results_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/** The body: the function and its arguments were put on the coroutine by make_fiber(). */
static int fiber_main(va_list ap)
{
	lua_State *L = lua_fiber_state();
	if (fiber()->slot[slot] != NULL)
		lua_fiber_of(fiber()); /* drops what an earlier life left */
	int rc = lua_call_protected(L, lua_gettop(L) - 1, LUA_MULTRET);
	if (rc == 0 && (fiber()->flags & FIBER_IS_JOINABLE) && lua_gettop(L) > 0)
		keep_results(L, lua_gettop(L));
	return rc; /* the stack is emptied with the fiber's end */
}

static int do_nothing(lua_State *L)
{
	return 0;
}

static __attribute__((noinline)) bool has_room_for(lua_State *co, int count)
{
	bool was_guarded = lua_heap_guard(false);
	bool has_room = lua_checkstack(co, count);
	lua_heap_guard(was_guarded);
	return has_room;
}

/** A fiber for the function and the arguments on the stack; pushes its object. [raises] */
static struct fiber *make_fiber(lua_State *L, const char *usage)
{
	if (!lua_isfunction(L, 1))
		luaL_error(L, "%s", usage);
	struct fiber *f = fiber_new("lua", fiber_main);
	if (f == NULL)
		lua_throw(L);
	lua_State *co = lua_state_of(f);
	int count = lua_gettop(L);
	/* An empty stack has room for so many. */
	if (count > LUA_MINSTACK && !has_room_for(co, count)) {
		/* A fiber can't be taken back: let it do nothing. */
		lua_pushcfunction(co, do_nothing);
		fiber_wakeup(f);
		luaL_error(L, "too many arguments for a fiber");
	}
	lua_xmove(L, co, count);
	push_fiber(L, f);
	return f;
}

static int lua_fiber_create(lua_State *L)
{
	lua_check_finalizer(L);
	struct fiber *f = make_fiber(L, "fiber.create(function, ...): bad arguments");
	fiber_start(f);
	return 1;
}

static int lua_fiber_new(lua_State *L)
{
	struct fiber *f = make_fiber(L, "fiber.new(function, ...): bad arguments");
	fiber_wakeup(f);
	return 1;
}

/* Waiting -------------------------------------------------------------- */

static int lua_fiber_yield(lua_State *L)
{
	lua_check_finalizer(L);
	fiber_reschedule();
	check_cancel(L);
	return 0;
}

static int lua_fiber_sleep(lua_State *L)
{
	lua_check_finalizer(L);
	double delay = lua_tonumber(L, 1);
	if (lua_gettop(L) < 1 || !lua_isnumber(L, 1) || isnan(delay))
		luaL_error(L, "fiber.sleep(delay): bad arguments");
	fiber_sleep(fmin(delay, TIMEOUT_INFINITY));
	check_cancel(L);
	return 0;
}

/** Pushes `true` and what the fiber, joined just now, returned; the count of all. */
static int push_results(lua_State *L, struct lua_fiber *lf)
{
	lua_pushboolean(L, true);
	if (lf == NULL || lf->results_ref == LUA_NOREF)
		return 1;
	lua_rawgeti(L, LUA_REGISTRYINDEX, lf->results_ref);
	luaL_unref(L, LUA_REGISTRYINDEX, lf->results_ref);
	lf->results_ref = LUA_NOREF;
	lua_getfield(L, -1, "n");
	int count = lua_tointeger(L, -1), results = lua_gettop(L) - 1;
	lua_pop(L, 1);
	luaL_checkstack(L, count, "too many results of a fiber");
	for (int i = 1; i <= count; i++)
		lua_rawgeti(L, results, i);
	lua_remove(L, results);
	return 1 + count;
}

static int lua_fiber_join(lua_State *L)
{
	lua_check_finalizer(L);
	struct fiber *f = lua_check_fiber(L, 1, true);
	if (!(f->flags & FIBER_IS_JOINABLE))
		luaL_error(L, "the fiber is not joinable");
	double timeout = lua_gettop(L) > 1 ? luaL_optnumber(L, 2, TIMEOUT_INFINITY) :
			 TIMEOUT_INFINITY;
	if (!fiber_wait_end(f, isnan(timeout) ? 0 : fmin(timeout, TIMEOUT_INFINITY))) {
		if (error_is(diag_last(), &type_FiberIsCancelled))
			return lua_throw(L);
	} else if (fiber_join(f) == 0) {
		/* The structure stays as it is until somebody yields; a success keeps results. */
		return push_results(L, f->slot[slot]);
	}
	lua_pushboolean(L, false);
	lua_push_error(L, diag_last());
	return 2;
}

/* Looking and steering ------------------------------------------------- */

static int lua_fiber_self(lua_State *L)
{
	push_fiber(L, fiber());
	return 1;
}

static int lua_fiber_id(lua_State *L)
{
	if (lua_isnoneornil(L, 1))
		lua_pushnumber(L, fiber()->id);
	else
		lua_pushnumber(L, *(uint64_t *)lua_class_check_marked(L, 1, &fiber_class));
	return 1;
}

static int lua_fiber_find(lua_State *L)
{
	if (lua_gettop(L) != 1)
		luaL_error(L, "fiber.find(id): bad arguments");
	struct fiber *f = find_visible(lua_tonumber(L, 1));
	if (f == NULL)
		lua_pushnil(L);
	else
		push_fiber(L, f);
	return 1;
}

static const char *status_of(uint64_t id)
{
	struct fiber *f = fiber_find(id);
	if (f == NULL)
		return "dead"; /* one that is still to be joined counts as suspended */
	return f == fiber() ? "running" : "suspended";
}

static int lua_fiber_status(lua_State *L)
{
	uint64_t id = lua_isnoneornil(L, 1) ? fiber()->id :
		      *(uint64_t *)lua_class_check_marked(L, 1, &fiber_class);
	lua_pushstring(L, status_of(id));
	return 1;
}

static int lua_fiber_name(lua_State *L)
{
	bool has_object = lua_type(L, 1) == LUA_TUSERDATA;
	struct fiber *f = has_object ? lua_check_fiber(L, 1, false) : fiber();
	int arg = has_object ? 2 : 1;
	if (lua_isnoneornil(L, arg)) {
		lua_pushstring(L, fiber_name(f));
		return 1;
	}
	const char *name = luaL_checkstring(L, arg);
	if (strlen(name) > FIBER_NAME_MAX) {
		bool truncate = false;
		if (lua_istable(L, arg + 1)) {
			lua_getfield(L, arg + 1, "truncate");
			truncate = lua_toboolean(L, -1);
		}
		if (!truncate)
			luaL_error(L, "Fiber name is too long");
	}
	fiber_set_name(f, name);
	return 0;
}

static int lua_fiber_cancel(lua_State *L)
{
	struct fiber *f = lua_check_fiber(L, 1, true);
	if (f->flags & FIBER_IS_SYSTEM)
		luaL_error(L, "fiber %d is a system one and can't be cancelled", (int)f->id);
	fiber_cancel(f);
	check_cancel(L);
	return 0;
}

static int lua_fiber_testcancel(lua_State *L)
{
	if (lua_gettop(L) != 0)
		luaL_error(L, "fiber.testcancel(): bad arguments");
	check_cancel(L);
	return 0;
}

static int lua_fiber_set_joinable(lua_State *L)
{
	if (lua_gettop(L) != 2)
		luaL_error(L, "fiber.set_joinable(id, yesno): bad arguments");
	fiber_set_joinable(lua_check_fiber(L, 1, true), lua_toboolean(L, 2));
	return 0;
}

static int lua_fiber_wakeup(lua_State *L)
{
	struct fiber *f = lua_check_fiber(L, 1, true);
	if (!(f->flags & FIBER_IS_SYSTEM))
		fiber_wakeup(f);
	return 0;
}

/* Time ----------------------------------------------------------------- */

static int lua_fiber_time(lua_State *L)
{
	lua_pushnumber(L, loop_time());
	return 1;
}

static int lua_fiber_time64(lua_State *L)
{
	lua_push_uint64_cdata(L, (uint64_t)(loop_time() * 1e6));
	return 1;
}

static int lua_fiber_clock(lua_State *L)
{
	lua_pushnumber(L, loop_monotonic());
	return 1;
}

static int lua_fiber_clock64(lua_State *L)
{
	lua_push_uint64_cdata(L, (uint64_t)(loop_monotonic() * 1e6));
	return 1;
}

/* The object ----------------------------------------------------------- */

static int push_storage(lua_State *L, struct fiber *f)
{
	struct lua_fiber *lf = lua_fiber_of(f);
	if (lf->storage_ref == LUA_NOREF) {
		lua_newtable(L);
		lf->storage_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, lf->storage_ref);
	return 1;
}

static int object_storage(lua_State *L)
{
	return push_storage(L, lua_check_fiber(L, 1, false));
}

static int object_tostring(lua_State *L)
{
	struct fiber *f = lua_check_fiber(L, 1, false);
	lua_pushfstring(L, "fiber: %d", (int)f->id);
	return 1;
}

static int object_eq(lua_State *L)
{
	const uint64_t *a = lua_class_check_marked(L, 1, &fiber_class);
	const uint64_t *b = lua_class_check_marked(L, 2, &fiber_class);
	lua_pushboolean(L, *a == *b);
	return 1;
}

/** For the console and encoders: of a dead one, a text. */
static int object_serialize(lua_State *L)
{
	struct fiber *f = fiber_find(*(uint64_t *)lua_class_check_marked(L, 1, &fiber_class));
	if (f == NULL) {
		lua_pushliteral(L, "the fiber is dead");
		return 1;
	}
	lua_createtable(L, 0, 3);
	lua_pushnumber(L, f->id);
	lua_setfield(L, -2, "id");
	lua_pushstring(L, fiber_name(f));
	lua_setfield(L, -2, "name");
	lua_pushstring(L, status_of(f->id));
	lua_setfield(L, -2, "status");
	return 1;
}

static const luaL_Reg methods[] = {
	{"id", lua_fiber_id},
	{"name", lua_fiber_name},
	{"status", lua_fiber_status},
	{"cancel", lua_fiber_cancel},
	{"testcancel", lua_fiber_testcancel},
	{"join", lua_fiber_join},
	{"set_joinable", lua_fiber_set_joinable},
	{"wakeup", lua_fiber_wakeup},
	{NULL, NULL},
};

static const luaL_Reg functions[] = {
	{"create", lua_fiber_create},
	{"new", lua_fiber_new},
	{"self", lua_fiber_self},
	{"id", lua_fiber_id},
	{"find", lua_fiber_find},
	{"name", lua_fiber_name},
	{"status", lua_fiber_status},
	{"cancel", lua_fiber_cancel},
	{"kill", lua_fiber_cancel},
	{"testcancel", lua_fiber_testcancel},
	{"join", lua_fiber_join},
	{"set_joinable", lua_fiber_set_joinable},
	{"wakeup", lua_fiber_wakeup},
	{"yield", lua_fiber_yield},
	{"sleep", lua_fiber_sleep},
	{"time", lua_fiber_time},
	{"time64", lua_fiber_time64},
	{"clock", lua_fiber_clock},
	{"clock64", lua_fiber_clock64},
	{NULL, NULL},
};

/** Replaces the table of methods on top by the function that looks into it. */
static void push_index(lua_State *L)
{
	lua_load_embedded(L, "fiber_object.lua", "tarn.fiber.object");
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "tarn.fiber.object");
	lua_remove(L, -2);
	lua_insert(L, -2);
	lua_pushcfunction(L, object_storage);
	lua_call(L, 2, 1);
}

static void make_metatable(lua_State *L)
{
	lua_class_new(L, &fiber_class);
	lua_newtable(L);
	luaL_register(L, NULL, methods);
	lua_pushvalue(L, -1);
	methods_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	push_index(L);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, object_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushcfunction(L, object_eq);
	lua_setfield(L, -2, "__eq");
	lua_pushcfunction(L, object_serialize);
	lua_setfield(L, -2, "__serialize");
	lua_pushstring(L, fiber_class.name);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

void lua_fiber_init(lua_State *L)
{
	slot = fiber_slot_new(recycle);
	fiber_on_destroy(destroy);
	net_on_request_end(end_request);
	make_metatable(L);
	lua_new_module(L, "fiber", functions);
	lua_pop(L, 1);
}

void lua_fiber_add_methods(lua_State *L, const luaL_Reg *methods)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, methods_ref);
	luaL_register(L, NULL, methods);
	lua_pop(L, 1);
}

void lua_fiber_add_class(lua_State *L, struct lua_class *class, const luaL_Reg *methods,
			 const char *name, lua_CFunction constructor)
{
	lua_class_new(L, class);
	luaL_register(L, NULL, methods);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "__index");
	lua_pushstring(L, class->name);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);

	const luaL_Reg functions[] = {{name, constructor}, {NULL, NULL}};
	lua_new_module(L, "fiber", functions);
	lua_pop(L, 1);
}
