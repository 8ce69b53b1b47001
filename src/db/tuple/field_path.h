/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Paths inside a field, as index parts have them: `a.b[1]`, `items[*].price`. They
 * are read once and interned by what they mean, so that two paths are the same where
 * their pointers are equal. Extraction of keys, checks of rows and comparators all
 * find a value through these functions alone.
 */
#pragma once

#include "data/json_path.h"

enum {
	/** No step of the path is `[*]`. */
	PATH_NO_ANY = UINT32_MAX,
	/** Steps of one path. */
	PATH_STEP_MAX = 128,
};

struct field_path {
	uint32_t step_count;
	/** Which step is `[*]`, or PATH_NO_ANY. */
	uint32_t any_step;
	/** How it is written in errors: `["a"]["b"][1]`. */
	const char *text;
	struct json_token steps[];
};

/** What a user wrote, and what it means. */
struct field_path_text {
	const struct field_path *path;
	char text[];
};

/**
 * The path of a text; lives for good. NULL where the text is not a path or has
 * `[*]` twice (`*is_any_twice`).
 */
const struct field_path_text *field_path_intern(const char *text, uint32_t len,
						bool *is_any_twice);

/** Do two paths agree in their steps up to `[*]`, which both have? */
bool field_path_same_array(const struct field_path *a, const struct field_path *b);

/** The value behind the steps [from, to) from a value on, or NULL. None of them is `[*]`. */
static inline const char *field_path_walk(const struct field_path *path, const char *value,
					  uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && value != NULL; i++)
		value = json_token_enter(&path->steps[i], value);
	return value;
}

/**
 * How errors show a field, or a place in it that the first steps of a path lead to: `3`,
 * `[3]["a"][1]`. Free it with xfree().
 */
char *field_path_print(uint32_t fieldno, const struct field_path *path, uint32_t step_count);
