/* SPDX-License-Identifier: BSD-2-Clause
 *
 * BITSET indexes against a look at every row: random numbers and strings, all
 * iterators, iterators over an index that changes, memory that runs out.
 */
#include "special_index.h"

enum { VALUE_MAX = 40 };

/** Values as bytes, by id. */
struct value {
	unsigned char bytes[VALUE_MAX];
	size_t len;
};
static struct value values[ID_MAX];
static bool is_string;

static char *draw_value(char *p, struct value *value)
{
	memset(value, 0, sizeof(*value));
	if (!is_string) {
		uint64_t n = random_below(4) ? random_below(64) : random_next() >> random_below(64);
		for (size_t i = 0; i < sizeof(n); i++)
			value->bytes[i] = n >> 8 * i;
		return mp_encode_uint(p, n);
	}
	value->len = random_below(random_below(8) ? 4 : VALUE_MAX);
	for (size_t i = 0; i < value->len; i++)
		value->bytes[i] = random_below(2) ? 0 : 1u << random_below(8);
	return mp_encode_str(p, (char *)value->bytes, value->len);
}

static int put(uint64_t id)
{
	char data[64];
	struct value value;
	char *end = draw_value(data, &value);
	int rc = special_put(id, special_row(id, data, end));
	if (rc == 0)
		values[id] = value;
	return rc;
}

static void change(uint64_t id)
{
	if (b.tuples[id] != NULL && random_below(2))
		assert_int_equal(special_put(id, NULL), 0);
	else
		assert_int_equal(put(id), 0);
}

struct question {
	enum iterator_type type;
	struct value key;
};

static bool matches(uint64_t id, const void *arg)
{
	const struct question *q = arg;
	bool is_all = true, is_any = false, is_same = true, is_zero = true;
	for (size_t i = 0; i < VALUE_MAX; i++) {
		unsigned char key = q->key.bytes[i], byte = values[id].bytes[i];
		is_all &= (byte & key) == key;
		is_any |= (byte & key) != 0;
		is_same &= byte == key;
		is_zero &= key == 0;
	}
	switch (q->type) {
	case ITER_EQ: return is_same;
	case ITER_BITS_ALL_SET: return is_all && !is_zero;
	case ITER_BITS_ANY_SET: return is_any;
	case ITER_BITS_ALL_NOT_SET: return !is_any;
	default: return true;
	}
}

static void check_questions(void)
{
	static const enum iterator_type types[] = {
		ITER_EQ, ITER_ALL, ITER_BITS_ALL_SET, ITER_BITS_ANY_SET, ITER_BITS_ALL_NOT_SET,
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char key[64];
		struct question q = {.type = types[i]};
		draw_value(key, &q.key);
		special_check(q.type, key, 1, matches, &q);
		uint64_t id = random_below(ID_MAX);
		if (b.tuples[id] == NULL)
			continue;
		q.key = values[id];
		special_check(q.type, tuple_field(b.tuples[id], 1), 1, matches, &q);
	}
	struct question all = {.type = ITER_ALL};
	special_check(ITER_ALL, NULL, 0, matches, &all);
}

static void random_run(enum field_type type)
{
	is_string = type == FIELD_TYPE_STRING;
	special_open(INDEX_BITSET, type, 0, RTREE_EUCLID);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 250; i++)
			change(random_below(ID_MAX));
		assert_true(b.index->vtab->check(b.index));
		assert_int_equal(b.index->vtab->size(b.index), b.count);
		check_questions();
	}
	for (uint64_t id = 0; id < ID_MAX; id++) {
		if (b.tuples[id] != NULL)
			assert_int_equal(special_put(id, NULL), 0);
	}
	assert_true(b.index->vtab->check(b.index));
	special_close();
}

static void test_random(void **state)
{
	random_run(FIELD_TYPE_UNSIGNED);
	random_run(FIELD_TYPE_STRING);
}

/** Rows that stay are found exactly once, whatever happens to the others. */
static void test_iterate_under_change(void **state)
{
	static bool is_touched[ID_MAX], is_found[ID_MAX];
	is_string = false;
	special_open(INDEX_BITSET, FIELD_TYPE_UNSIGNED, 0, RTREE_EUCLID);
	for (int round = 0; round < 30; round++) {
		memset(is_touched, 0, sizeof(is_touched));
		memset(is_found, 0, sizeof(is_found));
		for (int i = 0; i < 2000; i++)
			change(random_below(ID_MAX));
		char key[64];
		struct question q = {.type = round % 2 ? ITER_BITS_ANY_SET : ITER_ALL};
		draw_value(key, &q.key);
		struct iterator *it = b.index->vtab->iterator(b.index, q.type, key, 1);
		struct tuple *tuple;
		while ((tuple = iterator_take(it)) != NULL) {
			uint64_t id = tuple_id(tuple);
			assert_ptr_equal(tuple, b.tuples[id]);
			assert_true(matches(id, &q));
			assert_true(!is_found[id] || is_touched[id]);
			is_found[id] = true;
			id = random_below(ID_MAX);
			is_touched[id] = true;
			change(id);
		}
		it->free(it);
		for (uint64_t id = 0; id < ID_MAX; id++) {
			if (b.tuples[id] != NULL && !is_touched[id])
				assert_true(is_found[id] == matches(id, &q));
		}
	}
	special_close();
}

static void test_out_of_memory(void **state)
{
	unsigned failed = 0;
	is_string = true;
	special_open(INDEX_BITSET, FIELD_TYPE_STRING, 0, RTREE_EUCLID);
	for (int i = 0; i < 4000; i++) {
		index_memory.limit = index_memory.used +
			(random_below(2) ? random_below(300) : SIZE_MAX / 2);
		int rc = put(random_below(ID_MAX));
		index_memory.limit = SIZE_MAX;
		if (rc != 0) {
			assert_true(error_is(diag_last(), &type_OutOfMemory));
			failed++;
		}
	}
	assert_true(failed > 10);
	assert_true(b.index->vtab->check(b.index));
	check_questions();
	special_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_iterate_under_change),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
