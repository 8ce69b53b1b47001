/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where packets begin and end, for every form of length and for random bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "net/packet.h"

enum { SIZE_MAX_HERE = 1000 };

static void expect(const void *bytes, size_t len, enum packet_state state, size_t header,
		   uint64_t size)
{
	/* A copy of the exact size, so that a read behind it is seen. */
	char *copy = malloc(len);
	memcpy(copy, bytes, len);
	size_t h;
	uint64_t s;
	assert_int_equal(packet_scan(copy, copy + len, SIZE_MAX_HERE, &h, &s), state);
	assert_int_equal(h, header);
	assert_int_equal(s, size);
	free(copy);
}

static void test_lengths(void **state)
{
	expect("\x03""abc", 4, PACKET_WHOLE, 1, 3);
	expect("\x03""abcd", 5, PACKET_WHOLE, 1, 3);
	expect("\x03""ab", 3, PACKET_PARTIAL, 1, 3);
	expect("\x00", 1, PACKET_WHOLE, 1, 0);
	expect("\xcc\x03""abc", 5, PACKET_WHOLE, 2, 3);
	expect("\xcd\x00\x03""abc", 6, PACKET_WHOLE, 3, 3);
	expect("\xce\x00\x00\x00\x03""abc", 8, PACKET_WHOLE, 5, 3);
	expect("\xcf\x00\x00\x00\x00\x00\x00\x00\x03""abc", 12, PACKET_WHOLE, 9, 3);
	expect("\xce\x00\x00\x03\xe8", 5, PACKET_PARTIAL, 5, 1000);
	expect("\xce\x00\x00\x03\xe9", 5, PACKET_TOO_LONG, 5, 1001);
	expect("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, PACKET_TOO_LONG, 9, UINT64_MAX);
	expect("\xce\x00\x00\x00", 4, PACKET_PARTIAL, 1, 0);
	expect("\xcf\xff\xff\xff\xff\xff\xff\xff", 8, PACKET_PARTIAL, 1, 0);
	static const unsigned char no_length[] = {0x80, 0x90, 0xa5, 0xc0, 0xc2, 0xc4, 0xca, 0xcb,
						  0xd0, 0xd3, 0xd9, 0xdc, 0xdf, 0xe0, 0xff};
	for (size_t i = 0; i < sizeof(no_length); i++)
		expect(&no_length[i], 1, PACKET_NO_LENGTH, 1, 0);
}

static void test_random(void **state)
{
	srand(1);
	for (int i = 0; i < 200000; i++) {
		char bytes[16];
		size_t len = rand() % sizeof(bytes), header;
		uint64_t size;
		for (size_t k = 0; k < len; k++)
			bytes[k] = rand();
		char *copy = malloc(len + 1) ;
		memcpy(copy, bytes, len);
		enum packet_state s = packet_scan(copy, copy + len, SIZE_MAX_HERE, &header, &size);
		if (s == PACKET_WHOLE)
			assert_true(header + size <= len);
		if (s == PACKET_TOO_LONG)
			assert_true(size > SIZE_MAX_HERE);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
