/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CALL and EVAL: how the database runs Lua.
 *
 * A call takes the fiber's coroutine, or a spare one where that already runs
 * something, finds the function and decodes the arguments inside one protected call
 * of a C function that was made at start-up, and leaves the results where they are: a
 * port_lua. Encoding them later reads the stack. Nothing is allocated on this way but
 * what the values themselves need.
 *
 * EVAL keeps the chunks it compiled, the latest used CHUNK_COUNT_MAX of them.
 */
#include "lua/box/call.h"

#include <assert.h>
#include <string.h>

#include "core/list.h"
#include "core/map.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/tuple/format_map.h"
#include "lua/bridge_impl.h"
#include "lua/guard.h"
#include "lua/modules.h"
#include "net/session.h"

enum {
	/** Chunks that EVAL remembers, and the longest text it does so for. */
	CHUNK_COUNT_MAX = 256,
	CHUNK_LEN_MAX = 8192,
};

static int ref_call_run, ref_dump_run;
/** What debug.sethook() sets, to tell it from hooks of our own. */
static lua_Hook script_hook;

/* Ports -------------------------------------------------------------------- */

static void check_stack(lua_State *L, int count)
{
	luaL_checkstack(L, count, "too many values");
}

/** Is the value an array on the wire: a sequence or a tuple? Its first element's place tells. */
static bool is_array(lua_State *L, int idx, struct buf *scratch)
{
	void *payload;
	if (lua_cdata(L, idx, &payload) == CDATA_TUPLE)
		return true;
	if (!lua_istable(L, idx))
		return false;
	buf_truncate(scratch, 0);
	lua_encode(L, idx, scratch, &lua_codec_default);
	return mp_typeof(*scratch->data) == MP_ARRAY;
}

/** Encodes in the old CALL's form: a value that is not an array is wrapped in one. */
static void encode_wrapped(lua_State *L, int idx, struct buf *out, struct buf *scratch)
{
	if (!is_array(L, idx, scratch)) {
		char *p = buf_reserve(out, 5);
		out->size += mp_encode_array(p, 1) - p;
	}
	lua_encode(L, idx, out, &lua_codec_default);
}

/**
 * The old CALL's form of a single table: one whose first element is an array stands
 * for several results. Returns their number.
 */
static int dump_single_16(lua_State *L, struct buf *out, struct buf *scratch)
{
	int count = lua_istable(L, 2) && is_array(L, 2, scratch) ? lua_objlen(L, 2) : 0;
	bool is_list = false;
	if (count > 0) {
		lua_rawgeti(L, 2, 1);
		is_list = is_array(L, lua_gettop(L), scratch);
		lua_pop(L, 1);
	}
	if (!is_list) {
		encode_wrapped(L, 2, out, scratch);
		return 1;
	}
	for (int i = 1; i <= count; i++) {
		lua_rawgeti(L, 2, i);
		encode_wrapped(L, lua_gettop(L), out, scratch);
		lua_pop(L, 1);
	}
	return count;
}

struct dump {
	struct buf *out;
	const struct lua_codec *codec;
	bool compat_16;
	int count;
};

/** Protected: (dump, values...). */
static int dump_run(lua_State *L)
{
	struct dump *d = lua_touserdata(L, 1);
	d->count = lua_gettop(L) - 1;
	if (!d->compat_16) {
		for (int i = 0; i < d->count; i++)
			lua_encode(L, i + 2, d->out, d->codec);
		return 0;
	}
	struct buf *scratch = lua_scratch_get();
	if (d->count == 1) {
		d->count = dump_single_16(L, d->out, scratch);
	} else {
		for (int i = 0; i < d->count; i++)
			encode_wrapped(L, i + 2, d->out, scratch);
	}
	lua_scratch_put(scratch);
	return 0;
}

/** Encodes values that cannot raise, as most results are; false where there is another. */
static bool dump_scalars(const struct port_lua *p, struct buf *out,
			 const struct lua_codec *codec)
{
	size_t mark = out->size;
	for (int i = p->bottom + 1; i <= p->bottom + p->count; i++) {
		if (lua_encode_scalar(p->L, i, out))
			continue;
		void *payload;
		if (lua_cdata(p->L, i, &payload) != CDATA_TUPLE) {
			buf_truncate(out, mark);
			return false;
		}
		lua_encode(p->L, i, out, codec);
	}
	return true;
}

void lua_codec_for_session(struct lua_codec *codec)
{
	const struct session *session = session_peek();
	if (session != NULL && session->takes_errors)
		codec->encode_error_as_ext = true;
}

/** Consumes the values where one of them may raise: a port is dumped once. */
static int port_lua_dump(struct port *port, struct buf *out, bool compat_16,
			 struct format_map *formats)
{
	struct port_lua *p = (struct port_lua *)port;
	lua_State *L = p->L;
	if (!compat_16 && formats == NULL && dump_scalars(p, out, &lua_codec_default))
		return p->count;
	size_t mark = out->size;
	struct lua_codec codec = lua_codec_default;
	codec.formats = formats;
	if (formats != NULL && dump_scalars(p, out, &codec))
		return p->count;
	lua_codec_for_session(&codec);
	struct dump d = {.out = out, .codec = &codec, .compat_16 = compat_16};
	if (!lua_checkstack(L, 2)) {
		diag_set(LuajitError, "too many values to return");
		return -1;
	}
	/* The values become the arguments: so many may have no room twice. */
	int count = p->count;
	p->count = 0;
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_dump_run);
	lua_insert(L, p->bottom + 1);
	lua_pushlightuserdata(L, &d);
	lua_insert(L, p->bottom + 2);
	if (lua_call_protected(L, count + 1, 0) != 0) {
		buf_truncate(out, mark);
		return -1;
	}
	return d.count;
}

static void port_lua_destroy(struct port *port)
{
	struct port_lua *p = (struct port_lua *)port;
	if (!p->owns_state)
		return;
	lua_settop(p->L, p->bottom);
	lua_state_put(p->L);
}

const struct port_vtab port_lua_vtab = {
	.name = "lua",
	.dump = port_lua_dump,
	.destroy = port_lua_destroy,
};

void port_lua_create(struct port *port, lua_State *L, int bottom, int count)
{
	_Static_assert(sizeof(struct port_lua) <= sizeof(struct port), "a port's room");
	*(struct port_lua *)port = (struct port_lua){&port_lua_vtab, L, bottom, count, false};
}

static int push_port_lua(lua_State *L, const struct port_lua *p)
{
	assert(p->L != L);
	check_stack(L, p->count + 1);
	bool was_guarded = lua_heap_guard(false);
	bool has_room = lua_checkstack(p->L, 1);
	lua_heap_guard(was_guarded);
	if (!has_room)
		luaL_error(L, "too many values");
	for (int i = 1; i <= p->count; i++) {
		lua_pushvalue(p->L, p->bottom + i);
		lua_xmove(p->L, L, 1);
	}
	return p->count;
}

static int push_port_msgpack(lua_State *L, const struct port *port)
{
	const char *end;
	const char *data = port_msgpack_data(port, &end);
	uint32_t count = mp_decode_array(&data);
	struct lua_codec with_formats;
	const struct lua_codec *codec = &lua_codec_default;
	if (port_msgpack_formats(port) != NULL) {
		with_formats = lua_codec_default;
		with_formats.formats = port_msgpack_formats(port);
		if (format_map_read_unread(with_formats.formats) != 0)
			lua_throw(L);
		codec = &with_formats;
	}
	check_stack(L, count + 8);
	for (uint32_t i = 0; i < count; i++)
		lua_decode(L, &data, codec);
	return count;
}

static int push_port_c(lua_State *L, const struct port *port)
{
	uint32_t count = port_c_count(port);
	check_stack(L, count + 8);
	for (uint32_t i = 0; i < count; i++) {
		const char *data;
		uint32_t size;
		struct tuple *tuple = port_c_at(port, i, &data, &size);
		if (tuple != NULL)
			lua_push_tuple(L, tuple);
		else
			lua_decode(L, &data, &lua_codec_default);
	}
	return count;
}

int lua_push_port(lua_State *L, struct port *port)
{
	if (port == NULL)
		return 0;
	if (port->vtab == &port_lua_vtab)
		return push_port_lua(L, (struct port_lua *)port);
	if (port->vtab == &port_msgpack_vtab)
		return push_port_msgpack(L, port);
	assert(port->vtab == &port_c_vtab);
	return push_port_c(L, port);
}

/* Names ---------------------------------------------------------------------- */

static int throw_no_proc(lua_State *L, const struct lua_callee *callee)
{
	char *name = xstrndup(callee->text, callee->len);
	client_error(ER_NO_SUCH_PROC, name);
	xfree(name);
	return lua_throw(L);
}

/** Replaces the value at the top by its field of that name; false where it cannot have one. */
static bool step_into(lua_State *L, const char *name, size_t len, bool is_global)
{
	int type = lua_type(L, -1);
	if (type != LUA_TTABLE && type != LUA_TUSERDATA && type != LUA_TCDATA)
		return false;
	lua_pushlstring(L, name, len);
	/* Globals are read raw: a strict mode must not turn "not defined" into its own error. */
	if (is_global)
		lua_rawget(L, -2);
	else
		lua_gettable(L, -2);
	return true;
}

static size_t name_length(const char *p, const char *end)
{
	const char *s = p;
	while (s < end && *s != '.' && *s != ':')
		s++;
	return s - p;
}

/**
 * Pushes the function `a.b.c` or the method `a.b:c` with its object; returns the arguments pushed.
 */
static int push_by_name(lua_State *L, const struct lua_callee *callee)
{
	const char *p = callee->text, *end = p + callee->len;
	bool is_global = true, is_method = false;
	lua_pushvalue(L, LUA_GLOBALSINDEX);
	for (;;) {
		size_t len = name_length(p, end);
		if (len == 0 || !step_into(L, p, len, is_global))
			return throw_no_proc(L, callee);
		p += len;
		if (p < end && is_method)
			return throw_no_proc(L, callee);
		if (p == end)
			break;
		lua_remove(L, -2);
		is_global = false;
		is_method = *p++ == ':';
	}
	int type = lua_type(L, -1);
	if (type != LUA_TFUNCTION && type != LUA_TTABLE && type != LUA_TUSERDATA)
		return throw_no_proc(L, callee);
	if (!is_method) {
		lua_remove(L, -2);
		return 0;
	}
	lua_insert(L, -2);
	return 1;
}

/* Chunks ------------------------------------------------------------------------ */

struct chunk {
	/** Latest used first. */
	struct list link;
	char *text;
	size_t len;
	int ref;
};

static struct map_str chunk_by_text;
static struct list chunks = LIST_INIT(chunks);
static int chunk_count;
static uint64_t chunk_hits, chunk_misses;

void lua_eval_cache_stat(struct lua_eval_cache_stat *stat)
{
	*stat = (struct lua_eval_cache_stat){
		chunk_count, CHUNK_COUNT_MAX, chunk_hits, chunk_misses,
	};
}

static void chunk_forget(lua_State *L, struct chunk *c)
{
	map_str_del(&chunk_by_text, c->text, c->len);
	luaL_unref(L, LUA_REGISTRYINDEX, c->ref);
	list_del(&c->link);
	xfree(c->text);
	xfree(c);
	chunk_count--;
}

/** Remembers the function at the top, which stays there. */
static void chunk_remember(lua_State *L, const char *text, size_t len)
{
	if (chunk_count == CHUNK_COUNT_MAX)
		chunk_forget(L, list_entry(chunks.prev, struct chunk, link));
	lua_pushvalue(L, -1);
	int ref = luaL_ref(L, LUA_REGISTRYINDEX);
	struct chunk *c = xmalloc(sizeof(*c));
	*c = (struct chunk){.text = xstrndup(text, len), .len = len, .ref = ref};
	list_add(&chunks, &c->link);
	map_str_put(&chunk_by_text, text, len, c);
	chunk_count++;
}

static void chunk_compile(lua_State *L, const char *text, size_t len)
{
	if (len > 0 && *text == LUA_SIGNATURE[0])
		luaL_error(L, "eval: cannot load incompatible bytecode");
	if (luaL_loadbuffer(L, text, len, "=eval") != 0)
		lua_error(L);
	if (len <= CHUNK_LEN_MAX)
		chunk_remember(L, text, len);
}

/** Has the function at the top the globals for its environment? */
static bool sees_globals(lua_State *L)
{
	lua_getfenv(L, -1);
	bool is_equal = lua_rawequal(L, -1, LUA_GLOBALSINDEX);
	lua_pop(L, 1);
	return is_equal;
}

/** Pushes the chunk's function. One that gave itself another environment is not used again. */
static void push_chunk(lua_State *L, const char *text, size_t len)
{
	struct chunk *c = len <= CHUNK_LEN_MAX ? map_str_get(&chunk_by_text, text, len) : NULL;
	if (c != NULL) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, c->ref);
		if (sees_globals(L)) {
			chunk_hits++;
			list_del(&c->link);
			list_add(&chunks, &c->link);
			return;
		}
		lua_pop(L, 1);
		chunk_forget(L, c);
	}
	chunk_misses++;
	chunk_compile(L, text, len);
}

/* The call ------------------------------------------------------------------------ */

struct run {
	const struct lua_callee *callee;
	struct port *args;
};

/** Protected: (run); returns what the callee does. */
static int call_run(lua_State *L)
{
	struct run *run = lua_touserdata(L, 1);
	const struct lua_callee *callee = run->callee;
	int arg_count = 0;
	lua_settop(L, 0);
	switch (callee->kind) {
	case CALLEE_NAME: arg_count = push_by_name(L, callee); break;
	case CALLEE_TEXT: push_chunk(L, callee->text, callee->len); break;
	case CALLEE_REF: lua_rawgeti(L, LUA_REGISTRYINDEX, callee->ref); break;
	}
	arg_count += lua_push_port(L, run->args);
	lua_call(L, arg_count, LUA_MULTRET);
	return lua_gettop(L);
}

int lua_callee_run(const struct lua_callee *callee, struct port *args, struct port *result)
{
	if (lua_check_c_stack() != 0)
		return -1;
	struct run run = {callee, args};
	lua_State *L = lua_state_get();
	int bottom = lua_gettop(L);
	if (!lua_checkstack(L, 2)) {
		diag_set(LuajitError, "stack overflow");
		lua_state_put(L);
		return -1;
	}
	bool had_hook = lua_gethook(L) == script_hook;
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_call_run);
	lua_pushlightuserdata(L, &run);
	int rc = lua_call_protected(L, 1, LUA_MULTRET);
	/* A script's hook is the whole state's: it would be called in all requests to come. */
	if (!had_hook && lua_gethook(L) == script_hook)
		lua_sethook(L, NULL, 0, 0);
	lua_state_restore_globals(L);
	if (rc != 0) {
		lua_settop(L, bottom);
		lua_state_put(L);
		return -1;
	}
	port_lua_create(result, L, bottom, lua_gettop(L) - bottom);
	((struct port_lua *)result)->owns_state = true;
	return 0;
}

static int runtime_call(const char *name, size_t len, struct port *args, struct port *result)
{
	struct lua_callee callee = {.kind = CALLEE_NAME, .text = name, .len = len};
	return lua_callee_run(&callee, args, result);
}

static int runtime_eval(const char *expr, size_t len, struct port *args, struct port *result)
{
	struct lua_callee callee = {.kind = CALLEE_TEXT, .text = expr, .len = len};
	return lua_callee_run(&callee, args, result);
}

/** Names of the globals that were there before any script. */
static struct map_str builtins;

void lua_call_learn_builtins(lua_State *L)
{
	lua_pushvalue(L, LUA_GLOBALSINDEX);
	for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
		size_t len;
		const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &len) :
				   NULL;
		if (name != NULL)
			map_str_put(&builtins, name, len, &builtins);
	}
	lua_pop(L, 1);
}

/** By the first step of the name: all of a table of ours is ours. */
static bool runtime_is_builtin(const char *name, size_t len)
{
	size_t first = name_length(name, name + len);
	return first == 0 || map_str_get(&builtins, name, first) != NULL;
}

static void learn_script_hook(lua_State *L)
{
	if (luaL_dostring(L, "debug.sethook(function() end, '', 1000)") != 0)
		lua_error(L);
	script_hook = lua_gethook(L);
	lua_sethook(L, NULL, 0, 0);
}

void lua_call_init(lua_State *L)
{
	static const struct call_runtime runtime = {
		runtime_call, runtime_eval, runtime_is_builtin,
	};
	learn_script_hook(L);
	map_str_create(&chunk_by_text);
	map_str_create(&builtins);
	lua_pushcfunction(L, call_run);
	ref_call_run = lua_ref_forever(L);
	lua_pushcfunction(L, dump_run);
	ref_dump_run = lua_ref_forever(L);
	db_set_call_runtime(&runtime);
	lua_func_init(L);
	lua_func_c_init(L);
}
