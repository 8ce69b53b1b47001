/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the tests of RTREE and BITSET indexes share: rows [id, value] by id, random
 * changes, and the comparison of what an iterator finds with a look at every row.
 */
#pragma once

#include "db/error.h"
#include "index_model.h"

enum { ID_MAX = 3000 };

static struct {
	struct key_def *pk_def, *def;
	struct tuple_format *format;
	struct index *index;
	/** By id; NULL where it is not in the index. */
	struct tuple *tuples[ID_MAX];
	size_t count;
} b;

static inline void special_open(enum index_type type, enum field_type field_type,
				unsigned dimension, enum rtree_distance distance)
{
	struct key_part pk = key_part_of(0, FIELD_TYPE_UNSIGNED, false);
	struct key_part part = key_part_of(1, field_type, false);
	b.pk_def = key_def_new(&pk, 1);
	b.def = key_def_new(&part, 1);
	struct key_def *keys[] = {b.pk_def, b.def};
	b.format = tuple_format_new(keys, 2, NULL, 0, 0);
	struct index_def *def = index_def_new(512, 1, "i", 1, type, false, true, b.def, b.pk_def);
	def->dimension = dimension;
	def->distance = distance;
	b.index = index_new(def, "s");
	index_def_delete(def);
	assert_non_null(b.index);
}

static inline void special_close(void)
{
	for (size_t id = 0; id < ID_MAX; id++)
		if (b.tuples[id] != NULL)
			tuple_unref(b.tuples[id]);
	memset(b.tuples, 0, sizeof(b.tuples));
	b.count = 0;
	index_delete(b.index);
	assert_int_equal(index_memory.used, 0);
	tuple_format_unref(b.format);
	key_def_delete(b.def);
	key_def_delete(b.pk_def);
}

/** Puts the new tuple (NULL: none) in the place of what there is. */
static inline int special_put(uint64_t id, struct tuple *new)
{
	struct tuple *old = b.tuples[id], *result;
	int rc = b.index->vtab->replace(b.index, old, new, DUP_REPLACE_OR_INSERT, &result);
	if (rc != 0) {
		if (new != NULL)
			tuple_unref(new);
		return rc;
	}
	assert_ptr_equal(result, old);
	b.count += (new != NULL) - (old != NULL);
	b.tuples[id] = new;
	if (old != NULL)
		tuple_unref(old);
	return 0;
}

/** A row of the id whose second field is encoded in `value`. */
static inline struct tuple *special_row(uint64_t id, const char *value, const char *value_end)
{
	static char data[4096];
	char *p = mp_encode_array(data, 2);
	p = mp_encode_uint(p, id);
	memcpy(p, value, value_end - value);
	struct tuple *tuple = tuple_new(b.format, data, p + (value_end - value));
	assert_non_null(tuple);
	return tuple;
}

/** Checks that the iterator finds each row that `matches` once, and no other. */
static inline void special_check(enum iterator_type type, const char *key, uint32_t part_count,
				 bool (*matches)(uint64_t id, const void *arg), const void *arg)
{
	static bool found[ID_MAX];
	struct tuple *tuple;
	size_t expected = 0, count = 0;
	memset(found, 0, sizeof(found));
	assert_int_equal(index_check_key(b.index, type, key, part_count), 0);
	struct iterator *it = b.index->vtab->iterator(b.index, type, key, part_count);
	assert_non_null(it);
	while ((tuple = iterator_take(it)) != NULL) {
		uint64_t id = tuple_id(tuple);
		assert_ptr_equal(tuple, b.tuples[id]);
		assert_false(found[id]);
		assert_true(matches(id, arg));
		found[id] = true;
		count++;
	}
	assert_null(iterator_take(it));
	it->free(it);
	for (uint64_t id = 0; id < ID_MAX; id++)
		expected += b.tuples[id] != NULL && matches(id, arg);
	assert_int_equal(count, expected);
	assert_int_equal(b.index->vtab->count(b.index, type, key, part_count), expected);
}
