/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HTTP transfers by libcurl on the event loop of tx: a client has curl's multi handle,
 * with the connections that it keeps; a transfer is one request and its response.
 * Knows nothing of Lua. Names are looked up by threads of libcurl.
 */
#pragma once

#include <curl/curl.h>
#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/fiber.h"

struct http_stat {
	uint64_t active_requests, total_requests, failed_requests;
	uint64_t http_200_responses, http_other_responses;
	uint64_t sockets_added, sockets_deleted;
};

struct http_client {
	/** Of who made it and of its transfers. */
	int refs;
	CURLM *multi;
	struct ev_timer timer;
	struct http_stat stat;
};

/** Connections kept at the most (-1: curl's choice), and open at once (0: any number). */
struct http_client *http_client_new(long connections_max, long total_connections_max);
void http_client_unref(struct http_client *client);

struct http_transfer {
	struct http_client *client;
	CURL *easy;
	struct curl_slist *headers;
	/** The header lines of the last response, and what came of its body and is not taken. */
	struct buf head, body;
	/** What the request's body has and is not sent; only of one in pieces. */
	struct buf out;
	bool is_out_complete;
	/** The body of the response is taken piece by piece: curl waits where much is there. */
	bool is_stream;
	/** Curl waits: for room in `body`, for data in `out`. */
	bool is_in_paused, is_out_paused;
	bool is_running, is_done;
	CURLcode code;
	/** Something has come, gone or ended. */
	struct fiber_cond cond;
};

/** A transfer to be given its options (curl_easy_setopt) and started. NULL: no memory. */
struct http_transfer *http_transfer_new(struct http_client *client, const char *url);

/** Ends it where it runs. */
void http_transfer_delete(struct http_transfer *t);

/** The request's body comes in pieces, by http_transfer_write(). */
void http_transfer_set_upload(struct http_transfer *t);

/** Begins. `code` is set, and is_done, where that fails at once. */
void http_transfer_start(struct http_transfer *t);

/** Waits for the end: 0; -1 where the fiber is cancelled. Yields. */
int http_transfer_wait(struct http_transfer *t);

/** Gives a piece of the body; `is_last`: there is no more. */
void http_transfer_write(struct http_transfer *t, const char *data, size_t size, bool is_last);

/** Bytes of `body` have been taken: goes on where curl waited for that. */
void http_transfer_resume(struct http_transfer *t);
