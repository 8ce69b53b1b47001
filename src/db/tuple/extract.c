/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Extraction of keys: the values of a definition's parts, a nil where a row has none.
 */
#include <string.h>

#include "core/memory.h"
#include "core/region.h"
#include "db/error.h"
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

const char *tuple_raw_part(const char *data, const struct key_part *part)
{
	struct json_token step = {.type = JSON_TOKEN_INDEX, .index = part->fieldno};
	const char *value = json_token_enter(&step, data);
	if (part->path == NULL)
		return value;
	return field_path_walk(part->path, value, 0, part->path->step_count);
}

/** A tuple, or (NULL) a MessagePack array. */
struct key_source {
	const struct tuple *tuple;
	const char *data;
};

static const char *source_part(const struct key_source *source, const struct key_part *part)
{
	return source->tuple != NULL ? tuple_field_by_part(source->tuple, part) :
		tuple_raw_part(source->data, part);
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
				  struct region *region, uint32_t *size)
{
	struct key_source source = {.data = data};
	return extract_key(&source, def, region, size);
}

static int missing_error(const struct key_part *part)
{
	char *text = xasprintf("[%u]%s", part->fieldno + 1,
			       part->path_text != NULL ? part->path_text : "");
	client_error(ER_FIELD_MISSING, text);
	xfree(text);
	return -1;
}

int tuple_raw_check_key(const char *data, const struct key_def *def)
{
	if (mp_typeof(*data) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return -1;
	}
	for (uint32_t i = 0; i < def->part_count; i++) {
		const struct key_part *part = &def->parts[i];
		const char *value = tuple_raw_part(data, part);
		if (value == NULL) {
			if (!part->is_nullable)
				return missing_error(part);
		} else if (!field_type_accepts(part->type, value, part->is_nullable)) {
			client_error(ER_KEY_PART_TYPE, i, field_type_names[part->type]);
			return -1;
		}
	}
	return 0;
}
