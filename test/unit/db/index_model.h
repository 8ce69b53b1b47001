/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What tests of indexes share: tuples from numbers, a seeded generator, and a
 * model of an index that is a plain sorted array.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/index/index.h"
#include "db/tuple/tuple.h"

/* A generator with a seed (xorshift64*). */

static uint64_t random_state = 88172645463325252ull;

static inline uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717ull;
}

static inline uint64_t random_below(uint64_t limit)
{
	return random_next() % limit;
}

/* Tuples [id, value or nil]. */

enum { VALUE_NIL = -1 };

/** Values are strings: of several lengths, with few different beginnings. */
static bool make_string_values;

static inline char *encode_value(char *p, int64_t value)
{
	static const char *const beginnings[] = {"", "a long beginning that is the same: ", "a l"};
	char text[64];
	if (value == VALUE_NIL)
		return mp_encode_nil(p);
	if (!make_string_values)
		return mp_encode_uint(p, value);
	/* The order of the strings is not that of the values. */
	int len = snprintf(text, sizeof(text), value % 5 ? "%s%06lld" : "%s%lld",
			   beginnings[value / 50 % 3], (long long)value);
	return mp_encode_str(p, text, len);
}

static inline struct tuple *make_tuple(struct tuple_format *format, uint64_t id, int64_t value)
{
	char data[128], *p = mp_encode_array(data, 2);
	p = mp_encode_uint(p, id);
	p = encode_value(p, value);
	struct tuple *tuple = tuple_new(format, data, p);
	assert_non_null(tuple);
	return tuple;
}

static inline uint64_t tuple_id(const struct tuple *tuple)
{
	const char *field = tuple_field(tuple, 0);
	return mp_decode_uint(&field);
}

/* The model. */

struct model {
	const struct key_def *def;
	struct tuple **tuples;
	size_t count, capacity;
};

/** The first place that is not below the tuple. */
static inline size_t model_bound(const struct model *m, const struct tuple *tuple)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (tuple_compare(m->tuples[middle], tuple, m->def) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline struct tuple *model_find(const struct model *m, const struct tuple *tuple)
{
	size_t pos = model_bound(m, tuple);
	return pos < m->count && tuple_compare(m->tuples[pos], tuple, m->def) == 0 ?
		m->tuples[pos] : NULL;
}

static inline void model_insert(struct model *m, struct tuple *tuple)
{
	size_t pos = model_bound(m, tuple);
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? m->capacity * 2 : 64;
		m->tuples = xrealloc(m->tuples, m->capacity * sizeof(*m->tuples));
	}
	memmove(&m->tuples[pos + 1], &m->tuples[pos], (m->count - pos) * sizeof(*m->tuples));
	m->tuples[pos] = tuple;
	m->count++;
}

static inline void model_remove(struct model *m, struct tuple *tuple)
{
	size_t pos = model_bound(m, tuple);
	assert_ptr_equal(m->tuples[pos], tuple);
	m->count--;
	memmove(&m->tuples[pos], &m->tuples[pos + 1], (m->count - pos) * sizeof(*m->tuples));
}

/** Copies and references the model's tuples. */
static inline struct model model_freeze(const struct model *m)
{
	struct model copy = *m;
	copy.tuples = xmalloc(m->count * sizeof(*m->tuples) + 1);
	for (size_t i = 0; i < m->count; i++)
		copy.tuples[i] = m->tuples[i];
	copy.capacity = m->count;
	return copy;
}

static inline void model_free(struct model *m)
{
	xfree(m->tuples);
	m->tuples = NULL;
	m->count = m->capacity = 0;
}

static inline struct tuple *iterator_take(struct iterator *it)
{
	struct tuple *tuple;
	assert_int_equal(it->next(it, &tuple), 0);
	return tuple;
}

static inline int setup_db(void **state)
{
	fiber_init();
	tuple_init();
	return 0;
}

static inline int teardown_db(void **state)
{
	tuple_free();
	fiber_free();
	return 0;
}
