/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: streams of a connection. Requests of one stream are done one by one,
 * in their order, and a transaction stays with the stream from request to request.
 * Source: the manual, "Streams" (internals, binary protocol).
 *
 * A transaction that has changed something may not yield. So it lives on only while the
 * requests of its stream follow each other with nobody's code in between, as where a
 * client sends all of them at once; else it is aborted (ER_TRANSACTION_YIELD).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "net/connection.h"

struct txn;

struct stream {
	uint64_t id;
	struct connection *con;
	/** Suspended between the stream's requests; or NULL. */
	struct txn *txn;
	/** One of its requests is at work. */
	bool is_busy;
	/** Packets that wait for that one, oldest first. */
	struct list waiting;
	/** In streams_ready. */
	struct list ready_link;
};

/** Streams with a packet to take, or with nothing but their end before them. */
extern struct list streams_ready;

/** So many streams may a connection have at once: at work, or with a transaction. */
enum { STREAMS_MAX = 10000 };

/**
 * The stream of a packet. It is busy where it was before: then the packet waits its turn. NULL
 * with an error set where there are too many.
 */
struct stream *stream_get(struct connection *con, uint64_t id);

/** Keeps a packet, whose memory it takes over, until the one before is done. */
void stream_queue(struct stream *stream, const struct packet *packet);

/** Takes the oldest packet that waits. False: none does. */
bool stream_take(struct stream *stream, struct packet *packet);

/** The running fiber works on a request of the stream, within its transaction, if it has one. */
void stream_enter(struct stream *stream);

/** ... and no longer does. The stream may be gone. */
void stream_leave(struct stream *stream);

/** Somebody else's code is about to run: a transaction that has changed something is over. */
void stream_disturb(const struct stream *but);

/** The connection is closed: transactions end, once what waits has been done. */
void stream_close_all(struct connection *con);

/** Ends a stream in streams_ready that has nothing left to do. Runs triggers: may yield. */
void stream_end(struct stream *stream);
