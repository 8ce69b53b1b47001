/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TREE indexes against a sorted array: random changes of several patterns, with
 * frozen views open and iterators under way.
 */
#include "db/error.h"
#include "db/index/load.h"
#include "index_model.h"

enum index_kind {
	KIND_UNIQUE, KIND_UNIQUE_NO_HINT, KIND_NON_UNIQUE, KIND_NULLABLE_UNIQUE,
	KIND_STRING, KIND_STRING_NULLABLE,
};

/** The index under test and all it needs. */
struct bench {
	enum index_kind kind;
	struct key_def *pk_def;
	struct tuple_format *format;
	struct index *index;
	struct model model;
};

static void bench_open(struct bench *b, enum index_kind kind)
{
	struct key_part pk = key_part_of(0, FIELD_TYPE_UNSIGNED, false);
	bool is_string = kind == KIND_STRING || kind == KIND_STRING_NULLABLE;
	struct key_part sk = key_part_of(1, is_string ? FIELD_TYPE_STRING : FIELD_TYPE_UNSIGNED,
					 kind != KIND_STRING);
	bool is_primary = kind == KIND_UNIQUE || kind == KIND_UNIQUE_NO_HINT;
	b->kind = kind;
	make_string_values = is_string;
	b->pk_def = key_def_new(&pk, 1);
	struct key_def *sk_def = key_def_new(&sk, 1);
	struct key_def *keys[] = {b->pk_def, sk_def};
	b->format = tuple_format_new(keys, 2, NULL, 0, 0);
	assert_non_null(b->format);
	struct index_def *def = index_def_new(512, !is_primary, "i", 1, INDEX_TREE,
					      kind != KIND_NON_UNIQUE && kind != KIND_STRING_NULLABLE,
					      kind != KIND_UNIQUE_NO_HINT,
					      is_primary ? b->pk_def : sk_def,
					      is_primary ? NULL : b->pk_def);
	b->index = index_new(def, "s");
	assert_non_null(b->index);
	b->model = (struct model){.def = b->index->def->cmp_def};
	index_def_delete(def);
	key_def_delete(sk_def);
}

static void bench_close(struct bench *b)
{
	for (size_t i = 0; i < b->model.count; i++)
		tuple_unref(b->model.tuples[i]);
	model_free(&b->model);
	index_delete(b->index);
	tuple_format_unref(b->format);
	key_def_delete(b->pk_def);
}

/** What keeps a new tuple out of the index, or NULL. */
static struct tuple *bench_conflict(struct bench *b, struct tuple *tuple)
{
	if (b->kind == KIND_NULLABLE_UNIQUE) {
		const struct key_def *key_def = b->index->def->key_def;
		for (size_t i = 0; i < b->model.count; i++)
			if (!tuple_key_has_null(tuple, key_def) &&
			    tuple_compare(b->model.tuples[i], tuple, key_def) == 0)
				return b->model.tuples[i];
	}
	return model_find(&b->model, tuple);
}

static void bench_insert(struct bench *b, uint64_t id, int64_t value)
{
	if (b->kind == KIND_NON_UNIQUE && id % 5 == 0)
		id += UINT32_MAX - 40;
	struct tuple *tuple = make_tuple(b->format, id, value), *result;
	int rc = b->index->vtab->replace(b->index, NULL, tuple, DUP_INSERT, &result);
	if (bench_conflict(b, tuple) != NULL) {
		assert_int_equal(rc, -1);
		diag_clear(diag_get());
		tuple_unref(tuple);
		return;
	}
	assert_int_equal(rc, 0);
	assert_null(result);
	model_insert(&b->model, tuple);
}

static void bench_delete_at(struct bench *b, size_t pos)
{
	struct tuple *tuple = b->model.tuples[pos], *result;
	assert_int_equal(b->index->vtab->replace(b->index, tuple, NULL, DUP_REPLACE, &result), 0);
	assert_ptr_equal(result, tuple);
	model_remove(&b->model, tuple);
	tuple_unref(tuple);
}

/** Replaces a tuple by one with the same id and another value. */
static void bench_update_at(struct bench *b, size_t pos, int64_t value)
{
	struct tuple *old = b->model.tuples[pos], *result;
	struct tuple *new = make_tuple(b->format, tuple_id(old), value);
	struct tuple *conflict = bench_conflict(b, new);
	int rc = b->index->vtab->replace(b->index, old, new, DUP_REPLACE_OR_INSERT, &result);
	if (conflict != NULL && conflict != old) {
		assert_int_equal(rc, -1);
		diag_clear(diag_get());
		tuple_unref(new);
		return;
	}
	assert_int_equal(rc, 0);
	assert_ptr_equal(result, old);
	model_remove(&b->model, old);
	model_insert(&b->model, new);
	tuple_unref(old);
}

static void bench_check(struct bench *b)
{
	assert_true(b->index->vtab->check(b->index));
	assert_int_equal(b->index->vtab->size(b->index), b->model.count);
	struct iterator *it = b->index->vtab->iterator(b->index, ITER_ALL, NULL, 0);
	for (size_t i = 0; i < b->model.count; i++)
		assert_ptr_equal(iterator_take(it), b->model.tuples[i]);
	assert_null(iterator_take(it));
	it->free(it);
	it = b->index->vtab->iterator(b->index, ITER_LE, NULL, 0);
	for (size_t i = b->model.count; i > 0; i--)
		assert_ptr_equal(iterator_take(it), b->model.tuples[i - 1]);
	assert_null(iterator_take(it));
	it->free(it);
}

static int64_t random_value(struct bench *b, uint64_t range)
{
	if ((b->kind == KIND_NULLABLE_UNIQUE || b->kind == KIND_STRING_NULLABLE) &&
	    random_below(4) == 0)
		return VALUE_NIL;
	if (b->kind != KIND_NON_UNIQUE)
		return random_below(range);
	/* Some lie where hints begin to tell of less. */
	return random_below(range / 20 + 1) + (random_below(4) == 0 ? (1ll << 31) - 3 : 0);
}

/** One random change; `growth` of 10 are insertions. */
static void bench_change(struct bench *b, uint64_t range, unsigned growth)
{
	if (random_below(10) < growth || b->model.count == 0)
		bench_insert(b, random_below(range), random_value(b, range));
	else if (random_below(3) > 0)
		bench_delete_at(b, random_below(b->model.count));
	else
		bench_update_at(b, random_below(b->model.count), random_value(b, range));
}

static void test_random(enum index_kind kind, int rounds)
{
	struct bench b;
	bench_open(&b, kind);
	for (int round = 0; round < rounds; round++) {
		unsigned growth = 2 + random_below(7);
		for (int i = 0; i < 500; i++)
			bench_change(&b, 6000, growth);
		bench_check(&b);
	}
	while (b.model.count > 0)
		bench_delete_at(&b, random_below(b.model.count));
	bench_check(&b);
	bench_close(&b);
}

static void test_random_unique(void **state)
{
	test_random(KIND_UNIQUE, 60);
}

static void test_random_no_hint(void **state)
{
	test_random(KIND_UNIQUE_NO_HINT, 60);
}

static void test_random_non_unique(void **state)
{
	test_random(KIND_NON_UNIQUE, 60);
}

static void test_random_nullable(void **state)
{
	test_random(KIND_NULLABLE_UNIQUE, 12);
}

static void test_random_string(void **state)
{
	test_random(KIND_STRING, 100);
	test_random(KIND_STRING_NULLABLE, 100);
}

/** Fills in order, then empties in order, from either end. */
static void test_sequential(void **state)
{
	for (int mode = 0; mode < 8; mode++) {
		struct bench b;
		bench_open(&b, mode & 4 ? KIND_STRING : KIND_UNIQUE);
		for (int i = 0; i < 10000; i++)
			bench_insert(&b, mode & 1 ? i : 10000 - i, mode & 1 ? i : 10000 - i);
		bench_check(&b);
		while (b.model.count > 0) {
			bench_delete_at(&b, mode & 2 ? 0 : b.model.count - 1);
			if (b.model.count % 1000 == 0)
				bench_check(&b);
		}
		bench_close(&b);
	}
}

/** A frozen view with what it must show, at a place. */
struct frozen {
	struct iterator *it;
	struct model expected;
	size_t pos;
};

static void frozen_open(struct frozen *f, struct bench *b)
{
	tuple_read_view_open();
	f->it = b->index->vtab->frozen_view(b->index);
	f->expected = model_freeze(&b->model);
	f->pos = 0;
}

static void frozen_walk(struct frozen *f, size_t steps)
{
	for (; steps > 0 && f->pos < f->expected.count; steps--, f->pos++)
		assert_ptr_equal(iterator_take(f->it), f->expected.tuples[f->pos]);
	if (f->pos == f->expected.count)
		assert_null(iterator_take(f->it));
}

static void frozen_close(struct frozen *f)
{
	f->it->free(f->it);
	tuple_read_view_close();
	model_free(&f->expected);
	f->it = NULL;
}

/** Several views, opened and closed in any order, while the tree changes. */
static void test_views_of(enum index_kind kind)
{
	enum { VIEW_MAX = 4 };
	struct bench b;
	struct frozen views[VIEW_MAX] = {{0}};
	bench_open(&b, kind);
	for (int round = 0; round < 400; round++) {
		struct frozen *f = &views[random_below(VIEW_MAX)];
		if (f->it == NULL) {
			frozen_open(f, &b);
		} else if (random_below(2) == 0) {
			frozen_walk(f, SIZE_MAX);
			frozen_close(f);
		}
		unsigned growth = 2 + random_below(7);
		for (int i = 0; i < 60; i++)
			bench_change(&b, 4000, growth);
		for (int i = 0; i < VIEW_MAX; i++)
			if (views[i].it != NULL)
				frozen_walk(&views[i], random_below(500));
		if (round % 20 == 0)
			bench_check(&b);
	}
	/* The index goes first, its views go on. */
	struct model rest = model_freeze(&b.model);
	for (int i = 0; i < VIEW_MAX; i++)
		if (views[i].it == NULL)
			frozen_open(&views[i], &b);
	bench_close(&b);
	for (int i = 0; i < VIEW_MAX; i++) {
		frozen_walk(&views[i], SIZE_MAX);
		frozen_close(&views[i]);
	}
	model_free(&rest);
	assert_int_equal(index_memory.used, 0);
}

static void test_frozen_views(void **state)
{
	test_views_of(KIND_UNIQUE);
	test_views_of(KIND_NON_UNIQUE);
	test_views_of(KIND_STRING);
	test_views_of(KIND_STRING_NULLABLE);
}

/** An iterator goes on behind its last tuple whatever happened to the tree. */
static void test_iterator_under_changes(enum index_kind kind, enum iterator_type type)
{
	struct bench b;
	bench_open(&b, kind);
	for (int i = 0; i < 2000; i++)
		bench_insert(&b, random_below(4000), random_value(&b, 4000));
	for (int round = 0; round < 20; round++) {
		struct iterator *it = b.index->vtab->iterator(b.index, type, NULL, 0);
		struct tuple *last = NULL;
		for (;;) {
			size_t pos = last != NULL ? model_bound(&b.model, last) : 0;
			struct tuple *expected;
			if (type == ITER_GE) {
				if (last != NULL && pos < b.model.count &&
				    tuple_compare(b.model.tuples[pos], last, b.model.def) == 0)
					pos++;
				expected = pos < b.model.count ? b.model.tuples[pos] : NULL;
			} else {
				if (last == NULL)
					pos = b.model.count;
				expected = pos > 0 ? b.model.tuples[pos - 1] : NULL;
			}
			struct tuple *tuple = iterator_take(it);
			assert_ptr_equal(tuple, expected);
			if (last != NULL)
				tuple_unref(last);
			last = tuple;
			if (tuple == NULL)
				break;
			tuple_ref(last);
			if (random_below(3) == 0) {
				size_t at = model_bound(&b.model, last);
				bench_delete_at(&b, at);
			}
			for (unsigned n = random_below(4); n > 0; n--)
				bench_change(&b, 4000, b.model.count < 2500 ? 6 : 2);
		}
		it->free(it);
	}
	bench_check(&b);
	bench_close(&b);
}

static void test_iterators(void **state)
{
	test_iterator_under_changes(KIND_UNIQUE, ITER_GE);
	test_iterator_under_changes(KIND_UNIQUE, ITER_LE);
	test_iterator_under_changes(KIND_NON_UNIQUE, ITER_GE);
	test_iterator_under_changes(KIND_NON_UNIQUE, ITER_LE);
	test_iterator_under_changes(KIND_NULLABLE_UNIQUE, ITER_GE);
	test_iterator_under_changes(KIND_STRING, ITER_GE);
	test_iterator_under_changes(KIND_STRING_NULLABLE, ITER_LE);
}

/** Does a tuple compare with the key as the iterator's type asks? */
static bool type_matches(enum iterator_type type, int rc)
{
	switch (type) {
	case ITER_EQ: case ITER_REQ: return rc == 0;
	case ITER_LT: return rc < 0;
	case ITER_LE: return rc <= 0;
	case ITER_GT: return rc > 0;
	default: return rc >= 0;
	}
}

/** All types of iterators with keys, their counts, minimum and maximum. */
static void test_ranges(void **state)
{
	for (int kind = KIND_UNIQUE; kind <= KIND_STRING_NULLABLE; kind++) {
		struct bench b;
		bench_open(&b, kind);
		for (int i = 0; i < 1500; i++)
			bench_insert(&b, random_below(3000), random_value(&b, 3000));
		const struct index_vtab *vtab = b.index->vtab;
		for (int round = 0; round < 300; round++) {
			char key[64];
			encode_value(key, random_value(&b, 3000));
			struct tuple *first = NULL, *last = NULL, *result;
			for (enum iterator_type type = ITER_EQ; type <= ITER_GT; type++) {
				bool is_reverse = type == ITER_LT || type == ITER_LE ||
					type == ITER_REQ;
				struct iterator *it = vtab->iterator(b.index, type, key, 1);
				int64_t count = 0;
				for (size_t i = 0; i < b.model.count; i++) {
					size_t pos = is_reverse ? b.model.count - 1 - i : i;
					struct tuple *t = b.model.tuples[pos];
					int rc = tuple_compare_with_key(t, key, 1, b.model.def);
					if (!type_matches(type, rc))
						continue;
					assert_ptr_equal(iterator_take(it), t);
					count++;
					if (type == ITER_EQ && first == NULL)
						first = t;
					if (type == ITER_EQ)
						last = t;
				}
				assert_null(iterator_take(it));
				it->free(it);
				if (type == ITER_ALL)
					count = b.model.count;
				assert_int_equal(vtab->count(b.index, type, key, 1), count);
			}
			assert_int_equal(vtab->min(b.index, key, 1, &result), 0);
			assert_ptr_equal(result, first);
			assert_int_equal(vtab->max(b.index, key, 1, &result), 0);
			assert_ptr_equal(result, last);
		}
		bench_close(&b);
	}
}

/* Bulk load ---------------------------------------------------------------- */

/** Loads an index of the same definition with the model's tuples, in any order. */
static struct index *load_anew(struct bench *b, struct tuple *one_more, int *rc)
{
	struct index *index = index_new(b->index->def, "s");
	size_t count = b->model.count;
	struct tuple **tuples = malloc((count + 2) * sizeof(*tuples));
	if (count > 0)
		memcpy(tuples, b->model.tuples, count * sizeof(*tuples));
	if (one_more != NULL)
		tuples[count++] = one_more;
	for (size_t i = count; i > 1; i--) {
		size_t j = random_below(i);
		struct tuple *t = tuples[i - 1];
		tuples[i - 1] = tuples[j];
		tuples[j] = t;
	}
	struct index_load load;
	index_load_create(&load, index, random_below(2) * count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(index_load_add(&load, tuples[i]), 0);
	*rc = index_load_finish(&load);
	index_load_destroy(&load);
	free(tuples);
	return index;
}

static void test_load_of(enum index_kind kind, size_t count)
{
	struct bench b;
	int rc;
	bench_open(&b, kind);
	for (size_t i = 0; i < count; i++)
		bench_insert(&b, random_below(4 * count), random_value(&b, 4 * count));
	struct index *loaded = load_anew(&b, NULL, &rc);
	assert_int_equal(rc, 0);
	index_delete(b.index);
	b.index = loaded;
	b.model.def = loaded->def->cmp_def;
	bench_check(&b);
	for (size_t i = 0; i < count; i++)
		bench_change(&b, 4 * count, i < count / 2 ? 7 : 3);
	bench_check(&b);
	/* A row whose key is there: the load fails, where the index is unique. */
	if (b.model.count > 0 && b.index->def->is_unique) {
		const struct tuple *last = b.model.tuples[b.model.count - 1];
		const char *data = tuple_data(last);
		struct tuple *same = tuple_new(b.format, data, data + last->bsize);
		if (bench_conflict(&b, same) != NULL) {
			index_delete(load_anew(&b, same, &rc));
			assert_int_equal(rc, -1);
			assert_int_equal(error_client_code(diag_last()), ER_TUPLE_FOUND);
			diag_clear(diag_get());
		}
		tuple_unref(same);
	}
	bench_close(&b);
	assert_int_equal(index_memory.used, 0);
}

static void test_load(void **state)
{
	static const size_t counts[] = {0, 1, 2, 7, 8, 60, 61, 300, 2600, 9000};
	for (enum index_kind kind = KIND_UNIQUE; kind <= KIND_STRING_NULLABLE; kind++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			/* Its model looks for conflicts row by row. */
			if (kind == KIND_NULLABLE_UNIQUE && counts[i] > 3000)
				continue;
			test_load_of(kind, counts[i]);
		}
}

/** Strings that begin alike for long, and end one within another. */
static void test_load_long_strings(void **state)
{
	struct bench b;
	int rc;
	bench_open(&b, KIND_STRING);
	enum { COUNT = 3000, LENGTH_MAX = 2000 };
	char *data = malloc(LENGTH_MAX + 32);
	for (int i = 0; i < COUNT; i++) {
		size_t length = random_below(LENGTH_MAX);
		char text[LENGTH_MAX];
		memset(text, i % 3 ? 'a' : '\0', length);
		if (length > 0 && i % 2)
			text[random_below(length)] = 'b';
		char *p = mp_encode_array(data, 2);
		p = mp_encode_uint(p, i);
		p = mp_encode_str(p, text, length);
		struct tuple *tuple = tuple_new(b.format, data, p);
		if (bench_conflict(&b, tuple) != NULL)
			tuple_unref(tuple);
		else
			model_insert(&b.model, tuple);
	}
	free(data);
	struct index *loaded = load_anew(&b, NULL, &rc);
	assert_int_equal(rc, 0);
	index_delete(b.index);
	b.index = loaded;
	b.model.def = loaded->def->cmp_def;
	bench_check(&b);
	bench_close(&b);
}

/** With no memory left a change fails and leaves the tree as it was. */
static void test_out_of_memory(void **state)
{
	struct bench b;
	bench_open(&b, KIND_UNIQUE);
	for (int i = 0; i < 3000; i++)
		bench_insert(&b, random_below(1000000), 1);
	struct frozen view;
	frozen_open(&view, &b);
	int failed = 0;
	for (int i = 0; i < 2000; i++) {
		struct tuple *tuple = make_tuple(b.format, 2000000 + random_below(1000000), 1);
		struct tuple *result;
		if (model_find(&b.model, tuple) != NULL) {
			tuple_unref(tuple);
			continue;
		}
		index_memory.limit = index_memory.used + random_below(3) * 1024;
		if (b.index->vtab->replace(b.index, NULL, tuple, DUP_INSERT, &result) == 0) {
			model_insert(&b.model, tuple);
		} else {
			assert_true(error_is(diag_last(), &type_OutOfMemory));
			diag_clear(diag_get());
			tuple_unref(tuple);
			failed++;
		}
		/* A deletion does not fail. */
		if (random_below(4) == 0)
			bench_delete_at(&b, random_below(b.model.count));
		if (i % 100 == 0)
			bench_check(&b);
	}
	assert_true(failed > 0);
	index_memory.limit = SIZE_MAX;
	bench_check(&b);
	frozen_walk(&view, SIZE_MAX);
	frozen_close(&view);
	bench_close(&b);
	assert_int_equal(index_memory.used, 0);
	assert_int_equal(tuple_memory.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_unique),
		cmocka_unit_test(test_random_no_hint),
		cmocka_unit_test(test_random_non_unique),
		cmocka_unit_test(test_random_nullable),
		cmocka_unit_test(test_random_string),
		cmocka_unit_test(test_sequential),
		cmocka_unit_test(test_frozen_views),
		cmocka_unit_test(test_iterators),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_load_long_strings),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
