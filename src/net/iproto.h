/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binary protocol: the face of the network layer for those above.
 *
 * Sockets are served by the tx thread, or by network threads where they are asked for. What a
 * connection sends is cut into packets; requests run in a pool of fibers of tx, which call the
 * database (db.h) and encode the answer into the connection's output buffer; the buffers are
 * sent once per loop turn. Source of formats: the manual, "Binary protocol".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/** Of the protocol, as the answer to ID tells: the one that has IPROTO_IS_SYNC. */
	IPROTO_PROTOCOL_VERSION = 9,
	NET_MSG_MAX_DEFAULT = 768,
	NET_MSG_MAX_MIN = 2,
	NET_THREADS_MAX = 1000,
	NET_READAHEAD_DEFAULT = 16320,
};

/** Set-up of the layer (sessions, counters, hook of the loop), after db_init(). */
void net_init(void);

/** Stops listening, closes all connections and frees the layer. */
void net_free(void);

/**
 * Starts so many network threads (iproto_threads, 0 to NET_THREADS_MAX), which serve the sockets
 * that are accepted from now on. Once. -1: SystemError is set, and there are none.
 */
int net_start_threads(int count);

/** How many there are. */
int net_get_threads(void);

struct stat_thread;

/** What came by thread `i`, from 0. */
const struct stat_thread *net_get_thread_stat(int i);

/** Adds what the threads have counted since the turn's end to the statistics of stat.h. */
void net_update_stat(void);

/**
 * Listens on the URIs, separated by commas, instead of where it did before; NULL
 * or "": nowhere (connections stay). See listen_set() for errors. May yield.
 */
int net_listen(const char *uris);

struct listen_uri;

/** The same for a list, with TLS where that is asked for. See listen_set_list() for errors. */
int net_listen_list(const struct listen_uri *uris, int count);

/** How many addresses it listens on, and each with its real port ("127.0.0.1:3301"). */
int net_listen_count(void);
const char *net_listen_address(int i);

/** Accepts nobody any more; connections stay. */
void net_stop_listening(void);

/**
 * Waits, for so many seconds at the most, until clients that were told of the shutdown have
 * left, and closes other connections once they have their answers. Yields.
 */
void net_drain(double timeout);

/** Stops listening and closes all connections; requests at work go on without an answer. */
void net_stop(void);

/** The most requests that are at work at a time (net_msg_max, at least NET_MSG_MAX_MIN). */
void net_set_msg_max(int count);

/**
 * May clients have tuples of CALL and EVAL with the names of their fields, where they ask for it
 * in ID (the default), or is that not offered? Holds for what ID asks from now on.
 */
void net_set_call_tuples(bool is_offered);

/** How much is read from a socket at a go (readahead), in bytes. */
void net_set_readahead(size_t size);

struct session;

/**
 * Does a request of a type in place of the server, with the session's rights; it may yield.
 * Header and body are MessagePack; an empty body where the packet has none. 1: it is done, the
 * answer included, 0: the server is to do it, -1: an error is set, which is the answer.
 */
typedef int (*net_override_cb)(struct session *session, int type, const char *header,
			       size_t header_size, const char *body, size_t body_size);

enum { NET_TYPE_UNKNOWN = -1, NET_TYPE_MAX = 255 };

/** Asks `cb` for requests of the type (NET_TYPE_UNKNOWN: of all that are not known) or not. */
void net_override(int type, bool is_on, net_override_cb cb);

/** Sends a packet of this header and body to a session's client. -1 with an error set. */
int net_send(uint64_t session_id, const char *header, size_t header_size, const char *body,
	     size_t body_size);

/**
 * Registers what is called in a request's fiber when the request (or a trigger)
 * is over, before the fiber takes another: to drop what scripts left in it.
 */
void net_on_request_end(void (*cb)(void));
