/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The protocol's bytes: greeting, headers, bodies good and bad, every type of
 * request, order of answers, and random input.
 */
#include "client.h"
#include "core/version.h"
#include "server.h"

static void test_greeting(void **state)
{
	struct client c;
	client_open(&c);
	assert_memory_equal(c.greeting, "Tarantool " TARN_COMPAT_RELEASE " (Binary) ",
			    strlen("Tarantool " TARN_COMPAT_RELEASE " (Binary) "));
	assert_int_equal(c.greeting[63], '\n');
	assert_int_equal(c.greeting[64 + 43], '=');
	assert_int_equal(c.greeting[127], '\n');
	struct client d;
	client_open(&d);
	assert_memory_not_equal(c.greeting + 64, d.greeting + 64, 44);
	client_close(&c);
	client_close(&d);
}

/** Connectors rely on the exact layout. */
static void test_header_layout(void **state)
{
	struct client c;
	client_open(&c);
	send_packet(&c, IPROTO_PING, 5, "\x80", 1);
	unsigned char got[29];
	assert_int_equal(recv(c.fd, got, sizeof(got), MSG_WAITALL), sizeof(got));
	static const unsigned char head[] = {0xce, 0, 0, 0, 24, 0x83, 0x00, 0xce, 0, 0, 0, 0, 0x01,
					     0xcf, 0, 0, 0, 0, 0, 0, 0, 5, 0x05, 0xce};
	assert_memory_equal(got, head, sizeof(head));
	assert_int_equal(got[28], 0x80);
	client_close(&c);
}

static void test_types(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	send_packet(&c, 100, 1, "\x80", 1);
	expect_reply(&c, &r, ERROR(ER_UNKNOWN_REQUEST_TYPE), 1);
	expect_error_text(&r, "Unknown request type 100");
	send_packet(&c, IPROTO_ID, 2, "\x80", 1);
	expect_reply(&c, &r, IPROTO_OK, 2);
	send_packet(&c, IPROTO_EXECUTE, 3, "\x80", 1);
	expect_reply(&c, &r, ERROR(ER_UNSUPPORTED), 3);
	send_packet(&c, IPROTO_PREPARE, 4, "\x80", 1);
	expect_reply(&c, &r, ERROR(ER_UNSUPPORTED), 4);
	send_packet(&c, IPROTO_PING, 5, "", 0);
	expect_reply(&c, &r, IPROTO_OK, 5);
	expect_ping(&c);
	client_close(&c);
}

static void test_bad_bodies(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	static const struct {
		unsigned type;
		const char *body;
		size_t size;
		unsigned code;
	} cases[] = {
		{IPROTO_PING, "\xc1", 1, ER_INVALID_MSGPACK},
		{IPROTO_PING, "\x80\x80", 2, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\xc1", 1, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\x82\x10", 2, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\x01", 1, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\xdf\xff\xff\xff\xff", 5, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\x81\x10\xa1""a", 4, ER_INVALID_MSGPACK},
		{IPROTO_SELECT, "\x80", 1, ER_MISSING_REQUEST_FIELD},
		{IPROTO_SELECT, "", 0, ER_MISSING_REQUEST_FIELD},
		{IPROTO_CALL, "\x80", 1, ER_MISSING_REQUEST_FIELD},
		{IPROTO_CALL, "\x81\x22\x05", 3, ER_INVALID_MSGPACK},
		{IPROTO_CALL, "\x82\x22\xa1""f\x21\x05", 6, ER_INVALID_MSGPACK},
		{IPROTO_EVAL, "\x80", 1, ER_MISSING_REQUEST_FIELD},
		{IPROTO_AUTH, "\x80", 1, ER_MISSING_REQUEST_FIELD},
		{IPROTO_AUTH, "\x82\x23\xa5""admin\x21\x90", 10, ER_INVALID_MSGPACK},
		{IPROTO_AUTH, "\x82\x23\xa5""admin\x21\x92\x01\x02", 12, ER_INVALID_MSGPACK},
		{IPROTO_AUTH, "\x82\x23\xa5""admin\x21\x92\x01\xa1x", 13, ER_INVALID_MSGPACK},
		{IPROTO_AUTH, "\x82\x23\xa6""nobody\x21\x90", 11, ER_INVALID_MSGPACK},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_packet(&c, cases[i].type, i, cases[i].body, cases[i].size);
		expect_reply(&c, &r, ERROR(cases[i].code), i);
	}
	expect_ping(&c);
	client_close(&c);
}

static void test_bad_headers(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	static const struct {
		const char *bytes;
		size_t size;
		uint64_t sync;
	} cases[] = {
		{"\x01\xc1", 2, 0},
		{"\x01\x05", 2, 0},
		{"\x00", 1, 0},
		{"\x02\x82\x00", 3, 0},
		{"\x05\x82\x01\x07\x00\xa0", 6, 7},
		{"\x05\x82\x01\xa0\x00\x40", 6, 0},
		{"\x05\x82\x01\xff\x00\x40", 6, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_bytes(&c, cases[i].bytes, cases[i].size);
		expect_reply(&c, &r, ERROR(ER_INVALID_MSGPACK), cases[i].sync);
	}
	/* A schema version that is not the current one. */
	send_bytes(&c, "\x0b\x83\x00\x40\x01\x09\x05\xce\x7f\xff\xff\xff", 12);
	expect_reply(&c, &r, ERROR(ER_WRONG_SCHEMA_VERSION), 9);
	expect_ping(&c);
	client_close(&c);
}

static void test_bad_lengths(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
		{"\xa5hello", 6, "Invalid MsgPack - packet length"},
		{"\xc0xxxxx", 6, "Invalid MsgPack - packet length"},
		{"\xce\xff\xff\xff\xffxx", 7,
		 "Invalid MsgPack - too big packet size in the header: 4294967295"},
		{"\xcf\xff\xff\xff\xff\x00\x00\x00\x00", 9,
		 "Invalid MsgPack - too big packet size in the header: 18446744069414584320"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct client c;
		struct reply r;
		client_open(&c);
		/* What came before is answered first. */
		send_packet(&c, IPROTO_PING, 1, "\x80", 1);
		send_bytes(&c, cases[i].bytes, cases[i].size);
		expect_reply(&c, &r, IPROTO_OK, 1);
		expect_reply(&c, &r, ERROR(ER_INVALID_MSGPACK), 0);
		expect_error_text(&r, cases[i].text);
		assert_int_equal(receive(&c, &r), 0);
		client_close(&c);
	}
}

static void test_call_and_eval(void **state)
{
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	send_call(&c, 1, "echo", "\x93\x01\xa1x\xc0", 5);
	expect_reply(&c, &r, IPROTO_OK, 1);
	assert_int_equal(reply_data(&r, &p), 3);
	assert_memory_equal(p, "\x01\xa1x\xc0", 4);
	/* Without arguments. */
	send_packet(&c, IPROTO_CALL, 2, "\x81\x22\xa4""echo", 7);
	expect_reply(&c, &r, IPROTO_OK, 2);
	assert_int_equal(reply_data(&r, &p), 0);
	/* The old form wraps what is no array. */
	send_packet(&c, IPROTO_CALL_16, 3, "\x82\x22\xa4""echo\x21\x92\x05\x91\x06", 12);
	expect_reply(&c, &r, IPROTO_OK, 3);
	assert_int_equal(reply_data(&r, &p), 2);
	assert_memory_equal(p, "\x91\x05\x91\x06", 4);
	send_packet(&c, IPROTO_EVAL, 4, "\x82\x27\xa3""abc\x21\x91\x07", 9);
	expect_reply(&c, &r, IPROTO_OK, 4);
	assert_int_equal(reply_data(&r, &p), 2);
	assert_memory_equal(p, "\xa3""abc\x07", 5);
	send_packet(&c, IPROTO_EVAL, 5, "\x81\x27\xa0", 3);
	expect_reply(&c, &r, ERROR(ER_PROC_LUA), 5);
	send_call(&c, 6, "fail", "\x90", 1);
	expect_reply(&c, &r, ERROR(ER_PROC_LUA), 6);
	expect_error_text(&r, "as asked");
	send_call(&c, 7, "twofold", "\x90", 1);
	expect_reply(&c, &r, ERROR(ER_UNSUPPORTED), 7);
	expect_error_text(&r, "a does not support b");
	client_close(&c);
}

/** All statements, by their bytes: space 512 has a primary key on its first field. */
static void test_statements(void **state)
{
	static const struct {
		unsigned type;
		const char *body;
		size_t size;
		/** The data, or NULL for an error. */
		const char *data;
		size_t data_size;
		unsigned code;
	} cases[] = {
#define B(s) s, sizeof(s) - 1
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x92\x01\xa1""a"),
		 B("\x92\x01\xa1""a"), 0},
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x91\x01"), NULL, 0, ER_TUPLE_FOUND},
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x91\xa1""a"), NULL, 0, ER_FIELD_TYPE},
		{IPROTO_INSERT, B("\x82\x10\xcd\x03\x00\x21\x91\x01"), NULL, 0, ER_NO_SUCH_SPACE},
		{IPROTO_REPLACE, B("\x82\x10\xcd\x02\x00\x21\x92\x01\x05"), B("\x92\x01\x05"), 0},
		{IPROTO_UPDATE, B("\x83\x10\xcd\x02\x00\x20\x91\x01\x21\x91\x93\xa1+\x01\x02"),
		 B("\x92\x01\x07"), 0},
		{IPROTO_UPDATE, B("\x83\x10\xcd\x02\x00\x20\x91\x09\x21\x91\x93\xa1+\x01\x02"),
		 "", 0, 0},
		{IPROTO_UPSERT, B("\x83\x10\xcd\x02\x00\x21\x91\x02\x28\x90"), "", 0, 0},
		{IPROTO_UPSERT, B("\x83\x10\xcd\x02\x00\x21\x91\x01\x28\x91\x93\xa1-\x01\x01"),
		 "", 0, 0},
		{IPROTO_SELECT, B("\x84\x10\xcd\x02\x00\x12\x0a\x14\x02\x20\x90"),
		 B("\x92\x01\x06\x91\x02"), 0},
		{IPROTO_SELECT, B("\x83\x10\xcd\x02\x00\x12\x0a\x20\x91\x02"), B("\x91\x02"), 0},
		{IPROTO_SELECT, B("\x84\x10\xcd\x02\x00\x11\x05\x12\x0a\x20\x90"), NULL, 0,
		 ER_NO_SUCH_INDEX_ID},
		{IPROTO_SELECT, B("\x84\x10\xcd\x02\x00\x12\x0a\x14\xcc\xc8\x20\x90"), NULL, 0,
		 ER_ILLEGAL_PARAMS},
		{IPROTO_DELETE, B("\x82\x10\xcd\x02\x00\x20\x91\x02"), B("\x91\x02"), 0},
		{IPROTO_DELETE, B("\x82\x10\xcd\x02\x00\x20\x91\x02"), "", 0, 0},
#undef B
	};
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_packet(&c, cases[i].type, i, cases[i].body, cases[i].size);
		expect_reply(&c, &r, cases[i].data != NULL ? IPROTO_OK : ERROR(cases[i].code), i);
		if (cases[i].data == NULL)
			continue;
		reply_data(&r, &p);
		assert_int_equal(r.end - p, cases[i].data_size);
		assert_memory_equal(p, cases[i].data, cases[i].data_size);
	}
	/* Started in the order they were sent: the select sees the replace. */
	for (int i = 0; i < 100; i++) {
		char row[] = "\x82\x10\xcd\x02\x00\x21\x92\x01\x00";
		row[8] = i;
		send_packet(&c, IPROTO_REPLACE, 1, row, 9);
		send_packet(&c, IPROTO_SELECT, 2, "\x83\x10\xcd\x02\x00\x12\x01\x20\x91\x01", 10);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(receive(&c, &r), 1);
			assert_int_equal(reply_data(&r, &p), 1);
			assert_int_equal(p[2], i);
		}
	}
	client_close(&c);
}

static void test_out_of_order(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	send_call_number(&c, 1, "sleep", 0.2);
	send_packet(&c, IPROTO_PING, 2, "\x80", 1);
	send_call_number(&c, 3, "sleep", 0.02);
	expect_reply(&c, &r, IPROTO_OK, 2);
	expect_reply(&c, &r, IPROTO_OK, 3);
	expect_reply(&c, &r, IPROTO_OK, 1);
	client_close(&c);
}

/** Answers of one connection stay whole where the encoding of one yields. */
static void test_yield_while_encoding(void **state)
{
	enum { COUNT = 20 };
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	for (int i = 0; i < COUNT; i++) {
		send_call_number(&c, 1, "slowdump", 0);
		send_packet(&c, IPROTO_PING, 2, "\x80", 1);
		send_call(&c, 3, "fail", "\x90", 1);
		send_call(&c, 4, "echo", "\x91\x05", 2);
		send_call(&c, 5, "cancelself", "\x90", 1);
	}
	for (int i = 0; i < 5 * COUNT; i++) {
		assert_int_equal(receive(&c, &r), 1);
		assert_int_equal(r.code, r.sync == 3 ? ERROR(ER_PROC_LUA) : IPROTO_OK);
		if (r.sync == 1) {
			assert_int_equal(reply_data(&r, &p), 2);
			assert_memory_equal(p, "\x07\x08", 2);
		} else if (r.sync == 4) {
			assert_int_equal(reply_data(&r, &p), 1);
			assert_memory_equal(p, "\x05", 1);
		}
	}
	/* The client goes away in the middle of it. */
	for (int i = 0; i < 3; i++) {
		send_call_number(&c, 1, "slowdump", 0);
		send_packet(&c, IPROTO_PING, 2, "\x80", 1);
	}
	usleep(10 * 1000);
	client_close(&c);
	client_open(&c);
	wait_for(&c, "open", 0, 1, 1);
	client_close(&c);
}

static void test_push(void **state)
{
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	send_call_number(&c, 3, "push", 7);
	expect_reply(&c, &r, IPROTO_CHUNK, 3);
	assert_int_equal(reply_data(&r, &p), 1);
	expect_reply(&c, &r, IPROTO_OK, 3);
	client_close(&c);
}

/** Reads until the server closes or is silent for a moment. */
static void drain(int fd)
{
	char buf[65536];
	struct timeval limit = {.tv_usec = 1000};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
}

/** Random bytes, and real requests with some bytes changed. The server lives. */
static void test_random_input(void **state)
{
	srand(7);
	for (int round = 0; round < 400; round++) {
		struct client c;
		client_open(&c);
		char bytes[2048];
		size_t size = 0;
		while (size < sizeof(bytes) - 300) {
			if (round % 2 == 0) {
				bytes[size++] = rand();
				continue;
			}
			char body[128];
			size_t body_size = call_body(body, "echo",
						     "\x93\x01\xa3xyz\x81\x01\xc0", 9);
			unsigned type = rand() % 16;
			size_t n = make_packet(bytes + size, type == 15 ? IPROTO_PING : type, round,
					       body, body_size);
			for (int k = rand() % 3; k > 0; k--)
				bytes[size + 5 + rand() % (n - 5)] = rand();
			size += n;
		}
		if (send(c.fd, bytes, size, MSG_NOSIGNAL) > 0 && round % 4 < 2)
			drain(c.fd);
		client_close(&c);
	}
	struct client c;
	client_open(&c);
	expect_ping(&c);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_header_layout),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_bad_bodies),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_bad_lengths),
		cmocka_unit_test(test_call_and_eval),
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_yield_while_encoding),
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_random_input),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
