/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON to Lua values: a recursive descent over RFC 8259, with `nan` and `inf` where
 * the options allow them. It builds the values as it reads, so it can't be a
 * library's; the texts of errors are the reference's, since programs show them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/value/codec_cfg.h"
#include "lua/value/json.h"

enum token_type {
	T_OBJ_BEGIN, T_OBJ_END, T_ARR_BEGIN, T_ARR_END, T_STRING, T_UINT, T_INT, T_NUMBER,
	T_TRUE, T_FALSE, T_NULL, T_COLON, T_COMMA, T_END, T_ERROR,
};

static const char *token_names[] = {
	"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_INT", "T_INT",
	"T_NUMBER", "T_BOOLEAN", "T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA", "T_END",
};

struct token {
	enum token_type type;
	/** Where it begins, or where the error is. */
	const char *place;
	/** Of T_ERROR. */
	const char *message;
	/** Of a number. */
	double number;
	uint64_t uint;
	int64_t sint;
};

struct parser {
	lua_State *L;
	const char *text, *pos, *end;
	const struct lua_codec *codec;
	/** The string token's bytes without escapes. */
	struct buf *string;
	int depth;
};

static void parse_value(struct parser *p, struct token *t);

/* Tokens ----------------------------------------------------------------- */

static void set_error(struct token *t, const char *message, const char *place)
{
	t->type = T_ERROR;
	t->message = message;
	t->place = place;
}

static int hex4(const char *s, const char *end)
{
	int code = 0;
	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			    c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
		if (digit < 0)
			return -1;
		code = code * 16 + digit;
	}
	return code;
}

static void put_utf8(struct buf *out, uint32_t code)
{
	char *p = buf_reserve(out, 4);
	if (code < 0x80) {
		p[0] = code;
		out->size += 1;
	} else if (code < 0x800) {
		p[0] = 0xc0 | code >> 6;
		p[1] = 0x80 | (code & 0x3f);
		out->size += 2;
	} else if (code < 0x10000) {
		p[0] = 0xe0 | code >> 12;
		p[1] = 0x80 | (code >> 6 & 0x3f);
		p[2] = 0x80 | (code & 0x3f);
		out->size += 3;
	} else {
		p[0] = 0xf0 | code >> 18;
		p[1] = 0x80 | (code >> 12 & 0x3f);
		p[2] = 0x80 | (code >> 6 & 0x3f);
		p[3] = 0x80 | (code & 0x3f);
		out->size += 4;
	}
}

/** \uXXXX, or a pair of them, at *pos (the backslash); false where it is none. */
static bool read_unicode(struct parser *p, const char **pos)
{
	const char *s = *pos;
	int code = hex4(s + 2, p->end);
	if (code < 0 || (code & 0xfc00) == 0xdc00)
		return false;
	s += 6;
	if ((code & 0xfc00) == 0xd800) {
		int low = p->end - s >= 6 && s[0] == '\\' && s[1] == 'u' ? hex4(s + 2, p->end) : -1;
		if (low < 0 || (low & 0xfc00) != 0xdc00)
			return false;
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
		s += 6;
	}
	put_utf8(p->string, code);
	*pos = s;
	return true;
}

static int simple_escape(char c)
{
	switch (c) {
	case '"': case '\\': case '/': return c;
	case 'b': return '\b';
	case 't': return '\t';
	case 'n': return '\n';
	case 'f': return '\f';
	case 'r': return '\r';
	default: return -1;
	}
}

static void next_string(struct parser *p, struct token *t)
{
	const char *s = p->pos + 1;
	buf_truncate(p->string, 0);
	for (;;) {
		const char *from = s;
		while (s < p->end && *s != '"' && *s != '\\')
			s++;
		buf_append(p->string, from, s - from);
		if (s >= p->end) {
			set_error(t, "unexpected end of string", p->end);
			return;
		}
		if (*s == '"')
			break;
		int c = s + 1 < p->end ? simple_escape(s[1]) : -1;
		if (c >= 0) {
			*buf_alloc(p->string, 1) = c;
			s += 2;
		} else if (s + 1 < p->end && s[1] == 'u') {
			if (!read_unicode(p, &s)) {
				set_error(t, "invalid unicode escape code", s);
				return;
			}
		} else {
			set_error(t, "invalid escape code", s);
			return;
		}
	}
	t->type = T_STRING;
	p->pos = s + 1;
}

static bool is_digit(const struct parser *p, const char *s)
{
	return s < p->end && *s >= '0' && *s <= '9';
}

/** The words for what is no finite number. The text is zero-terminated, as Lua's strings are. */
static bool next_invalid_number(struct parser *p, struct token *t)
{
	static const struct { const char *word; double value; } words[] = {
		{"nan", NAN}, {"-nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY},
	};
	if (!p->codec->decode_invalid_numbers)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].word);
		if ((size_t)(p->end - p->pos) >= len && memcmp(p->pos, words[i].word, len) == 0) {
			t->type = T_NUMBER;
			t->number = words[i].value;
			p->pos += len;
			return true;
		}
	}
	return false;
}

/** A number, whole or not; what is out of the range of 64 bits is cut to it. */
static bool next_number(struct parser *p, struct token *t)
{
	const char *s = p->pos + (*p->pos == '-');
	if (!is_digit(p, s))
		return false;
	if (*s == '0' && s + 1 < p->end && (is_digit(p, s + 1) || s[1] == 'x' || s[1] == 'X'))
		return false;
	while (is_digit(p, s))
		s++;
	char *end;
	if (s < p->end && (*s == '.' || *s == 'e' || *s == 'E')) {
		t->type = T_NUMBER;
		t->number = strtod(p->pos, &end);
		p->pos = end;
		return true;
	}
	errno = 0;
	if (*p->pos == '-') {
		t->type = T_INT;
		t->sint = strtoll(p->pos, &end, 10);
	} else {
		t->type = T_UINT;
		t->uint = strtoull(p->pos, &end, 10);
	}
	p->pos = s;
	return true;
}

static bool next_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(p->end - p->pos) < len || memcmp(p->pos, word, len) != 0)
		return false;
	p->pos += len;
	return true;
}

static bool next_punctuation(struct parser *p, struct token *t)
{
	switch (*p->pos) {
	case '{': t->type = T_OBJ_BEGIN; break;
	case '}': t->type = T_OBJ_END; break;
	case '[': t->type = T_ARR_BEGIN; break;
	case ']': t->type = T_ARR_END; break;
	case ':': t->type = T_COLON; break;
	case ',': t->type = T_COMMA; break;
	default: return false;
	}
	p->pos++;
	return true;
}

static void next_token(struct parser *p, struct token *t)
{
	while (p->pos < p->end && strchr(" \t\n\r", *p->pos) != NULL && *p->pos != '\0')
		p->pos++;
	t->place = p->pos;
	if (p->pos >= p->end)
		t->type = T_END;
	else if (next_punctuation(p, t))
		;
	else if (*p->pos == '"')
		next_string(p, t);
	else if (next_number(p, t) || next_invalid_number(p, t))
		;
	else if (next_word(p, "true"))
		t->type = T_TRUE;
	else if (next_word(p, "false"))
		t->type = T_FALSE;
	else if (next_word(p, "null"))
		t->type = T_NULL;
	else
		set_error(t, "invalid token", p->pos);
}

/* Errors ----------------------------------------------------------------- */

/** Line and character of a place, from 1. */
static void find_place(const struct parser *p, const char *place, int *line, int *character)
{
	*line = 1;
	const char *start = p->text;
	for (const char *s = p->text; s < place; s++) {
		if (*s == '\n') {
			(*line)++;
			start = s + 1;
		}
	}
	*character = place - start + 1;
}

static void throw_unexpected(struct parser *p, const char *expected, const struct token *t)
{
	int line, character;
	find_place(p, t->place, &line, &character);
	luaL_error(p->L, "Expected %s but found %s on line %d at character %d", expected,
		   t->type == T_ERROR ? t->message : token_names[t->type], line, character);
}

static void enter(struct parser *p, const struct token *t)
{
	if (++p->depth > p->codec->decode_max_depth) {
		int line, character;
		find_place(p, t->place, &line, &character);
		luaL_error(p->L, "Found too many nested data structures (%d) on line %d "
			   "at character %d", p->depth, line, character);
	}
	luaL_checkstack(p->L, 6, "too deep");
}

static void leave(struct parser *p, const char *metatable)
{
	p->depth--;
	if (p->codec->decode_save_metatables) {
		lua_getfield(p->L, LUA_REGISTRYINDEX, metatable);
		lua_setmetatable(p->L, -2);
	}
}

/* Values ----------------------------------------------------------------- */

static void parse_object(struct parser *p, struct token *t)
{
	lua_State *L = p->L;
	enter(p, t);
	lua_newtable(L);
	next_token(p, t);
	while (t->type != T_OBJ_END) {
		if (t->type != T_STRING)
			throw_unexpected(p, "object key string", t);
		lua_pushlstring(L, p->string->data, p->string->size);
		next_token(p, t);
		if (t->type != T_COLON)
			throw_unexpected(p, "colon", t);
		next_token(p, t);
		parse_value(p, t);
		lua_rawset(L, -3);
		next_token(p, t);
		if (t->type == T_OBJ_END)
			break;
		if (t->type != T_COMMA)
			throw_unexpected(p, "comma or object end", t);
		next_token(p, t);
		if (t->type == T_OBJ_END)
			throw_unexpected(p, "object key string", t);
	}
	leave(p, LUA_MAP_MT);
}

static void parse_array(struct parser *p, struct token *t)
{
	lua_State *L = p->L;
	enter(p, t);
	lua_newtable(L);
	next_token(p, t);
	for (int i = 1; t->type != T_ARR_END; i++) {
		parse_value(p, t);
		lua_rawseti(L, -2, i);
		next_token(p, t);
		if (t->type == T_ARR_END)
			break;
		if (t->type != T_COMMA)
			throw_unexpected(p, "comma or array end", t);
		next_token(p, t);
		if (t->type == T_ARR_END)
			throw_unexpected(p, "value", t);
	}
	leave(p, LUA_ARRAY_MT);
}

/** Pushes the value that begins with the token. */
static void parse_value(struct parser *p, struct token *t)
{
	lua_State *L = p->L;
	switch (t->type) {
	case T_STRING: lua_pushlstring(L, p->string->data, p->string->size); break;
	case T_UINT: lua_push_whole(L, t->uint); break;
	case T_INT: lua_push_int64(L, t->sint); break;
	case T_NUMBER: lua_pushnumber(L, t->number); break;
	case T_TRUE: lua_pushboolean(L, true); break;
	case T_FALSE: lua_pushboolean(L, false); break;
	case T_NULL: lua_push_null(L); break;
	case T_OBJ_BEGIN: parse_object(p, t); break;
	case T_ARR_BEGIN: parse_array(p, t); break;
	default: throw_unexpected(p, "value", t);
	}
}

void lua_json_decode(lua_State *L, const char *text, size_t len, const struct lua_codec *codec)
{
	struct parser p = {.L = L, .text = text, .pos = text, .end = text + len, .codec = codec,
			   .string = lua_scratch_get()};
	struct token t;
	next_token(&p, &t);
	parse_value(&p, &t);
	next_token(&p, &t);
	if (t.type != T_END)
		throw_unexpected(&p, "the end", &t);
	lua_scratch_put(p.string);
}
