/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The reader of the module `csv`, which takes its text in pieces of any size. Two quotes in a
 * row are one quote, in a quoted part or out of it; any other quote begins or ends a quoted part.
 * Spaces around a field are dropped, unless quoted. A line ends with \n, \r or both.
 */
#include "core/buf.h"
#include "lua/bridge.h"
#include "lua/modules.h"

struct csv_parser {
	unsigned char delimiter, quote;
	/** Is it one of those that are looked at? */
	bool is_special[256];
	/** The field; what is behind `kept` are spaces. */
	struct buf field;
	size_t kept;
	int field_count, row_count;
	bool is_quoted;
	/** The last character was a quote, which may begin a pair. */
	bool has_quote;
	/** The row has a character. */
	bool is_begun;
	/** The last character, where it ended a line, or 0. */
	unsigned char line_end;
};

static struct lua_class parser_class = {.name = "tarn.csv.parser"};

/** Stack of the functions below: the parser, the text, the rows, the row that is read. */
enum { STACK_TEXT = 2, STACK_ROWS, STACK_ROW };

static void append(struct csv_parser *p, const char *text, size_t size)
{
	buf_append(&p->field, text, size);
	p->kept = p->field.size;
}

/** Begins or ends a quoted part; spaces before it are the field's. */
static void toggle(struct csv_parser *p)
{
	p->is_quoted = !p->is_quoted;
	p->kept = p->field.size;
}

static void end_field(lua_State *L, struct csv_parser *p)
{
	lua_pushlstring(L, p->kept > 0 ? p->field.data : "", p->kept);
	lua_rawseti(L, STACK_ROW, ++p->field_count);
	buf_truncate(&p->field, 0);
	p->kept = 0;
}

static void end_row(lua_State *L, struct csv_parser *p)
{
	end_field(L, p);
	lua_pushvalue(L, STACK_ROW);
	lua_rawseti(L, STACK_ROWS, ++p->row_count);
	lua_createtable(L, p->field_count, 0);
	lua_replace(L, STACK_ROW);
	p->field_count = 0;
	p->is_begun = false;
}

/** A character that is special, and ends no line. */
static void special(lua_State *L, struct csv_parser *p, const char *s)
{
	unsigned char c = *s;
	if (c == p->quote)
		p->has_quote = true;
	else if (p->is_quoted)
		append(p, s, 1);
	else if (c == p->delimiter && !(c == ' ' && p->field.size == 0))
		end_field(L, p);
	else if (p->kept > 0)
		buf_append(&p->field, s, 1);	/* a space */
}

static void feed(lua_State *L, struct csv_parser *p, const char *s, const char *end)
{
	while (s < end) {
		unsigned char c = *s, line_end = p->line_end;
		p->line_end = 0;
		if (p->has_quote) {
			p->has_quote = false;
			if (c == p->quote)
				append(p, s++, 1);
			else
				toggle(p);
			continue;
		}
		if ((c == '\n' || c == '\r') && !p->is_quoted) {
			if (line_end == 0 || line_end == c) {
				end_row(L, p);
				p->line_end = c;
			}
			s++;
			continue;
		}
		const char *from = s;
		while (s < end && !p->is_special[(unsigned char)*s])
			s++;
		if (s > from)
			append(p, from, s - from);
		else
			special(L, p, s++);
		p->is_begun = true;
	}
}

/** Leaves the parser's rows and its row on the stack. */
static struct csv_parser *open_parser(lua_State *L)
{
	struct csv_parser *p = lua_class_check(L, 1, &parser_class);
	lua_settop(L, STACK_TEXT);
	lua_getfenv(L, 1);
	lua_rawgeti(L, -1, 1);
	lua_rawgeti(L, -2, 2);
	lua_remove(L, STACK_TEXT + 1);
	return p;
}

/** Remembers the row that is read; the count of all rows is the result. */
static int close_parser(lua_State *L, struct csv_parser *p)
{
	lua_getfenv(L, 1);
	lua_pushvalue(L, STACK_ROW);
	lua_rawseti(L, -2, 2);
	lua_pushinteger(L, p->row_count);
	return 1;
}

/** parser:feed(text) -> how many rows there are in its table now */
static int parser_feed(lua_State *L)
{
	size_t size;
	const char *text = luaL_checklstring(L, 2, &size);
	struct csv_parser *p = open_parser(L);
	feed(L, p, text, text + size);
	return close_parser(L, p);
}

/**
 * parser:finish() -> how many rows. The text is over: what there is of a row is one, unless a
 * quoted part is open; then nil.
 */
static int parser_finish(lua_State *L)
{
	struct csv_parser *p = open_parser(L);
	if (p->has_quote) {
		p->has_quote = false;
		toggle(p);
	} else if (p->is_quoted) {
		return 0;
	}
	if (p->is_begun)
		end_row(L, p);
	return close_parser(L, p);
}

static int parser_gc(lua_State *L)
{
	struct csv_parser *p = lua_class_check(L, 1, &parser_class);
	buf_free(&p->field);
	return 0;
}

/** new(delimiter, quote, rows): a parser that puts rows into the table */
static int parser_new(lua_State *L)
{
	const char *delimiter = luaL_checkstring(L, 1), *quote = luaL_checkstring(L, 2);
	luaL_checktype(L, 3, LUA_TTABLE);
	struct csv_parser *p = lua_newuserdata(L, sizeof(*p));
	*p = (struct csv_parser){.delimiter = *delimiter, .quote = *quote};
	p->is_special[p->delimiter] = p->is_special[p->quote] = true;
	p->is_special[' '] = p->is_special['\r'] = p->is_special['\n'] = true;
	lua_class_set(L, &parser_class);
	lua_createtable(L, 2, 0);
	lua_pushvalue(L, 3);
	lua_rawseti(L, -2, 1);
	lua_newtable(L);
	lua_rawseti(L, -2, 2);
	lua_setfenv(L, -2);
	return 1;
}

void lua_csv_init(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"feed", parser_feed}, {"finish", parser_finish}, {"__gc", parser_gc}, {NULL, NULL},
	};
	static const luaL_Reg functions[] = {{"new", parser_new}, {NULL, NULL}};
	lua_class_new(L, &parser_class);
	luaL_register(L, NULL, methods);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
	lua_new_module(L, "tarn.csv", functions);
	lua_pop(L, 1);
}
