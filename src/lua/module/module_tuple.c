/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module interface (include/tarn/module.h): tuples, their formats and fields, key
 * definitions. Nothing here yields.
 */
#include <string.h>
#include <sys/types.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/key_def.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "lua/module/module_box.h"

/* Formats ---------------------------------------------------------------------- */

MODULE_API struct tuple_format *box_tuple_format_default(void);
MODULE_API struct tuple_format *box_tuple_format_new(struct key_def **keys, uint16_t key_count);
MODULE_API void box_tuple_format_ref(struct tuple_format *format);
MODULE_API void box_tuple_format_unref(struct tuple_format *format);

struct tuple_format *box_tuple_format_default(void)
{
	return tuple_format_default;
}

struct tuple_format *box_tuple_format_new(struct key_def **keys, uint16_t key_count)
{
	return tuple_format_new(keys, key_count, NULL, 0, 0);
}

void box_tuple_format_ref(struct tuple_format *format)
{
	tuple_format_ref(format);
}

void box_tuple_format_unref(struct tuple_format *format)
{
	tuple_format_unref(format);
}

/* Tuples ----------------------------------------------------------------------- */

MODULE_API struct tuple *box_tuple_new(struct tuple_format *format, const char *data,
				       const char *end);
MODULE_API int box_tuple_ref(struct tuple *tuple);
MODULE_API void box_tuple_unref(struct tuple *tuple);
MODULE_API uint32_t box_tuple_field_count(struct tuple *tuple);
MODULE_API size_t box_tuple_bsize(struct tuple *tuple);
MODULE_API ssize_t box_tuple_to_buf(struct tuple *tuple, char *buf, size_t size);
MODULE_API struct tuple_format *box_tuple_format(struct tuple *tuple);
MODULE_API const char *box_tuple_field(struct tuple *tuple, uint32_t fieldno);
MODULE_API struct tuple *box_tuple_update(struct tuple *tuple, const char *ops,
					  const char *ops_end);
MODULE_API struct tuple *box_tuple_upsert(struct tuple *tuple, const char *ops,
					  const char *ops_end);

struct tuple *box_tuple_new(struct tuple_format *format, const char *data, const char *end)
{
	struct tuple *tuple = tuple_new(format, data, end);
	return tuple != NULL ? module_keep(tuple) : NULL;
}

int box_tuple_ref(struct tuple *tuple)
{
	tuple_ref(tuple);
	return 0;
}

void box_tuple_unref(struct tuple *tuple)
{
	tuple_unref(tuple);
}

uint32_t box_tuple_field_count(struct tuple *tuple)
{
	return tuple_field_count(tuple);
}

size_t box_tuple_bsize(struct tuple *tuple)
{
	return tuple->bsize;
}

ssize_t box_tuple_to_buf(struct tuple *tuple, char *buf, size_t size)
{
	if (tuple->bsize <= size)
		memcpy(buf, tuple_data(tuple), tuple->bsize);
	return tuple->bsize;
}

struct tuple_format *box_tuple_format(struct tuple *tuple)
{
	return tuple_format(tuple);
}

const char *box_tuple_field(struct tuple *tuple, uint32_t fieldno)
{
	return tuple_field(tuple, fieldno);
}

typedef const char *(*execute_func)(const char *ops, const char *ops_end, const char *row,
				    const char *row_end, const struct tuple_dictionary *dict,
				    const struct tuple_format *format, int index_base, struct region *region,
				    uint32_t *new_size, uint64_t *column_mask);

static struct tuple *change_tuple(struct tuple *tuple, const char *ops, const char *ops_end,
				  execute_func execute)
{
	struct tuple_format *format = tuple_format(tuple);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	const char *data = tuple_data(tuple);
	uint32_t size;
	uint64_t mask;
	const char *row = execute(ops, ops_end, data, data + tuple->bsize, format->dict, format, 1,
				  region, &size, &mask);
	struct tuple *result = row != NULL ? tuple_new(format, row, row + size) : NULL;
	region_truncate(region, mark);
	return result != NULL ? module_keep(result) : NULL;
}

struct tuple *box_tuple_update(struct tuple *tuple, const char *ops, const char *ops_end)
{
	return change_tuple(tuple, ops, ops_end, update_execute);
}

struct tuple *box_tuple_upsert(struct tuple *tuple, const char *ops, const char *ops_end)
{
	return change_tuple(tuple, ops, ops_end, upsert_execute);
}

/* Iterators over fields ----------------------------------------------------------- */

struct tuple_iterator {
	/** Counted. */
	struct tuple *tuple;
	uint32_t field_count;
	/** The field that comes next: its number, and where it begins. */
	uint32_t fieldno;
	const char *next;
};

MODULE_API struct tuple_iterator *box_tuple_iterator(struct tuple *tuple);
MODULE_API void box_tuple_iterator_free(struct tuple_iterator *it);
MODULE_API uint32_t box_tuple_position(struct tuple_iterator *it);
MODULE_API void box_tuple_rewind(struct tuple_iterator *it);
MODULE_API const char *box_tuple_seek(struct tuple_iterator *it, uint32_t fieldno);
MODULE_API const char *box_tuple_next(struct tuple_iterator *it);

struct tuple_iterator *box_tuple_iterator(struct tuple *tuple)
{
	struct tuple_iterator *it = xmalloc(sizeof(*it));
	tuple_ref(tuple);
	it->tuple = tuple;
	box_tuple_rewind(it);
	return it;
}

void box_tuple_iterator_free(struct tuple_iterator *it)
{
	tuple_unref(it->tuple);
	xfree(it);
}

uint32_t box_tuple_position(struct tuple_iterator *it)
{
	return it->fieldno;
}

void box_tuple_rewind(struct tuple_iterator *it)
{
	it->fieldno = 0;
	it->next = tuple_data(it->tuple);
	it->field_count = mp_decode_array(&it->next);
}

const char *box_tuple_seek(struct tuple_iterator *it, uint32_t fieldno)
{
	if (fieldno < it->field_count) {
		it->fieldno = fieldno;
		it->next = tuple_field(it->tuple, fieldno);
	} else {
		it->fieldno = it->field_count;
	}
	return box_tuple_next(it);
}

const char *box_tuple_next(struct tuple_iterator *it)
{
	if (it->fieldno == it->field_count)
		return NULL;
	const char *field = it->next;
	mp_next(&it->next);
	it->fieldno++;
	return field;
}

/* Key definitions ------------------------------------------------------------------- */

MODULE_API struct key_def *box_key_def_new(uint32_t *fields, uint32_t *types,
					   uint32_t part_count);
MODULE_API void box_key_def_delete(struct key_def *def);
MODULE_API int box_tuple_compare(struct tuple *a, struct tuple *b, struct key_def *def);
MODULE_API int box_tuple_compare_with_key(struct tuple *tuple, const char *key,
					  struct key_def *def);

/** A type by its number in the header, where those that came later are not. */
static enum field_type type_of_module(uint32_t type)
{
	enum { ARRAY = 11, MAP = 12 };
	switch (type) {
	case ARRAY: return FIELD_TYPE_ARRAY;
	case MAP: return FIELD_TYPE_MAP;
	default: return type < ARRAY ? type : field_type_MAX;
	}
}

struct key_def *box_key_def_new(uint32_t *fields, uint32_t *types, uint32_t part_count)
{
	if (part_count == 0) {
		client_error(ER_ILLEGAL_PARAMS, "a key has at least one part");
		return NULL;
	}
	struct key_part *parts = xcalloc(part_count, sizeof(*parts));
	struct key_def *def = NULL;
	for (uint32_t i = 0; i < part_count; i++) {
		enum field_type type = type_of_module(types[i]);
		if (type == field_type_MAX) {
			client_error(ER_ILLEGAL_PARAMS, "unknown field type");
			goto end;
		}
		parts[i] = (struct key_part){
			.fieldno = fields[i], .type = type, .coll_id = COLL_NONE,
		};
	}
	def = key_def_new(parts, part_count);
end:
	xfree(parts);
	return def;
}

void box_key_def_delete(struct key_def *def)
{
	key_def_delete(def);
}

int box_tuple_compare(struct tuple *a, struct tuple *b, struct key_def *def)
{
	return tuple_compare(a, b, def);
}

int box_tuple_compare_with_key(struct tuple *tuple, const char *key, struct key_def *def)
{
	uint32_t part_count = mp_decode_array(&key);
	if (part_count > def->part_count)
		part_count = def->part_count;
	return tuple_compare_with_key(tuple, key, part_count, def);
}
