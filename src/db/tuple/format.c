/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuple formats: see format.h. A format is worked out from a space's field
 * definitions and its keys: each field takes the narrowest type that any of them
 * asks for, and is nullable only where all of them allow it.
 */
#include "db/tuple/format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/field_path.h"
#include "db/tuple/format_private.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple.h"

enum {
	/** Structure and field map of a tuple are at most so large: see tuple.data_offset. */
	FIELD_MAP_SIZE_MAX = UINT16_MAX - 64,
};

struct tuple_format *tuple_formats[FORMAT_ID_MAX + 1];
struct tuple_format *tuple_format_default;

/** No id below it is free. */
static uint32_t format_id_hint;

const char *tuple_field_no_str(uint32_t fieldno)
{
	static _Thread_local char ring[2][16];
	static _Thread_local unsigned next;
	char *out = ring[next++ % 2];
	snprintf(out, sizeof(ring[0]), "%u", fieldno + 1);
	return out;
}

/** Gives the format a free id and puts it into the table. */
static int format_register(struct tuple_format *format)
{
	uint32_t id = format_id_hint;
	while (id <= FORMAT_ID_MAX && tuple_formats[id] != NULL)
		id++;
	if (id > FORMAT_ID_MAX) {
		client_error(ER_TUPLE_FORMAT_LIMIT, FORMAT_ID_MAX + 1);
		return -1;
	}
	format->id = id;
	format_id_hint = id + 1;
	tuple_formats[id] = format;
	return 0;
}

int format_add_slot(struct tuple_format *format, uint16_t *slot)
{
	if (format->field_map_size > FIELD_MAP_SIZE_MAX) {
		client_error(ER_INDEX_FIELD_COUNT_LIMIT,
			     (unsigned)(format->field_map_size / sizeof(uint32_t)));
		return -1;
	}
	format->field_map_size += sizeof(uint32_t);
	*slot = format->field_map_size / sizeof(uint32_t);
	return 0;
}

static bool field_may_be_missing(const struct tuple_format_field *field)
{
	return field->is_nullable || field->nodes != NULL;
}

static uint32_t format_count_fields(struct key_def *const *keys, uint32_t key_count,
				    uint32_t field_count)
{
	for (uint32_t i = 0; i < key_count; i++) {
		/* Parts of a functional key are no fields of the tuple. */
		for (uint32_t j = 0; j < keys[i]->part_count && !keys[i]->is_func; j++)
			if (keys[i]->parts[j].fieldno >= field_count)
				field_count = keys[i]->parts[j].fieldno + 1;
	}
	return field_count;
}

/**
 * Lets a key part narrow what its field may be; gives it a slot in the field map. `described` is
 * what the space's format says of the field, or NULL.
 */
static int format_use_part(struct tuple_format *format, const struct key_part *part,
			   const struct field_def *described)
{
	struct tuple_format_field *field = &format->fields[part->fieldno];
	bool is_described = described != NULL;
	if (is_described && part->path == NULL && part->is_nullable &&
	    described->nullable_action != NULL) {
		client_error(ER_ACTION_MISMATCH, tuple_field_no_str(part->fieldno),
			     described->nullable_action, "none");
		return -1;
	}
	if (part->path != NULL)
		return format_use_path(format, part);
	if (field_type_contains(field->type, part->type)) {
		field->type = part->type;
	} else if (!field_type_contains(part->type, field->type)) {
		const char *was = field_type_names[field->type];
		const char *now = field_type_names[part->type];
		client_error(field->is_key_part || field->nodes != NULL ?
			     ER_INDEX_PART_TYPE_MISMATCH :
			     ER_FORMAT_MISMATCH_INDEX_PART,
			     tuple_field_no_str(part->fieldno), was, now);
		return -1;
	}
	if (!field->is_key_part && !is_described)
		field->is_nullable = part->is_nullable;
	else
		field->is_nullable &= part->is_nullable;
	/* The first field is found at once anyway. */
	if (!field->is_key_part && part->fieldno > 0 &&
	    format_add_slot(format, &field->slot) != 0)
		return -1;
	field->is_key_part = true;
	return 0;
}

static void format_free(struct tuple_format *format)
{
	for (uint32_t i = 0; i < format->field_count; i++)
		format_nodes_free(format->fields[i].nodes);
	xfree(format->paths);
	xfree(format->fields);
	xfree(format);
}

struct tuple_format *tuple_format_new(struct key_def *const *keys, uint32_t key_count,
				      const struct field_def *fields, uint32_t field_count,
				      uint32_t exact_field_count)
{
	struct tuple_format *format = xcalloc(1, sizeof(*format));
	format->refs = 1;
	format->account = &tuple_memory;
	format->exact_field_count = exact_field_count;
	format->field_count = format_count_fields(keys, key_count, field_count);
	format->fields = xcalloc(format->field_count + 1, sizeof(*format->fields));
	format->dict = tuple_dictionary_intern(fields, field_count);
	for (uint32_t i = 0; i < format->field_count; i++) {
		format->fields[i].type = i < field_count ? fields[i].type : FIELD_TYPE_ANY;
		format->fields[i].is_nullable = i < field_count ? fields[i].is_nullable : true;
	}
	for (uint32_t i = 0; i < key_count; i++)
		for (uint32_t j = 0; j < keys[i]->part_count && !keys[i]->is_func; j++) {
			const struct key_part *part = &keys[i]->parts[j];
			const struct field_def *described =
				part->fieldno < field_count ? &fields[part->fieldno] : NULL;
			if (format_use_part(format, part, described) != 0)
				goto fail;
		}
	for (uint32_t i = 0; i < format->field_count; i++)
		if (!field_may_be_missing(&format->fields[i]))
			format->min_field_count = i + 1;
	if (format_register(format) != 0)
		goto fail;
	return format;
fail:
	format_free(format);
	return NULL;
}

void tuple_format_ref(struct tuple_format *format)
{
	format->refs++;
}

void tuple_format_unref(struct tuple_format *format)
{
	assert(format->refs > 0);
	if (--format->refs > 0)
		return;
	tuple_formats[format->id] = NULL;
	if (format->id < format_id_hint)
		format_id_hint = format->id;
	format_free(format);
}

/** The first field that must be there and is not. */
static void format_missing_error(const struct tuple_format *format, uint32_t field_count)
{
	uint32_t i = field_count;
	while (field_may_be_missing(&format->fields[i]))
		i++;
	assert(i < format->field_count);
	client_error(ER_FIELD_MISSING, tuple_field_no_str(i));
}

int tuple_format_map_fields(struct tuple_format *format, const char *data, uint32_t *field_map)
{
	if (mp_typeof(*data) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return -1;
	}
	const char *pos = data;
	uint32_t count = mp_decode_array(&pos);
	if (format->exact_field_count > 0 && count != format->exact_field_count) {
		client_error(ER_EXACT_FIELD_COUNT, count, format->exact_field_count);
		return -1;
	}
	uint32_t known = count < format->field_count ? count : format->field_count;
	const struct tuple_format_field *field = format->fields;
	for (uint32_t i = 0; i < known; i++, field++) {
		if (field->slot != 0)
			field_map[field->slot - 1] = pos - data;
		if (!field_type_accepts(field->type, pos,
					field->is_nullable && field->nodes == NULL)) {
			if (format->has_nodes && format_check_nodes(format, data, i, field_map) != 0)
				return -1;
			client_error(ER_FIELD_TYPE, tuple_field_no_str(i),
				     field_type_names[field->type]);
			return -1;
		}
		if (i + 1 < known)
			mp_next(&pos);
	}
	if (count < format->min_field_count) {
		if (format->has_nodes && format_check_nodes(format, data, known, field_map) != 0)
			return -1;
		format_missing_error(format, count);
		return -1;
	}
	for (uint32_t i = known; i < format->field_count; i++, field++)
		if (field->slot != 0)
			field_map[field->slot - 1] = 0;
	return format->has_nodes ? format_map_nodes(format, data, field_map) : 0;
}

int tuple_format_validate(struct tuple_format *format, const char *data, const char *end)
{
	uint32_t on_stack[64];
	uint32_t *map = on_stack;
	if (format->field_map_size > sizeof(on_stack))
		map = xmalloc(format->field_map_size);
	int rc = tuple_format_map_fields(format, data, map);
	if (map != on_stack)
		xfree(map);
	return rc;
}
