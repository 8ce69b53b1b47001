/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Extraction of keys: the values of a definition's parts, a nil where a row has none.
 */
#include <string.h>

#include "core/region.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple_field.h"

/** A value and its size; a nil for NULL. */
static const char *value_or_nil(const char *value, uint32_t *size)
{
	if (value == NULL)
		value = "\xc0";
	const char *end = value;
	mp_next(&end);
	*size = end - value;
	return value;
}

/** Where parts come from: a tuple, or an array and an element of the array at `[*]`. */
struct key_source {
	const struct tuple *tuple;
	const char *data;
	uint32_t multikey_idx;
};

/** A field of a MessagePack array, or NULL. */
static const char *raw_field(const char *data, uint32_t fieldno)
{
	struct json_token step = {.type = JSON_TOKEN_INDEX, .index = fieldno};
	return json_token_enter(&step, data);
}

/** The value of a part in an array. */
static const char *raw_part(const struct key_source *source, const struct key_part *part)
{
	const char *value = raw_field(source->data, part->fieldno);
	const struct field_path *path = part->path;
	if (path == NULL || value == NULL)
		return value;
	if (path->any_step == PATH_NO_ANY)
		return field_path_walk(path, value, 0, path->step_count);
	value = field_path_walk(path, value, 0, path->any_step);
	if (value == NULL)
		return NULL;
	struct json_token step = {.type = JSON_TOKEN_INDEX, .index = source->multikey_idx};
	value = json_token_enter(&step, value);
	return field_path_walk(path, value, path->any_step + 1, path->step_count);
}

static const char *source_part(const struct key_source *source, const struct key_part *part)
{
	return source->tuple != NULL ? tuple_field_by_part(source->tuple, part) :
		raw_part(source, part);
}

static const char *extract_key(const struct key_source *source, const struct key_def *def,
			       struct region *region, uint32_t *size)
{
	uint32_t total = mp_sizeof_array(def->part_count), part_size;
	for (uint32_t i = 0; i < def->part_count; i++) {
		value_or_nil(source_part(source, &def->parts[i]), &part_size);
		total += part_size;
	}
	char *key = region_alloc(region, total);
	if (key == NULL)
		return NULL;
	char *pos = mp_encode_array(key, def->part_count);
	for (uint32_t i = 0; i < def->part_count; i++) {
		const char *value = value_or_nil(source_part(source, &def->parts[i]), &part_size);
		memcpy(pos, value, part_size);
		pos += part_size;
	}
	*size = total;
	return key;
}

const char *tuple_extract_key(const struct tuple *tuple, const struct key_def *def,
			      struct region *region, uint32_t *size)
{
	struct key_source source = {.tuple = tuple};
	return extract_key(&source, def, region, size);
}

const char *tuple_extract_key_raw(const char *data, const struct key_def *def,
				  uint32_t multikey_idx, struct region *region, uint32_t *size)
{
	struct key_source source = {.data = data, .multikey_idx = multikey_idx};
	return extract_key(&source, def, region, size);
}
