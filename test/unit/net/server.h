/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A server under test: it runs in a thread of its own, with the real database
 * and a small runtime of procedures in place of Lua. The tests are clients in
 * the main thread (client.h). With TARN_TEST_NET_THREADS so many network threads serve
 * the sockets.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
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
#include "net/session.h"
#include "net/stat.h"

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
static int slow_dump(struct port *port, struct buf *out, bool compat_16,
		     struct format_map *formats)
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
		result_uint(result, stat_now[STAT_NOW_CONNECTIONS]);
	else if (IS("busy"))
		result_uint(result, stat_now[STAT_NOW_REQUESTS]);
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

static bool server_is_builtin(const char *name, size_t len)
{
	return false;
}

static const struct call_runtime server_runtime = {
	.call = server_call, .eval = server_eval, .is_builtin = server_is_builtin,
};

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
	const char *threads = getenv("TARN_TEST_NET_THREADS");
	if (net_start_threads(threads != NULL ? atoi(threads) : 0) != 0 ||
	    net_listen("127.0.0.1:0") != 0) {
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

static int server_setup(void **state)
{
	pthread_create(&server_thread, NULL, server_run, NULL);
	pthread_mutex_lock(&ready_lock);
	while (!is_server_ready)
		pthread_cond_wait(&ready_cond, &ready_lock);
	pthread_mutex_unlock(&ready_lock);
	return 0;
}

static int server_teardown(void **state)
{
	struct client c, idle;
	client_open(&idle);
	client_open(&c);
	wait_for(&c, "busy", 0, 1, 1);
	/* What is at work at the end is never done. Of a thread's, nothing then points to its packet. */
	if (getenv("TARN_TEST_NET_THREADS") == NULL)
		send_call_number(&idle, 1, "sleep", 0.001);
	send_call(&c, 1, "quit", "\x90", 1);
	pthread_join(server_thread, NULL);
	client_close(&c);
	client_close(&idle);
	remove_directory();
	return 0;
}
