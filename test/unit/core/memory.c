/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Accounts, regions and buffers.
 */
#include "harness.h"

#include "core/buf.h"
#include "core/memory.h"

static void accounts_are_exact(void **state)
{
	(void)state;
	struct mem_account a = {.name = "test", .limit = SIZE_MAX};
	void *p[200];
	size_t expected = 0;
	for (size_t i = 0; i < 200; i++) {
		size_t size = i * i * 7;
		p[i] = mem_alloc(&a, size);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], 1, size);
		assert_true(mem_usable(size) >= size);
		expected += mem_usable(size);
		assert_int_equal(a.used, expected);
	}
	for (size_t i = 0; i < 200; i++)
		mem_free(&a, p[i], i * i * 7);
	mem_free(&a, NULL, 5);
	assert_int_equal(a.used, 0);
}

static void limits_hold(void **state)
{
	(void)state;
	struct mem_account a = {.name = "memtx_tuple", .limit = 1000};
	void *p = mem_alloc(&a, 600);
	assert_non_null(p);
	assert_null(mem_alloc(&a, 600));
	assert_string_equal(diag_last()->message,
			    "Failed to allocate 600 bytes in slab allocator for memtx_tuple");
	assert_true(error_is(diag_last(), &type_OutOfMemory));
	assert_null(mem_alloc(&a, SIZE_MAX));
	assert_null(mem_alloc(&a, SIZE_MAX / 2));
	assert_true(a.used < 1000);
	mem_free(&a, p, 600);
	p = mem_alloc(&a, 600);
	assert_non_null(p);
	mem_free(&a, p, 600);
}

static void regions_cut_back(void **state)
{
	(void)state;
	struct region r;
	region_create(&r);
	region_truncate(&r, 0);
	region_reset(&r);
	assert_int_equal(region_used(&r), 0);
	unsigned seed = 7;
	for (int round = 0; round < 50; round++) {
		char *first = region_alloc(&r, 10);
		memcpy(first, "0123456789", 10);
		size_t marks[20];
		for (int i = 0; i < 20; i++) {
			marks[i] = region_used(&r);
			size_t size = rand_r(&seed) % (i == 13 ? 200000 : 3000);
			char *p = region_alloc(&r, size);
			assert_int_equal((uintptr_t)p % 8, 0);
			memset(p, i, size);
		}
		for (int i = 19; i >= 0; i -= 3) {
			region_truncate(&r, marks[i]);
			assert_int_equal(region_used(&r), marks[i]);
		}
		assert_memory_equal(first, "0123456789", 10);
		char *copy = region_memdup(&r, "abc", 3);
		assert_memory_equal(copy, "abc", 3);
		if (round % 2 == 0)
			region_truncate(&r, 0);
		else
			region_reset(&r);
		assert_int_equal(region_used(&r), 0);
	}
	assert_null(region_alloc(&r, SIZE_MAX - 3));
	region_destroy(&r);
	assert_non_null(region_alloc(&r, 1));
	region_destroy(&r);
}

static void buffers_grow(void **state)
{
	(void)state;
	struct buf b = BUF_INIT;
	buf_append(&b, NULL, 0);
	for (int i = 0; i < 100000; i++)
		buf_append(&b, &i, sizeof(i));
	assert_int_equal(b.size, 400000);
	buf_consume(&b, 4 * 500);
	int first;
	memcpy(&first, b.data, sizeof(first));
	assert_int_equal(first, 500);
	buf_truncate(&b, 4);
	assert_ptr_equal(buf_end(&b), b.data + 4);
	buf_free(&b);
	buf_free(&b);
}

static void strings(void **state)
{
	(void)state;
	char *s = xstrndup("abcdef", 3);
	assert_string_equal(s, "abc");
	xfree(s);
	s = xasprintf("%s-%0500d", "x", 5);
	assert_int_equal(strlen(s), 502);
	xfree(s);
	s = xasprintf("%s", "");
	assert_string_equal(s, "");
	xfree(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(accounts_are_exact),
		runtime_test(limits_hold),
		runtime_test(regions_cut_back),
		runtime_test(buffers_grow),
		runtime_test(strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
