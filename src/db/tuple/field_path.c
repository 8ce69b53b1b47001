/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Interned paths: see field_path.h. Two maps lead to them: from what a user wrote,
 * and from the form that errors show, which is the same for all ways to write it.
 */
#include "db/tuple/field_path.h"

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/memory.h"

/** By the form that errors show: these own the paths. By the user's text. */
static struct map_str by_form, by_text;

static void form_add_step(struct buf *form, const struct json_token *step)
{
	char index[32];
	switch (step->type) {
	case JSON_TOKEN_KEY:
		buf_append(form, "[\"", 2);
		buf_append(form, step->key, step->key_len);
		buf_append(form, "\"]", 2);
		break;
	case JSON_TOKEN_INDEX:
		buf_append(form, index, snprintf(index, sizeof(index), "[%u]", step->index + 1));
		break;
	default:
		buf_append(form, "[*]", 3);
	}
}

/** Reads a text's steps; -1 where it is no path. */
static int path_read(const char *text, uint32_t len, struct json_token *steps, uint32_t *count,
		     struct buf *form)
{
	struct json_path path = json_path_of(text, len);
	struct json_token step;
	for (*count = 0;; ++*count) {
		if (json_path_next_any(&path, &step) != 0)
			return -1;
		if (step.type == JSON_TOKEN_END)
			return *count > 0 ? 0 : -1;
		if (*count == PATH_STEP_MAX)
			return -1;
		steps[*count] = step;
		form_add_step(form, &step);
	}
}

/** Where the first `[*]` is; PATH_STEP_MAX + 1 where there are two. */
static uint32_t find_any(const struct json_token *steps, uint32_t count)
{
	uint32_t any = PATH_NO_ANY;
	for (uint32_t i = 0; i < count; i++) {
		if (steps[i].type != JSON_TOKEN_ANY)
			continue;
		if (any != PATH_NO_ANY)
			return PATH_STEP_MAX + 1;
		any = i;
	}
	return any;
}

/** A path whose names lie behind it, with the form. */
static struct field_path *path_new(const struct json_token *steps, uint32_t count, uint32_t any,
				   const struct buf *form)
{
	size_t head = sizeof(struct field_path) + count * sizeof(*steps), names = 0;
	for (uint32_t i = 0; i < count; i++)
		names += steps[i].type == JSON_TOKEN_KEY ? steps[i].key_len : 0;
	struct field_path *path = xmalloc(head + names + form->size + 1);
	path->step_count = count;
	path->any_step = any;
	memcpy(path->steps, steps, count * sizeof(*steps));
	char *pos = (char *)path + head;
	for (uint32_t i = 0; i < count; i++) {
		if (steps[i].type != JSON_TOKEN_KEY)
			continue;
		path->steps[i].key = memcpy(pos, steps[i].key, steps[i].key_len);
		pos += steps[i].key_len;
	}
	memcpy(pos, form->data, form->size);
	pos[form->size] = '\0';
	path->text = pos;
	return path;
}

/** The path of steps that were read, found or made. */
static const struct field_path *path_intern(const struct json_token *steps, uint32_t count,
					    uint32_t any, const struct buf *form)
{
	struct field_path *path = map_str_get(&by_form, form->data, form->size);
	if (path == NULL) {
		path = path_new(steps, count, any, form);
		map_str_put(&by_form, form->data, form->size, path);
	}
	return path;
}

static struct field_path_text *text_new(const char *text, uint32_t len,
					const struct field_path *path)
{
	struct field_path_text *result = xmalloc(sizeof(*result) + len + 1);
	result->path = path;
	memcpy(result->text, text, len);
	result->text[len] = '\0';
	map_str_put(&by_text, text, len, result);
	return result;
}

const struct field_path_text *field_path_intern(const char *text, uint32_t len,
						bool *is_any_twice)
{
	*is_any_twice = false;
	struct field_path_text *result = map_str_get(&by_text, text, len);
	if (result != NULL)
		return result;
	struct json_token steps[PATH_STEP_MAX];
	struct buf form = BUF_INIT;
	uint32_t count;
	if (path_read(text, len, steps, &count, &form) == 0) {
		uint32_t any = find_any(steps, count);
		*is_any_twice = any == PATH_STEP_MAX + 1;
		if (!*is_any_twice)
			result = text_new(text, len, path_intern(steps, count, any, &form));
	}
	buf_free(&form);
	return result;
}

bool field_path_same_array(const struct field_path *a, const struct field_path *b)
{
	if (a->any_step != b->any_step)
		return false;
	for (uint32_t i = 0; i < a->any_step; i++)
		if (!json_token_equal(&a->steps[i], &b->steps[i]))
			return false;
	return true;
}

char *field_path_print(uint32_t fieldno, const struct field_path *path, uint32_t step_count)
{
	struct buf text = BUF_INIT;
	char no[16];
	const char *form = step_count == 0 ? "%u" : "[%u]";
	buf_append(&text, no, snprintf(no, sizeof(no), form, fieldno + 1));
	for (uint32_t i = 0; i < step_count; i++)
		form_add_step(&text, &path->steps[i]);
	*buf_alloc(&text, 1) = '\0';
	char *copy = xstrdup(text.data);
	buf_free(&text);
	return copy;
}
