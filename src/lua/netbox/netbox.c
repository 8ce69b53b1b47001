/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What net_box*.lua have of the transport: `tarn.netbox`, with handles of transports and
 * futures of requests. Functions of a transport take its handle first.
 *
 * Two handles of one transport differ in what their end means: that of a connection object
 * (the owner) closes it, that of the fiber which leads the connection does not. So a
 * connection that nobody holds any more closes although its fiber lives.
 */
#include "lua/netbox/netbox.h"

#include <errno.h>
#include <string.h>

#include "core/memory.h"
#include "core/sys.h"
#include "data/base64.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/iproto_const.h"
#include "db/schema/user.h"
#include "db/tuple/format.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "lua/value/buffer.h"

struct handle {
	struct netbox *t;
	bool is_owner;
};

struct future {
	struct netbox_request request;
	/** The result, once it was asked for, in the registry. */
	int result_ref;
};

static struct lua_class handle_class = {.name = "net.box.transport"};
static struct lua_class future_class = {.name = "net.box.future"};

/* Handles ------------------------------------------------------------------------ */

static struct netbox *check_transport(lua_State *L)
{
	struct handle *h = lua_class_check(L, 1, &handle_class);
	if (h->t == NULL)
		luaL_error(L, "net.box: the transport is gone");
	return h->t;
}

static struct handle *push_handle(lua_State *L)
{
	struct handle *h = lua_newuserdata(L, sizeof(*h));
	h->t = NULL;
	lua_class_set(L, &handle_class);
	return h;
}

/** new(): the owner's handle and the leader's */
static int transport_new(lua_State *L)
{
	struct handle *owner = push_handle(L), *leader = push_handle(L);
	owner->t = leader->t = netbox_new();
	netbox_ref(owner->t);
	owner->is_owner = true;
	leader->is_owner = false;
	return 2;
}

static int handle_gc(lua_State *L)
{
	struct handle *h = lua_class_check(L, 1, &handle_class);
	if (h->t == NULL)
		return 0;
	if (h->is_owner)
		netbox_close(h->t);
	netbox_unref(h->t);
	h->t = NULL;
	return 0;
}

/** The deadline of the timeout at `idx`; nil: none. */
static double check_deadline(lua_State *L, int idx)
{
	double timeout = luaL_optnumber(L, idx, TIMEOUT_INFINITY);
	return clock_monotonic() + (timeout < TIMEOUT_INFINITY ? timeout : TIMEOUT_INFINITY);
}

static int push_failure(lua_State *L, const char *why)
{
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

/** connect(t, host or nil, service, timeout): true, or nil and what is wrong. Yields. */
static int transport_connect(lua_State *L)
{
	struct netbox *t = check_transport(L);
	const char *host = luaL_optstring(L, 2, NULL), *service = luaL_checkstring(L, 3);
	if (t->is_closed)
		return push_failure(L, "Connection closed");
	if (t->fd >= 0)
		return luaL_error(L, "net.box: connected already");
	xfree(t->failure);
	t->failure = NULL;
	if (netbox_connect(t, host, service, check_deadline(L, 4)) != 0) {
		if (t->is_closed)
			return push_failure(L, "Connection closed");
		return push_failure(L, errno == ETIMEDOUT ? "Connection timed out" :
				       strerror(errno));
	}
	if (t->is_closed) {
		netbox_fail(t, "Connection closed");
		return push_failure(L, "Connection closed");
	}
	lua_pushboolean(L, true);
	return 1;
}

/** read(t, size, timeout): a string, or nil and what is wrong. Yields. */
static int transport_read(lua_State *L)
{
	struct netbox *t = check_transport(L);
	size_t size = luaL_checkint(L, 2);
	const char *why = NULL;
	const char *data = netbox_read_exact(t, size, check_deadline(L, 3), &why);
	if (data == NULL)
		return push_failure(L, why);
	lua_pushlstring(L, data, size);
	return 1;
}

/** read_until(t, end, timeout): a string with `end`, or nil and what is wrong. Yields. */
static int transport_read_until(lua_State *L)
{
	struct netbox *t = check_transport(L);
	const char *end = luaL_checkstring(L, 2), *why = NULL;
	size_t size;
	const char *data = netbox_read_until(t, end, &size, check_deadline(L, 3), &why);
	if (data == NULL)
		return push_failure(L, why);
	lua_pushlstring(L, data, size);
	return 1;
}

/** write(t, string, timeout): true, or nil and what is wrong. Yields. */
static int transport_write(lua_State *L)
{
	struct netbox *t = check_transport(L);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size), *why = NULL;
	if (!netbox_write(t, data, size, check_deadline(L, 3), &why))
		return push_failure(L, why);
	lua_pushboolean(L, true);
	return 1;
}

static int transport_start(lua_State *L)
{
	struct netbox *t = check_transport(L);
	if (t->fd >= 0)
		netbox_start(t);
	return 0;
}

/** fail(t, text): closes the socket; may be connected anew. */
static int transport_fail(lua_State *L)
{
	struct netbox *t = check_transport(L);
	if (!t->is_closed)
		netbox_fail(t, luaL_checkstring(L, 2));
	return 0;
}

static int transport_close(lua_State *L)
{
	netbox_close(check_transport(L));
	return 0;
}

static int transport_is_closed(lua_State *L)
{
	lua_pushboolean(L, check_transport(L)->is_closed);
	return 1;
}

/** touch(t): wait() returns */
static int transport_touch(lua_State *L)
{
	struct netbox *t = check_transport(L);
	t->is_touched = true;
	fiber_cond_broadcast(&t->changed);
	return 0;
}

/** set_schema_version(t, n): 0 where none is known, so that answers are not looked at */
static int transport_set_schema_version(lua_State *L)
{
	struct netbox *t = check_transport(L);
	t->schema_version = (uint64_t)luaL_checknumber(L, 2);
		return 0;
}

/**
 * wait(t, timeout[, what]): what happened: "closed", "failed" and why, "schema", "event",
 * "idle" (only where `what` is that: no requests wait), "timeout". Yields.
 */
static int transport_wait(lua_State *L)
{
	struct netbox *t = check_transport(L);
	double deadline = check_deadline(L, 2);
	bool wants_idle = lua_toboolean(L, 3);
	for (;;) {
		if (t->is_closed) {
			lua_pushliteral(L, "closed");
		} else if (t->fd < 0) {
			lua_pushliteral(L, "failed");
			lua_pushstring(L, t->failure != NULL ? t->failure : "");
			return 2;
		} else if (!list_empty(&t->events) || t->is_touched) {
			t->is_touched = false;
			lua_pushliteral(L, "event");
		} else if (netbox_schema_is_stale(t)) {
			lua_pushliteral(L, "schema");
		} else if (wants_idle && t->requests.count == 0) {
			lua_pushliteral(L, "idle");
		} else if (clock_monotonic() >= deadline) {
			lua_pushliteral(L, "timeout");
		} else {
			if (fiber_cond_wait_timeout(&t->changed,
						    deadline - clock_monotonic()) != 0 &&
			    fiber_testcancel() != 0)
				return lua_throw(L);
			continue;
		}
		return 1;
	}
}

/** sleep(t, seconds): false where it was closed meanwhile. Yields. */
static int transport_sleep(lua_State *L)
{
	struct netbox *t = check_transport(L);
	double deadline = check_deadline(L, 2);
	while (!t->is_closed && clock_monotonic() < deadline) {
		if (fiber_cond_wait_timeout(&t->changed, deadline - clock_monotonic()) != 0 &&
		    fiber_testcancel() != 0)
			return lua_throw(L);
	}
	lua_pushboolean(L, !t->is_closed);
	return 1;
}

/** next_event(t): key and value of the next event; nothing where there is none. */
static int transport_next_event(lua_State *L)
{
	struct netbox *t = check_transport(L);
	if (list_empty(&t->events))
		return 0;
	struct netbox_event *e = list_first_entry(&t->events, struct netbox_event, link);
	list_del(&e->link);
	struct buf *copy = lua_scratch_get();
	size_t key_size = e->key.size;
	buf_append(copy, e->key.data, e->key.size);
	buf_append(copy, e->data.data, e->data.size);
	buf_free(&e->key);
	buf_free(&e->data);
	xfree(e);
	const char *p = copy->data;
	lua_decode(L, &p, &lua_codec_default);
	if (copy->size > key_size)
		lua_decode(L, &p, &lua_codec_default);
	else
		lua_pushnil(L);
	lua_scratch_put(copy);
	return 2;
}

/** watch(t, key) and unwatch(t, key) */
static int send_watch(lua_State *L, unsigned type)
{
	struct netbox *t = check_transport(L);
	size_t len;
	const char *key = luaL_checklstring(L, 2, &len);
	if (t->fd < 0)
		return 0;
	struct buf *packet = lua_scratch_get();
	netbox_encode_watch(packet, type, key, len);
	netbox_send(t, packet);
	lua_scratch_put(packet);
	return 0;
}

static int transport_watch(lua_State *L)
{
	return send_watch(L, IPROTO_WATCH);
}

static int transport_unwatch(lua_State *L)
{
	return send_watch(L, IPROTO_UNWATCH);
}

/* Requests ----------------------------------------------------------------------- */

struct options {
	double deadline;
	struct lua_ibuf *ibuf;
	bool is_async, skip_header, return_raw;
	/** Places on the stack, or 0. */
	int on_push, on_push_ctx, ibuf_idx;
};

/** Where the arguments of request() stand. */
enum { ARG_METHOD = 2, ARG_OPTIONS, ARG_TIMEOUT, ARG_DICT, ARG_STREAM, ARG_FIRST, ARG_LAST = ARG_FIRST + 7 };

static bool get_flag(lua_State *L, int idx, const char *name)
{
	lua_getfield(L, idx, name);
	bool value = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return value;
}

/** [raises] Leaves the field on the stack where it is not nil, and returns its place, or 0. */
static int get_value(lua_State *L, int idx, const char *name)
{
	lua_getfield(L, idx, name);
	if (!lua_isnil(L, -1))
		return lua_gettop(L);
	lua_pop(L, 1);
	return 0;
}

static void read_options(lua_State *L, struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->deadline = check_deadline(L, ARG_TIMEOUT);
	if (!lua_istable(L, ARG_OPTIONS))
		return;
	o->is_async = get_flag(L, ARG_OPTIONS, "is_async");
	o->skip_header = get_flag(L, ARG_OPTIONS, "skip_header");
	o->return_raw = get_flag(L, ARG_OPTIONS, "return_raw");
	o->ibuf_idx = get_value(L, ARG_OPTIONS, "buffer");
	if (o->ibuf_idx != 0) {
		void *payload;
		if (lua_cdata(L, o->ibuf_idx, &payload) != CDATA_IBUF)
			luaL_error(L, "net.box: the option 'buffer' is no ibuf");
		o->ibuf = payload;
	}
	o->on_push = get_value(L, ARG_OPTIONS, "on_push");
	if (o->on_push == 0)
		return;
	lua_getfield(L, ARG_OPTIONS, "on_push_ctx");
	o->on_push_ctx = lua_gettop(L);
}

/** [raises] Encodes, sends, and puts the request among those that wait. */
static void start_request(lua_State *L, struct netbox *t, struct netbox_request *r,
			  struct buf *packet)
{
	uint64_t stream_id = (uint64_t)luaL_optnumber(L, ARG_STREAM, 0);
	r->sync = ++t->last_sync;
	netbox_encode(L, ARG_FIRST, r->method, r->sync, stream_id, packet);
}

static enum netbox_method check_method(lua_State *L)
{
	int method = luaL_checkint(L, ARG_METHOD);
	if (method < 0 || method >= netbox_method_MAX)
		luaL_error(L, "net.box: unknown method");
	return method;
}

/** (on_push, on_push_ctx, request, number): calls on_push, in a protected call */
static int call_on_push(lua_State *L)
{
	struct netbox_request *r = lua_touserdata(L, 3);
	uint32_t i = (uint32_t)lua_tonumber(L, 4);
	lua_settop(L, 2);
	netbox_decode_push(L, r, i);
	lua_call(L, 2, 0);
	return 0;
}

/** Calls on_push for the messages that came; 0, or -1 with the error set. May yield. */
static int run_on_push(lua_State *L, struct netbox_request *r, const struct options *o,
		       uint32_t *done)
{
	while (*done < r->push_count) {
		lua_pushcfunction(L, call_on_push);
		lua_pushvalue(L, o->on_push);
		lua_pushvalue(L, o->on_push_ctx);
		lua_pushlightuserdata(L, r);
		lua_pushnumber(L, (*done)++);
		if (lua_call_protected(L, 4, 0) != 0)
			return -1;
	}
	return 0;
}

/** Waits for the answer; 0, or -1 with the error set. Yields. */
static int wait_answer(lua_State *L, struct netbox_request *r, const struct options *o)
{
	uint32_t pushes_done = 0;
	for (;;) {
		if (o->on_push != 0 && run_on_push(L, r, o, &pushes_done) != 0)
			return -1;
		if (r->is_done && pushes_done >= (o->on_push != 0 ? r->push_count : 0))
			break;
		double left = o->deadline - clock_monotonic();
		if (left > 0 && fiber_cond_wait_timeout(&r->cond, left) == 0)
			continue;
		if (r->is_done)
			break;
		if (fiber_testcancel() == 0)
			client_error(ER_TIMEOUT);
		return -1;
	}
	if (r->error != NULL)
		diag_set_error(r->error);
	return r->error != NULL ? -1 : 0;
}

/** Decodes the answer of a light userdata request: in a protected call, since that is on C's stack. */
static int decode_protected(lua_State *L)
{
	struct netbox_request *r = lua_touserdata(L, 1);
	lua_settop(L, 0);
	return netbox_decode(L, r, false);
}

static int request_sync(lua_State *L, struct netbox *t, const struct options *o)
{
	struct netbox_request r;
	struct buf *packet = lua_scratch_get();
	netbox_request_create(&r, check_method(L));
	start_request(L, t, &r, packet);
	r.dict = luaL_optint(L, ARG_DICT, 0);
	r.ibuf = o->ibuf;
	r.skip_header = o->skip_header;
	r.return_raw = o->return_raw;
	r.drop_pushes = o->on_push == 0 && o->ibuf == NULL;
	/* From here to the end nothing raises past us. */
	netbox_send(t, packet);
	netbox_expect(t, &r);
	lua_scratch_put(packet);
	int top = lua_gettop(L), count = -1;
	if (wait_answer(L, &r, o) == 0) {
		lua_pushcfunction(L, decode_protected);
		lua_pushlightuserdata(L, &r);
		if (lua_call_protected(L, 1, LUA_MULTRET) == 0)
			count = lua_gettop(L) - top;
	}
	netbox_request_destroy(L, &r);
	return count >= 0 ? count : lua_throw(L);
}

static int request_async(lua_State *L, struct netbox *t, const struct options *o)
{
	enum netbox_method method = check_method(L);
	struct future *f = lua_newuserdata(L, sizeof(*f));
	netbox_request_create(&f->request, method);
	f->result_ref = LUA_NOREF;
	lua_class_set(L, &future_class);
	struct buf *packet = lua_scratch_get();
	start_request(L, t, &f->request, packet);
	f->request.dict = luaL_optint(L, ARG_DICT, 0);
	f->request.skip_header = o->skip_header;
	f->request.return_raw = o->return_raw;
	if (o->ibuf != NULL) {
		lua_pushvalue(L, o->ibuf_idx);
		f->request.ibuf_ref = luaL_ref(L, LUA_REGISTRYINDEX);
		f->request.ibuf = o->ibuf;
	}
	netbox_send(t, packet);
	netbox_expect(t, &f->request);
	lua_scratch_put(packet);
	return 1;
}

/**
 * request(t, method, options, timeout, dict, stream, arguments...): the values of the answer;
 * with is_async the future. [raises] the error of the server, of the connection, TIMEOUT.
 * Yields.
 */
static int transport_request(lua_State *L)
{
	struct netbox *t = check_transport(L);
	struct options o;
	if (t->fd < 0) {
		struct error *e = error_new(&type_ClientError, ER_NO_CONNECTION, __FILE__, __LINE__,
					    "%s", t->failure != NULL ? t->failure : "");
		diag_set_error(e);
		error_unref(e);
		return lua_throw(L);
	}
	/* Arguments are at known places; options get theirs behind them. */
	lua_settop(L, ARG_LAST);
	read_options(L, &o);
	return o.is_async ? request_async(L, t, &o) : request_sync(L, t, &o);
}

/* Futures ------------------------------------------------------------------------- */

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

/** nil and the error that is set */
static int push_last_error(lua_State *L)
{
	lua_pushnil(L);
	lua_push_error(L, diag_last());
	return 2;
}

/** nil and a ClientError of the code LUA with the text */
static int push_text_error(lua_State *L, const char *text)
{
	client_error(ER_PROC_LUA, text);
	return push_last_error(L);
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
		return push_last_error(L);
	}
	if (f->result_ref == LUA_NOREF) {
		lua_pushcfunction(L, decode_future);
		lua_pushvalue(L, 1);
		if (lua_call_protected(L, 1, 1) != 0)
			return push_last_error(L);
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
		return push_last_error(L);
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

/** schema_version(future): as the answer's header has it; 0 where it is not done */
static int future_schema_version(lua_State *L)
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

/* Others ---------------------------------------------------------------------------- */

/** scramble(password, salt in base64): the answer of chap-sha1; nil where the salt is too short */
static int lua_scramble(lua_State *L)
{
	size_t len, salt_len;
	const char *password = luaL_checklstring(L, 1, &len);
	const char *text = luaL_checklstring(L, 2, &salt_len);
	unsigned char salt[128], scramble[SCRAMBLE_SIZE];
	if (base64_decoded_size_max(salt_len) > sizeof(salt))
		return 0;
	size_t size = base64_decode(text, salt_len, salt);
	if (size < SCRAMBLE_SIZE)
		return 0;
	password_scramble(password, len, salt, scramble);
	lua_pushlstring(L, (const char *)scramble, sizeof(scramble));
	return 1;
}

/** dictionary({name, ...}): the number that names the fields of tuples */
static int lua_dictionary(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	size_t count = lua_objlen(L, 1);
	struct field_def *fields = lua_newuserdata(L, count * sizeof(*fields) + 1);
	memset(fields, 0, count * sizeof(*fields));
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, 1, (int)i + 1);
		fields[i].name = (char *)luaL_checkstring(L, -1);
		/* The table keeps the text. */
		lua_pop(L, 1);
	}
	lua_pushnumber(L, count > 0 ? tuple_dictionary_intern(fields, count)->id : 0);
	return 1;
}

static void push_methods(lua_State *L)
{
	static const struct { const char *name; enum netbox_method method; } methods[] = {
		{"ping", NETBOX_PING}, {"call_16", NETBOX_CALL_16}, {"call", NETBOX_CALL},
		{"eval", NETBOX_EVAL}, {"insert", NETBOX_INSERT}, {"replace", NETBOX_REPLACE},
		{"delete", NETBOX_DELETE}, {"update", NETBOX_UPDATE}, {"upsert", NETBOX_UPSERT},
		{"select", NETBOX_SELECT}, {"select_raw", NETBOX_SELECT_RAW}, {"get", NETBOX_GET},
		{"first", NETBOX_FIRST}, {"count", NETBOX_COUNT}, {"execute", NETBOX_EXECUTE},
		{"prepare", NETBOX_PREPARE}, {"unprepare", NETBOX_UNPREPARE},
		{"begin", NETBOX_BEGIN}, {"commit", NETBOX_COMMIT}, {"rollback", NETBOX_ROLLBACK},
		{"watch_once", NETBOX_WATCH_ONCE}, {"id", NETBOX_ID}, {"auth", NETBOX_AUTH},
	};
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		lua_pushinteger(L, methods[i].method);
		lua_setfield(L, -2, methods[i].name);
	}
}

static void new_class(lua_State *L, struct lua_class *class, const luaL_Reg *methods,
		      lua_CFunction gc)
{
	lua_class_new(L, class);
	lua_newtable(L);
	luaL_register(L, NULL, methods);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
}

void lua_netbox_init(lua_State *L)
{
	static const luaL_Reg future_methods[] = {
		{"is_ready", future_is_ready}, {"result", future_result},
		{"wait_result", future_wait_result}, {"discard", future_discard},
		{"pairs", future_pairs}, {NULL, NULL},
	};
	static const luaL_Reg functions[] = {
		{"new", transport_new}, {"connect", transport_connect}, {"read", transport_read},
		{"read_until", transport_read_until}, {"write", transport_write},
		{"start", transport_start}, {"fail", transport_fail}, {"close", transport_close},
		{"is_closed", transport_is_closed}, {"touch", transport_touch},
		{"set_schema_version", transport_set_schema_version}, {"wait", transport_wait},
		{"sleep", transport_sleep}, {"next_event", transport_next_event},
		{"watch", transport_watch}, {"unwatch", transport_unwatch},
		{"request", transport_request}, {"scramble", lua_scramble},
		{"dictionary", lua_dictionary}, {"schema_version", future_schema_version}, {NULL, NULL},
	};
	static const luaL_Reg none[] = {{NULL, NULL}};
	new_class(L, &handle_class, none, handle_gc);
	lua_pop(L, 1);
	new_class(L, &future_class, future_methods, future_gc);
	lua_pushcfunction(L, future_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pop(L, 1);
	netbox_response_init(L);
	lua_new_module(L, "tarn.netbox", functions);
	push_methods(L);
	lua_setfield(L, -2, "method");
	lua_pop(L, 1);
	lua_load_embedded(L, "net_box_schema.lua", "internal.net_box_schema");
	lua_load_embedded(L, "net_box_worker.lua", "internal.net_box_worker");
	lua_load_embedded(L, "net_box_self.lua", "internal.net_box_self");
	lua_load_embedded(L, "net_box.lua", "net.box");
}
