/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The face of the layer: set-up, listening, settings.
 */
#include "net/iproto.h"

#include <string.h>

#include "core/loop.h"
#include "data/mp_buf.h"
#include "db/schema/space.h"
#include "net/connection.h"
#include "net/listen.h"
#include "net/login_attempts.h"
#include "net/net_thread.h"
#include "net/session.h"
#include "net/stat.h"
#include "net/watch.h"
#include "net/worker.h"

/** Broadcasts the schema's version where it has changed (event box.schema). */
static void tell_schema_version(void)
{
	static uint32_t told;
	if (told == schema_version)
		return;
	told = schema_version;
	struct buf value = BUF_INIT;
	mp_put_map(&value, 1);
	mp_put_str(&value, "version");
	mp_put_uint(&value, told);
	watch_broadcast("box.schema", strlen("box.schema"), value.data, value.size);
	buf_free(&value);
}

/** Ends a loop turn: answers go out, and the pool gets a new budget. */
static void net_turn(void)
{
	connection_flush_all();
	if (net_thread_count > 0)
		net_threads_turn();
	worker_turn();
	stat_turn();
	tell_schema_version();
}

void net_init(void)
{
	session_init();
	watch_init();
	stat_init();
	connections_init();
	loop_set_hook(LOOP_HOOK_NET, net_turn);
}

void net_free(void)
{
	net_stop();
	net_threads_stop();
	worker_pool_free();
	connections_free();
	loop_set_hook(LOOP_HOOK_NET, NULL);
	stat_free();
	login_attempts_free();
	session_free();
	watch_free();
}

int net_start_threads(int count)
{
	return net_threads_start(count);
}

int net_get_threads(void)
{
	return net_thread_count;
}

const struct stat_thread *net_get_thread_stat(int i)
{
	return net_thread_stat(i);
}

void net_update_stat(void)
{
	net_threads_take_counts();
}

int net_listen(const char *uris)
{
	return listen_set(uris, connection_accept);
}

int net_listen_list(const struct listen_uri *uris, int count)
{
	return listen_set_list(uris, count, connection_accept);
}

int net_listen_count(void)
{
	return listen_count();
}

const char *net_listen_address(int i)
{
	return listen_address(i);
}

void net_stop(void)
{
	listen_stop();
	connection_close_all();
}

void net_set_msg_max(int count)
{
	worker_requests_max = count > NET_MSG_MAX_MIN ? count : NET_MSG_MAX_MIN;
}

void net_set_readahead(size_t size)
{
	enum { READAHEAD_MIN = 512 };
	atomic_store_explicit(&buffers_readahead, size > READAHEAD_MIN ? size : READAHEAD_MIN,
			      memory_order_relaxed);
	buffers_drop();
}

void net_on_request_end(void (*cb)(void))
{
	worker_on_request_end = cb;
}
