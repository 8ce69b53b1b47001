/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Futures of net.box: requests whose answer is asked for later. The body becomes Lua values at
 * the first look; every look gives the same values.
 */
#include "core/sys.h"
#include "db/error.h"
#include "lua/bridge.h"
#include "lua/netbox/netbox.h"

struct future {
	struct netbox_request request;
	/** The result, once it was asked for, in the registry. */
	int result_ref;
};

static struct lua_class future_class = {.name = "net.box.future"};

struct netbox_request *netbox_push_future(lua_State *L, enum netbox_method method)
{
	struct future *f = lua_newuserdata(L, sizeof(*f));
	netbox_request_create(&f->request, method);
	f->result_ref = LUA_NOREF;
	lua_class_set(L, &future_class);
	return &f->request;
}

static struct future *check_future(lua_State *L)
{
	return lua_class_check(L, 1, &future_class);
}

static int future_gc(lua_State *L)
{
	struct future *f = check_future(L);
	netbox_request_destroy(L, &f->request);
	luaL_unref(L, LUA_REGISTRYINDEX, f->result_ref);
	f->result_ref = LUA_NOREF;
	return 0;
}

static int future_is_ready(lua_State *L)
{
	lua_pushboolean(L, check_future(L)->request.is_done);
	return 1;
}

/** nil and a ClientError of the code LUA with the text */
static int push_text_error(lua_State *L, const char *text)
{
	client_error(ER_PROC_LUA, text);
	return lua_push_failure(L);
}

static int decode_future(lua_State *L)
{
	struct future *f = check_future(L);
	lua_settop(L, 0);
	return netbox_decode(L, &f->request, true);
}

/** The result, or nil and the error. */
static int push_result(lua_State *L, struct future *f)
{
	struct netbox_request *r = &f->request;
	if (r->error != NULL) {
		diag_set_error(r->error);
		return lua_push_failure(L);
	}
	if (f->result_ref == LUA_NOREF) {
		lua_pushcfunction(L, decode_future);
		lua_pushvalue(L, 1);
		if (lua_call_protected(L, 1, 1) != 0)
			return lua_push_failure(L);
		f->result_ref = luaL_ref(L, LUA_REGISTRYINDEX);
		buf_free(&r->body);
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, f->result_ref);
	return 1;
}

/** result(): the result, or nil and the error */
static int future_result(lua_State *L)
{
	struct future *f = check_future(L);
	if (!f->request.is_done)
		return push_text_error(L, "Response is not ready");
	return push_result(L, f);
}

static double check_timeout(lua_State *L, int idx, const char *usage)
{
	if (lua_isnoneornil(L, idx))
		return TIMEOUT_INFINITY;
	double timeout = lua_tonumber(L, idx);
	if (lua_type(L, idx) != LUA_TNUMBER || timeout < 0)
		luaL_error(L, "%s", usage);
	return timeout < TIMEOUT_INFINITY ? timeout : TIMEOUT_INFINITY;
}

/** Waits until it is done or has more than `pushes` messages; false where the time is over. */
static bool wait_future(lua_State *L, struct netbox_request *r, uint32_t pushes, double timeout)
{
	double deadline = clock_monotonic() + timeout;
	while (!r->is_done && r->push_count <= pushes) {
		double left = deadline - clock_monotonic();
		if (left <= 0)
			return false;
		if (fiber_cond_wait_timeout(&r->cond, left) != 0 && fiber_testcancel() != 0)
			lua_throw(L);
	}
	return true;
}

/** wait_result([timeout]): the same, once there is one. Yields. */
static int future_wait_result(lua_State *L)
{
	struct future *f = check_future(L);
	double timeout = check_timeout(L, 2, "Usage: future:wait_result(timeout)");
	if (!wait_future(L, &f->request, UINT32_MAX, timeout)) {
		client_error(ER_TIMEOUT);
		return lua_push_failure(L);
	}
	return push_result(L, f);
}

/** discard(): the answer is of no interest any more */
static int future_discard(lua_State *L)
{
	struct netbox_request *r = &check_future(L)->request;
	if (r->is_done)
		return 0;
	if (r->transport != NULL)
		map_u64_del(&r->transport->requests, r->sync);
	r->transport = NULL;
	r->error = error_new(&type_ClientError, ER_PROC_LUA, __FILE__, __LINE__,
			     "Response is discarded");
	r->is_done = true;
	fiber_cond_broadcast(&r->cond);
	return 0;
}

/** The iterator of pairs(): (future, number) with the timeout as upvalue 1. Yields. */
static int future_next(lua_State *L)
{
	struct future *f = check_future(L);
	struct netbox_request *r = &f->request;
	double timeout = lua_tonumber(L, lua_upvalueindex(1));
	if (lua_isnil(L, 2) || lua_type(L, 2) != LUA_TNUMBER)
		return 0;	/* an error was given, which ends it */
	uint32_t i = (uint32_t)lua_tonumber(L, 2);
	if (i > r->push_count)
		return 0;	/* the result was given */
	if (!wait_future(L, r, i, timeout)) {
		client_error(ER_TIMEOUT);
	} else if (i < r->push_count) {
		lua_pushnumber(L, i + 1);
		netbox_decode_push(L, r, i);
		return 2;
	} else {
		int count = push_result(L, f);
		if (count == 1) {
			lua_pushnumber(L, i + 1);
			lua_insert(L, -2);
			return 2;
		}
		lua_pop(L, count);
	}
	lua_push_null(L);
	lua_push_error(L, diag_last());
	return 2;
}

int netbox_future_schema_version(lua_State *L)
{
	lua_pushnumber(L, (lua_Number)check_future(L)->request.schema_version);
	return 1;
}

/** pairs([timeout]): over the messages and, at last, the result; box.NULL and an error */
static int future_pairs(lua_State *L)
{
	check_future(L);
	double timeout = check_timeout(L, 2, "Usage: future:pairs(timeout)");
	lua_pushnumber(L, timeout);
	lua_pushcclosure(L, future_next, 1);
	lua_pushvalue(L, 1);
	lua_pushnumber(L, 0);
	return 3;
}

static int future_tostring(lua_State *L)
{
	check_future(L);
	lua_pushliteral(L, "net.box.request");
	return 1;
}

void netbox_future_init(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"is_ready", future_is_ready}, {"result", future_result},
		{"wait_result", future_wait_result}, {"discard", future_discard},
		{"pairs", future_pairs}, {NULL, NULL},
	};
	lua_class_new(L, &future_class);
	lua_newtable(L);
	luaL_register(L, NULL, methods);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, future_gc);
	lua_setfield(L, -2, "__gc");
	lua_pushcfunction(L, future_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pop(L, 1);
}
