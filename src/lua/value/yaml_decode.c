/* SPDX-License-Identifier: BSD-2-Clause
 *
 * YAML to Lua values, by libyaml's parser. The parser is a userdata, so that an error
 * that unwinds the C stack leaves it to the collector.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "data/base64.h"
#include "lua/value/yaml.h"

static const char PARSER_TYPE[] = "tarn.yaml.parser";
static const char TAG_PREFIX[] = "tag:yaml.org,2002:";

enum { DEPTH_MAX = 1000, LEVEL_SLOTS = 10 };

struct reader {
	lua_State *L;
	yaml_parser_t parser;
	yaml_event_t event;
	bool has_event, is_open;
	const struct lua_codec *codec;
	/** Stack index of the table anchor → value. */
	int anchors;
	int document_count, depth;
};

/** Frees the parser's buffers, some 50 KB, at once; the collector sees them as a small object. */
static void reader_close(struct reader *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	if (r->is_open)
		yaml_parser_delete(&r->parser);
	r->has_event = r->is_open = false;
}

static int reader_gc(lua_State *L)
{
	reader_close(lua_touserdata(L, 1));
	return 0;
}

/** Pushes the reader, anchored on the stack, and its table of anchors. */
static struct reader *new_reader(lua_State *L, const char *text, size_t len,
				 const struct lua_codec *codec)
{
	struct reader *r = lua_newuserdata(L, sizeof(*r));
	memset(r, 0, sizeof(*r));
	r->L = L;
	r->codec = codec;
	if (!yaml_parser_initialize(&r->parser))
		luaL_error(L, "yaml.decode: not enough memory");
	r->is_open = true;
	if (luaL_newmetatable(L, PARSER_TYPE)) {
		lua_pushcfunction(L, reader_gc);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	lua_newtable(L);
	r->anchors = lua_gettop(L);
	return r;
}

/* Errors ----------------------------------------------------------------- */

static void throw_problem(struct reader *r)
{
	yaml_parser_t *p = &r->parser;
	lua_State *L = r->L;
	if (p->error == YAML_MEMORY_ERROR)
		luaL_error(L, "yaml.decode: not enough memory");
	int top = lua_gettop(L);
	lua_pushfstring(L, "%s at document: %d", p->problem, r->document_count);
	if (p->problem_mark.line != 0 || p->problem_mark.column != 0)
		lua_pushfstring(L, ", line: %d, column: %d\n", (int)p->problem_mark.line + 1,
				(int)p->problem_mark.column + 1);
	else
		lua_pushliteral(L, "\n");
	if (p->context != NULL)
		lua_pushfstring(L, "%s at line: %d, column: %d\n", p->context,
				(int)p->context_mark.line + 1, (int)p->context_mark.column + 1);
	lua_concat(L, lua_gettop(L) - top);
	reader_close(r);
	lua_error(L);
}

static void next_event(struct reader *r)
{
	bool is_document = r->has_event && r->event.type == YAML_DOCUMENT_START_EVENT;
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = false;
	if (!yaml_parser_parse(&r->parser, &r->event)) {
		/* That is all the reference says where a document begins with what is no node. */
		if (is_document)
			luaL_error(r->L, "unexpected END event");
		throw_problem(r);
	}
	r->has_event = true;
}

/* Values ----------------------------------------------------------------- */

/** Remembers the value at the top under the event's anchor. */
static void set_anchor(struct reader *r, const char *anchor)
{
	if (anchor == NULL)
		return;
	lua_pushstring(r->L, anchor);
	lua_pushvalue(r->L, -2);
	lua_rawset(r->L, r->anchors);
}

static bool equals(const char *a, size_t len, const char *b)
{
	return strlen(b) == len && memcmp(a, b, len) == 0;
}

/** A whole number in decimal digits, cut to the range of 64 bits. */
static bool push_integer(lua_State *L, const char *s, size_t len)
{
	size_t digits = len > 0 && (*s == '-' || *s == '+') ? 1 : 0;
	if (digits == len || strspn(s + digits, "0123456789") != len - digits)
		return false;
	if (*s == '-')
		lua_push_int64(L, strtoll(s, NULL, 10));
	else
		lua_push_whole(L, strtoull(s + (*s == '+'), NULL, 10));
	return true;
}

/** [raises] A number that is none, unless the codec takes them. */
static void check_number(lua_State *L, double value, const struct lua_codec *codec)
{
	if (!isfinite(value) && !codec->decode_invalid_numbers)
		luaL_error(L, "number must not be NaN or Inf");
}

/** What strtod() takes as a whole: infinities, NaN and hexadecimal numbers, too. */
static bool push_real(lua_State *L, const char *s, size_t len, const struct lua_codec *codec)
{
	if (len == 0 || strchr("+-.0123456789iInN", *s) == NULL)
		return false;
	char *end;
	double value = strtod(s, &end);
	if (end != s + len)
		return false;
	check_number(L, value, codec);
	lua_pushnumber(L, value);
	return true;
}

/** A plain scalar: null, a boolean, a number, or else a string. */
static void push_plain(lua_State *L, const char *s, size_t len, const struct lua_codec *codec)
{
	if (equals(s, len, "~") || equals(s, len, "null")) {
		lua_push_null(L);
	} else if (equals(s, len, "true") || equals(s, len, "yes")) {
		lua_pushboolean(L, true);
	} else if (equals(s, len, "false") || equals(s, len, "no")) {
		lua_pushboolean(L, false);
	} else if (!push_integer(L, s, len) && !push_real(L, s, len, codec)) {
		lua_pushlstring(L, s, len);
	}
}

static void push_binary(lua_State *L, const char *s, size_t len)
{
	struct buf *out = lua_scratch_get();
	char *p = buf_reserve(out, base64_decoded_size_max(len));
	out->size = base64_decode(s, len, p);
	lua_push_binary(L, out->data, out->size);
	lua_scratch_put(out);
}

/** By an explicit tag of YAML's own; false where it has none, or one that says nothing to us. */
static bool push_tagged(lua_State *L, const char *tag, const char *s, size_t len)
{
	if (tag == NULL || strncmp(tag, TAG_PREFIX, strlen(TAG_PREFIX)) != 0)
		return false;
	tag += strlen(TAG_PREFIX);
	if (strcmp(tag, "str") == 0) {
		lua_pushlstring(L, s, len);
	} else if (strcmp(tag, "int") == 0) {
		lua_pushnumber(L, (double)strtoll(s, NULL, 10));
	} else if (strcmp(tag, "float") == 0) {
		lua_pushnumber(L, strtod(s, NULL));
	} else if (strcmp(tag, "bool") == 0) {
		lua_pushboolean(L, equals(s, len, "true") || equals(s, len, "yes"));
	} else if (strcmp(tag, "binary") == 0) {
		push_binary(L, s, len);
	} else {
		return false;
	}
	return true;
}

static void push_scalar(struct reader *r)
{
	lua_State *L = r->L;
	const char *s = (const char *)r->event.data.scalar.value;
	size_t len = r->event.data.scalar.length;
	const char *tag = (const char *)r->event.data.scalar.tag;
	if (push_tagged(L, tag, s, len))
		;
	else if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		push_plain(L, s, len, r->codec);
	else
		lua_pushlstring(L, s, len);
	set_anchor(r, (const char *)r->event.data.scalar.anchor);
}

static void push_alias(struct reader *r)
{
	lua_State *L = r->L;
	const char *anchor = (const char *)r->event.data.alias.anchor;
	lua_pushstring(L, anchor);
	lua_rawget(L, r->anchors);
	if (lua_isnil(L, -1)) {
		lua_pushfstring(L, "invalid reference: %s", anchor);
		lua_error(L);
	}
}

static void push_value(struct reader *r);

static void push_sequence(struct reader *r)
{
	lua_State *L = r->L;
	lua_newtable(L);
	set_anchor(r, (const char *)r->event.data.sequence_start.anchor);
	next_event(r);
	for (int i = 1; r->event.type != YAML_SEQUENCE_END_EVENT; i++) {
		push_value(r);
		lua_rawseti(L, -2, i);
		next_event(r);
	}
	if (r->codec->decode_save_metatables) {
		lua_getfield(L, LUA_REGISTRYINDEX, LUA_ARRAY_MT);
		lua_setmetatable(L, -2);
	}
}

static void push_mapping(struct reader *r)
{
	lua_State *L = r->L;
	lua_newtable(L);
	set_anchor(r, (const char *)r->event.data.mapping_start.anchor);
	next_event(r);
	while (r->event.type != YAML_MAPPING_END_EVENT) {
		push_value(r);
		bool is_nan = lua_type(L, -1) == LUA_TNUMBER &&
			      lua_tonumber(L, -1) != lua_tonumber(L, -1);
		next_event(r);
		push_value(r);
		if (is_nan)
			luaL_error(L, "table index is NaN");
		lua_rawset(L, -3);
		next_event(r);
	}
	if (r->codec->decode_save_metatables) {
		lua_getfield(L, LUA_REGISTRYINDEX, LUA_MAP_MT);
		lua_setmetatable(L, -2);
	}
}

/** Pushes the value that begins with the current event. */
static void push_value(struct reader *r)
{
	lua_State *L = r->L;
	luaL_checkstack(L, LEVEL_SLOTS, "too deep");
	if (++r->depth > DEPTH_MAX)
		luaL_error(L, "yaml.decode: too high nest level");
	switch (r->event.type) {
	case YAML_SCALAR_EVENT: push_scalar(r); break;
	case YAML_ALIAS_EVENT: push_alias(r); break;
	case YAML_SEQUENCE_START_EVENT: push_sequence(r); break;
	case YAML_MAPPING_START_EVENT: push_mapping(r); break;
	default: luaL_error(L, "yaml.decode: unexpected event");
	}
	r->depth--;
}

int lua_yaml_decode(lua_State *L, const char *text, size_t len, const struct lua_codec *codec)
{
	struct reader *r = new_reader(L, text, len, codec);
	int top = lua_gettop(L);
	for (;;) {
		next_event(r);
		if (r->event.type == YAML_STREAM_END_EVENT) {
			reader_close(r);
			return lua_gettop(L) - top;
		}
		if (r->event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		r->document_count++;
		next_event(r);
		luaL_checkstack(L, LEVEL_SLOTS, "too many documents");
		push_value(r);
		next_event(r);
	}
}

int lua_yaml_decode_tag(lua_State *L, const char *text, size_t len)
{
	struct reader *r = new_reader(L, text, len, &lua_codec_default);
	do {
		next_event(r);
		if (r->event.type == YAML_STREAM_END_EVENT)
			return 0;
	} while (r->event.type != YAML_DOCUMENT_START_EVENT);
	yaml_tag_directive_t *tag = r->event.data.document_start.tag_directives.start;
	bool has_tag = tag != r->event.data.document_start.tag_directives.end;
	if (has_tag) {
		lua_pushstring(L, (const char *)tag->handle);
		lua_pushstring(L, (const char *)tag->prefix);
	} else {
		lua_pushnil(L);
	}
	reader_close(r);
	return has_tag ? 2 : 1;
}
