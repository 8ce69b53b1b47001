/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: a connection of the binary protocol.
 *
 * Life: accepted -> on_connect triggers -> greeted (input is read from here on)
 * -> closed (no descriptor, output is dropped) -> freed, once no request is at
 * work and its on_disconnect triggers are over.
 *
 * Its socket is served by tx (`wire`), or by a network thread (`line`, see line.h), which
 * gives chunks of whole packets and gets the output of a turn.
 *
 * A connection with at least one whole packet stands in the queue
 * `connections_ready`, and fibers of the pool (worker.c) take packets from it. No
 * more is read from it meanwhile, so what one client can have in memory is
 * bounded: a chunk (a network thread is ahead by LINE_AHEAD_MAX), and the output up to
 * CONNECTION_OUTPUT_MAX plus one answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/list.h"
#include "core/map.h"
#include "net/buffers.h"
#include "net/wire.h"

struct session;
struct address;
struct line;
struct note;
struct stat_thread;
struct tls_context;

enum {
	GREETING_SIZE = 128,
	SALT_SIZE = 32,
	/** Unsent bytes of a connection from which on none of its requests is begun. */
	CONNECTION_OUTPUT_MAX = 4 * 1024 * 1024,
	/** Unsent bytes from which on they are sent without waiting for the turn's end. */
	CONNECTION_OUTPUT_EAGER = 256 * 1024,
};

struct connection {
	/** -1: closed. */
	int fd;
	/** NULL: tx serves the socket, by `wire`, else that is not used. */
	struct line *line;
	struct wire wire;
	/** Of the network thread; or NULL. */
	struct stat_thread *stat;
	/** Requests at work and triggers that run. */
	uint32_t in_flight;
	struct session *session;
	/** Where packets are taken from; NULL while nothing is buffered. */
	struct chunk *in;
	struct buf out;
	/** Bytes of `out` that the kernel has taken. */
	size_t out_sent;
	/* With a line: */
	/** The last of the chunks that came, of which `in` is the first. */
	struct chunk *in_last;
	/** For the next note: what it says (NOTE_*), and what was taken of the input. */
	unsigned orders;
	size_t taken;
	/** Bytes of output that the thread was given, ever. */
	size_t given;
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
	/** It was greeted, and its input is read. */
	bool is_greeted;
	/** The server ended it: what was sent last is to arrive (see linger.h). */
	bool is_finished;
	struct list ready_link, dirty_link, event_link, all_link;
	/** By id: those with a request at work or a transaction (stream.h). */
	struct map_u64 streams;
	/** By name: the events it watches (subscription.h). */
	struct map_str subscriptions;
	/** Bytes of those names. */
	size_t subscription_bytes;
	/** What the client said in ID that it can do: bits (1 << enum iproto_feature). */
	uint64_t features;
	unsigned char salt[SALT_SIZE];
};

/** Connections with a whole packet to take, and with triggers to run. */
extern struct list connections_ready, connections_eventful;
extern struct list connections_all;

/** Bytes of all connections and of what they have buffered. */
size_t connections_memory(void);

/** Set-up and end, by net_init() and net_free(). */
void connections_init(void);
void connections_free(void);

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

/** Bytes that the network thread has and the kernel has not. */
size_t connection_unsent_by_line(const struct connection *con);

/** Bytes of output that the kernel has not taken. */
static inline size_t connection_unsent(const struct connection *con)
{
	size_t size = con->out.size - con->out_sent;
	return con->line == NULL ? size : size + connection_unsent_by_line(con);
}

/** A network thread has told something; the note stays the caller's. */
void connection_on_note(struct connection *con, struct note *note);

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

/* Between connection.c and connection_output.c ------------------------------- */

/** Something is to be sent at the turn's end. */
void connection_mark(struct connection *con);

/** ... and no longer is. */
void connection_unmark(struct connection *con);

/** Sends what the socket takes; the rest waits for it. The connection may be closed and freed. */
void connection_flush(struct connection *con);

/** Tells the network thread what it is to do, and gives it the output. */
void connection_tell(struct connection *con);

/** What is not sent is lost. */
void connection_drop_output(struct connection *con);
