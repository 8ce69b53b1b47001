/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Maps against a naive model, an array of what must be there. Few distinct keys
 * make long runs, and so deletions that close gaps across the table's end.
 */
#include "harness.h"

#include "core/map.h"

enum { KEYS = 300, STEPS = 60000 };

static uint64_t int_key(int i)
{
	/* Some keys near each other, some far apart, both ends included. */
	return i % 3 == 0 ? (uint64_t)i : i % 3 == 1 ? UINT64_MAX - i : (uint64_t)i << 40;
}

static void check_u64(const struct map_u64 *m, void *const *model)
{
	size_t count = 0, walked = 0, pos = 0;
	for (int i = 0; i < KEYS; i++) {
		assert_ptr_equal(map_u64_get(m, int_key(i)), model[i]);
		count += model[i] != NULL;
	}
	assert_int_equal(m->count, count);
	uint64_t key;
	void *value;
	while (map_u64_next(m, &pos, &key, &value)) {
		assert_ptr_equal(map_u64_get(m, key), value);
		walked++;
	}
	assert_int_equal(walked, count);
}

static void integers(void **state)
{
	(void)state;
	struct map_u64 m;
	map_u64_create(&m);
	void *model[KEYS] = {NULL};
	unsigned seed = 1;
	assert_null(map_u64_get(&m, 1));
	assert_null(map_u64_del(&m, 1));
	for (int step = 0; step < STEPS; step++) {
		int i = rand_r(&seed) % KEYS;
		if (rand_r(&seed) % 100 < (step / 5000 % 2 ? 70 : 30)) {
			assert_ptr_equal(map_u64_del(&m, int_key(i)), model[i]);
			model[i] = NULL;
		} else {
			void *value = &model[rand_r(&seed) % KEYS];
			assert_ptr_equal(map_u64_put(&m, int_key(i), value), model[i]);
			model[i] = value;
		}
		if (step % 500 == 0)
			check_u64(&m, model);
	}
	check_u64(&m, model);
	map_u64_destroy(&m);
}

/** A key of any bytes; returns its length. Key 0 is empty, some contain zeros. */
static size_t str_key(int i, char *out)
{
	size_t len = i % 40;
	for (size_t k = 0; k < len; k++)
		out[k] = (i / 40) * (k + 1) % 3;
	if (len >= 2) {
		out[0] = i;
		out[1] = i >> 8;
	} else {
		len = i < 2 ? (size_t)i : (size_t)sprintf(out, "key %d of more than 40 bytes, "
							 "so that it is unlike the others", i);
	}
	return len;
}

static void check_str(const struct map_str *m, void *const *model)
{
	size_t count = 0, walked = 0, pos = 0;
	char key[100];
	for (int i = 0; i < KEYS; i++) {
		size_t len = str_key(i, key);
		assert_ptr_equal(map_str_get(m, key, len), model[i]);
		count += model[i] != NULL;
	}
	assert_int_equal(m->count, count);
	const char *k;
	size_t len;
	void *value;
	while (map_str_next(m, &pos, &k, &len, &value)) {
		assert_ptr_equal(map_str_get(m, k, len), value);
		walked++;
	}
	assert_int_equal(walked, count);
}

static void strings(void **state)
{
	(void)state;
	struct map_str m;
	map_str_create(&m);
	void *model[KEYS] = {NULL};
	unsigned seed = 2;
	char key[100];
	memset(key, 1, sizeof(key));
	for (int step = 0; step < STEPS; step++) {
		int i = rand_r(&seed) % KEYS;
		size_t len = str_key(i, key);
		if (rand_r(&seed) % 100 < (step / 5000 % 2 ? 70 : 30)) {
			assert_ptr_equal(map_str_del(&m, key, len), model[i]);
			model[i] = NULL;
		} else {
			void *value = &model[rand_r(&seed) % KEYS];
			assert_ptr_equal(map_str_put(&m, key, len, value), model[i]);
			model[i] = value;
		}
		if (step % 500 == 0)
			check_str(&m, model);
	}
	check_str(&m, model);
	map_str_destroy(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
