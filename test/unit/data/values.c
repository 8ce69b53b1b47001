/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The small value types: UUIDs, vector clocks, CRC-32C, base64, JSON paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/base64.h"
#include "data/crc32c.h"
#include "data/json_path.h"
#include "data/uuid.h"
#include "data/vclock.h"

static void test_uuid(void **state)
{
	struct uuid a, b;
	char text[UUID_STR_LEN + 1];
	for (int i = 0; i < 100; i++) {
		uuid_create(&a);
		uuid_to_string(&a, text);
		assert_int_equal(strlen(text), UUID_STR_LEN);
		assert_int_equal(text[14], '4');
		assert_non_null(strchr("89ab", text[19]));
		assert_int_equal(uuid_from_string(&b, text, UUID_STR_LEN), 0);
		assert_true(uuid_equal(&a, &b));
		assert_false(uuid_is_nil(&a));
	}
	const char *upper = "64D22E4D-AC92-4A23-899A-E59F34AF5479";
	assert_int_equal(uuid_from_string(&a, upper, UUID_STR_LEN), 0);
	assert_string_equal(uuid_str(&a), "64d22e4d-ac92-4a23-899a-e59f34af5479");
	assert_int_equal(uuid_from_string(&a, upper, UUID_STR_LEN - 1), -1);
	assert_int_equal(uuid_from_string(&a, "64D22E4DXAC92-4A23-899A-E59F34AF5479", 36), -1);
	assert_int_equal(uuid_from_string(&a, "64D22E4D-AC92-4A23-899A-E59F34AF547G", 36), -1);
}

static void assert_vclock(const char *text, const char *expected)
{
	struct vclock vclock;
	char out[VCLOCK_STR_MAX];
	int rc = vclock_from_string(&vclock, text, strlen(text));
	assert_int_equal(rc, expected != NULL ? 0 : -1);
	if (expected == NULL)
		return;
	assert_int_equal(vclock_to_string(&vclock, out), strlen(expected));
	assert_string_equal(out, expected);
}

static void test_vclock(void **state)
{
	assert_vclock("{}", "{}");
	assert_vclock("{1: 10}", "{1: 10}");
	assert_vclock(" { 1 : 10 ,2:5 } ", "{1: 10, 2: 5}");
	assert_vclock("{31: 9223372036854775807}", "{31: 9223372036854775807}");
	assert_vclock("", NULL);
	assert_vclock("{1: 10", NULL);
	assert_vclock("{1 10}", NULL);
	assert_vclock("{1: 10,}", NULL);
	assert_vclock("{1: 10, 1: 11}", NULL);
	assert_vclock("{32: 1}", NULL);
	assert_vclock("{1: 9223372036854775808}", NULL);
	assert_vclock("{1: 9223372036854775807, 2: 1}", NULL);
	assert_vclock("{1: -1}", NULL);
	assert_vclock("{1: 1} x", NULL);

	struct vclock a, b;
	vclock_create(&a);
	vclock_create(&b);
	assert_int_equal(vclock_compare(&a, &b), 0);
	assert_int_equal(vclock_inc(&a, 1), 1);
	assert_int_equal(vclock_compare(&a, &b), 1);
	assert_int_equal(vclock_compare(&b, &a), -1);
	vclock_set(&b, 2, 5);
	assert_int_equal(vclock_compare(&a, &b), VCLOCK_ORDER_UNDEFINED);
	assert_int_equal(vclock_sum(&b), 5);
	vclock_set(&b, 2, 3);
	assert_int_equal(vclock_sum(&b), 3);
}

static void test_crc32c(void **state)
{
	/* The check value of the CRC catalogue, and RFC 3720, B.4. */
	assert_int_equal(~crc32c(~0u, "123456789", 9), 0xe3069283);
	assert_int_equal(~crc32c_portable(~0u, "123456789", 9), 0xe3069283);
	char data[300];
	memset(data, 0, 32);
	assert_int_equal(~crc32c(~0u, data, 32), 0x8a9136aa);
	srand(3);
	for (int round = 0; round < 2000; round++) {
		size_t size = rand() % sizeof(data), cut = size > 0 ? rand() % size : 0;
		for (size_t i = 0; i < size; i++)
			data[i] = rand();
		uint32_t whole = crc32c(5, data, size);
		assert_int_equal(crc32c_portable(5, data, size), whole);
		assert_int_equal(crc32c(crc32c(5, data, cut), data + cut, size - cut), whole);
	}
}

static void test_base64(void **state)
{
	static const char *const pairs[][2] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
	};
	char out[64];
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size_t len = strlen(pairs[i][0]), encoded_len = strlen(pairs[i][1]);
		assert_int_equal(base64_encode(pairs[i][0], len, out), encoded_len);
		assert_int_equal(base64_encoded_size(len), encoded_len);
		assert_memory_equal(out, pairs[i][1], encoded_len);
		assert_int_equal(base64_decode(pairs[i][1], encoded_len, out), len);
		assert_memory_equal(out, pairs[i][0], len);
	}
	assert_int_equal(base64_decode("Zm9v\nYm Fy", 10, out), 6);
	assert_memory_equal(out, "foobar", 6);
	assert_int_equal(base64_decode("Zg==Zg==", 8, out), 3);
	assert_int_equal(base64_decode("-_+/", 4, out), 1);
	assert_int_equal(base64_decode_any("-_+/", 4, out), 3);
	assert_memory_equal(out, "\xfb\xff\xbf", 3);
}

/** Reads a path back as "#index" and "key" joined by slashes; NULL where it is wrong. */
static const char *path_tokens(const char *text, int *error)
{
	static char out[256];
	struct json_path path = json_path_of(text, strlen(text));
	struct json_token token;
	out[0] = '\0';
	for (;;) {
		*error = json_path_next(&path, &token);
		if (*error != 0 || token.type == JSON_TOKEN_END)
			return out;
		size_t len = strlen(out);
		if (token.type == JSON_TOKEN_INDEX)
			snprintf(out + len, sizeof(out) - len, "/#%u", token.index);
		else
			snprintf(out + len, sizeof(out) - len, "/%.*s", (int)token.key_len,
				 token.key);
	}
}

static void test_json_path(void **state)
{
	static const struct { const char *path, *tokens; int error; } cases[] = {
		{"", "", 0}, {"a", "/a", 0}, {".a", "/a", 0}, {"a.b", "/a/b", 0},
		{"[1]", "/#0", 0}, {"[7][3].x", "/#6/#2/x", 0}, {"[8][\"b c\"]", "/#7/b c", 0},
		{"['q'].w1", "/q/w1", 0}, {"a[4294967295]", "/a/#4294967294", 0},
		{"\xd0\xb8.\xd0\xb8", "/\xd0\xb8/\xd0\xb8", 0},
		{"[2", "", 3}, {"n..a", "/n", 3}, {"[7][0]", "/#6", 5}, {"[7][-1]", "/#6", 5},
		{"[0]", "", 2}, {"[7][*]", "/#6", 5}, {"\xd0\xb8..a", "/\xd0\xb8", 3},
		{"a b", "/a", 2}, {"[4294967296]", "", 2}, {"['']", "", 3}, {"['a", "", 4},
		{"[]", "", 2}, {"a.", "/a", 3}, {"[1]a", "/#0", 4},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int error;
		assert_string_equal(path_tokens(cases[i].path, &error), cases[i].tokens);
		assert_int_equal(error, cases[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_vclock),
		cmocka_unit_test(test_crc32c),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_json_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
