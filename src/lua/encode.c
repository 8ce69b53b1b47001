/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lua values to MessagePack.
 *
 * A table is an array where its keys are the integers from 1 with few holes, else a
 * map; a metatable's __serialize decides otherwise: 'seq' or 'map' (and their long
 * forms), or a function whose result is encoded instead. Numbers without a fraction
 * become integers where these have the range. What the reference does was observed.
 *
 * Errors leave by lua_error(): texts for what has no form, error objects for a value
 * that breaks an option, as the reference has it.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "data/datetime.h"
#include "data/decimal.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/error_mp.h"
#include "db/schema/space.h"
#include "db/tuple/format_map.h"
#include "lua/box/tuple.h"
#include "lua/bridge_impl.h"
#include "lua/guard.h"
#include "lua/value/msgpack_object.h"
#include "net/session.h"

struct lua_codec lua_codec_default = {
	.encode_sparse_convert = true,
	.encode_sparse_ratio = 2,
	.encode_sparse_safe = 10,
	.encode_max_depth = 128,
	.encode_depth_is_told = true,
	.encode_invalid_numbers = true,
	.encode_number_precision = 14,
	.encode_load_metatables = true,
	.decode_invalid_numbers = true,
	.decode_save_metatables = true,
	.decode_max_depth = 128,
};

struct lua_codec lua_codec_tuple;

enum {
	/** Stack slots that one level of nesting may need. */
	LEVEL_SLOTS = 8,
	/** Results of __serialize that are tables with another __serialize. */
	SERIALIZE_MAX = 128,
};

/** What a table is encoded as. */
enum form { FORM_ARRAY, FORM_MAP, FORM_VALUE };

struct encoder {
	lua_State *L;
	struct buf *out;
	const struct lua_codec *codec;
	int depth;
};

static void encode_value(struct encoder *e, int idx);

static int throw_text(lua_State *L, const char *text)
{
	diag_set(LuajitError, "%s", text);
	return lua_throw(L);
}

/* Scalars ---------------------------------------------------------------- */

/** False where the number is not finite. */
static inline bool put_number(struct buf *out, double value)
{
	if (!isfinite(value))
		return false;
	char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
	out->size += mp_encode_number(p, value) - p;
	return true;
}

bool lua_encode_scalar(lua_State *L, int idx, struct buf *out)
{
	size_t len;
	const char *s;
	switch (lua_type(L, idx)) {
	case LUA_TNUMBER:
		return put_number(out, lua_tonumber(L, idx));
	case LUA_TSTRING:
		s = lua_tolstring(L, idx, &len);
		mp_put_strn(out, s, len);
		return true;
	case LUA_TNIL:
	case LUA_TNONE:
		mp_put_nil(out);
		return true;
	case LUA_TBOOLEAN:
		*buf_alloc(out, 1) = (char)(lua_toboolean(L, idx) ? 0xc3 : 0xc2);
		return true;
	default:
		return false;
	}
}

/** True where the number is to be left out as it is no finite one: a nil stands for it. */
static bool number_is_refused(struct encoder *e, double value)
{
	if (isfinite(value) || e->codec->encode_invalid_numbers)
		return false;
	if (!e->codec->encode_invalid_as_nil)
		throw_text(e->L, "number must not be NaN or Inf");
	mp_put_nil(e->out);
	return true;
}

static void encode_double(struct encoder *e, double value)
{
	if (number_is_refused(e, value))
		return;
	char *p = buf_reserve(e->out, 9);
	e->out->size += mp_encode_double(p, value) - p;
}

static void encode_float(struct encoder *e, float value)
{
	if (number_is_refused(e, value))
		return;
	char *p = buf_reserve(e->out, 5);
	e->out->size += mp_encode_float(p, value) - p;
}

static void encode_uuid(struct encoder *e, const void *payload)
{
	const uint8_t *u = payload;
	char *p = buf_reserve(e->out, 18);
	char *end = mp_encode_extl(p, MP_EXT_UUID, 16);
	/* The fields in front are integers of the machine; on the wire they are big-endian. */
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	for (int i = 0; i < 16; i++)
		end[i] = (char)u[order[i]];
	e->out->size += end + 16 - p;
}

static void encode_datetime(struct encoder *e, const struct datetime *d)
{
	if (!datetime_is_valid(d))
		throw_text(e->L, "datetime is out of range");
	uint32_t size = datetime_packed_size(d);
	char *p = buf_reserve(e->out, mp_sizeof_ext(size));
	datetime_pack(d, mp_encode_extl(p, MP_EXT_DATETIME, size));
	e->out->size += mp_sizeof_ext(size);
}

static void encode_interval(struct encoder *e, const struct interval *i)
{
	if (!interval_is_valid(i))
		throw_text(e->L, "interval is out of range");
	uint32_t size = interval_packed_size(i);
	char *p = buf_reserve(e->out, mp_sizeof_ext(size));
	interval_pack(i, mp_encode_extl(p, MP_EXT_INTERVAL, size));
	e->out->size += mp_sizeof_ext(size);
}

static void encode_decimal(struct encoder *e, const struct decimal *d)
{
	uint32_t size = decimal_packed_size(d);
	char *p = buf_reserve(e->out, mp_sizeof_ext(size));
	decimal_pack(d, mp_encode_extl(p, MP_EXT_DECIMAL, size));
	e->out->size += mp_sizeof_ext(size);
}

/** Its text, or by the option an extension that has all of it. */
static void encode_error(struct encoder *e, const struct error *err)
{
	const struct session *session = session_peek();
	if (!e->codec->encode_error_as_ext && (session == NULL || !(session->settings & SETTING_MARSHALS_ERRORS))) {
		mp_put_strn(e->out, err->message, strlen(err->message));
		return;
	}
	struct buf *stack = lua_scratch_get();
	error_put_stack(stack, err, false);
	char *p = buf_reserve(e->out, mp_sizeof_ext(stack->size));
	char *end = mp_encode_extl(p, MP_EXT_ERROR, stack->size);
	memcpy(end, stack->data, stack->size);
	e->out->size += end + stack->size - p;
	lua_scratch_put(stack);
}

/** A value without a form of its own: by the options nil, its text, or an error. */
static void encode_unsupported(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	if (e->codec->encode_invalid_as_nil) {
		mp_put_nil(e->out);
	} else if (e->codec->encode_use_tostring) {
		size_t len;
		lua_push_text(L, idx);
		const char *s = lua_tolstring(L, -1, &len);
		mp_put_strn(e->out, s, len);
		lua_pop(L, 1);
	} else {
		luaL_error(L, "unsupported Lua type '%s'", lua_typename(L, lua_type(L, idx)));
	}
}

/* Values with __serialize ------------------------------------------------ */

static bool is_word(const char *s, const char *a, const char *b, const char *c)
{
	return strcmp(s, a) == 0 || strcmp(s, b) == 0 || (c != NULL && strcmp(s, c) == 0);
}

/** The word of a hint at the top, popped. */
static enum form form_by_hint(struct encoder *e)
{
	const char *word = lua_type(e->L, -1) == LUA_TSTRING ? lua_tostring(e->L, -1) : "";
	enum form form;
	if (is_word(word, "seq", "sequence", "array"))
		form = FORM_ARRAY;
	else if (is_word(word, "map", "mapping", NULL))
		form = FORM_MAP;
	else
		return throw_text(e->L, "invalid __serialize value");
	lua_pop(e->L, 1);
	return form;
}

/** Replaces the function at the top with what it returns for the value at `idx`. */
static void call_serializer(struct encoder *e, int idx)
{
	if (lua_check_c_stack() != 0)
		lua_throw(e->L);
	lua_pushvalue(e->L, idx);
	if (lua_pcall(e->L, 1, 1, 0) != 0) {
		lua_to_diag(e->L);
		lua_throw(e->L);
	}
}

/** Pushes the table's own __serialize; false (nothing pushed) where it has none. */
static bool push_serialize(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	if (!e->codec->encode_load_metatables || !lua_getmetatable(L, idx))
		return false;
	lua_pushliteral(L, "__serialize");
	lua_rawget(L, -2);
	lua_remove(L, -2);
	if (!lua_isnil(L, -1))
		return true;
	lua_pop(L, 1);
	return false;
}

/* Tables ----------------------------------------------------------------- */

/** The positive integer that a key is, or 0. */
static uint32_t array_index(lua_State *L, int idx)
{
	if (lua_type(L, idx) != LUA_TNUMBER)
		return 0;
	lua_Number n = lua_tonumber(L, idx);
	return n >= 1 && n <= INT32_MAX && n == (lua_Number)(uint32_t)n ? (uint32_t)n : 0;
}

/**
 * Looks at the keys: the form by itself, the count of pairs in *size and the largest
 * index in *max. Once a key is no index, it is a map.
 */
static enum form measure(lua_State *L, int idx, uint32_t *size, uint32_t *max)
{
	enum form form = FORM_ARRAY;
	*size = *max = 0;
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		uint32_t index = array_index(L, -2);
		if (index == 0)
			form = FORM_MAP;
		if (index > *max)
			*max = index;
		(*size)++;
	}
	return form;
}

static bool is_sparse(const struct lua_codec *codec, uint32_t size, uint32_t max)
{
	return codec->encode_sparse_ratio > 0 && max > (uint32_t)codec->encode_sparse_safe &&
		max > (uint64_t)size * codec->encode_sparse_ratio;
}

static void encode_elements(struct encoder *e, int idx, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		lua_rawgeti(e->L, idx, i);
		encode_value(e, lua_gettop(e->L));
		lua_pop(e->L, 1);
	}
}

/**
 * Encodes a table whose keys come as 1, 2, 3... to the end, as those of most arrays
 * do, scalars in the one walk over it. False where they do not: nothing is written
 * then. Other values wait until that is known, lest each level of nesting be encoded
 * twice for every one above it.
 */
static bool encode_sequence(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	size_t mark = e->out->size;
	uint32_t count = lua_objlen(L, idx), i = 0, done = 0;
	if (count == 0)
		return false;
	mp_put_array(e->out, count);
	int key = lua_gettop(L) + 1;
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_settop(L, key)) {
		if (++i > count || lua_type(L, key) != LUA_TNUMBER || lua_tonumber(L, key) != i)
			break;
		if (done == i - 1 && lua_encode_scalar(L, key + 1, e->out))
			done = i;
	}
	if (lua_gettop(L) >= key || i != count) {
		lua_settop(L, key - 1);
		buf_truncate(e->out, mark);
		return false;
	}
	encode_elements(e, idx, done + 1, count);
	return true;
}

static void encode_array(struct encoder *e, int idx, uint32_t count)
{
	mp_put_array(e->out, count);
	encode_elements(e, idx, 1, count);
}

/** A __serialize of a member can add keys to the table, or take some: its count is wrong then. */
static void encode_map(struct encoder *e, int idx, uint32_t count)
{
	lua_State *L = e->L;
	uint32_t done = 0;
	mp_put_map(e->out, count);
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		int top = lua_gettop(L);
		encode_value(e, top - 1);
		encode_value(e, top);
		done++;
	}
	if (done != count)
		throw_text(L, "a table changed while it was encoded");
}

static void throw_depth(struct encoder *e)
{
	if (e->codec->encode_depth_is_told)
		luaL_error(e->L, "Too high nest level - %d", e->depth);
	else
		luaL_error(e->L, "Too high nest level");
}

/** True where the nesting is too deep: a nil stands for the table. */
static bool too_deep(struct encoder *e)
{
	if (e->depth <= e->codec->encode_max_depth)
		return false;
	if (!e->codec->encode_deep_as_nil) {
		throw_depth(e);
	}
	mp_put_nil(e->out);
	return true;
}

static void encode_table(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	enum form form = FORM_VALUE;
	if (push_serialize(e, idx)) {
		if (lua_isfunction(L, -1)) {
			if (++e->depth > SERIALIZE_MAX + e->codec->encode_max_depth) {
				throw_depth(e);
			}
			call_serializer(e, idx);
			encode_value(e, lua_gettop(L));
			lua_pop(L, 1);
			e->depth--;
			return;
		}
		form = form_by_hint(e);
	}
	e->depth++;
	if (!too_deep(e) && (form == FORM_MAP || !encode_sequence(e, idx))) {
		uint32_t size, max;
		enum form own = measure(L, idx, &size, &max);
		if (form == FORM_VALUE) {
			form = own;
			if (form == FORM_ARRAY && is_sparse(e->codec, size, max)) {
				if (!e->codec->encode_sparse_convert)
					throw_text(L, "excessively sparse array");
				form = FORM_MAP;
			}
		}
		if (form == FORM_ARRAY)
			encode_array(e, idx, max);
		else
			encode_map(e, idx, size);
	}
	e->depth--;
}

/* Userdata and cdata ----------------------------------------------------- */

/** A value that has no form of its own: what its __serialize makes of it, else an error. */
static void encode_other(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	bool is_cdata = lua_type(L, idx) == LUA_TCDATA;
	if (!e->codec->encode_load_metatables ||
	    !(is_cdata ? lua_cdata_serializer(L, idx) : push_serialize(e, idx))) {
		encode_unsupported(e, idx);
		return;
	}
	if (!lua_isfunction(L, -1)) {
		form_by_hint(e);
		encode_unsupported(e, idx);
		return;
	}
	e->depth++;
	if (!too_deep(e)) {
		call_serializer(e, idx);
		encode_value(e, lua_gettop(L));
	}
	e->depth--;
	lua_pop(L, 1);
}

static void encode_tuple(struct encoder *e, const struct lua_tuple *t)
{
	uint32_t size;
	const char *data = lua_tuple_data(t, &size);
	if (e->codec->formats != NULL)
		format_map_put_tuple(e->codec->formats, e->out, lua_tuple_format(t), t->dict,
				     data, size);
	else
		buf_append(e->out, data, size);
}

static void encode_cdata(struct encoder *e, int idx)
{
	void *payload;
	switch (lua_cdata(e->L, idx, &payload)) {
	case CDATA_NULL: mp_put_nil(e->out); break;
	case CDATA_INT64: mp_put_int(e->out, *(int64_t *)payload); break;
	case CDATA_UINT64: mp_put_uint(e->out, *(uint64_t *)payload); break;
	case CDATA_INT8: mp_put_int(e->out, *(int8_t *)payload); break;
	case CDATA_UINT8: mp_put_uint(e->out, *(uint8_t *)payload); break;
	case CDATA_INT16: mp_put_int(e->out, *(int16_t *)payload); break;
	case CDATA_UINT16: mp_put_uint(e->out, *(uint16_t *)payload); break;
	case CDATA_INT32: mp_put_int(e->out, *(int32_t *)payload); break;
	case CDATA_UINT32: mp_put_uint(e->out, *(uint32_t *)payload); break;
	case CDATA_FLOAT: encode_float(e, *(float *)payload); break;
	case CDATA_DOUBLE: encode_double(e, *(double *)payload); break;
	case CDATA_BOOL: *buf_alloc(e->out, 1) = (char)(*(bool *)payload ? 0xc3 : 0xc2); break;
	case CDATA_TUPLE: encode_tuple(e, payload); break;
	case CDATA_ERROR: {
		encode_error(e, *(struct error **)payload);
		break;
	}
	case CDATA_UUID: encode_uuid(e, payload); break;
	case CDATA_DECIMAL: encode_decimal(e, payload); break;
	case CDATA_VARBINARY: {
		const struct lua_varbinary *v = payload;
		mp_put_bin(e->out, v->data, v->size);
		break;
	}
	case CDATA_DATETIME: encode_datetime(e, payload); break;
	case CDATA_INTERVAL: encode_interval(e, payload); break;
	default: encode_other(e, idx); break;
	}
}

static void encode_value(struct encoder *e, int idx)
{
	lua_State *L = e->L;
	if (lua_encode_scalar(L, idx, e->out))
		return;
	switch (lua_type(L, idx)) {
	case LUA_TNUMBER:
		encode_double(e, lua_tonumber(L, idx));
		break;
	case LUA_TTABLE:
		encode_table(e, idx);
		break;
	case LUA_TCDATA:
		encode_cdata(e, idx);
		break;
	case LUA_TLIGHTUSERDATA:
		if (lua_touserdata(L, idx) == NULL)
			mp_put_nil(e->out);
		else
			encode_unsupported(e, idx);
		break;
	default: {
		size_t size;
		const char *raw = lua_msgpack_object(L, idx, &size);
		if (raw != NULL)
			buf_append(e->out, raw, size);
		else
			encode_other(e, idx);
		break;
	}
	}
}

static int absolute(lua_State *L, int idx)
{
	return idx > 0 ? idx : lua_gettop(L) + idx + 1;
}

void lua_encode(lua_State *L, int idx, struct buf *out, const struct lua_codec *codec)
{
	struct encoder e = {.L = L, .out = out, .codec = codec};
	encode_value(&e, absolute(L, idx));
}

void lua_encode_array(lua_State *L, int idx, struct buf *out)
{
	size_t begin = out->size;
	lua_encode(L, idx, out, &lua_codec_tuple);
	if (mp_typeof(out->data[begin]) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		lua_throw(L);
	}
}

void lua_encode_key(lua_State *L, int idx, struct buf *out)
{
	void *payload;
	if (lua_isnoneornil(L, idx) || lua_cdata(L, idx, &payload) == CDATA_NULL) {
		mp_put_array(out, 0);
		return;
	}
	size_t size;
	const char *raw = lua_msgpack_object(L, idx, &size);
	bool is_array = raw != NULL && mp_typeof(*raw) == MP_ARRAY;
	if (is_array || lua_istable(L, idx) || lua_cdata(L, idx, &payload) == CDATA_TUPLE) {
		lua_encode_array(L, idx, out);
		return;
	}
	mp_put_array(out, 1);
	lua_encode(L, idx, out, &lua_codec_tuple);
}

/** Says what it cannot encode in the words that the reference has for keys. */
static void encode_key_part(lua_State *L, int idx, struct buf *out)
{
	if (lua_isfunction(L, idx) || lua_isthread(L, idx))
		luaL_error(L, "can not encode Lua type: '%s'", luaL_typename(L, idx));
	lua_encode(L, idx, out, &lua_codec_tuple);
}

void lua_encode_search_key(lua_State *L, int idx, struct buf *out)
{
	if (!lua_istable(L, idx)) {
		if (lua_isfunction(L, idx))
			encode_key_part(L, idx, out);
		lua_encode_key(L, idx, out);
		return;
	}
	int count = (int)lua_objlen(L, idx);
	idx = absolute(L, idx);
	mp_put_array(out, count);
	for (int i = 1; i <= count; i++) {
		lua_rawgeti(L, idx, i);
		encode_key_part(L, -1, out);
		lua_pop(L, 1);
	}
}
