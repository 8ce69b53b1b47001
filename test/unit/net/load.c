/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Much at once: long pipelines, large and cut packets, many connections, the
 * limits of requests and of unsent output, clients that go away.
 */
#include "client.h"
#include "server.h"

static void test_byte_by_byte(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	char packet[64];
	for (int round = 0; round < 3; round++) {
		size_t size = make_packet(packet, IPROTO_PING, round, "\x80", 1);
		for (size_t i = 0; i < size; i++) {
			send_bytes(&c, packet + i, 1);
			usleep(300);
		}
		expect_reply(&c, &r, IPROTO_OK, round);
	}
	/* Cut short. */
	send_bytes(&c, packet, 7);
	client_close(&c);
}

static void test_pipeline(void **state)
{
	enum { COUNT = 20000 };
	struct client c;
	struct reply r;
	client_open(&c);
	char *all = malloc(COUNT * 64), *p = all;
	for (int i = 0; i < COUNT; i++) {
		if (i % 3 == 0) {
			p += make_packet(p, IPROTO_PING, i, "\x80", 1);
		} else {
			char body[64];
			size_t size = call_body(body, "echo", "\x91\x07", 2);
			p += make_packet(p, IPROTO_CALL, i, body, size);
		}
	}
	send_bytes(&c, all, p - all);
	free(all);
	for (int i = 0; i < COUNT; i++)
		expect_reply(&c, &r, IPROTO_OK, i);
	client_close(&c);
}

/** Requests and answers of many sizes around those of buffers, up to some megabytes. */
static void test_sizes(void **state)
{
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	static const size_t sizes[] = {0, 1, 100, 16000, 16250, 16300, 16320, 16384, 32768, 70000,
				       300000, 1048576, 5000000};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *args = malloc(sizes[i] + 16);
		char *end = mp_encode_array(args, 1);
		end = mp_encode_binl(end, sizes[i]);
		memset(end, 'a' + i, sizes[i]);
		end += sizes[i];
		/* A small one before and behind, in the same stream of bytes. */
		send_packet(&c, IPROTO_PING, 1, "\x80", 1);
		send_call(&c, 2, "echo", args, end - args);
		send_packet(&c, IPROTO_PING, 3, "\x80", 1);
		expect_reply(&c, &r, IPROTO_OK, 1);
		expect_reply(&c, &r, IPROTO_OK, 2);
		assert_int_equal(reply_data(&r, &p), 1);
		assert_int_equal(r.end - p, end - args - 1);
		assert_memory_equal(p, args + 1, r.end - p);
		expect_reply(&c, &r, IPROTO_OK, 3);
		free(args);
	}
	client_close(&c);
}

static void test_small_readahead(void **state)
{
	struct client c;
	client_open(&c);
	struct reply r;
	send_call_number(&c, 1, "readahead", 512);
	expect_reply(&c, &r, IPROTO_OK, 1);
	test_sizes(state);
	test_pipeline(state);
	send_call_number(&c, 1, "readahead", NET_READAHEAD_DEFAULT);
	expect_reply(&c, &r, IPROTO_OK, 1);
	client_close(&c);
}

/** While requests yield, the input they refer to stays where it is. */
static void test_args_of_waiting_requests(void **state)
{
	enum { COUNT = 600, SIZE = 3000 };
	struct client c;
	struct reply r;
	const char *p;
	client_open(&c);
	for (int i = 0; i < COUNT; i++) {
		send_call_number(&c, 1000, "sleep", 0.001);
		char args[SIZE + 16], *end = mp_encode_array(args, 1);
		end = mp_encode_binl(end, SIZE);
		memset(end, i % 251, SIZE);
		send_call(&c, i, "echo", args, end + SIZE - args);
	}
	for (int i = 0; i < 2 * COUNT; i++) {
		assert_int_equal(receive(&c, &r), 1);
		assert_int_equal(r.code, IPROTO_OK);
		if (r.sync == 1000)
			continue;
		assert_int_equal(reply_data(&r, &p), 1);
		uint32_t len;
		const char *bin = mp_decode_bin(&p, &len);
		assert_int_equal(len, SIZE);
		for (uint32_t k = 0; k < len; k++)
			assert_int_equal((unsigned char)bin[k], r.sync % 251);
	}
	client_close(&c);
}

static void test_many_connections(void **state)
{
	enum { COUNT = 300 };
	static struct client c[COUNT];
	struct reply r;
	for (int i = 0; i < COUNT; i++)
		client_open(&c[i]);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < COUNT; i++)
			send_call_number(&c[i], i, "sleep", 0.001);
		for (int i = 0; i < COUNT; i++)
			expect_reply(&c[i], &r, IPROTO_OK, i);
	}
	assert_true(ask_number(&c[0], "open", 0) >= COUNT);
	for (int i = 1; i < COUNT; i++)
		client_close(&c[i]);
	wait_for(&c[0], "open", 0, 1, 1);
	client_close(&c[0]);
}

/** With two requests at work at the most, all are still done. */
static void test_request_limit(void **state)
{
	enum { COUNT = 200 };
	struct client c, d;
	struct reply r;
	client_open(&c);
	client_open(&d);
	send_call_number(&c, 1, "msgmax", 2);
	expect_reply(&c, &r, IPROTO_OK, 1);
	for (int i = 0; i < COUNT; i++) {
		send_call_number(&c, 1, "sleep", 0.0002);
		send_call_number(&d, 2, "sleep", 0.0002);
	}
	for (int i = 0; i < COUNT; i++) {
		expect_reply(&c, &r, IPROTO_OK, 1);
		expect_reply(&d, &r, IPROTO_OK, 2);
	}
	send_call_number(&c, 1, "msgmax", NET_MSG_MAX_DEFAULT);
	expect_reply(&c, &r, IPROTO_OK, 1);
	client_close(&c);
	client_close(&d);
}

/** A client that asks for much and reads nothing is not served on until it reads. */
static void test_output_limit(void **state)
{
	enum { COUNT = 300, SIZE = 1000000 };
	struct client c, d;
	struct reply r;
	const char *p;
	client_open(&c);
	client_open(&d);
	uint64_t before = ask_number(&d, "done", 0);
	for (int i = 0; i < COUNT; i++)
		send_call_number(&c, i, "zeros", SIZE);
	usleep(300 * 1000);
	/* 4 MB, one more, and what the kernel buffers. */
	assert_true(ask_number(&d, "done", 0) - before < 50);
	for (int i = 0; i < COUNT; i++) {
		expect_reply(&c, &r, IPROTO_OK, i);
		assert_int_equal(reply_data(&r, &p), 1);
	}
	client_close(&c);
	client_close(&d);
}

/** A client that goes away: what it asked for is done, nothing else suffers. */
static void test_disconnect(void **state)
{
	struct client c, d;
	client_open(&d);
	for (int i = 0; i < 50; i++) {
		uint64_t before = ask_number(&d, "done", 0);
		client_open(&c);
		send_call_number(&c, 1, "sleep", 0.01);
		send_call_number(&c, 2, "zeros", 100000);
		send_packet(&c, IPROTO_PING, 3, "\x80", 1);
		/* {0x57: "watched"} */
		send_packet(&c, IPROTO_WATCH, 4, "\x81\x57\xa7watched", 10);
		client_close(&c);
		wait_for(&d, "open", 0, 1, 1);
		wait_for(&d, "done", 0, before + 3, UINT64_MAX);
	}
	client_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_small_readahead),
		cmocka_unit_test(test_args_of_waiting_requests),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_request_limit),
		cmocka_unit_test(test_output_limit),
		cmocka_unit_test(test_disconnect),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
