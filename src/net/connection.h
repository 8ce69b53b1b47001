/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: a connection of the binary protocol.
 *
 * Life: accepted -> on_connect triggers -> greeted (input is read from here on)
 * -> closed (no descriptor, output is dropped) -> freed, once no request is at
 * work and its on_disconnect triggers are over.
 *
 * Input is read into counted chunks. A request refers to its packet inside the
 * chunk and counts it, so bytes never move under it: a full chunk is left to its
 * requests, and the part of a packet at its end is copied to a new one.
 *
 * A connection with at least one whole packet stands in the queue
 * `connections_ready`, and fibers of the pool (worker.c) take packets from it. No
 * more is read from it meanwhile, so what one client can have in memory is
 * bounded: a chunk, and the output up to CONNECTION_OUTPUT_MAX plus one answer.
 */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/list.h"
#include "core/map.h"

struct session;
struct address;
struct tls;
struct tls_context;

enum {
	GREETING_SIZE = 128,
	SALT_SIZE = 32,
	/** Unsent bytes of a connection from which on none of its requests is begun. */
	CONNECTION_OUTPUT_MAX = 4 * 1024 * 1024,
	/** Unsent bytes from which on they are sent without waiting for the turn's end. */
	CONNECTION_OUTPUT_EAGER = 256 * 1024,
};

/** The longest packet, in bytes; the reference's limit. Memory is taken as bytes arrive. */
#define PACKET_SIZE_MAX (UINT64_C(2) * 1024 * 1024 * 1024)

struct chunk {
	uint32_t refs;
	size_t capacity;
	/** Bytes read into `data`. */
	size_t used;
	/** Bytes taken as packets. */
	size_t parsed;
	char data[];
};

struct connection {
	/** Watchers for input and output; the second is active only while the socket is full. */
	ev_io input, output;
	/** -1: closed. */
	int fd;
	/** NULL: not encrypted. */
	struct tls *tls;
	/** Requests at work and triggers that run. */
	uint32_t in_flight;
	struct session *session;
	/** NULL while nothing is buffered. */
	struct chunk *in;
	struct buf out;
	/** When it was read from last, in ticks. */
	uint64_t read_at;
	/** Bytes of `out` that the kernel has taken. */
	size_t out_sent;
	/** In connections_ready. */
	bool is_ready;
	/** Packets taken since it last went to the queue's end. */
	uint8_t burst;
	/** In the list of those with output to send. */
	bool is_dirty;
	/** Too much output: waits for the socket. */
	bool is_blocked;
	/** An answer is being encoded: nothing else may be put into `out`. */
	bool is_encoding;
	/** What the pool must do beside requests; see `connections_eventful`. */
	bool is_connecting, is_disconnecting;
	/** The server ended it: what was sent last is to arrive (see linger.h). */
	bool is_finished;
	struct list ready_link, dirty_link, event_link, all_link;
	/** By id: those with a request at work or a transaction (stream.h). */
	struct map_u64 streams;
	/** By name: the events it watches (subscription.h). */
	struct map_str subscriptions;
	/** What the client said in ID that it can do: bits (1 << enum iproto_feature). */
	uint64_t features;
	unsigned char salt[SALT_SIZE];
};

/** A request's bytes behind its length. The chunk is counted. */
struct packet {
	const char *begin, *end;
	struct chunk *chunk;
	/** When it was read, in ticks. */
	uint64_t arrived;
};

/** Connections with a whole packet to take, and with triggers to run. */
extern struct list connections_ready, connections_eventful;
extern struct list connections_all;

/** Bytes of all connections and of what they have buffered. */
size_t connections_memory(void);

extern size_t connection_readahead;

/** Takes over an accepted socket. */
void connection_accept(int fd, const struct address *peer, struct tls_context *tls);

/** on_connect is over: greets the client and begins to read. */
void connection_greet(struct connection *con);

/**
 * Takes the next packet of a connection in connections_ready. False where there
 * is none to take now: the connection has left the queue (its output is too
 * large, or the packet's length was bad and it is closed).
 */
bool connection_take(struct connection *con, struct packet *packet);

/** Gives back the packet's memory; the connection may be freed. */
void connection_done(struct connection *con, struct packet *packet);

/** The buffer for an answer; marks the connection for the end of the turn. Not for a closed one. */
struct buf *connection_output(struct connection *con);

/** An answer is complete: sends now where much has gathered. */
void connection_answered(struct connection *con);

/** Closes the socket and drops what is not sent; the connection may be freed. */
void connection_close(struct connection *con);

/** Sends what the socket takes at once, then closes. */
void connection_finish(struct connection *con);

/** Frees a closed connection that nothing works for any more. */
void connection_free_if_over(struct connection *con);

/** Sends what all connections have; called at a turn's end. */
void connection_flush_all(void);

/** Closes all. */
void connection_close_all(void);

/** Gives memory that is kept for reuse back. */
void connection_drop_caches(void);
