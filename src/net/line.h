/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: the socket of a connection in the hands of a network thread, which
 * reads, decrypts, finds whole packets, and sends; tx does the rest, in connection.c.
 *
 * The two tell each other by notes, at most one of a connection in a batch as a rule. A note
 * to the thread has the answers of a turn; one to tx has a chunk of whole packets. What a
 * note carries goes over to who gets it. Nothing else is shared but two counters.
 *
 *     tx: line_new -> OPEN ... CLOSE ------------------> frees the line
 *     thread:         reads, writes ... closes -> GONE
 *
 * Where the socket ends by itself the thread says ENDED and waits for CLOSE. So neither ever
 * meets a line, or a connection, that the other has freed.
 *
 * Input is bounded by LINE_AHEAD_MAX (or one packet): tx says what it has taken. Output is
 * bounded by tx, which knows how much was sent, and asks to be told when there is room again.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/mailbox.h"
#include "net/wire.h"

struct chunk;
struct connection;
struct net_thread;

enum {
	/* To the thread. */
	/** Begin to read. */
	NOTE_OPEN = 1 << 0,
	/** Say ROOM when less than half of CONNECTION_OUTPUT_MAX is unsent. */
	NOTE_TELL = 1 << 1,
	/** Send what the socket takes at once, and close. */
	NOTE_CLOSE = 1 << 2,
	/** With CLOSE: what was sent last is to arrive. */
	NOTE_LINGER = 1 << 3,
	/* To tx. */
	NOTE_ROOM = 1 << 4,
	/** Nothing more comes or goes. */
	NOTE_ENDED = 1 << 5,
	/** The thread has forgotten the line. */
	NOTE_GONE = 1 << 6,
	/** The thread is to end; the note has no line. */
	NOTE_QUIT = 1 << 7,
};

struct note {
	/** First, so that the letter's address is the note's. */
	struct letter letter;
	struct line *line;
	/** Of NOTE_*. */
	unsigned what;
	/** To the thread: what to send. To tx: an empty one for reuse, or none. */
	struct buf out;
	/** To the thread: so much of what it was ahead tx has taken; see line_cost(). */
	size_t taken;
	/** To tx: whole packets, or NULL. */
	struct chunk *in;
	/** To tx, with ENDED: why TLS failed, in memory of xmalloc(), or NULL. */
	char *reason;
};

struct line {
	/* Set once. */
	struct connection *con;
	struct net_thread *thread;
	/* The thread's, from OPEN on. */
	struct wire wire;
	/** The packet that is not whole yet. */
	struct chunk *in;
	struct buf out;
	size_t out_sent;
	/** Given to tx and not taken yet. */
	size_t ahead;
	/** Too far ahead: does not read. */
	bool is_paused;
	/** Was asked to say when there is room. */
	bool tells;
	bool is_ended;
	/* Written by the thread, read by tx. */
	/** Bytes that were sent, or dropped because the line has ended. */
	_Atomic size_t sent;
	/** Memory of `in` and `out`. */
	_Atomic size_t held;
};

enum {
	/** So far a line may be ahead of tx before it stops to read. */
	LINE_AHEAD_MAX = 64 * 1024,
};

struct line *line_new(struct connection *con, struct net_thread *thread, int fd, struct tls *tls);

/** Before OPEN or behind GONE; closes the socket in the first case. */
void line_delete(struct line *line);

/** What a chunk that was given to tx counts. */
size_t line_cost(const struct chunk *c);

/** In the thread: does what a note says, and gives the note back. */
void line_obey(struct line *line, struct note *note);

/** A note for the line with nothing in it, from those that this thread keeps. */
struct note *note_new(struct line *line);

/** The note goes to those that are kept; what it carried was taken. */
void note_free(struct note *note);

/** Gives the notes that this thread keeps back to the allocator. */
void notes_drop(void);
