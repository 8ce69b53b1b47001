/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Making the key tuples of a row: see row_keys.h.
 */
#include "db/index/row_keys.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple_field.h"

static struct tuple *key_tuple_new(struct tuple_format *format, struct tuple *row, uint32_t bsize)
{
	size_t size = sizeof(struct key_tuple) + bsize;
	size_t limit = index_memory.limit;
	if (index_is_undoing)
		index_memory.limit = SIZE_MAX;
	struct key_tuple *key = mem_alloc(&index_memory, size);
	index_memory.limit = limit;
	if (key == NULL) {
		if (!index_is_undoing)
			return NULL;
		say(LOG_FATAL, "no memory to undo a change of an index");
		abort();
	}
	memset(key, 0, sizeof(*key));
	key->base.refs = 1;
	key->base.bsize = bsize;
	key->base.format_id = format->id;
	key->base.data_offset = sizeof(*key);
	key->row = row;
	tuple_format_ref(format);
	return &key->base;
}

static struct row_keys *row_keys_alloc(uint32_t count_max)
{
	struct row_keys *keys = xmalloc(sizeof(*keys) + count_max * sizeof(keys->keys[0]));
	keys->count = 0;
	return keys;
}

void row_keys_delete(struct row_keys *keys)
{
	for (uint32_t i = 0; i < keys->count; i++)
		tuple_unref(keys->keys[i]);
	xfree(keys);
}

/* What key tuples consist of ------------------------------------------------- */

static const char *value_or_nil(const char *value)
{
	return value != NULL ? value : "\xc0";
}

static size_t value_size(const char *value)
{
	const char *end = value;
	mp_next(&end);
	return end - value;
}

/** Where the values of one key come from. */
struct key_values {
	const struct key_def *key_def, *cmp_def;
	const struct tuple *row;
	/** Multikey: the element of the array. */
	const char *element;
	/** Functional: the function's key behind the array's header, and its size. */
	const char *func_key;
	size_t func_key_size;
};

/** Where the values begin that come from the row. */
static uint32_t first_row_part(const struct key_values *v)
{
	return v->func_key != NULL ? v->key_def->part_count : 0;
}

static const char *row_value(const struct key_values *v, const struct key_part *part)
{
	const struct field_path *path = part->path;
	if (path == NULL || path->any_step == PATH_NO_ANY)
		return value_or_nil(tuple_field_by_part(v->row, part));
	return value_or_nil(field_path_walk(path, v->element, path->any_step + 1,
					    path->step_count));
}

/** Is the key left out for a nil? */
static bool key_is_excluded(const struct key_values *v)
{
	const char *func_key = v->func_key;
	for (uint32_t i = 0; i < v->key_def->part_count && v->key_def->has_exclude_null; i++) {
		const struct key_part *part = &v->key_def->parts[i];
		const char *value = func_key != NULL ? func_key : row_value(v, part);
		if (part->exclude_null && mp_typeof(*value) == MP_NIL)
			return true;
		if (func_key != NULL)
			mp_next(&func_key);
	}
	return false;
}

static int row_keys_add(struct row_keys *keys, struct tuple_format *format, struct tuple *row,
			const struct key_values *v)
{
	if (key_is_excluded(v))
		return 0;
	const struct key_def *def = v->cmp_def;
	size_t size = mp_sizeof_array(def->part_count) + v->func_key_size;
	for (uint32_t i = first_row_part(v); i < def->part_count; i++)
		size += value_size(row_value(v, &def->parts[i]));
	struct tuple *key = key_tuple_new(format, row, size);
	if (key == NULL)
		return -1;
	char *pos = mp_encode_array((char *)tuple_data(key), def->part_count);
	if (v->func_key != NULL) {
		memcpy(pos, v->func_key, v->func_key_size);
		pos += v->func_key_size;
	}
	for (uint32_t i = first_row_part(v); i < def->part_count; i++) {
		const char *value = row_value(v, &def->parts[i]);
		size_t n = value_size(value);
		memcpy(pos, value, n);
		pos += n;
	}
	keys->keys[keys->count++] = key;
	return 0;
}

/* Multikey ------------------------------------------------------------------- */

/** The array at `[*]`, or NULL. */
static const char *multikey_array(const struct key_def *def, const struct tuple *row)
{
	const struct key_part *part = def->parts;
	while (part->path == NULL || part->path->any_step == PATH_NO_ANY)
		part++;
	const char *array = field_path_walk(part->path, tuple_field_fast(row, part->fieldno), 0,
					    part->path->any_step);
	return array != NULL && mp_typeof(*array) == MP_ARRAY ? array : NULL;
}

static struct row_keys *multikey_keys(const struct index *index, struct tuple_format *format,
				      struct tuple *row)
{
	const struct index_def *def = index->def;
	const char *pos = multikey_array(def->key_def, row);
	uint32_t count = pos != NULL ? mp_decode_array(&pos) : 0;
	struct row_keys *keys = row_keys_alloc(count);
	struct key_values v = {.key_def = def->key_def, .cmp_def = def->cmp_def, .row = row};
	for (uint32_t i = 0; i < count; i++) {
		v.element = pos;
		if (row_keys_add(keys, format, row, &v) != 0) {
			row_keys_delete(keys);
			return NULL;
		}
		mp_next(&pos);
	}
	return keys;
}

/* Functional ----------------------------------------------------------------- */

static struct row_keys *func_keys(const struct index *index, struct tuple_format *format,
				  struct tuple *row)
{
	const struct index_def *def = index->def;
	struct buf buf = BUF_INIT;
	uint32_t count;
	struct row_keys *keys = NULL;
	if (index_func_vtab->keys(index, row, &buf, &count) != 0)
		goto out;
	keys = row_keys_alloc(count);
	struct key_values v = {.key_def = def->key_def, .cmp_def = def->cmp_def, .row = row};
	const char *pos = buf.data;
	for (uint32_t i = 0; i < count; i++) {
		const char *end = pos;
		mp_next(&end);
		mp_decode_array(&pos);
		v.func_key = pos;
		v.func_key_size = end - pos;
		if (row_keys_add(keys, format, row, &v) != 0) {
			row_keys_delete(keys);
			keys = NULL;
			goto out;
		}
		pos = end;
	}
out:
	buf_free(&buf);
	return keys;
}

struct row_keys *row_keys_new(const struct index *index, struct tuple_format *format,
			      struct tuple *row)
{
	return index->def->key_def->is_func ? func_keys(index, format, row) :
		multikey_keys(index, format, row);
}
