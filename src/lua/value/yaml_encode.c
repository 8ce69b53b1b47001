/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lua values to YAML, by libyaml, in two phases. The first walks the value, may call
 * __serialize and may raise, and writes a list of events into a scratch buffer. The
 * second feeds the events to the emitter, which needs freeing, and can't raise.
 *
 * A table that occurs more than once gets an anchor, so cycles end. The short hints
 * 'seq' and 'map' choose the flow style ([1, 2]), in which strings are quoted; the
 * long ones ('sequence', 'mapping') and tables without a hint use the block style.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "core/diag.h"
#include "core/memory.h"
#include "data/base64.h"
#include "data/utf8.h"
#include "lua/bridge_impl.h"
#include "lua/guard.h"
#include "lua/value/yaml.h"

enum {
	/** Nesting is refused beyond it: the walk uses the C stack. */
	DEPTH_MAX = 1000,
	LEVEL_SLOTS = 10,
};

enum event_type {
	EVENT_SEQ, EVENT_SEQ_END, EVENT_MAP, EVENT_MAP_END, EVENT_ALIAS, EVENT_PLAIN,
	EVENT_TEXT, EVENT_BINARY,
};

/** What stands in the buffer, before `len` bytes of a scalar. */
struct event {
	uint8_t type;
	bool is_flow;
	/** Number of the anchor, or -1. */
	int anchor;
	uint32_t len;
};

struct walker {
	lua_State *L;
	struct buf *events;
	const struct lua_codec *codec;
	/**
	 * Stack index of the table: table → false (seen once), true (more often), or its anchor.
	 */
	int seen;
	int anchor_count;
	int depth;
};

static void walk(struct walker *w, int idx, bool is_flow);

static void put(struct walker *w, enum event_type type, bool is_flow, int anchor, const char *data,
		size_t len)
{
	struct event e = {type, is_flow, anchor, len};
	buf_append(w->events, &e, sizeof(e));
	buf_append(w->events, data, len);
}

static void put_plain(struct walker *w, const char *text)
{
	put(w, EVENT_PLAIN, false, -1, text, strlen(text));
}

/* First look: which tables occur twice ------------------------------------ */

static void find_repeated(struct walker *w, int idx, int depth)
{
	lua_State *L = w->L;
	if (lua_type(L, idx) != LUA_TTABLE)
		return;
	if (depth > DEPTH_MAX)
		luaL_error(L, "Too high nest level");
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	lua_pushvalue(L, idx);
	lua_rawget(L, w->seen);
	bool is_new = lua_isnil(L, -1);
	lua_pop(L, 1);
	lua_pushvalue(L, idx);
	lua_pushboolean(L, !is_new);
	lua_rawset(L, w->seen);
	if (!is_new)
		return;
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		int top = lua_gettop(L);
		find_repeated(w, top - 1, depth + 1);
		find_repeated(w, top, depth + 1);
	}
}

/**
 * The anchor of a table, or -1. Where the table was walked already an alias is put
 * instead, and *is_alias set.
 */
static int anchor_of(struct walker *w, int idx, bool *is_alias)
{
	lua_State *L = w->L;
	int anchor = -1;
	*is_alias = false;
	lua_pushvalue(L, idx);
	lua_rawget(L, w->seen);
	if (lua_isnumber(L, -1)) {
		put(w, EVENT_ALIAS, false, lua_tointeger(L, -1), NULL, 0);
		*is_alias = true;
	} else if (lua_toboolean(L, -1)) {
		anchor = w->anchor_count++;
		lua_pushvalue(L, idx);
		lua_pushinteger(L, anchor);
		lua_rawset(L, w->seen);
	}
	lua_pop(L, 1);
	return anchor;
}

/* Scalars ------------------------------------------------------------------ */

/** UTF-8 of characters that can be shown. */
static bool is_printable(const char *s, size_t len)
{
	const char *end = s + len;
	while (s < end) {
		uint32_t code;
		int size = utf8_decode(s, end, &code);
		if (size == 0 || !utf8_is_printable(code))
			return false;
		s += size;
	}
	return true;
}

static void put_text(struct walker *w, const char *s, size_t len, bool is_flow)
{
	put(w, is_printable(s, len) ? EVENT_TEXT : EVENT_BINARY, is_flow, -1, s, len);
}

static void put_number(struct walker *w, double value)
{
	char text[64];
	if (!isfinite(value) && !w->codec->encode_invalid_numbers) {
		if (!w->codec->encode_invalid_as_nil) {
			diag_set(LuajitError, "number must not be NaN or Inf");
			lua_throw(w->L);
		}
		put_plain(w, "null");
		return;
	}
	lua_number_text(text, value, w->codec);
	put_plain(w, text);
}

static void put_int(struct walker *w, int64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)value);
	put_plain(w, text);
}

static void put_uint(struct walker *w, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	put_plain(w, text);
}

/** Pushes tostring() of the value. */
static const char *push_tostring(lua_State *L, int idx, size_t *len)
{
	lua_getglobal(L, "tostring");
	lua_pushvalue(L, idx);
	lua_call(L, 1, 1);
	const char *s = lua_tolstring(L, -1, len);
	return s != NULL ? s : "";
}

/** By tostring(), as a string. */
static void put_tostring(struct walker *w, int idx, bool is_flow)
{
	size_t len = 0;
	const char *s = push_tostring(w->L, idx, &len);
	put_text(w, s, len, is_flow);
	lua_pop(w->L, 1);
}

/** By tostring(), as a value. */
static void put_plain_tostring(struct walker *w, int idx)
{
	size_t len = 0;
	put_plain(w, push_tostring(w->L, idx, &len));
	lua_pop(w->L, 1);
}

static void put_unsupported(struct walker *w, int idx, bool is_flow)
{
	if (w->codec->encode_use_tostring)
		put_tostring(w, idx, is_flow);
	else if (w->codec->encode_invalid_as_nil)
		put_plain(w, "null");
	else
		luaL_error(w->L, "unsupported Lua type '%s'",
			   lua_typename(w->L, lua_type(w->L, idx)));
}

/* __serialize ---------------------------------------------------------------- */

/**
 * Handles a metatable's __serialize, pushed by luaL_getmetafield: a function's
 * result is walked instead (true: done); a hint sets `form` ('s' or 'm') and style.
 */
static bool serialize(struct walker *w, int idx, char *form, bool *is_flow)
{
	lua_State *L = w->L;
	if (lua_isfunction(L, -1)) {
		if (lua_check_c_stack() != 0)
			lua_throw(L);
		lua_pushvalue(L, idx);
		if (lua_pcall(L, 1, 1, 0) != 0) {
			lua_to_diag(L);
			lua_throw(L);
		}
		w->depth++;
		walk(w, lua_gettop(L), *is_flow);
		w->depth--;
		lua_pop(L, 1);
		return true;
	}
	const char *hint = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
	if (strcmp(hint, "seq") == 0 || strcmp(hint, "map") == 0) {
		*form = hint[0];
		*is_flow = true;
	} else if (strcmp(hint, "sequence") == 0 || strcmp(hint, "array") == 0) {
		*form = 's';
	} else if (strcmp(hint, "mapping") == 0) {
		*form = 'm';
	} else {
		diag_set(LuajitError, "invalid __serialize value");
		lua_throw(L);
	}
	lua_pop(L, 1);
	return false;
}

/* Tables ------------------------------------------------------------------- */

/** 's' for a table whose keys are all positive integers, with its largest one; else 'm'. */
static char form_of(struct walker *w, int idx, uint32_t *max)
{
	lua_State *L = w->L;
	uint32_t count = 0;
	char form = 's';
	*max = 0;
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		double key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
		if (!(key >= 1 && key <= INT32_MAX && key == trunc(key)))
			form = 'm';
		else if (key > *max)
			*max = key;
		count++;
	}
	const struct lua_codec *c = w->codec;
	if (form == 's' && c->encode_sparse_ratio > 0 && *max > (uint32_t)c->encode_sparse_safe &&
	    *max > (uint64_t)count * c->encode_sparse_ratio) {
		if (!c->encode_sparse_convert) {
			diag_set(LuajitError, "excessively sparse array");
			lua_throw(L);
		}
		form = 'm';
	}
	return form;
}

static void walk_table(struct walker *w, int idx, bool is_flow)
{
	lua_State *L = w->L;
	char form = 0;
	if (w->codec->encode_load_metatables && luaL_getmetafield(L, idx, "__serialize") &&
	    serialize(w, idx, &form, &is_flow))
		return;
	bool is_alias;
	int anchor = anchor_of(w, idx, &is_alias);
	if (is_alias)
		return;
	uint32_t max;
	char own = form_of(w, idx, &max);
	if (form == 0)
		form = own;
	put(w, form == 's' ? EVENT_SEQ : EVENT_MAP, is_flow, anchor, NULL, 0);
	if (form == 's') {
		for (uint32_t i = 1; i <= max; i++) {
			lua_rawgeti(L, idx, i);
			walk(w, lua_gettop(L), is_flow);
			lua_pop(L, 1);
		}
	} else {
		for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
			int top = lua_gettop(L);
			walk(w, top - 1, is_flow);
			walk(w, top, is_flow);
		}
	}
	put(w, form == 's' ? EVENT_SEQ_END : EVENT_MAP_END, is_flow, -1, NULL, 0);
}

static void walk_tuple(struct walker *w, const struct lua_tuple *tuple)
{
	const char *data = lua_tuple_data(tuple, NULL);
	struct lua_codec codec = lua_codec_default;
	lua_decode(w->L, &data, &codec);
	walk(w, lua_gettop(w->L), true);
	lua_pop(w->L, 1);
}

/** What the metatype's __serialize makes of it. */
static void walk_other_cdata(struct walker *w, int idx, bool is_flow)
{
	lua_State *L = w->L;
	char form;
	if (w->codec->encode_load_metatables && lua_cdata_serializer(L, idx)) {
		if (lua_isfunction(L, -1) && serialize(w, idx, &form, &is_flow))
			return;
		lua_pop(L, 1);
	}
	put_unsupported(w, idx, is_flow);
}

static void walk_cdata(struct walker *w, int idx, bool is_flow)
{
	lua_State *L = w->L;
	void *payload;
	switch (lua_cdata(L, idx, &payload)) {
	case CDATA_NULL: put_plain(w, "null"); return;
	case CDATA_BOOL: put_plain(w, *(bool *)payload ? "true" : "false"); return;
	case CDATA_INT8: put_int(w, *(int8_t *)payload); return;
	case CDATA_INT16: put_int(w, *(int16_t *)payload); return;
	case CDATA_INT32: put_int(w, *(int32_t *)payload); return;
	case CDATA_INT64: put_int(w, *(int64_t *)payload); return;
	case CDATA_UINT8: put_uint(w, *(uint8_t *)payload); return;
	case CDATA_UINT16: put_uint(w, *(uint16_t *)payload); return;
	case CDATA_UINT32: put_uint(w, *(uint32_t *)payload); return;
	case CDATA_UINT64: put_uint(w, *(uint64_t *)payload); return;
	case CDATA_FLOAT: put_number(w, *(float *)payload); return;
	case CDATA_DOUBLE: put_number(w, *(double *)payload); return;
	case CDATA_TUPLE: walk_tuple(w, payload); return;
	case CDATA_ERROR:
	case CDATA_UUID: put_tostring(w, idx, is_flow); return;
	case CDATA_VARBINARY: {
		const struct lua_varbinary *v = payload;
		put(w, EVENT_BINARY, is_flow, -1, v->data, v->size);
		return;
	}
	case CDATA_DECIMAL:
	case CDATA_DATETIME:
	case CDATA_INTERVAL: put_plain_tostring(w, idx); return;
	default: walk_other_cdata(w, idx, is_flow); return;
	}
}

static void walk_userdata(struct walker *w, int idx, bool is_flow)
{
	lua_State *L = w->L;
	char form;
	if (w->codec->encode_load_metatables && luaL_getmetafield(L, idx, "__serialize")) {
		if (lua_isfunction(L, -1) && serialize(w, idx, &form, &is_flow))
			return;
		lua_pop(L, 1);
	}
	put_unsupported(w, idx, is_flow);
}

static void walk(struct walker *w, int idx, bool is_flow)
{
	lua_State *L = w->L;
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	if (++w->depth > DEPTH_MAX)
		luaL_error(L, "Too high nest level");
	switch (lua_type(L, idx)) {
	case LUA_TNIL: put_plain(w, "null"); break;
	case LUA_TBOOLEAN: put_plain(w, lua_toboolean(L, idx) ? "true" : "false"); break;
	case LUA_TNUMBER: put_number(w, lua_tonumber(L, idx)); break;
	case LUA_TSTRING: {
		size_t len;
		const char *s = lua_tolstring(L, idx, &len);
		put_text(w, s, len, is_flow);
		break;
	}
	case LUA_TTABLE: walk_table(w, idx, is_flow); break;
	case LUA_TCDATA: walk_cdata(w, idx, is_flow); break;
	case LUA_TUSERDATA: walk_userdata(w, idx, is_flow); break;
	default: put_unsupported(w, idx, is_flow); break;
	}
	w->depth--;
}

/* Second phase --------------------------------------------------------------- */

static int write_output(void *out, unsigned char *data, size_t size)
{
	buf_append(out, data, size);
	return 1;
}

/** Would the text be read back as something else than a string? */
static bool looks_special(lua_State *L, const char *text, size_t len)
{
	static const char *words[] = {"true", "false", "yes", "no", "null", "~"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
			return true;
	}
	lua_pushlstring(L, text, len);
	bool is_number = lua_isnumber(L, -1);
	lua_pop(L, 1);
	return is_number;
}

static yaml_scalar_style_t style_of(lua_State *L, const struct event *e, const char *text)
{
	if (e->is_flow || looks_special(L, text, e->len))
		return YAML_SINGLE_QUOTED_SCALAR_STYLE;
	const char *block = lua_compat.yaml_block_text ? "\n" : "\n\n";
	return memmem(text, e->len, block, strlen(block)) != NULL ? YAML_LITERAL_SCALAR_STYLE :
							 YAML_ANY_SCALAR_STYLE;
}

static int emit_binary(yaml_emitter_t *emitter, const char *data, size_t len)
{
	yaml_event_t ev;
	char *text = xmalloc(base64_encoded_size(len) + 1);
	size_t text_len = base64_encode(data, len, text);
	int ok = yaml_scalar_event_initialize(&ev, NULL, (yaml_char_t *)"tag:yaml.org,2002:binary",
					      (yaml_char_t *)text, text_len, 0, 0,
					      YAML_ANY_SCALAR_STYLE);
	ok = ok && yaml_emitter_emit(emitter, &ev);
	xfree(text);
	return ok;
}

static int emit_one(lua_State *L, yaml_emitter_t *emitter, const struct event *e, const char *data)
{
	yaml_event_t ev;
	char anchor_text[16];
	yaml_char_t *anchor = NULL;
	if (e->anchor >= 0) {
		snprintf(anchor_text, sizeof(anchor_text), "%d", e->anchor);
		anchor = (yaml_char_t *)anchor_text;
	}
	int ok = 0;
	switch (e->type) {
	case EVENT_SEQ:
		ok = yaml_sequence_start_event_initialize(&ev, anchor, NULL, 1, e->is_flow ?
			YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
		break;
	case EVENT_MAP:
		ok = yaml_mapping_start_event_initialize(&ev, anchor, NULL, 1, e->is_flow ?
			YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
		break;
	case EVENT_SEQ_END: ok = yaml_sequence_end_event_initialize(&ev); break;
	case EVENT_MAP_END: ok = yaml_mapping_end_event_initialize(&ev); break;
	case EVENT_ALIAS: ok = yaml_alias_event_initialize(&ev, anchor); break;
	case EVENT_BINARY: return emit_binary(emitter, data, e->len);
	case EVENT_PLAIN:
	case EVENT_TEXT:
		ok = yaml_scalar_event_initialize(&ev, NULL, NULL, (yaml_char_t *)data, e->len,
			1, 1,
			e->type == EVENT_PLAIN ? YAML_PLAIN_SCALAR_STYLE : style_of(L, e, data));
		break;
	}
	return ok && yaml_emitter_emit(emitter, &ev);
}

static int emit_begin(yaml_emitter_t *emitter, const char *tag_handle, const char *tag_prefix)
{
	yaml_event_t ev;
	yaml_tag_directive_t tag = {(yaml_char_t *)tag_handle, (yaml_char_t *)tag_prefix};
	if (!yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING) ||
	    !yaml_emitter_emit(emitter, &ev))
		return 0;
	return yaml_document_start_event_initialize(&ev, NULL, &tag,
						    tag_handle != NULL ? &tag + 1 : &tag, 0) &&
	       yaml_emitter_emit(emitter, &ev);
}

static int emit_end(yaml_emitter_t *emitter)
{
	yaml_event_t ev;
	return yaml_document_end_event_initialize(&ev, 0) && yaml_emitter_emit(emitter, &ev) &&
	       yaml_stream_end_event_initialize(&ev) && yaml_emitter_emit(emitter, &ev);
}

/** Pushing a short string to look at a text is all that could raise, for lack of memory. */
static bool emit_all(lua_State *L, const struct buf *events, struct buf *out,
		     const char *tag_handle, const char *tag_prefix)
{
	yaml_emitter_t emitter;
	if (!yaml_emitter_initialize(&emitter))
		return false;
	yaml_emitter_set_output(&emitter, write_output, out);
	yaml_emitter_set_unicode(&emitter, 1);
	bool ok = emit_begin(&emitter, tag_handle, tag_prefix);
	size_t pos = 0;
	while (ok && pos < events->size) {
		struct event e;
		memcpy(&e, events->data + pos, sizeof(e));
		pos += sizeof(e);
		ok = emit_one(L, &emitter, &e, events->data + pos);
		pos += e.len;
	}
	ok = ok && emit_end(&emitter);
	if (!ok)
		diag_set(LuajitError, "yaml.encode: %s",
			 emitter.problem != NULL ? emitter.problem : "not enough memory");
	yaml_emitter_delete(&emitter);
	return ok;
}

void lua_yaml_encode(lua_State *L, int idx, const struct lua_codec *codec, const char *tag_handle,
		     const char *tag_prefix)
{
	struct buf *events = lua_scratch_get();
	struct buf *out = lua_scratch_get();
	lua_newtable(L);
	struct walker w = {.L = L, .events = events, .codec = codec, .seen = lua_gettop(L)};
	find_repeated(&w, idx, 0);
	walk(&w, idx, false);
	if (!emit_all(L, events, out, tag_handle, tag_prefix))
		lua_throw(L);
	lua_remove(L, w.seen);
	lua_pushlstring(L, out->data, out->size);
	lua_scratch_put(out);
	lua_scratch_put(events);
}
