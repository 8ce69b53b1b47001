/* SPDX-License-Identifier: BSD-2-Clause
 *
 * RTREE indexes against a look at every row: random boxes and points of 1 to 20
 * dimensions, all iterators, nearest neighbours by both distances, iterators over an
 * index that changes, memory that runs out.
 */
#include <math.h>

#include "special_index.h"

/** By id; as the index stores it: low, high, low, high ... */
static double boxes[ID_MAX][RTREE_COORDS_MAX];
static unsigned dimension;

static double draw_coord(void)
{
	switch (random_below(40)) {
	case 0: return INFINITY;
	case 1: return -INFINITY;
	case 2: return 1e300;
	case 3: return -1e300;
	case 4: return random_below(1000) / 7.0;
	/* Few values: many that are equal or touch. */
	default: return (double)random_below(30) - 5;
	}
}

/** Encodes a random point or box, and fills in what it is. */
static char *draw_box(char *p, double *box)
{
	bool is_point = random_below(2);
	double corners[2][RTREE_DIMENSION_MAX];
	for (unsigned i = 0; i < dimension; i++) {
		corners[0][i] = draw_coord();
		corners[1][i] = is_point ? corners[0][i] :
			random_below(2) ? corners[0][i] + random_below(6) : draw_coord();
		box[2 * i] = fmin(corners[0][i], corners[1][i]);
		box[2 * i + 1] = fmax(corners[0][i], corners[1][i]);
	}
	p = mp_encode_array(p, is_point ? dimension : 2 * dimension);
	for (unsigned corner = 0; corner < (is_point ? 1 : 2); corner++)
		for (unsigned i = 0; i < dimension; i++)
			p = mp_encode_double(p, corners[corner][i]);
	return p;
}

/** Inserts, moves, rewrites or deletes the row of an id. */
static void change(uint64_t id)
{
	char value[1024];
	double box[RTREE_COORDS_MAX];
	if (b.tuples[id] != NULL && random_below(3) == 0) {
		assert_int_equal(special_put(id, NULL), 0);
		return;
	}
	if (b.tuples[id] != NULL && random_below(3) == 0) {
		/* The same box in another tuple. */
		const char *field = tuple_field(b.tuples[id], 1), *end = field;
		mp_next(&end);
		assert_int_equal(special_put(id, special_row(id, field, end)), 0);
		return;
	}
	char *end = draw_box(value, box);
	assert_int_equal(special_put(id, special_row(id, value, end)), 0);
	memcpy(boxes[id], box, sizeof(box));
}

struct question {
	enum iterator_type type;
	double key[RTREE_COORDS_MAX];
};

static bool matches(uint64_t id, const void *arg)
{
	const struct question *q = arg;
	for (unsigned i = 0; i < 2 * dimension; i += 2) {
		double low = boxes[id][i], high = boxes[id][i + 1];
		double key_low = q->key[i], key_high = q->key[i + 1];
		bool is_good = true;
		switch (q->type) {
		case ITER_EQ: is_good = low == key_low && high == key_high; break;
		case ITER_OVERLAPS: is_good = low <= key_high && high >= key_low; break;
		case ITER_LE: is_good = low >= key_low && high <= key_high; break;
		case ITER_LT: is_good = low > key_low && high < key_high; break;
		case ITER_GE: is_good = low <= key_low && high >= key_high; break;
		case ITER_GT: is_good = low < key_low && high > key_high; break;
		default: break;
		}
		if (!is_good)
			return false;
	}
	return true;
}

static void check_questions(void)
{
	static const enum iterator_type types[] = {
		ITER_EQ, ITER_ALL, ITER_LT, ITER_LE, ITER_GE, ITER_GT, ITER_OVERLAPS,
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char key[1024];
		struct question q = {.type = types[i]};
		draw_box(key, q.key);
		special_check(q.type, key, 1, matches, &q);
		uint64_t id = random_below(ID_MAX);
		if (b.tuples[id] == NULL)
			continue;
		memcpy(q.key, boxes[id], sizeof(q.key));
		special_check(q.type, tuple_field(b.tuples[id], 1), 1, matches, &q);
	}
	struct question all = {.type = ITER_ALL};
	special_check(ITER_ALL, NULL, 0, matches, &all);
}

static double distance_to(uint64_t id, const double *key)
{
	double sum = 0;
	for (unsigned i = 0; i < 2 * dimension; i += 2) {
		double at = key[i], low = boxes[id][i], high = boxes[id][i + 1];
		double gap = at < low ? low - at : at > high ? at - high : 0;
		sum += b.index->def->distance == RTREE_EUCLID ? gap * gap : gap;
	}
	return sum;
}

/** All rows, none twice, in the order of their distance, then of their ids. */
static void check_neighbors(void)
{
	char key[1024];
	double box[RTREE_COORDS_MAX], last = -1;
	uint64_t last_id = 0;
	size_t count = 0;
	draw_box(key, box);
	struct iterator *it = b.index->vtab->iterator(b.index, ITER_NEIGHBOR, key, 1);
	struct tuple *tuple;
	while ((tuple = iterator_take(it)) != NULL) {
		uint64_t id = tuple_id(tuple);
		double distance = distance_to(id, box);
		assert_true(distance > last || (distance == last && id > last_id));
		last = distance;
		last_id = id;
		count++;
	}
	it->free(it);
	assert_int_equal(count, b.count);
}

static void random_run(unsigned dimensions, enum rtree_distance distance)
{
	dimension = dimensions;
	special_open(INDEX_RTREE, FIELD_TYPE_ARRAY, dimensions, distance);
	for (int round = 0; round < 25; round++) {
		for (int i = 0; i < 250; i++)
			change(random_below(ID_MAX));
		assert_true(b.index->vtab->check(b.index));
		assert_int_equal(b.index->vtab->size(b.index), b.count);
		check_questions();
		check_neighbors();
	}
	/* Down to nothing: nodes merge, the tree gets lower. */
	for (uint64_t id = 0; id < ID_MAX; id++) {
		if (b.tuples[id] != NULL)
			assert_int_equal(special_put(id, NULL), 0);
		if (id % 100 == 0)
			assert_true(b.index->vtab->check(b.index));
	}
	assert_int_equal(b.index->vtab->bsize(b.index), 0);
	special_close();
}

static void test_random(void **state)
{
	static const unsigned dimensions[] = {1, 2, 3, 8, 20};
	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		random_run(dimensions[i], i % 2 ? RTREE_EUCLID : RTREE_MANHATTAN);
}

/** An iterator goes on in a changed index: rows that stay are found exactly once. */
static void iterate_under_change(enum iterator_type type)
{
	static bool is_touched[ID_MAX], is_found[ID_MAX];
	memset(is_touched, 0, sizeof(is_touched));
	memset(is_found, 0, sizeof(is_found));
	for (int i = 0; i < 2000; i++)
		change(random_below(ID_MAX));
	char key[64];
	struct question q = {.type = type};
	draw_box(key, q.key);
	struct iterator *it = b.index->vtab->iterator(b.index, type, key, 1);
	struct tuple *tuple;
	while ((tuple = iterator_take(it)) != NULL) {
		uint64_t id = tuple_id(tuple);
		assert_ptr_equal(tuple, b.tuples[id]);
		assert_true(!is_found[id] || is_touched[id]);
		is_found[id] = true;
		for (int i = 0; i < 2; i++) {
			id = random_below(ID_MAX);
			if (random_below(4) == 0)
				is_touched[id] = true, change(id);
		}
	}
	it->free(it);
	for (uint64_t id = 0; id < ID_MAX; id++) {
		if (b.tuples[id] != NULL && !is_touched[id])
			assert_true(is_found[id] == (type == ITER_NEIGHBOR || matches(id, &q)));
	}
}

static void test_iterate_under_change(void **state)
{
	static const enum iterator_type types[] = {ITER_ALL, ITER_OVERLAPS, ITER_LE, ITER_NEIGHBOR};
	dimension = 2;
	special_open(INDEX_RTREE, FIELD_TYPE_ARRAY, 2, RTREE_EUCLID);
	for (size_t i = 0; i < 4 * sizeof(types) / sizeof(types[0]); i++)
		iterate_under_change(types[i % 4]);
	special_close();
}

/** Each neighbour is rewritten, and a copy of it is no new neighbour. */
static void test_rewrite_neighbors(void **state)
{
	dimension = 2;
	special_open(INDEX_RTREE, FIELD_TYPE_ARRAY, 2, RTREE_EUCLID);
	for (uint64_t id = 0; id < ID_MAX; id++)
		change(id);
	char key[64];
	double box[RTREE_COORDS_MAX];
	draw_box(key, box);
	struct iterator *it = b.index->vtab->iterator(b.index, ITER_NEIGHBOR, key, 1);
	struct tuple *tuple;
	size_t count = 0;
	while ((tuple = iterator_take(it)) != NULL) {
		uint64_t id = tuple_id(tuple);
		const char *field = tuple_field(tuple, 1), *end = field;
		mp_next(&end);
		assert_int_equal(special_put(id, special_row(id, field, end)), 0);
		count++;
	}
	it->free(it);
	assert_int_equal(count, b.count);
	special_close();
}

static void test_out_of_memory(void **state)
{
	unsigned failed = 0;
	dimension = 3;
	special_open(INDEX_RTREE, FIELD_TYPE_ARRAY, 3, RTREE_EUCLID);
	for (int i = 0; i < 4000; i++) {
		char value[256];
		double box[RTREE_COORDS_MAX];
		uint64_t id = random_below(ID_MAX);
		char *end = draw_box(value, box);
		index_memory.limit = index_memory.used + (random_below(2) ? 0 : SIZE_MAX / 2);
		int rc = special_put(id, special_row(id, value, end));
		index_memory.limit = SIZE_MAX;
		if (rc == 0) {
			memcpy(boxes[id], box, sizeof(box));
		} else {
			assert_true(error_is(diag_last(), &type_OutOfMemory));
			failed++;
		}
	}
	assert_true(failed > 10);
	assert_true(b.index->vtab->check(b.index));
	check_questions();
	special_close();
}

static void assert_refused(const char *value, const char *end, uint32_t code)
{
	assert_int_equal(special_put(0, special_row(0, value, end)), -1);
	assert_int_equal(diag_last()->code, code);
	assert_int_equal(b.count, 0);
}

static void test_bad_boxes(void **state)
{
	char value[256], *p;
	special_open(INDEX_RTREE, FIELD_TYPE_ARRAY, 2, RTREE_EUCLID);
	for (uint32_t count = 0; count <= 6; count++) {
		p = mp_encode_array(value, count);
		for (uint32_t i = 0; i < count; i++)
			p = mp_encode_uint(p, i);
		if (count != 2 && count != 4)
			assert_refused(value, p, ER_RTREE_RECT);
	}
	p = mp_encode_uint(mp_encode_double(mp_encode_array(value, 2), NAN), 1);
	assert_refused(value, p, ER_RTREE_RECT);
	p = mp_encode_uint(mp_encode_str(mp_encode_array(value, 2), "a", 1), 1);
	assert_refused(value, p, ER_FIELD_TYPE);
	p = mp_encode_uint(mp_encode_uint(mp_encode_array(value, 2), UINT64_MAX), 1);
	assert_refused(value, p, ER_FIELD_TYPE);
	special_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_iterate_under_change),
		cmocka_unit_test(test_rewrite_neighbors),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_bad_boxes),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
