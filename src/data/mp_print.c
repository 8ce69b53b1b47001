/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The text of a value in YAML's flow style, as the reference prints a tuple. The
 * rules were found by printing every kind of value there:
 *
 * - numbers by "%.14g"; decimals, UUIDs and the like by their text (which the
 *   reference has learnt later); extensions without a text of their own are `null`;
 * - a string is quoted singly; a quote is doubled, and a line break is written as
 *   an empty line and the indent of the level;
 * - a string with control characters, characters over U+FFFF, or a space beside a
 *   line break is quoted doubly, with escapes;
 * - bytes that are no UTF-8, or hold what cannot be printed (utf8_is_printable()), and
 *   all of type bin, are `!!binary` and base64;
 * - a key of several lines or of more than 128 bytes is `? key : value`.
 */
#include "data/mp.h"

#include <stdio.h>
#include <string.h>

#include "data/base64.h"
#include "data/utf8.h"

enum { SIMPLE_KEY_MAX = 128 };

/** How a string has to be written. */
enum str_style { STR_SINGLE, STR_DOUBLE, STR_BINARY };

struct str_info {
	enum str_style style;
	bool has_break;
};

static bool is_break(uint32_t code)
{
	return code == '\n' || code == 0x2028 || code == 0x2029;
}

static struct str_info str_analyze(const char *s, uint32_t len)
{
	struct str_info info = {STR_SINGLE, false};
	const char *end = s + len;
	uint32_t prev = 0;
	while (s < end) {
		uint32_t code;
		int n = utf8_decode(s, end, &code);
		if (n == 0 || !utf8_is_printable(code))
			return (struct str_info){STR_BINARY, false};
		if ((code < 0x20 && code != '\n') || code == 0x7f || code > 0xffff ||
		    (is_break(code) && prev == ' ') || (code == ' ' && is_break(prev)))
			info.style = STR_DOUBLE;
		info.has_break |= is_break(code) || code == '\r';
		prev = code;
		s += n;
	}
	return info;
}

static void print_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text));
}

static void print_indent(struct buf *out, int depth)
{
	size_t n = 2 * (depth + 1);
	memset(buf_alloc(out, n), ' ', n);
}

static void print_single_quoted(struct buf *out, const char *s, uint32_t len, int depth)
{
	const char *end = s + len;
	bool was_break = false;
	print_text(out, "'");
	while (s < end) {
		uint32_t code;
		int n = utf8_decode(s, end, &code);
		if (is_break(code)) {
			if (!was_break && code == '\n')
				print_text(out, "\n");
			was_break = true;
		} else {
			if (was_break)
				print_indent(out, depth);
			was_break = false;
			if (code == '\'')
				print_text(out, "'");
		}
		buf_append(out, s, n);
		s += n;
	}
	if (was_break)
		print_indent(out, depth);
	print_text(out, "'");
}

/** The letter of a short escape, or 0. */
static char escape_letter(uint32_t code)
{
	switch (code) {
	case '\0': return '0';
	case '\a': return 'a';
	case '\b': return 'b';
	case '\t': return 't';
	case '\n': return 'n';
	case '\v': return 'v';
	case '\f': return 'f';
	case '\r': return 'r';
	case 0x1b: return 'e';
	case '"': return '"';
	case '\\': return '\\';
	case 0x2028: return 'L';
	case 0x2029: return 'P';
	default: return 0;
	}
}

static void print_double_quoted(struct buf *out, const char *s, uint32_t len)
{
	const char *end = s + len;
	print_text(out, "\"");
	while (s < end) {
		uint32_t code;
		int n = utf8_decode(s, end, &code);
		char letter = escape_letter(code), escape[16];
		if (letter != 0) {
			snprintf(escape, sizeof(escape), "\\%c", letter);
			print_text(out, escape);
		} else if (code < 0x20 || code == 0x7f) {
			snprintf(escape, sizeof(escape), "\\x%02X", code);
			print_text(out, escape);
		} else if (code > 0xffff) {
			snprintf(escape, sizeof(escape), "\\U%08X", code);
			print_text(out, escape);
		} else {
			buf_append(out, s, n);
		}
		s += n;
	}
	print_text(out, "\"");
}

static void print_binary(struct buf *out, const char *s, uint32_t len)
{
	print_text(out, "!!binary ");
	buf_reserve(out, base64_encoded_size(len));
	out->size += base64_encode(s, len, buf_end(out));
}

static void print_str(struct buf *out, const char *s, uint32_t len, int depth)
{
	switch (str_analyze(s, len).style) {
	case STR_SINGLE:
		print_single_quoted(out, s, len, depth);
		break;
	case STR_DOUBLE:
		print_double_quoted(out, s, len);
		break;
	case STR_BINARY:
		print_binary(out, s, len);
		break;
	}
}

static void print_number(struct buf *out, const char **p)
{
	char text[64];
	switch (mp_typeof(**p)) {
	case MP_UINT:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)mp_decode_uint(p));
		break;
	case MP_INT:
		snprintf(text, sizeof(text), "%lld", (long long)mp_decode_int(p));
		break;
	case MP_FLOAT:
		snprintf(text, sizeof(text), "%.14g", mp_decode_float(p));
		break;
	default:
		snprintf(text, sizeof(text), "%.14g", mp_decode_double(p));
		break;
	}
	print_text(out, text);
}

/** Does a key need the form `? key : value`? */
static bool key_is_complex(const char *key)
{
	const char *p = key;
	switch (mp_typeof(*key)) {
	case MP_STR: {
		uint32_t len = mp_decode_strl(&p);
		struct str_info info = str_analyze(p, len);
		if (info.style == STR_BINARY)
			return base64_encoded_size(len) > SIMPLE_KEY_MAX;
		return len > SIMPLE_KEY_MAX || info.has_break;
	}
	case MP_BIN:
		return base64_encoded_size(mp_decode_binl(&p)) > SIMPLE_KEY_MAX;
	case MP_ARRAY:
		return mp_decode_array(&p) > 0;
	case MP_MAP:
		return mp_decode_map(&p) > 0;
	default:
		return false;
	}
}

/** The text of an extension that has one; others, and broken ones, are null. */
static void print_ext(struct buf *out, const char **p)
{
	char text[MP_EXT_TEXT_SIZE];
	print_text(out, mp_ext_to_string(*p, text) ? text : "null");
	mp_next(p);
}

static void print_value(struct buf *out, const char **p, int depth);

static void print_array(struct buf *out, const char **p, int depth)
{
	uint32_t count = mp_decode_array(p);
	print_text(out, "[");
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			print_text(out, ", ");
		print_value(out, p, depth + 1);
	}
	print_text(out, "]");
}

static void print_map(struct buf *out, const char **p, int depth)
{
	uint32_t count = mp_decode_map(p);
	print_text(out, "{");
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			print_text(out, ", ");
		bool is_complex = key_is_complex(*p);
		if (is_complex)
			print_text(out, "? ");
		print_value(out, p, depth + 1);
		print_text(out, is_complex ? " : " : ": ");
		print_value(out, p, depth + 1);
	}
	print_text(out, "}");
}

/** Recurses as deep as the value nests: at most MP_DEPTH_MAX. */
static void print_value(struct buf *out, const char **p, int depth)
{
	uint32_t len;
	const char *s;
	switch (mp_typeof(**p)) {
	case MP_NIL:
		mp_decode_nil(p);
		print_text(out, "null");
		break;
	case MP_BOOL:
		print_text(out, mp_decode_bool(p) ? "true" : "false");
		break;
	case MP_STR:
		s = mp_decode_str(p, &len);
		print_str(out, s, len, depth);
		break;
	case MP_BIN:
		s = mp_decode_bin(p, &len);
		print_binary(out, s, len);
		break;
	case MP_ARRAY:
		print_array(out, p, depth);
		break;
	case MP_MAP:
		print_map(out, p, depth);
		break;
	case MP_EXT:
		print_ext(out, p);
		break;
	default:
		print_number(out, p);
		break;
	}
}

void mp_print(struct buf *out, const char *value)
{
	print_value(out, &value, 0);
}
