/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON paths: see json_path.h.
 */
#include "data/json_path.h"

#include <assert.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "data/mp.h"

static int path_peek(const struct json_path *path)
{
	return path->offset < path->len ? (unsigned char)path->str[path->offset] : -1;
}

/** The position, in characters from 1, of where the path stands. */
static int path_position(const struct json_path *path)
{
	int position = 1;
	for (uint32_t i = 0; i < path->offset && i < path->len; i++)
		position += ((unsigned char)path->str[i] & 0xc0) != 0x80;
	return position;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_start(UChar32 c)
{
	return c < 0x80 ? (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' :
		u_isalpha(c);
}

/** The next character, below 0 where it is none, and where it ends. */
static UChar32 path_next_char(const struct json_path *path, uint32_t *end)
{
	UChar32 c;
	*end = path->offset;
	U8_NEXT(path->str, *end, path->len, c);
	return c;
}

/* What is no UTF-8 cannot begin a name, but may be in one, as in the reference. */
static int path_read_name(struct json_path *path, struct json_token *token)
{
	uint32_t start = path->offset, end;
	if (path->offset == path->len || !is_name_start(path_next_char(path, &end)))
		return path_position(path);
	path->offset = end;
	while (path->offset < path->len) {
		UChar32 c = path_next_char(path, &end);
		if (c >= 0 && !is_name_start(c) && !(c < 0x80 ? is_digit(c) : u_isUAlphabetic(c) || u_isdigit(c)))
			break;
		path->offset = end;
	}
	token->type = JSON_TOKEN_KEY;
	token->key = path->str + start;
	token->key_len = path->offset - start;
	return 0;
}

static int path_read_index(struct json_path *path, struct json_token *token)
{
	uint64_t index = 0;
	uint32_t start = path->offset;
	while (is_digit(path_peek(path)) && index <= UINT32_MAX)
		index = index * 10 + (path->str[path->offset++] - '0');
	if (path->offset == start)
		return path_position(path);
	if (index == 0 || index > UINT32_MAX) {
		path->offset = start;
		return path_position(path);
	}
	token->type = JSON_TOKEN_INDEX;
	token->index = index - 1;
	return 0;
}

static int path_read_quoted(struct json_path *path, struct json_token *token)
{
	int quote = path_peek(path);
	uint32_t start = ++path->offset;
	while (path_peek(path) != -1 && path_peek(path) != quote) {
		uint32_t end;
		if (path_next_char(path, &end) < 0)
			return path_position(path);
		path->offset = end;
	}
	if (path_peek(path) == -1 || path->offset == start)
		return path_position(path);
	token->type = JSON_TOKEN_KEY;
	token->key = path->str + start;
	token->key_len = path->offset - start;
	path->offset++;
	return 0;
}

static int path_next(struct json_path *path, struct json_token *token, bool allows_any)
{
	int c = path_peek(path);
	if (c == -1) {
		token->type = JSON_TOKEN_END;
		return 0;
	}
	if (c == '.') {
		path->offset++;
		return path_read_name(path, token);
	}
	if (c != '[')
		return path->offset == 0 ? path_read_name(path, token) : path_position(path);
	path->offset++;
	c = path_peek(path);
	/* Users know the bracket itself as what is wrong at the end. */
	if (c == -1)
		return path_position(path) - 1;
	int rc = 0;
	if (c == '*' && allows_any) {
		path->offset++;
		token->type = JSON_TOKEN_ANY;
	} else {
		rc = c == '"' || c == '\'' ? path_read_quoted(path, token) :
			path_read_index(path, token);
	}
	if (rc != 0)
		return rc;
	if (path_peek(path) != ']')
		return path_position(path);
	path->offset++;
	return 0;
}

int json_path_next(struct json_path *path, struct json_token *token)
{
	return path_next(path, token, false);
}

int json_path_next_any(struct json_path *path, struct json_token *token)
{
	return path_next(path, token, true);
}

bool json_token_equal(const struct json_token *a, const struct json_token *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == JSON_TOKEN_INDEX)
		return a->index == b->index;
	return a->type != JSON_TOKEN_KEY ||
		(a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0);
}

static const char *enter_array(const struct json_token *token, const char *value)
{
	if (mp_typeof(*value) != MP_ARRAY || token->index >= mp_decode_array(&value))
		return NULL;
	for (uint32_t i = 0; i < token->index; i++)
		mp_next(&value);
	return value;
}

const char *json_token_enter(const struct json_token *token, const char *value)
{
	if (token->type == JSON_TOKEN_INDEX)
		return enter_array(token, value);
	assert(token->type == JSON_TOKEN_KEY);
	if (mp_typeof(*value) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(&value); count > 0; count--) {
		if (mp_typeof(*value) == MP_STR) {
			uint32_t len;
			const char *key = mp_decode_str(&value, &len);
			if (len == token->key_len && memcmp(key, token->key, len) == 0)
				return value;
		} else {
			mp_next(&value);
		}
		mp_next(&value);
	}
	return NULL;
}

int json_path_check(struct json_path path)
{
	struct json_token token;
	do {
		int rc = json_path_next(&path, &token);
		if (rc != 0)
			return rc;
	} while (token.type != JSON_TOKEN_END);
	return 0;
}
