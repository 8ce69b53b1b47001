/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What net_box*.lua have of the transport: `tarn.netbox`, with handles of transports. Functions
 * of a transport take its handle first.
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
#include "lua/box/tls_params.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "lua/value/buffer.h"

struct handle {
	struct netbox *t;
	bool is_owner;
};

static struct lua_class handle_class = {.name = "net.box.transport"};

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
	t->leader = fiber();
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

/** start_tls(t, {ssl_key_file = ..., ...}): true, or nil and what is wrong */
static int transport_start_tls(lua_State *L)
{
	struct netbox *t = check_transport(L);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	struct tls_params params = lua_tls_params(L);
	struct tls_context *context = tls_context_new(&params, false);
	if (context == NULL)
		return push_failure(L, diag_last()->message);
	if (t->fd >= 0)
		netbox_start_tls(t, context);
	tls_context_unref(context);
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
	t->schema_loads++;
	fiber_cond_broadcast(&t->changed);
	return 0;
}

/** set_tuples(t, takes, gets): see struct netbox */
static int transport_set_tuples(lua_State *L)
{
	struct netbox *t = check_transport(L);
	t->takes_tuples = lua_toboolean(L, 2);
	t->gets_tuples = lua_toboolean(L, 3);
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
enum {
	ARG_METHOD = 2, ARG_OPTIONS, ARG_TIMEOUT, ARG_DICT, ARG_STREAM,
	ARG_FIRST, ARG_LAST = ARG_FIRST + 7,
};

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

/** [raises] ER_NO_CONNECTION with the reason. */
static int throw_no_connection(lua_State *L, const struct netbox *t)
{
	struct error *e = error_new(&type_ClientError, ER_NO_CONNECTION, __FILE__, __LINE__, "%s",
				    t->failure != NULL ? t->failure : "");
	diag_set_error(e);
	error_unref(e);
	return lua_throw(L);
}

static struct lua_class formats_class = {.name = "net.box.formats"};

static int formats_gc(lua_State *L)
{
	format_map_destroy(lua_class_check(L, 1, &formats_class));
	return 0;
}

/** [raises] Pushes an object with the formats of tuples in a request. */
static struct format_map *push_formats(lua_State *L)
{
	struct format_map *formats = lua_newuserdata(L, sizeof(*formats));
	format_map_create(formats);
	lua_class_set(L, &formats_class);
	return formats;
}

static bool is_call(enum netbox_method method)
{
	return method == NETBOX_CALL || method == NETBOX_EVAL;
}

/** [raises] Gives the request its number and encodes its packet. */
static void encode_request(lua_State *L, struct netbox *t, struct netbox_request *r,
			   struct buf *packet)
{
	uint64_t stream_id = (uint64_t)luaL_optnumber(L, ARG_STREAM, 0);
	r->sync = ++t->last_sync;
	r->may_have_formats = t->gets_tuples;
	if (t->takes_tuples && lua_compat.calls_have_tuples && is_call(r->method)) {
		struct format_map *formats = push_formats(L);
		netbox_encode(L, ARG_FIRST, r->method, r->sync, stream_id, formats, packet);
		lua_pop(L, 1);
	} else {
		netbox_encode(L, ARG_FIRST, r->method, r->sync, stream_id, NULL, packet);
	}
	/* A __serialize may have closed the connection. */
	if (t->fd < 0)
		throw_no_connection(L, t);
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

/**
 * Where the answer told of another schema, waits until that is loaded, so that the caller finds
 * new spaces. Yields.
 */
static void wait_schema(struct netbox *t, const struct options *o)
{
	uint64_t loads = t->schema_loads;
	while (netbox_schema_is_stale(t) && t->schema_loads == loads && t->fd >= 0 &&
	       t->leader != fiber()) {
		double left = o->deadline - clock_monotonic();
		if (left <= 0 || fiber_cond_wait_timeout(&t->changed, left) != 0)
			break;
	}
}

/** (request): decodes its answer, in a protected call, since the request is on C's stack. */
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
	encode_request(L, t, &r, packet);
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
		wait_schema(t, o);
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
	struct netbox_request *r = netbox_push_future(L, check_method(L));
	struct buf *packet = lua_scratch_get();
	encode_request(L, t, r, packet);
	r->dict = luaL_optint(L, ARG_DICT, 0);
	r->skip_header = o->skip_header;
	r->return_raw = o->return_raw;
	if (o->ibuf != NULL) {
		lua_pushvalue(L, o->ibuf_idx);
		r->ibuf_ref = luaL_ref(L, LUA_REGISTRYINDEX);
		r->ibuf = o->ibuf;
	}
	netbox_send(t, packet);
	netbox_expect(t, r);
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
	if (t->fd < 0)
		return throw_no_connection(L, t);
	/* Arguments are at known places; options get theirs behind them. */
	lua_settop(L, ARG_LAST);
	read_options(L, &o);
	return o.is_async ? request_async(L, t, &o) : request_sync(L, t, &o);
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

void lua_netbox_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"new", transport_new}, {"connect", transport_connect},
		{"start_tls", transport_start_tls}, {"read", transport_read},
		{"read_until", transport_read_until}, {"write", transport_write},
		{"start", transport_start}, {"fail", transport_fail}, {"close", transport_close},
		{"is_closed", transport_is_closed}, {"touch", transport_touch},
		{"set_schema_version", transport_set_schema_version},
		{"set_tuples", transport_set_tuples}, {"wait", transport_wait},
		{"sleep", transport_sleep}, {"next_event", transport_next_event},
		{"watch", transport_watch}, {"unwatch", transport_unwatch},
		{"request", transport_request}, {"scramble", lua_scramble},
		{"dictionary", lua_dictionary}, {"schema_version", netbox_future_schema_version},
		{NULL, NULL},
	};
	lua_class_new(L, &handle_class);
	lua_pushcfunction(L, handle_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	lua_class_new_with_gc(L, &formats_class, formats_gc);
	netbox_future_init(L);
	netbox_response_init(L);
	lua_new_module(L, "tarn.netbox", functions);
	push_methods(L);
	lua_setfield(L, -2, "method");
	lua_pop(L, 1);
	lua_load_embedded(L, "net_box_schema.lua", "internal.net_box_schema");
	lua_load_embedded(L, "net_box_worker.lua", "internal.net_box_worker");
	lua_load_embedded(L, "net_box_watch.lua", "internal.net_box_watch");
	lua_load_embedded(L, "net_box_stream.lua", "internal.net_box_stream");
	lua_load_embedded(L, "net_box_self.lua", "internal.net_box_self");
	lua_load_embedded(L, "net_box.lua", "net.box");
}
