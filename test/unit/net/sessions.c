/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sessions, their triggers and authentication, and the addresses the server
 * listens on.
 */
#include <netinet/in.h>
#include <sys/un.h>

#include "client.h"
#include "server.h"

static void test_session(void **state)
{
	struct client c, d;
	client_open(&c);
	client_open(&d);
	uint64_t first = ask_number(&c, "session", 0);
	assert_true(ask_number(&d, "session", 0) > first);
	assert_int_equal(ask_number(&c, "session", 0), first);
	assert_int_equal(ask_number(&c, "session", 1), 1);
	assert_int_equal(ask_number(&c, "session", 2), USER_GUEST);
	client_close(&c);
	client_close(&d);
}

/** A request that cancels its own fiber harms no other. */
static void test_cancelled_fiber(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	for (int i = 0; i < 10; i++) {
		send_call(&c, 1, "cancelself", "\x90", 1);
		expect_reply(&c, &r, IPROTO_OK, 1);
		send_call_number(&c, 2, "sleep", 0.001);
		expect_reply(&c, &r, IPROTO_OK, 2);
	}
	client_close(&c);
}

static void test_triggers(void **state)
{
	struct client c, d;
	struct reply r;
	client_open(&c);
	uint64_t connects_before = ask_number(&c, "triggers", 0);
	uint64_t disconnects_before = ask_number(&c, "triggers", 1);
	client_open(&d);
	expect_ping(&d);
	client_close(&d);
	wait_for(&c, "triggers", 1, disconnects_before + 1, UINT64_MAX);
	assert_int_equal(ask_number(&c, "triggers", 0), connects_before + 1);
	send_call_number(&c, 1, "refuse", 1);
	expect_reply(&c, &r, IPROTO_OK, 1);
	client_open(&d);
	expect_reply(&d, &r, ERROR(ER_PROC_LUA), 0);
	expect_error_text(&r, "not now");
	assert_int_equal(receive(&d, &r), 0);
	client_close(&d);
	send_call_number(&c, 1, "refuse", 0);
	expect_reply(&c, &r, IPROTO_OK, 1);
	client_close(&c);
}

/** AUTH as guest: without a scramble, and with that of a password it does not have. */
static void test_auth(void **state)
{
	struct client c;
	struct reply r;
	client_open(&c);
	send_packet(&c, IPROTO_AUTH, 1, "\x82\x23\xa5guest\x21\x90", 10);
	expect_reply(&c, &r, IPROTO_OK, 1);
	uint64_t failed = ask_number(&c, "triggers", 2);
	char body[64], *p = body;
	memcpy(p, "\x82\x23\xa5guest\x21\x92\xa9""chap-sha1\xb4", 21);
	memset(p + 21, 'x', 20);
	send_packet(&c, IPROTO_AUTH, 2, body, 41);
	expect_reply(&c, &r, ERROR(ER_PASSWORD_MISMATCH), 2);
	expect_error_text(&r, "User not found or supplied credentials are invalid");
	assert_int_equal(ask_number(&c, "triggers", 2), failed + 1);
	client_close(&c);
}

static void listen_on(struct client *c, const char *uris, char addresses[][ADDRESS_TEXT_MAX],
		      uint32_t count)
{
	struct reply r;
	const char *p;
	send_call_text(c, 1, "listen", uris);
	expect_reply(c, &r, IPROTO_OK, 1);
	assert_int_equal(reply_data(&r, &p), count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		const char *s = mp_decode_str(&p, &len);
		snprintf(addresses[i], ADDRESS_TEXT_MAX, "%.*s", (int)len, s);
	}
}

static void refuse_listen(struct client *c, const char *uris, unsigned code, const char *text)
{
	struct reply r;
	send_call_text(c, 1, "listen", uris);
	expect_reply(c, &r, ERROR(code), 1);
	expect_error_text(&r, text);
}

static void test_listen(void **state)
{
	struct client c, d;
	char now[2][ADDRESS_TEXT_MAX], text[300];
	client_open(&c);
	/* Two at once; the old one is closed, its connections stay. */
	listen_on(&c, "localhost:0, unix/:./test-net.sock", now, 2);
	assert_string_equal(now[1], "unix/:./test-net.sock");
	assert_int_equal(dial(server_address), -1);
	for (int i = 0; i < 2; i++) {
		client_open_at(&d, now[i]);
		expect_ping(&d);
		client_close(&d);
	}
	/* A port in use, a path in use: named, and nothing changes. */
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&in, &len);
	char uri[64];
	snprintf(uri, sizeof(uri), "127.0.0.1:%u", ntohs(in.sin_port));
	snprintf(text, sizeof(text), "can't listen on %s: Address already in use", uri);
	refuse_listen(&c, uri, ER_SYSTEM, text);
	close(fd);
	refuse_listen(&c, "/no/such/dir.sock", ER_SYSTEM,
		      "can't listen on /no/such/dir.sock: No such file or directory");
	refuse_listen(&c, "abc", ER_CFG, "Incorrect value for option 'listen': "
		      "expected host:service or /unix.socket");
	/* A plain file is not removed. */
	FILE *f = fopen("test-net.file", "w");
	fclose(f);
	refuse_listen(&c, "./test-net.file", ER_SYSTEM,
		      "can't listen on ./test-net.file: Address already in use");
	assert_int_equal(unlink("test-net.file"), 0);
	client_open_at(&d, now[0]);
	client_close(&d);
	/* Back, and the unix socket's file is gone. */
	listen_on(&c, server_address, now, 1);
	assert_int_equal(access("./test-net.sock", F_OK), -1);
	/* A socket that nobody listens on any more is replaced. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "./test-net.sock"};
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	close(fd);
	snprintf(text, sizeof(text), "%s,./test-net.sock", server_address);
	listen_on(&c, text, now, 2);
	client_open_at(&d, now[1]);
	expect_ping(&d);
	client_close(&d);
	listen_on(&c, server_address, now, 1);
	client_open(&d);
	client_close(&d);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_cancelled_fiber),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_auth),
		cmocka_unit_test(test_listen),
	};
	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
