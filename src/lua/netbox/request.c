/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests of net.box: their packets, and what happens to them until they are done.
 * Formats: the manual, "Binary protocol".
 */
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/error_mp.h"
#include "db/iproto_const.h"
#include "lua/bridge.h"
#include "lua/netbox/netbox.h"
#include "lua/value/buffer.h"

/* Life ---------------------------------------------------------------------------- */

void netbox_request_create(struct netbox_request *r, enum netbox_method method)
{
	memset(r, 0, sizeof(*r));
	r->method = method;
	r->ibuf_ref = LUA_NOREF;
	format_map_create(&r->formats);
	fiber_cond_create(&r->cond);
}

void netbox_request_destroy(lua_State *L, struct netbox_request *r)
{
	if (r->transport != NULL)
		map_u64_del(&r->transport->requests, r->sync);
	r->transport = NULL;
	if (r->error != NULL)
		error_unref(r->error);
	r->error = NULL;
	luaL_unref(L, LUA_REGISTRYINDEX, r->ibuf_ref);
	r->ibuf_ref = LUA_NOREF;
	buf_free(&r->body);
	buf_free(&r->pushes);
	format_map_destroy(&r->formats);
	fiber_cond_destroy(&r->cond);
}

static void finish(struct netbox_request *r)
{
	r->is_done = true;
	fiber_cond_broadcast(&r->cond);
}

void netbox_request_fail(struct netbox_request *r, const char *why)
{
	r->error = error_new(&type_ClientError, ER_NO_CONNECTION, __FILE__, __LINE__, "%s", why);
	finish(r);
}

/** The error of a body: with all it tells, or by its code and text. */
static struct error *read_error(uint32_t type, const char *body, size_t size)
{
	const char *end = body + size;
	const char *stack = netbox_find(body, end, IPROTO_ERROR);
	if (stack != NULL) {
		const char *p = stack;
		mp_next(&p);
		struct error *e = error_from_stack(stack, p);
		if (e != NULL)
			return e;
	}
	const char *text = netbox_find(body, end, IPROTO_ERROR_24);
	uint32_t len = 0;
	text = text != NULL && mp_typeof(*text) == MP_STR ? mp_decode_str(&text, &len) : "";
	return error_new(&type_ClientError, type & ~(uint32_t)IPROTO_TYPE_ERROR, __FILE__,
			 __LINE__, "%.*s", (int)(len < (1 << 20) ? len : 1 << 20), text);
}

/** Writes the body, or the data in it, to the user's buffer; returns how many bytes. */
static size_t write_to_ibuf(struct netbox_request *r, const char *body, size_t size)
{
	static const char empty_map[] = {(char)0x80};
	const char *p = body;
	if (size == 0) {
		p = empty_map;
		size = sizeof(empty_map);
	}
	const char *end = p + size;
	if (r->skip_header) {
		const char *data = netbox_find(p, end, IPROTO_DATA);
		if (data != NULL) {
			p = end = data;
			mp_next(&end);
		}
	}
	/* Those who read a buffer know of no formats. */
	struct buf plain = BUF_INIT;
	if (r->may_have_formats) {
		format_map_strip(&plain, p, end);
		p = plain.data;
		end = buf_end(&plain);
	}
	size = end - p;
	memcpy(lua_ibuf_reserve(r->ibuf, size), p, size);
	r->ibuf->wpos += size;
	buf_free(&plain);
	return size;
}

void netbox_request_finish(struct netbox_request *r, uint32_t type, const char *body,
			   size_t size)
{
	if (type != IPROTO_OK)
		r->error = read_error(type, body, size);
	else if (r->ibuf != NULL)
		r->written = write_to_ibuf(r, body, size);
	else
		buf_append(&r->body, body, size);
	finish(r);
}

void netbox_request_push(struct netbox_request *r, const char *body, size_t size)
{
	if (r->drop_pushes)
		return;
	uint64_t header[2] = {size, 0};
	if (r->ibuf != NULL) {
		header[0] = 0;
		header[1] = write_to_ibuf(r, body, size);
		size = 0;
	}
	buf_append(&r->pushes, header, sizeof(header));
	buf_append(&r->pushes, body, size);
	r->push_count++;
	fiber_cond_broadcast(&r->cond);
}

/* Packets -------------------------------------------------------------------------- */

/** The length in front: of a fixed width, since it is known last. */
enum { LENGTH_SIZE = 5 };

static size_t begin(struct buf *out, unsigned type, uint64_t sync, uint64_t stream_id)
{
	size_t start = out->size;
	*buf_alloc(out, LENGTH_SIZE) = (char)0xce;
	mp_put_map(out, 1 + (sync != 0) + (stream_id != 0));
	mp_put_uint(out, IPROTO_REQUEST_TYPE);
	mp_put_uint(out, type);
	if (sync != 0) {
		mp_put_uint(out, IPROTO_SYNC);
		mp_put_uint(out, sync);
	}
	if (stream_id != 0) {
		mp_put_uint(out, IPROTO_STREAM_ID);
		mp_put_uint(out, stream_id);
	}
	return start;
}

static void end(struct buf *out, size_t start)
{
	mp_store_u32(out->data + start + 1, out->size - start - LENGTH_SIZE);
}

static void put_number(lua_State *L, int idx, struct buf *out, unsigned key)
{
	mp_put_uint(out, key);
	if (lua_isnoneornil(L, idx))
		mp_put_uint(out, 0);
	else
		lua_encode(L, idx, out, &lua_codec_default);
}

/** A space or an index: by its number, or by its name. */
static void put_id_or_name(lua_State *L, int idx, struct buf *out, unsigned id_key,
			   unsigned name_key)
{
	bool is_name = lua_type(L, idx) == LUA_TSTRING;
	put_number(L, idx, out, is_name ? name_key : id_key);
}

static void put_space(lua_State *L, int idx, struct buf *out)
{
	put_id_or_name(L, idx, out, IPROTO_SPACE_ID, IPROTO_SPACE_NAME);
}

static void put_index(lua_State *L, int idx, struct buf *out)
{
	put_id_or_name(L, idx, out, IPROTO_INDEX_ID, IPROTO_INDEX_NAME);
}

static void put_value(lua_State *L, int idx, struct buf *out, unsigned key)
{
	mp_put_uint(out, key);
	if (lua_isnone(L, idx))
		mp_put_nil(out);
	else
		lua_encode(L, idx, out, &lua_codec_default);
}

/** A tuple, a list of arguments or of operations. */
static void put_array(lua_State *L, int idx, struct buf *out, unsigned key,
		      const struct lua_codec *codec)
{
	mp_put_uint(out, key);
	size_t start = out->size;
	lua_encode(L, idx, out, codec);
	if (mp_typeof(out->data[start]) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		lua_throw(L);
	}
}

/** A key: nil is an empty one, what is no array becomes its only part. */
static void put_key(lua_State *L, int idx, struct buf *out)
{
	mp_put_uint(out, IPROTO_KEY);
	size_t start = out->size;
	lua_encode(L, idx, out, &lua_codec_default);
	enum mp_type type = mp_typeof(out->data[start]);
	if (type == MP_NIL) {
		buf_truncate(out, start);
		mp_put_array(out, 0);
	} else if (type != MP_ARRAY) {
		buf_alloc(out, 1);
		char *p = out->data + start;
		memmove(p + 1, p, out->size - start - 1);
		mp_encode_array(p, 1);
	}
}

static void put_select(lua_State *L, int idx, struct buf *out)
{
	bool has_after = !lua_isnoneornil(L, idx + 6), has_fetch = lua_toboolean(L, idx + 7);
	mp_put_map(out, 6 + has_after + has_fetch);
	put_space(L, idx, out);
	put_index(L, idx + 1, out);
	put_number(L, idx + 2, out, IPROTO_ITERATOR);
	put_number(L, idx + 3, out, IPROTO_OFFSET);
	put_number(L, idx + 4, out, IPROTO_LIMIT);
	put_key(L, idx + 5, out);
	if (has_after)
		put_value(L, idx + 6, out, lua_type(L, idx + 6) == LUA_TSTRING ?
			  IPROTO_AFTER_POSITION : IPROTO_AFTER_TUPLE);
	if (has_fetch) {
		mp_put_uint(out, IPROTO_FETCH_POSITION);
		mp_put_bool(out, true);
	}
}

static void put_sql(lua_State *L, int idx, struct buf *out, bool is_execute)
{
	mp_put_map(out, is_execute ? 3 : 1);
	bool is_text = lua_type(L, idx) == LUA_TSTRING;
	put_value(L, idx, out, is_text ? IPROTO_SQL_TEXT : IPROTO_STMT_ID);
	if (is_execute) {
		put_array(L, idx + 1, out, IPROTO_SQL_BIND, &lua_codec_default);
		put_array(L, idx + 2, out, IPROTO_OPTIONS, &lua_codec_default);
	}
}

static void put_is_sync(struct buf *out)
{
	mp_put_uint(out, IPROTO_IS_SYNC);
	mp_put_bool(out, true);
}

static void put_commit(lua_State *L, int idx, struct buf *out)
{
	bool is_sync = lua_toboolean(L, idx);
	mp_put_map(out, is_sync);
	if (is_sync)
		put_is_sync(out);
}

static void put_begin(lua_State *L, int idx, struct buf *out)
{
	bool has_timeout = !lua_isnoneornil(L, idx), has_level = !lua_isnoneornil(L, idx + 1);
	bool is_sync = lua_toboolean(L, idx + 2);
	mp_put_map(out, has_timeout + has_level + is_sync);
	if (is_sync)
		put_is_sync(out);
	if (has_timeout) {
		mp_put_uint(out, IPROTO_TIMEOUT);
		char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
		out->size += mp_encode_double(p, lua_tonumber(L, idx)) - p;
	}
	if (has_level)
		put_number(L, idx + 1, out, IPROTO_TXN_ISOLATION);
}

/** What we can do, as ID tells the server. Rows have formats already where there is a schema. */
static void put_id(lua_State *L, int idx, struct buf *out)
{
	enum { COUNT_MAX = 16, PROTOCOL_VERSION = 9 };
	unsigned features[COUNT_MAX] = {
		IPROTO_FEATURE_STREAMS, IPROTO_FEATURE_TRANSACTIONS,
		IPROTO_FEATURE_ERROR_EXTENSION, IPROTO_FEATURE_WATCHERS,
		IPROTO_FEATURE_PAGINATION, IPROTO_FEATURE_SPACE_AND_INDEX_NAMES,
		IPROTO_FEATURE_WATCH_ONCE, IPROTO_FEATURE_IS_SYNC,
	};
	int count = 8;
	if (lua_toboolean(L, idx))
		features[count++] = IPROTO_FEATURE_DML_TUPLE_EXTENSION;
	if (lua_compat.calls_have_tuples) {
		features[count++] = IPROTO_FEATURE_CALL_RET_TUPLE_EXTENSION;
		features[count++] = IPROTO_FEATURE_CALL_ARG_TUPLE_EXTENSION;
	}
	mp_put_map(out, 2);
	mp_put_uint(out, IPROTO_VERSION);
	mp_put_uint(out, PROTOCOL_VERSION);
	mp_put_uint(out, IPROTO_FEATURES);
	mp_put_array(out, count);
	for (int i = 0; i < count; i++)
		mp_put_uint(out, features[i]);
}

static void put_auth(lua_State *L, int idx, struct buf *out)
{
	mp_put_map(out, 2);
	put_value(L, idx, out, IPROTO_USER_NAME);
	mp_put_uint(out, IPROTO_TUPLE);
	mp_put_array(out, 2);
	lua_encode(L, idx + 1, out, &lua_codec_default);
	lua_encode(L, idx + 2, out, &lua_codec_default);
}

/** What is called, and the arguments: with the formats of tuples in them where these go along. */
static void put_call(lua_State *L, int idx, struct buf *out, unsigned key,
		     struct format_map *formats)
{
	size_t start = out->size;
	struct lua_codec codec = lua_codec_default;
	codec.formats = formats;
	mp_put_map(out, 2);
	put_value(L, idx, out, key);
	put_array(L, idx + 1, out, IPROTO_TUPLE, formats != NULL ? &codec : &lua_codec_default);
	if (formats == NULL || formats->dicts.count == 0)
		return;
	mp_encode_map(out->data + start, 3);
	mp_put_uint(out, IPROTO_TUPLE_FORMATS);
	format_map_put_formats(formats, out);
}

static void put_body(lua_State *L, int idx, enum netbox_method method,
		     struct format_map *formats, struct buf *out)
{
	switch (method) {
	case NETBOX_CALL_16:
	case NETBOX_CALL:
	case NETBOX_COUNT:
	case NETBOX_EVAL:
		put_call(L, idx, out, method == NETBOX_EVAL ? IPROTO_EXPR : IPROTO_FUNCTION_NAME,
			 formats);
		break;
	case NETBOX_INSERT:
	case NETBOX_REPLACE:
		mp_put_map(out, 2);
		put_space(L, idx, out);
		put_array(L, idx + 1, out, IPROTO_TUPLE, &lua_codec_default);
		break;
	case NETBOX_DELETE:
		mp_put_map(out, 3);
		put_space(L, idx, out);
		put_index(L, idx + 1, out);
		put_key(L, idx + 2, out);
		break;
	case NETBOX_UPDATE:
		mp_put_map(out, 5);
		put_space(L, idx, out);
		put_index(L, idx + 1, out);
		mp_put_uint(out, IPROTO_INDEX_BASE);
		mp_put_uint(out, 1);
		put_key(L, idx + 2, out);
		put_array(L, idx + 3, out, IPROTO_TUPLE, &lua_codec_default);
		break;
	case NETBOX_UPSERT:
		mp_put_map(out, 4);
		put_space(L, idx, out);
		mp_put_uint(out, IPROTO_INDEX_BASE);
		mp_put_uint(out, 1);
		put_array(L, idx + 1, out, IPROTO_TUPLE, &lua_codec_default);
		put_array(L, idx + 2, out, IPROTO_OPS, &lua_codec_default);
		break;
	case NETBOX_SELECT:
	case NETBOX_SELECT_RAW:
	case NETBOX_GET:
	case NETBOX_FIRST: put_select(L, idx, out); break;
	case NETBOX_EXECUTE: put_sql(L, idx, out, true); break;
	case NETBOX_PREPARE:
	case NETBOX_UNPREPARE: put_sql(L, idx, out, false); break;
	case NETBOX_BEGIN: put_begin(L, idx, out); break;
	case NETBOX_COMMIT: put_commit(L, idx, out); break;
	case NETBOX_WATCH_ONCE:
		mp_put_map(out, 1);
		put_value(L, idx, out, IPROTO_EVENT_KEY);
		break;
	case NETBOX_ID: put_id(L, idx, out); break;
	case NETBOX_AUTH: put_auth(L, idx, out); break;
	default: mp_put_map(out, 0); break;
	}
}

static const unsigned types[netbox_method_MAX] = {
	[NETBOX_PING] = IPROTO_PING,
	[NETBOX_CALL_16] = IPROTO_CALL_16, [NETBOX_CALL] = IPROTO_CALL,
	[NETBOX_COUNT] = IPROTO_CALL, [NETBOX_EVAL] = IPROTO_EVAL,
	[NETBOX_INSERT] = IPROTO_INSERT, [NETBOX_REPLACE] = IPROTO_REPLACE,
	[NETBOX_DELETE] = IPROTO_DELETE, [NETBOX_UPDATE] = IPROTO_UPDATE,
	[NETBOX_UPSERT] = IPROTO_UPSERT,
	[NETBOX_SELECT] = IPROTO_SELECT, [NETBOX_SELECT_RAW] = IPROTO_SELECT,
	[NETBOX_GET] = IPROTO_SELECT, [NETBOX_FIRST] = IPROTO_SELECT,
	[NETBOX_EXECUTE] = IPROTO_EXECUTE, [NETBOX_PREPARE] = IPROTO_PREPARE,
	[NETBOX_UNPREPARE] = IPROTO_PREPARE,
	[NETBOX_BEGIN] = IPROTO_BEGIN, [NETBOX_COMMIT] = IPROTO_COMMIT,
	[NETBOX_ROLLBACK] = IPROTO_ROLLBACK, [NETBOX_WATCH_ONCE] = IPROTO_WATCH_ONCE,
	[NETBOX_ID] = IPROTO_ID, [NETBOX_AUTH] = IPROTO_AUTH,
};

void netbox_encode(lua_State *L, int idx, enum netbox_method method, uint64_t sync,
		   uint64_t stream_id, struct format_map *formats, struct buf *out)
{
	size_t start = begin(out, types[method], sync, stream_id);
	put_body(L, idx, method, formats, out);
	end(out, start);
}

void netbox_encode_watch(struct buf *out, unsigned type, const char *key, size_t len)
{
	size_t start = begin(out, type, 0, 0);
	mp_put_map(out, 1);
	mp_put_uint(out, IPROTO_EVENT_KEY);
	mp_put_strn(out, key, len);
	end(out, start);
}
