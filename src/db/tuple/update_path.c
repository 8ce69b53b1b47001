/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations inside a field, by a JSON path. MessagePack containers tell
 * how many values they hold, not how many bytes: so a change replaces one range
 * of bytes and, where the count changes, the header of the innermost container.
 */
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/update_private.h"

/** The innermost container and the place in it that the path leads to. */
struct place {
	const char *container;
	/** Of the container: values of an array, pairs of a map. */
	uint32_t count;
	bool is_map;
	/** Behind the container's header. */
	const char *first;
	/** The last step. */
	struct json_token token;
	/** Array: its number. */
	uint32_t index;
	/** Whether it is there, and its range; in a map the pair begins at the key. */
	bool is_found;
	const char *key, *value, *end;
};

static int error_access(const struct update_op *op, const struct json_token *token)
{
	return update_error_field(op, token->type == JSON_TOKEN_KEY ?
				  "can not access by key a non-map field" :
				  "can not access by index a non-array field");
}

static bool key_equals(const char *key, const struct json_token *token)
{
	if (mp_typeof(*key) != MP_STR)
		return false;
	uint32_t len;
	const char *str = mp_decode_str(&key, &len);
	return len == token->key_len && memcmp(str, token->key, len) == 0;
}

static void place_find_key(struct place *place)
{
	const char *p = place->first;
	for (uint32_t i = 0; i < place->count; i++) {
		const char *key = p;
		mp_next(&p);
		const char *value = p;
		mp_next(&p);
		if (!key_equals(key, &place->token))
			continue;
		place->is_found = true;
		place->key = key;
		place->value = value;
		place->end = p;
		return;
	}
}

static void place_find_index(struct place *place)
{
	const char *p = place->first;
	uint32_t i = 0;
	place->index = place->token.index;
	for (; i < place->count && i < place->index; i++)
		mp_next(&p);
	place->value = place->end = p;
	if (i < place->count) {
		place->is_found = true;
		mp_next(&place->end);
	}
}

/** Looks one step into a container. -1 without an error: the value is none for such a step. */
static int place_enter(const char *container, const struct json_token *token,
		       struct place *place)
{
	bool is_key = token->type == JSON_TOKEN_KEY;
	*place = (struct place){.container = container, .first = container, .token = *token,
				.is_map = is_key};
	if (mp_typeof(*container) != (is_key ? MP_MAP : MP_ARRAY))
		return -1;
	if (is_key) {
		place->count = mp_decode_map(&place->first);
		place_find_key(place);
	} else {
		place->count = mp_decode_array(&place->first);
		place_find_index(place);
	}
	return 0;
}

/** Follows the whole path. */
static int place_find(const struct update_op *op, const char *value, struct place *place)
{
	struct json_path path = op->path;
	struct json_token token;
	int position = json_path_check(path);
	if (position != 0)
		return update_error_path(op, position);
	json_path_next(&path, &token);
	for (;;) {
		bool is_last = path.offset == path.len;
		bool puts = op->opcode == '=' || op->opcode == '!';
		/* As in the reference, only what would put a value says why it can't. */
		if (place_enter(value, &token, place) != 0)
			return is_last && puts ? error_access(op, &token)
					       : update_error_no_field(op);
		if (is_last)
			return 0;
		if (!place->is_found)
			return update_error_no_field(op);
		value = place->value;
		json_path_next(&path, &token);
	}
}

/** A range of the old bytes and what comes instead; how the container's count changes. */
struct edit {
	const char *from, *to;
	struct update_value paste;
	int64_t count_change;
};

static int edit_make(const struct place *place, const struct edit *edit, struct update_value old,
		     struct region *region, struct update_value *result)
{
	size_t size = (size_t)old.size + edit->paste.size + 5;
	char *data = size <= UINT32_MAX ? region_alloc(region, size) : NULL;
	if (data == NULL) {
		if (size > UINT32_MAX)
			diag_set(OutOfMemory, "A field of %zu bytes is too long", size);
		return -1;
	}
	uint32_t count = place->count + edit->count_change;
	char *p = mempcpy(data, old.data, place->container - old.data);
	p = place->is_map ? mp_encode_map(p, count) : mp_encode_array(p, count);
	p = mempcpy(p, place->first, edit->from - place->first);
	p = mempcpy(p, edit->paste.data, edit->paste.size);
	p = mempcpy(p, edit->to, old.data + old.size - edit->to);
	*result = (struct update_value){data, p - data};
	return 0;
}

/** A key and a value, for a new pair of a map. */
static int pair_make(const struct update_op *op, const struct json_token *token,
		     struct region *region, struct update_value *pair)
{
	char *data = region_alloc(region, 5 + (size_t)token->key_len + op->value_size);
	if (data == NULL)
		return -1;
	char *p = mp_encode_str(data, token->key, token->key_len);
	p = mempcpy(p, op->value, op->value_size);
	*pair = (struct update_value){data, p - data};
	return 0;
}

/** '=' and '!': a new value, or a pair, which goes before the others. */
static int edit_put(const struct update_op *op, const struct place *place, struct region *region,
		    struct edit *edit)
{
	edit->paste = (struct update_value){op->value, op->value_size};
	if (place->is_found && op->opcode == '=') {
		edit->from = place->value;
		edit->to = place->end;
		return 0;
	}
	edit->count_change = 1;
	if (place->is_map) {
		if (place->is_found)
			return update_error_field(op, "the key exists already");
		edit->from = edit->to = place->first;
		return pair_make(op, &place->token, region, &edit->paste);
	}
	if (place->index > place->count)
		return update_error_no_field(op);
	edit->from = edit->to = place->value;
	return 0;
}

static int edit_delete(const struct update_op *op, const struct place *place, struct edit *edit)
{
	if (!place->is_found)
		return update_error_no_field(op);
	edit->from = place->is_map ? place->key : place->value;
	edit->to = place->end;
	edit->count_change = -1;
	if (place->is_map) {
		if (op->delete_count != 1)
			return update_error_field(op, "can delete only 1 field from a map "
						      "in a row");
		return 0;
	}
	uint32_t left = place->count - place->index;
	uint32_t n = op->delete_count < left ? op->delete_count : left;
	for (uint32_t i = 1; i < n; i++)
		mp_next(&edit->to);
	edit->count_change = -(int64_t)n;
	return 0;
}

static int edit_scalar(const struct update_op *op, const struct place *place,
		       struct region *region, struct edit *edit)
{
	if (!place->is_found)
		return update_error_no_field(op);
	edit->from = place->value;
	edit->to = place->end;
	return update_scalar(op, place->value, region, &edit->paste);
}

int update_inside(const struct update_op *op, struct update_value old, struct region *region,
		  struct update_value *result)
{
	struct place place = {0};
	struct edit edit = {.paste = {"", 0}};
	if (place_find(op, old.data, &place) != 0)
		return -1;
	int rc;
	if (op->opcode == '#')
		rc = edit_delete(op, &place, &edit);
	else if (update_op_is_scalar(op))
		rc = edit_scalar(op, &place, region, &edit);
	else
		rc = edit_put(op, &place, region, &edit);
	return rc != 0 ? -1 : edit_make(&place, &edit, old, region, result);
}
