/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HASH indexes against a plain list: random changes, growth, frozen views, and
 * iterators that see every tuple that stays exactly once.
 */
#include "db/error.h"
#include "db/index/load.h"
#include "index_model.h"

static struct {
	struct key_def *def;
	struct tuple_format *format;
	struct index *index;
	/** By id; NULL where it is not in the index. */
	struct tuple *tuples[4000];
	size_t count;
} b;

static int setup(void **state)
{
	struct key_part part = key_part_of(0, FIELD_TYPE_UNSIGNED, false);
	b.def = key_def_new(&part, 1);
	b.format = tuple_format_new(&b.def, 1, NULL, 0, 0);
	struct index_def *def = index_def_new(512, 0, "pk", 2, INDEX_HASH, true, true, b.def, NULL);
	b.index = index_new(def, "s");
	index_def_delete(def);
	return b.index != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	for (size_t id = 0; id < 4000; id++)
		if (b.tuples[id] != NULL)
			tuple_unref(b.tuples[id]);
	memset(b.tuples, 0, sizeof(b.tuples));
	b.count = 0;
	index_delete(b.index);
	tuple_format_unref(b.format);
	key_def_delete(b.def);
	return 0;
}

/** Ids that change() was called for, for a test that wants to know. */
static bool touched[4000];

/** Inserts, replaces or deletes the tuple of an id. */
static void change(uint64_t id)
{
	touched[id] = true;
	struct tuple *old = b.tuples[id], *result;
	if (old != NULL && random_below(2)) {
		assert_int_equal(b.index->vtab->replace(b.index, old, NULL, DUP_REPLACE, &result), 0);
		assert_ptr_equal(result, old);
		b.tuples[id] = NULL;
		b.count--;
		tuple_unref(old);
		return;
	}
	struct tuple *new = make_tuple(b.format, id, 1);
	if (old != NULL) {
		assert_int_equal(b.index->vtab->replace(b.index, NULL, new, DUP_INSERT, &result), -1);
		assert_int_equal(diag_last()->code, ER_TUPLE_FOUND);
		diag_clear(diag_get());
	}
	assert_int_equal(b.index->vtab->replace(b.index, NULL, new, DUP_REPLACE, &result), 0);
	assert_ptr_equal(result, old);
	b.tuples[id] = new;
	if (old == NULL)
		b.count++;
	else
		tuple_unref(old);
}

static void check(void)
{
	assert_true(b.index->vtab->check(b.index));
	assert_int_equal(b.index->vtab->size(b.index), b.count);
	for (uint64_t id = 0; id < 4000; id++) {
		char key[16];
		struct tuple *result;
		mp_encode_uint(key, id);
		assert_int_equal(b.index->vtab->get(b.index, key, 1, &result), 0);
		assert_ptr_equal(result, b.tuples[id]);
	}
}

static void test_random(void **state)
{
	for (int round = 0; round < 60; round++) {
		uint64_t range = 1 + random_below(4000);
		for (int i = 0; i < 500; i++)
			change(random_below(range));
		check();
	}
}

static void test_iterators(void **state)
{
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 200; i++)
			change(random_below(4000));
		/* What is there all the time is seen once, whatever else happens. The
		 * references keep a new tuple from getting an old one's address. */
		static struct tuple *before[4000];
		static int seen[4000];
		memcpy(before, b.tuples, sizeof(before));
		for (int id = 0; id < 4000; id++)
			if (before[id] != NULL)
				tuple_ref(before[id]);
		memset(seen, 0, sizeof(seen));
		memset(touched, 0, sizeof(touched));
		struct iterator *it = b.index->vtab->iterator(b.index, ITER_ALL, NULL, 0);
		struct tuple *tuple;
		while ((tuple = iterator_take(it)) != NULL) {
			uint64_t id = tuple_id(tuple);
			assert_ptr_equal(tuple, b.tuples[id]);
			seen[id]++;
			for (unsigned n = random_below(3); n > 0; n--)
				change(random_below(4000));
		}
		it->free(it);
		for (int id = 0; id < 4000; id++)
			if (before[id] != NULL && !touched[id])
				assert_int_equal(seen[id], 1);
		for (int id = 0; id < 4000; id++)
			if (before[id] != NULL)
				tuple_unref(before[id]);
	}
}

/** GT from each tuple that ALL returns goes on as ALL does. */
static void test_greater(void **state)
{
	for (int i = 0; i < 300; i++)
		change(random_below(4000));
	struct iterator *all = b.index->vtab->iterator(b.index, ITER_ALL, NULL, 0);
	struct tuple *tuple = iterator_take(all);
	int64_t left = b.count;
	while (tuple != NULL) {
		char key[16];
		mp_encode_uint(key, tuple_id(tuple));
		assert_int_equal(b.index->vtab->count(b.index, ITER_GT, key, 1), --left);
		struct iterator *gt = b.index->vtab->iterator(b.index, ITER_GT, key, 1);
		tuple = iterator_take(all);
		assert_ptr_equal(iterator_take(gt), tuple);
		gt->free(gt);
	}
	all->free(all);
	assert_int_equal(left, 0);
	assert_null(b.index->vtab->iterator(b.index, ITER_GE, NULL, 0));
	assert_string_equal(diag_last()->message, "Index 'pk' (HASH) of space 's' (memtx) does not "
			    "support requested iterator type");
	diag_clear(diag_get());
}

static void test_frozen_view(void **state)
{
	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < 300; i++)
			change(random_below(4000));
		static struct tuple *frozen[4000];
		size_t count = b.count;
		memcpy(frozen, b.tuples, sizeof(frozen));
		tuple_read_view_open();
		struct iterator *it = b.index->vtab->frozen_view(b.index);
		for (int i = 0; i < 300; i++)
			change(random_below(4000));
		check();
		struct tuple *tuple;
		while ((tuple = iterator_take(it)) != NULL) {
			assert_ptr_equal(frozen[tuple_id(tuple)], tuple);
			count--;
		}
		assert_int_equal(count, 0);
		it->free(it);
		tuple_read_view_close();
	}
}

/** Gathers so many rows, in no order. */
static void gather(struct index_load *load, size_t count)
{
	index_load_create(load, b.index, random_below(2) * count);
	while (b.count < count) {
		uint64_t id = random_below(4000);
		if (b.tuples[id] != NULL)
			continue;
		b.tuples[id] = make_tuple(b.format, id, 1);
		b.count++;
		assert_int_equal(index_load_add(load, b.tuples[id]), 0);
	}
}

static void test_load(void **state)
{
	static const size_t counts[] = {0, 1, 2, 12, 13, 100, 2999, 4000};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct index_load load;
		gather(&load, counts[i]);
		assert_int_equal(index_load_finish(&load), 0);
		index_load_destroy(&load);
		check();
		for (int n = 0; n < 1000; n++)
			change(random_below(4000));
		check();
		teardown(NULL);
		setup(NULL);
	}
}

static void test_load_duplicate(void **state)
{
	struct index_load load;
	gather(&load, 500);
	assert_int_equal(index_load_add(&load, load.entries[random_below(500)].tuple), 0);
	assert_int_equal(index_load_finish(&load), -1);
	assert_int_equal(diag_last()->code, ER_TUPLE_FOUND);
	diag_clear(diag_get());
	index_load_destroy(&load);
}

/** More rows than there is room for at the end of the table: they go in one by one. */
static void test_load_overflow(void **state)
{
	struct index_load load;
	gather(&load, 500);
	for (size_t i = 0; i < load.count; i++)
		load.entries[i].hint = UINT32_MAX;
	assert_int_equal(b.index->vtab->load_reserve(b.index, load.count), 0);
	assert_false(b.index->vtab->load(b.index, &load));
	assert_int_equal(b.index->vtab->size(b.index), 0);
	assert_true(b.index->vtab->check(b.index));
	assert_int_equal(index_load_put(&load), 0);
	index_load_destroy(&load);
	check();
}

static void test_out_of_memory(void **state)
{
	int failed = 0;
	for (int i = 0; i < 3000; i++) {
		uint64_t id = random_below(4000);
		if (b.tuples[id] != NULL) {
			change(id);
			continue;
		}
		struct tuple *tuple = make_tuple(b.format, id, 1), *result;
		index_memory.limit = index_memory.used + (random_below(2) ? 0 : SIZE_MAX / 2);
		int rc = b.index->vtab->replace(b.index, NULL, tuple, DUP_INSERT, &result);
		index_memory.limit = SIZE_MAX;
		if (rc == 0) {
			b.tuples[id] = tuple;
			b.count++;
		} else {
			assert_true(error_is(diag_last(), &type_OutOfMemory));
			diag_clear(diag_get());
			tuple_unref(tuple);
			failed++;
		}
	}
	assert_true(failed > 0);
	check();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_iterators, setup, teardown),
		cmocka_unit_test_setup_teardown(test_greater, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frozen_view, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_duplicate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
