/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binary protocol over real loopback sockets. The server runs in a thread of
 * its own with a small runtime of procedures in place of Lua; the tests are plain
 * blocking clients in the main thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <msgpuck.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/trigger.h"
#include "core/worker.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/wal/wal.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/session.h"
#include "net/stat.h"

/* The server ------------------------------------------------------------- */

static char server_address[ADDRESS_TEXT_MAX];
static pthread_t server_thread;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_cond = PTHREAD_COND_INITIALIZER;
static bool is_server_ready;
static int calls_done, connects, disconnects, auths_failed;
static bool refuse_connections;

static double arg_number(struct port *args)
{
	const char *end, *p = port_msgpack_data(args, &end);
	return mp_decode_array(&p) > 0 ? mp_decode_double(&p) : 0;
}

static void result_uint(struct port *result, uint64_t v)
{
	char buf[16], *end = mp_encode_uint(buf, v);
	port_c_add_mp(result, buf, end);
}

static int run_listen(struct port *args)
{
	const char *end, *p = port_msgpack_data(args, &end);
	char uris[256] = "";
	if (mp_decode_array(&p) > 0) {
		uint32_t len;
		const char *s = mp_decode_str(&p, &len);
		snprintf(uris, sizeof(uris), "%.*s", (int)len, s);
	}
	return net_listen(uris);
}

static void result_addresses(struct port *result)
{
	for (int i = 0; i < net_listen_count(); i++) {
		char buf[ADDRESS_TEXT_MAX + 8];
		const char *text = net_listen_address(i);
		port_c_add_mp(result, buf, mp_encode_str(buf, text, strlen(text)));
	}
}

static void result_echo(struct port *args, struct port *result)
{
	const char *end, *p = port_msgpack_data(args, &end);
	uint32_t count = mp_decode_array(&p);
	for (uint32_t i = 0; i < count; i++) {
		const char *begin = p;
		mp_next(&p);
		port_c_add_mp(result, begin, p);
	}
}

static void result_session(struct port *result)
{
	result_uint(result, session_current()->id);
	result_uint(result, session_sync());
	result_uint(result, session_current()->credentials.uid);
	result_uint(result, fiber()->id);
}

static void push_arg(struct port *args)
{
	struct port values;
	port_c_create(&values);
	result_echo(args, &values);
	session_push(session_current(), session_sync(), &values);
	port_destroy(&values);
}

static void result_zeros(struct port *args, struct port *result)
{
	uint32_t size = arg_number(args);
	char *data = calloc(1, size + 5);
	mp_encode_binl(data, size);
	port_c_add_mp(result, data, data + mp_sizeof_bin(size));
	free(data);
}

/** A port whose encoding yields in the middle, as a script's __serialize may. */
static int slow_dump(struct port *port, struct buf *out, bool compat_16)
{
	buf_append(out, "\x07", 1);
	fiber_sleep(0.02);
	buf_append(out, "\x08", 1);
	return 2;
}

static void slow_destroy(struct port *port)
{
}

static const struct port_vtab slow_vtab = {"slow", slow_dump, slow_destroy};

static int server_call(const char *name, size_t len, struct port *args, struct port *result)
{
#define IS(s) (len == strlen(s) && memcmp(name, s, len) == 0)
	if (IS("fail")) {
		client_error(ER_PROC_LUA, "as asked");
		return -1;
	} else if (IS("twofold")) {
		client_error(ER_PROC_LUA, "inner");
		struct error *outer = client_error_new(ER_UNSUPPORTED, "here", 1, "a", "b");
		diag_add_error(outer);
		error_unref(outer);
		return -1;
	} else if (IS("listen") && run_listen(args) != 0) {
		return -1;
	} else if (IS("sleep")) {
		fiber_sleep(arg_number(args));
	} else if (IS("cancelself")) {
		fiber_cancel(fiber());
	} else if (IS("msgmax")) {
		net_set_msg_max(arg_number(args));
	} else if (IS("readahead")) {
		net_set_readahead(arg_number(args));
	} else if (IS("refuse")) {
		refuse_connections = arg_number(args) != 0;
	} else if (IS("push")) {
		push_arg(args);
	} else if (IS("quit")) {
		loop_stop();
	}
	calls_done++;
	if (IS("slowdump")) {
		result->vtab = &slow_vtab;
		return 0;
	}
	port_c_create(result);
	if (IS("echo"))
		result_echo(args, result);
	else if (IS("listen"))
		result_addresses(result);
	else if (IS("session"))
		result_session(result);
	else if (IS("zeros"))
		result_zeros(args, result);
	else if (IS("done"))
		result_uint(result, calls_done);
	else if (IS("open"))
		result_uint(result, stat_connections_now);
	else if (IS("triggers")) {
		result_uint(result, connects);
		result_uint(result, disconnects);
		result_uint(result, auths_failed);
	}
	return 0;
}

static int server_eval(const char *expr, size_t len, struct port *args, struct port *result)
{
	if (len == 0) {
		diag_set(LuajitError, "nothing to do");
		return -1;
	}
	port_c_create(result);
	char buf[64];
	port_c_add_mp(result, buf, mp_encode_str(buf, expr, len < 50 ? len : 50));
	result_echo(args, result);
	return 0;
}

static const struct call_runtime server_runtime = {.call = server_call, .eval = server_eval};

static int on_connect(struct trigger *t, void *event)
{
	connects++;
	fiber_reschedule();
	if (refuse_connections) {
		client_error(ER_PROC_LUA, "not now");
		return -1;
	}
	return 0;
}

static int on_disconnect(struct trigger *t, void *event)
{
	fiber_reschedule();
	disconnects++;
	return 0;
}

static int on_auth(struct trigger *t, void *event)
{
	struct session_auth *auth = event;
	auths_failed += !auth->is_authenticated;
	return 0;
}

static struct trigger connect_trigger, disconnect_trigger, auth_trigger;

/** Puts a row, written with single bytes and short strings, into a system space. */
static void put_row(uint32_t space_id, const char *row, size_t size)
{
	if (db_replace(space_id, row, row + size, NULL) != 0) {
		fprintf(stderr, "space %u: %s\n", space_id, diag_last()->message);
		abort();
	}
}

static char server_dir[] = "/tmp/tarn-unit-net-XXXXXX";

/** A database without a journal, in which guest may read, write and execute, and space 512. */
static void make_database(void)
{
	struct wal_config config = {.wal_dir = server_dir, .memtx_dir = server_dir,
				    .mode = WAL_NONE, .wal_max_size = 1 << 20};
	if (mkdtemp(server_dir) == NULL || wal_start(&config) != 0) {
		diag_log();
		abort();
	}
	/* grantor, grantee, object type, object id, privileges */
	put_row(SPACE_PRIV, "\x95\x01\x00\xa8universe\x00\x1f", 14);
	put_row(SPACE_SPACE, "\x97\xcd\x02\x00\x01\xa4test\xa5memtx\x00\x80\x90", 19);
	put_row(SPACE_INDEX, "\x96\xcd\x02\x00\x00\xa2pk\xa4tree\x81\xa6unique\xc3"
			     "\x91\x92\x00\xa8unsigned", 34);
}

static void remove_directory(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", server_dir);
	assert_int_equal(system(command), 0);
}

static int server_main(va_list ap)
{
	make_database();
	if (net_listen("127.0.0.1:0") != 0) {
		diag_log();
		abort();
	}
	trigger_create(&connect_trigger, on_connect, NULL, NULL);
	list_add_tail(&session_connect_triggers, &connect_trigger.link);
	trigger_create(&disconnect_trigger, on_disconnect, NULL, NULL);
	list_add_tail(&session_disconnect_triggers, &disconnect_trigger.link);
	trigger_create(&auth_trigger, on_auth, NULL, NULL);
	list_add_tail(&session_auth_triggers, &auth_trigger.link);
	pthread_mutex_lock(&ready_lock);
	snprintf(server_address, sizeof(server_address), "%s", net_listen_address(0));
	is_server_ready = true;
	pthread_cond_signal(&ready_cond);
	pthread_mutex_unlock(&ready_lock);
	return 0;
}

static void *server_run(void *arg)
{
	log_set_level(LOG_FATAL);
	fiber_init();
	loop_init();
	worker_init();
	db_init();
	db_set_call_runtime(&server_runtime);
	net_init();
	fiber_wakeup(fiber_new("server", server_main));
	loop_run();
	net_free();
	wal_stop();
	db_free();
	worker_free();
	loop_free();
	fiber_free();
	return NULL;
}

static int group_setup(void **state)
{
	pthread_create(&server_thread, NULL, server_run, NULL);
	pthread_mutex_lock(&ready_lock);
	while (!is_server_ready)
		pthread_cond_wait(&ready_cond, &ready_lock);
	pthread_mutex_unlock(&ready_lock);
	return 0;
}

/* A client --------------------------------------------------------------- */

struct client {
	int fd;
	char greeting[GREETING_SIZE];
	char *in;
	size_t in_size;
	size_t in_capacity;
};

struct reply {
	uint32_t code;
	uint64_t sync;
	/** Valid until the next reply is read. */
	const char *body, *end;
};

static int dial(const char *address)
{
	struct address_uri uri;
	struct address a;
	assert_true(address_parse(address, strlen(address), &uri));
	assert_int_equal(address_resolve(&uri, &a, 1), 1);
	int fd = socket(a.sa.ss_family, SOCK_STREAM, 0);
	struct timeval limit = {.tv_sec = 20};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&a.sa, a.len) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void read_greeting(struct client *c)
{
	size_t got = 0;
	while (got < GREETING_SIZE) {
		ssize_t n = recv(c->fd, c->greeting + got, GREETING_SIZE - got, 0);
		assert_true(n > 0);
		got += n;
	}
}

static void client_open_at(struct client *c, const char *address)
{
	memset(c, 0, sizeof(*c));
	c->fd = dial(address);
	assert_true(c->fd >= 0);
	read_greeting(c);
	c->in_capacity = 1 << 16;
	c->in = malloc(c->in_capacity);
}

static void client_open(struct client *c)
{
	client_open_at(c, server_address);
}

static void client_close(struct client *c)
{
	close(c->fd);
	free(c->in);
}

static void send_bytes(struct client *c, const void *data, size_t size)
{
	for (size_t sent = 0; sent < size; ) {
		ssize_t n = send(c->fd, (const char *)data + sent, size - sent, MSG_NOSIGNAL);
		assert_true(n > 0);
		sent += n;
	}
}

/** 1: a reply; 0: the server closed the connection. */
static int receive(struct client *c, struct reply *r)
{
	for (;;) {
		const char *p = c->in, *end = c->in + c->in_size;
		if (end - p >= 5) {
			uint64_t size = mp_decode_uint(&p);
			if ((uint64_t)(end - p) >= size) {
				const char *packet_end = p + size;
				uint32_t pairs = mp_decode_map(&p);
				while (pairs-- > 0) {
					uint64_t key = mp_decode_uint(&p), v = mp_decode_uint(&p);
					if (key == IPROTO_REQUEST_TYPE)
						r->code = v;
					else if (key == IPROTO_SYNC)
						r->sync = v;
				}
				/* The body moves to memory of its own: it is looked at later. */
				static char *body;
				free(body);
				body = malloc(packet_end - p + 1);
				memcpy(body, p, packet_end - p);
				r->body = body;
				r->end = body + (packet_end - p);
				c->in_size = end - packet_end;
				memmove(c->in, packet_end, c->in_size);
				return 1;
			}
		}
		if (c->in_size == c->in_capacity)
			c->in = realloc(c->in, c->in_capacity *= 2);
		ssize_t n = recv(c->fd, c->in + c->in_size, c->in_capacity - c->in_size, 0);
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return 0;
		assert_true(n > 0);
		c->in_size += n;
	}
}

/** Puts length and header in front of a body; returns the packet's size. */
static size_t make_packet(char *out, unsigned type, uint64_t sync, const char *body, size_t size)
{
	char *p = out + 5;
	p = mp_encode_map(p, 2);
	p = mp_encode_uint(p, IPROTO_REQUEST_TYPE);
	p = mp_encode_uint(p, type);
	p = mp_encode_uint(p, IPROTO_SYNC);
	p = mp_encode_uint(p, sync);
	memcpy(p, body, size);
	p += size;
	out[0] = '\xce';
	mp_store_u32(out + 1, p - out - 5);
	return p - out;
}

static void send_packet(struct client *c, unsigned type, uint64_t sync, const char *body,
			size_t size)
{
	char *packet = malloc(size + 64);
	send_bytes(c, packet, make_packet(packet, type, sync, body, size));
	free(packet);
}

/** A CALL's body with the argument bytes `args` (an array). */
static size_t call_body(char *out, const char *name, const char *args, size_t args_size)
{
	char *p = mp_encode_map(out, 2);
	p = mp_encode_uint(p, IPROTO_FUNCTION_NAME);
	p = mp_encode_str(p, name, strlen(name));
	p = mp_encode_uint(p, IPROTO_TUPLE);
	memcpy(p, args, args_size);
	return p + args_size - out;
}

static void send_call(struct client *c, uint64_t sync, const char *name, const char *args,
		      size_t args_size)
{
	char *body = malloc(args_size + 256);
	send_packet(c, IPROTO_CALL, sync, body, call_body(body, name, args, args_size));
	free(body);
}

static void send_call_number(struct client *c, uint64_t sync, const char *name, double v)
{
	char args[16], *p = mp_encode_array(args, 1);
	p = mp_encode_double(p, v);
	send_call(c, sync, name, args, p - args);
}

static void send_call_text(struct client *c, uint64_t sync, const char *name, const char *text)
{
	char args[300], *p = mp_encode_array(args, 1);
	p = mp_encode_str(p, text, strlen(text));
	send_call(c, sync, name, args, p - args);
}

static void expect_reply(struct client *c, struct reply *r, uint32_t code, uint64_t sync)
{
	assert_int_equal(receive(c, r), 1);
	if (r->code != code)
		fail_msg("code %u in place of %u", r->code, code);
	assert_int_equal(r->sync, sync);
	const char *p = r->body;
	assert_int_equal(mp_check(&p, r->end), 0);
	assert_ptr_equal(p, r->end);
}

static void expect_ping(struct client *c)
{
	struct reply r;
	send_packet(c, IPROTO_PING, 4711, "\x80", 1);
	expect_reply(c, &r, IPROTO_OK, 4711);
}

/** The DATA array; returns its count. */
static uint32_t reply_data(const struct reply *r, const char **p)
{
	*p = r->body;
	assert_int_equal(mp_decode_map(p), 1);
	assert_int_equal(mp_decode_uint(p), IPROTO_DATA);
	return mp_decode_array(p);
}

static void expect_error_text(const struct reply *r, const char *text)
{
	const char *p = r->body;
	uint32_t len;
	assert_int_equal(mp_decode_map(&p), 2);
	assert_int_equal(mp_decode_uint(&p), IPROTO_ERROR_24);
	const char *s = mp_decode_str(&p, &len);
	if (len != strlen(text) || memcmp(s, text, len) != 0)
		fail_msg("'%.*s' in place of '%s'", (int)len, s, text);
	assert_int_equal(mp_decode_uint(&p), IPROTO_ERROR);
}

static uint64_t ask_number(struct client *c, const char *name, int which)
{
	struct reply r;
	const char *p;
	send_call(c, 1, name, "\x90", 1);
	expect_reply(c, &r, IPROTO_OK, 1);
	assert_true(reply_data(&r, &p) > (uint32_t)which);
	while (which-- > 0)
		mp_next(&p);
	return mp_decode_uint(&p);
}

/** Asks until the number is at least `low` and at most `high`. */
static void wait_for(struct client *c, const char *name, int which, uint64_t low, uint64_t high)
{
	uint64_t v = 0;
	for (int i = 0; i < 10000; i++) {
		v = ask_number(c, name, which);
		if (v >= low && v <= high)
			return;
		usleep(1000);
	}
	fail_msg("%s is %llu for good", name, (unsigned long long)v);
}

#define ERROR(code) (IPROTO_TYPE_ERROR | (code))

/* Tests ------------------------------------------------------------------ */

static void test_greeting(void **state)
{
	struct client c;
	client_open(&c);
	assert_memory_equal(c.greeting, "Tarantool " IPROTO_ANNOUNCED_VERSION " (Binary) ",
			    strlen("Tarantool " IPROTO_ANNOUNCED_VERSION " (Binary) "));
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
		{IPROTO_AUTH, "\x82\x23\xa6""nobody\x21\x90", 11, ER_NO_SUCH_USER},
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
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x92\x01\xa1""a"), B("\x92\x01\xa1""a"), 0},
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x91\x01"), NULL, 0, ER_TUPLE_FOUND},
		{IPROTO_INSERT, B("\x82\x10\xcd\x02\x00\x21\x91\xa1""a"), NULL, 0, ER_FIELD_TYPE},
		{IPROTO_INSERT, B("\x82\x10\xcd\x03\x00\x21\x91\x01"), NULL, 0, ER_NO_SUCH_SPACE},
		{IPROTO_REPLACE, B("\x82\x10\xcd\x02\x00\x21\x92\x01\x05"), B("\x92\x01\x05"), 0},
		{IPROTO_UPDATE, B("\x83\x10\xcd\x02\x00\x20\x91\x01\x21\x91\x93\xa1+\x01\x02"),
		 B("\x92\x01\x07"), 0},
		{IPROTO_UPDATE, B("\x83\x10\xcd\x02\x00\x20\x91\x09\x21\x91\x93\xa1+\x01\x02"), "", 0, 0},
		{IPROTO_UPSERT, B("\x83\x10\xcd\x02\x00\x21\x91\x02\x28\x90"), "", 0, 0},
		{IPROTO_UPSERT, B("\x83\x10\xcd\x02\x00\x21\x91\x01\x28\x91\x93\xa1-\x01\x01"), "", 0, 0},
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

/** A client that asks for much and reads nothing stops being served, and is served on once it reads. */
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
		client_close(&c);
		wait_for(&d, "open", 0, 1, 1);
		wait_for(&d, "done", 0, before + 3, UINT64_MAX);
	}
	client_close(&d);
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
	expect_error_text(&r, "Incorrect password supplied for user 'guest'");
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
			size_t body_size = call_body(body, "echo", "\x93\x01\xa3xyz\x81\x01\xc0", 9);
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

static int group_teardown(void **state)
{
	struct client c, idle;
	client_open(&idle);
	client_open(&c);
	send_call_number(&idle, 1, "sleep", 0.001);
	send_call(&c, 1, "quit", "\x90", 1);
	pthread_join(server_thread, NULL);
	client_close(&c);
	client_close(&idle);
	remove_directory();
	return 0;
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
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_call_and_eval),
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_yield_while_encoding),
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_cancelled_fiber),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_small_readahead),
		cmocka_unit_test(test_args_of_waiting_requests),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_request_limit),
		cmocka_unit_test(test_output_limit),
		cmocka_unit_test(test_disconnect),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_auth),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_random_input),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
