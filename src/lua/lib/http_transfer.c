/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libcurl's multi interface on the event loop: curl says which sockets and which timer to
 * watch, and is told what happened (libcurl manual: libcurl-multi, "multi_socket").
 * Its callbacks run in the scheduler's fiber and in whoever calls curl; none yields.
 */
#include "lua/lib/http_transfer.h"

#include "core/loop.h"
#include "core/memory.h"

enum {
	/** Bytes of a streamed body that may wait to be taken. */
	BODY_WAITING_MAX = 1 << 20,
};

struct http_socket {
	struct ev_io io;
	struct http_client *client;
};

static void transfer_finish(struct http_transfer *t, CURLcode code)
{
	struct http_client *client = t->client;
	if (t->is_running) {
		curl_multi_remove_handle(client->multi, t->easy);
		t->is_running = false;
		client->stat.active_requests--;
	}
	t->code = code;
	t->is_done = true;
	long status = 0;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK)
		client->stat.failed_requests++;
	else if (status == 200)
		client->stat.http_200_responses++;
	else
		client->stat.http_other_responses++;
	fiber_cond_broadcast(&t->cond);
}

/** Ends the transfers that curl says are over. */
static void collect(struct http_client *client)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		struct http_transfer *t;
		CURLcode code = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		transfer_finish(t, code);
	}
}

static void on_socket(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct http_client *client = ((struct http_socket *)io)->client;
	int mask = (events & EV_READ ? CURL_CSELECT_IN : 0) |
		   (events & EV_WRITE ? CURL_CSELECT_OUT : 0);
	int running;
	client->refs++;
	curl_multi_socket_action(client->multi, io->fd, mask, &running);
	collect(client);
	http_client_unref(client);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct http_client *client = timer->data;
	int running;
	client->refs++;
	curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(client);
	http_client_unref(client);
}

/** Curl wants a socket watched, otherwise than before, or no longer. */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	struct http_client *client = arg;
	struct http_socket *s = socket_arg;
	if (s != NULL)
		ev_io_stop(loop_ev, &s->io);
	if (what == CURL_POLL_REMOVE) {
		if (s != NULL)
			client->stat.sockets_deleted++;
		curl_multi_assign(client->multi, fd, NULL);
		xfree(s);
		return 0;
	}
	if (s == NULL) {
		s = xmalloc(sizeof(*s));
		s->client = client;
		client->stat.sockets_added++;
		curl_multi_assign(client->multi, fd, s);
	}
	int events = (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0);
	ev_io_init(&s->io, on_socket, fd, events);
	ev_io_start(loop_ev, &s->io);
	return 0;
}

/** Curl wants to be called in so many milliseconds; -1: no longer. */
static int set_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct http_client *client = arg;
	ev_timer_stop(loop_ev, &client->timer);
	if (timeout_ms >= 0) {
		ev_timer_set(&client->timer, timeout_ms / 1e3, 0);
		ev_timer_start(loop_ev, &client->timer);
	}
	return 0;
}

struct http_client *http_client_new(long connections_max, long total_connections_max)
{
	static bool is_initialized;
	if (!is_initialized)
		curl_global_init(CURL_GLOBAL_DEFAULT);
	is_initialized = true;
	struct http_client *client = xcalloc(1, sizeof(*client));
	client->refs = 1;
	client->multi = curl_multi_init();
	if (client->multi == NULL) {
		xfree(client);
		return NULL;
	}
	ev_timer_init(&client->timer, on_timer, 0, 0);
	client->timer.data = client;
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	if (connections_max >= 0)
		curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, connections_max);
	curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total_connections_max);
	return client;
}

void http_client_unref(struct http_client *client)
{
	if (--client->refs > 0)
		return;
	curl_multi_cleanup(client->multi);
	ev_timer_stop(loop_ev, &client->timer);
	xfree(client);
}

/* Transfers -------------------------------------------------------------- */

/** A line of a head. A new head, after a redirection, replaces the last. */
static size_t on_head(char *data, size_t size, size_t count, void *arg)
{
	struct http_transfer *t = arg;
	if (size * count >= 5 && memcmp(data, "HTTP/", 5) == 0)
		buf_truncate(&t->head, 0);
	buf_append(&t->head, data, size * count);
	if (t->is_stream)
		fiber_cond_broadcast(&t->cond);
	return size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_transfer *t = arg;
	if (t->is_stream && t->body.size >= BODY_WAITING_MAX) {
		t->is_in_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	buf_append(&t->body, data, size * count);
	if (t->is_stream)
		fiber_cond_broadcast(&t->cond);
	return size * count;
}

/** Curl asks for a piece of the request's body. */
static size_t on_out(char *data, size_t size, size_t count, void *arg)
{
	struct http_transfer *t = arg;
	size_t n = size * count < t->out.size ? size * count : t->out.size;
	if (n == 0) {
		t->is_out_paused = !t->is_out_complete;
		return t->is_out_complete ? 0 : CURL_READFUNC_PAUSE;
	}
	memcpy(data, t->out.data, n);
	buf_consume(&t->out, n);
	fiber_cond_broadcast(&t->cond);
	return n;
}

struct http_transfer *http_transfer_new(struct http_client *client, const char *url)
{
	CURL *easy = curl_easy_init();
	if (easy == NULL)
		return NULL;
	struct http_transfer *t = xcalloc(1, sizeof(*t));
	t->client = client;
	client->refs++;
	t->easy = easy;
	fiber_cond_create(&t->cond);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	return t;
}

void http_transfer_delete(struct http_transfer *t)
{
	if (t->is_running)
		transfer_finish(t, CURLE_ABORTED_BY_CALLBACK);
	fiber_cond_destroy(&t->cond);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	buf_free(&t->head);
	buf_free(&t->body);
	buf_free(&t->out);
	http_client_unref(t->client);
	xfree(t);
}

void http_transfer_set_upload(struct http_transfer *t)
{
	/* What the server closes meanwhile would need the body again, whose pieces are gone. */
	curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(t->easy, CURLOPT_READFUNCTION, on_out);
	curl_easy_setopt(t->easy, CURLOPT_READDATA, t);
}

void http_transfer_start(struct http_transfer *t)
{
	struct http_client *client = t->client;
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	client->stat.total_requests++;
	if (curl_multi_add_handle(client->multi, t->easy) != CURLM_OK) {
		transfer_finish(t, CURLE_FAILED_INIT);
		return;
	}
	t->is_running = true;
	client->stat.active_requests++;
	int running;
	curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(client);
}

int http_transfer_wait(struct http_transfer *t)
{
	while (!t->is_done) {
		if (fiber_cond_wait(&t->cond) != 0)
			return -1;
	}
	return 0;
}

void http_transfer_write(struct http_transfer *t, const char *data, size_t size, bool is_last)
{
	buf_append(&t->out, data, size);
	t->is_out_complete |= is_last;
	if (t->is_out_paused && t->is_running) {
		t->is_out_paused = false;
		curl_easy_pause(t->easy, CURLPAUSE_CONT);
		collect(t->client);
	}
}

void http_transfer_resume(struct http_transfer *t)
{
	if (t->is_in_paused && t->is_running) {
		t->is_in_paused = false;
		curl_easy_pause(t->easy, CURLPAUSE_CONT);
		collect(t->client);
	}
}
