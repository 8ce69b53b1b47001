/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Row and request codecs: the bytes they make, what they refuse, and that no
 * bytes whatever harm them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/fiber.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/wal/xrow.h"

static int setup(void **state)
{
	(void)state;
	fiber_init();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fiber_free();
	return 0;
}

/** Decodes a copy that ends where its memory ends, so that a sanitizer sees a read behind it. */
static int decode(struct xrow_header *row, const char *data, size_t size, char **copy)
{
	*copy = calloc(1, size > 0 ? size : 1);
	memcpy(*copy, data, size);
	const char *pos = *copy;
	return xrow_header_decode(row, &pos, *copy + size);
}

static void assert_error(unsigned code, const char *text)
{
	assert_non_null(diag_last());
	assert_int_equal(diag_last()->code, code);
	assert_string_equal(diag_last()->message, text);
	diag_clear(diag_get());
}

static void assert_header_error(const char *data, size_t size, const char *text)
{
	struct xrow_header row;
	char *copy;
	assert_int_equal(decode(&row, data, size, &copy), -1);
	assert_error(ER_INVALID_MSGPACK, text);
	free(copy);
}

#define HEADER_ERROR(bytes) \
	assert_header_error(bytes, sizeof(bytes) - 1, "Invalid MsgPack - packet header")
#define BODY_ERROR(bytes) \
	assert_header_error(bytes, sizeof(bytes) - 1, "Invalid MsgPack - packet body")

static void refuses_bad_headers(void **state)
{
	(void)state;
	HEADER_ERROR("");
	HEADER_ERROR("\xc0");
	HEADER_ERROR("\x91\x01");
	HEADER_ERROR("\x82\x00\x01\x01");
	HEADER_ERROR("\x81\xa1""a\x01");
	HEADER_ERROR("\x83\xff\x01\x00\x40\x01\x07");
	HEADER_ERROR("\x82\x00\x40\x01\xa1""a");
	HEADER_ERROR("\x82\x00\xff\x01\x05");
	HEADER_ERROR("\x83\x00\x40\x01\x07\x55\xa1x");
	HEADER_ERROR("\x83\x00\x40\x01\x07\x04\x01");
	HEADER_ERROR("\x82\x00\xc1\x01\x07");
	HEADER_ERROR("\xdf\xff\xff\xff\xff");
	BODY_ERROR("\x82\x00\x40\x01\x07\x80\x80");
	BODY_ERROR("\x82\x00\x40\x01\x07\x80\xc1");
	BODY_ERROR("\x82\x00\x40\x01\x07\x82\x01");
	BODY_ERROR("\x82\x00\x0c\x01\x07\x80");
	BODY_ERROR("\x82\x00\x40\x01\x07\xdd\xff\xff\xff\xff");
}

static void keeps_sync_of_a_bad_header(void **state)
{
	(void)state;
	struct xrow_header row;
	char *copy;
	assert_int_equal(decode(&row, "\x83\x01\x07\x00\x40\x03\xa1""a", 8, &copy), -1);
	assert_int_equal(row.sync, 7);
	free(copy);
}

static void survives_deep_nesting(void **state)
{
	(void)state;
	size_t size = 1000 * 1000;
	char *data = calloc(1, size);
	memset(data, '\x91', size);
	memcpy(data, "\x82\x00\x40\x01\x07", 5);
	struct xrow_header row;
	const char *pos = data;
	assert_int_equal(xrow_header_decode(&row, &pos, data + size), -1);
	assert_error(ER_INVALID_MSGPACK, "Invalid MsgPack - packet body");
	free(data);
}

static void header_round_trip(void **state)
{
	(void)state;
	static const struct xrow_header cases[] = {
		{.type = 2, .replica_id = 1, .lsn = 1, .tsn = 1, .tm = 1.5, .is_commit = true},
		{.type = 2, .replica_id = 31, .lsn = INT64_MAX, .tsn = 1, .tm = 2e9,
		 .is_commit = true, .body = "\x81\x10\x01", .body_size = 3},
		{.type = 12, .replica_id = 1, .lsn = 300, .tsn = 290, .tm = 1, .is_commit = true},
		{.type = 9, .replica_id = 1, .lsn = 7, .tsn = 7, .tm = 1, .is_commit = false,
		 .body = "\x80", .body_size = 1},
		{.type = 3, .group_id = 1, .lsn = 1, .tsn = 10, .tm = 1, .is_commit = false,
		 .body = "\x80", .body_size = 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = BUF_INIT;
		struct xrow_header row;
		char *copy;
		xrow_encode(&cases[i], &out);
		assert_int_equal(decode(&row, out.data, out.size, &copy), 0);
		assert_int_equal(row.type, cases[i].type);
		assert_int_equal(row.replica_id, cases[i].replica_id);
		assert_int_equal(row.group_id, cases[i].group_id);
		assert_int_equal(row.lsn, cases[i].lsn);
		assert_int_equal(row.tsn, cases[i].tsn);
		assert_true(row.tm == cases[i].tm);
		assert_int_equal(row.is_commit, cases[i].is_commit);
		assert_int_equal(row.body_size, cases[i].body_size);
		assert_memory_equal(row.body, cases[i].body, row.body_size);
		free(copy);
		buf_free(&out);
	}
}

/** Bytes that the reference writes for `s:insert{10}` with others in one transaction. */
static void encodes_as_the_reference(void **state)
{
	(void)state;
	struct xrow_header row = {.type = IPROTO_INSERT, .replica_id = 1, .lsn = 10, .tsn = 9,
				  .tm = 1, .is_commit = true, .body = "\x80", .body_size = 1};
	struct buf out = BUF_INIT;
	xrow_encode(&row, &out);
	static const char want[] =
		"\x86\x00\x02\x02\x01\x03\x0a\x04\xcb\x3f\xf0\x00\x00\x00\x00\x00"
		"\x00\x08\x01\x09\x01\x80";
	assert_int_equal(out.size, sizeof(want) - 1);
	assert_memory_equal(out.data, want, out.size);
	buf_free(&out);
}

static int decode_body(struct request *request, uint32_t type, const char *body, size_t size)
{
	struct xrow_header row = {.type = type, .body = size > 0 ? body : NULL, .body_size = size};
	return request_decode(request, &row, request_keys_required(type));
}

#define BODY(type, bytes) decode_body(&request, (type), (bytes), sizeof(bytes) - 1)
#define SPACE "\x10\xcd\x02\x00"

static void request_errors(void **state)
{
	(void)state;
	struct request request;
	const char *body = "Invalid MsgPack - packet body";
	assert_int_equal(BODY(IPROTO_SELECT, "\x90"), -1);
	assert_error(ER_INVALID_MSGPACK, body);
	assert_int_equal(BODY(IPROTO_SELECT, "\x81\x10\xa1""a"), -1);
	assert_error(ER_INVALID_MSGPACK, body);
	assert_int_equal(BODY(IPROTO_INSERT, "\x82" SPACE "\x21\x80"), -1);
	assert_error(ER_INVALID_MSGPACK, body);
	assert_int_equal(BODY(IPROTO_SELECT, ""), -1);
	assert_error(ER_MISSING_REQUEST_FIELD, "Missing mandatory field 'space id' in request");
	assert_int_equal(BODY(IPROTO_SELECT, "\x81" SPACE), -1);
	assert_error(ER_MISSING_REQUEST_FIELD, "Missing mandatory field 'limit' in request");
	assert_int_equal(BODY(IPROTO_UPSERT, "\x82" SPACE "\x21\x90"), -1);
	assert_error(ER_MISSING_REQUEST_FIELD, "Missing mandatory field 'operations' in request");
	assert_int_equal(BODY(IPROTO_CALL, "\x80"), -1);
	assert_error(ER_MISSING_REQUEST_FIELD,
		     "Missing mandatory field 'function name' in request");
	assert_int_equal(BODY(IPROTO_EVAL, "\x80"), -1);
	assert_error(ER_MISSING_REQUEST_FIELD, "Missing mandatory field 'expression' in request");
	assert_int_equal(BODY(IPROTO_AUTH, "\x80"), -1);
	assert_error(ER_MISSING_REQUEST_FIELD, "Missing mandatory field 'user name' in request");
}

static void request_fields(void **state)
{
	(void)state;
	struct request request;
	/* Keys that are no number or not known are skipped; numbers too large are cut. */
	assert_int_equal(BODY(IPROTO_SELECT, "\x87\xa1""a\x91\x01\x7f\xa1""a" SPACE "\x11\x02"
			      "\x12\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x14\x05\x20\x91\x07"), 0);
	assert_int_equal(request.space_id, 512);
	assert_int_equal(request.index_id, 2);
	assert_int_equal(request.limit, UINT32_MAX);
	assert_int_equal(request.iterator, 5);
	assert_int_equal(request.key_end - request.key, 2);
	assert_int_equal(BODY(IPROTO_CALL, "\x82\x22\xa3""abc\x21\x92\x01\x02"), 0);
	assert_int_equal(request.name_size, 3);
	assert_memory_equal(request.name, "abc", 3);
	assert_int_equal(request.tuple_end - request.tuple, 3);
}

static void request_round_trip(void **state)
{
	(void)state;
	static const char key[] = "\x91\x01", ops[] = "\x91\x93\xa1=\x02\x03";
	struct request in = {.type = IPROTO_UPDATE, .space_id = 100000, .index_base = 1,
			     .key = key, .key_end = key + 2, .tuple = ops, .tuple_end = ops + 6};
	size_t size;
	const char *body = request_encode(&in, &fiber()->region, &size);
	assert_non_null(body);
	assert_int_equal(mp_check_whole(body, body + size), 0);
	struct request out;
	assert_int_equal(decode_body(&out, IPROTO_UPDATE, body, size), 0);
	assert_int_equal(out.space_id, 100000);
	assert_int_equal(out.index_base, 1);
	assert_memory_equal(out.key, key, 2);
	assert_memory_equal(out.tuple, ops, 6);
	assert_null(out.ops);
	region_truncate(&fiber()->region, 0);
}

static void rows_one_by_one(void **state)
{
	(void)state;
	struct buf out = BUF_INIT;
	for (int i = 1; i <= 3; i++) {
		struct xrow_header row = {.type = i == 2 ? IPROTO_NOP : IPROTO_INSERT,
					  .replica_id = 1, .lsn = i, .tsn = 1, .tm = 1,
					  .is_commit = i == 3};
		if (i != 2) {
			row.body = "\x81\x10\x01";
			row.body_size = 3;
		}
		xrow_encode(&row, &out);
	}
	const char *pos = out.data, *end = out.data + out.size;
	for (int i = 1; i <= 3; i++) {
		struct xrow_header row;
		assert_int_equal(xrow_decode_next(&row, &pos, end), 0);
		assert_int_equal(row.lsn, i);
		assert_int_equal(row.tsn, 1);
		assert_int_equal(row.is_commit, i == 3);
		assert_int_equal(row.body_size, i == 2 ? 0 : 3);
	}
	assert_ptr_equal(pos, end);
	buf_free(&out);
}

/** Decodes everything as a server would. */
static void feed(const char *data, size_t size)
{
	struct xrow_header row;
	struct request request;
	char *copy;
	if (decode(&row, data, size, &copy) == 0)
		request_decode(&request, &row, request_keys_required(row.type));
	const char *pos = copy, *end = copy + size;
	while (pos < end && xrow_decode_next(&row, &pos, end) == 0)
		request_decode(&request, &row, 0);
	diag_clear(diag_get());
	free(copy);
}

static void survives_any_bytes(void **state)
{
	(void)state;
	static const char packet[] =
		"\x82\x00\x02\x01\x07\x84" SPACE "\x11\x00\x21\x92\x05\xa3""abc"
		"\x28\x91\x93\xa1=\x01\xcb\x40\x50\x00\x00\x00\x00\x00\x00";
	size_t size = sizeof(packet) - 1;
	char data[64];
	for (size_t cut = 0; cut <= size; cut++)
		feed(packet, cut);
	srand(1);
	for (int i = 0; i < 200000; i++) {
		memcpy(data, packet, size);
		int changes = 1 + rand() % 3;
		for (int j = 0; j < changes; j++)
			data[rand() % size] = (char)rand();
		feed(data, size);
	}
	for (int i = 0; i < 200000; i++) {
		size_t n = rand() % sizeof(data);
		for (size_t j = 0; j < n; j++)
			data[j] = (char)rand();
		if (n > 0)
			data[0] = (char)(0x80 + rand() % 8);
		feed(data, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_bad_headers),
		cmocka_unit_test(keeps_sync_of_a_bad_header),
		cmocka_unit_test(survives_deep_nesting),
		cmocka_unit_test(header_round_trip),
		cmocka_unit_test(encodes_as_the_reference),
		cmocka_unit_test(request_errors),
		cmocka_unit_test(request_fields),
		cmocka_unit_test(request_round_trip),
		cmocka_unit_test(rows_one_by_one),
		cmocka_unit_test(survives_any_bytes),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
