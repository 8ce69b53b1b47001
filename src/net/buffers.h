/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: the memory of input and output. Input lies in chunks. A packet that
 * is at work counts its chunk, so bytes never move under it: a full chunk is left to its
 * packets, and the part of one at its end is copied to a new chunk.
 *
 * Chunks and output buffers of usual size go from connection to connection, so an idle
 * connection holds neither and a busy one finds them in the processor's cache. Each thread
 * keeps some of its own; what one thread has made another may give back.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "net/packet.h"

struct chunk {
	/** Where several wait to be taken from: the one behind it. */
	struct chunk *next;
	/** When it was read into last, in ticks. */
	uint64_t read_at;
	uint32_t refs;
	size_t capacity;
	/** Bytes read into `data`. */
	size_t used;
	/** Bytes taken as packets. */
	size_t parsed;
	char data[];
};

/** A request's bytes behind its length. The chunk is counted. */
struct packet {
	const char *begin, *end;
	struct chunk *chunk;
	/** When it was read, in ticks. */
	uint64_t arrived;
};

/** How much is read from a socket at a go; read by all threads. */
extern _Atomic size_t buffers_readahead;

/** A chunk of `capacity` bytes, or of as many as are read at a go where that is more. */
struct chunk *chunk_get(size_t capacity);

/** One of exactly so many bytes. */
struct chunk *chunk_get_exact(size_t capacity);

/** Takes back one that no packet counts. */
void chunk_put(struct chunk *c);

/**
 * A chunk with room to read into in place of *in (which may be NULL, and is put back where no
 * packet counts it): the same one while it has room, else one with the rest of the old one that
 * is no whole packet yet. Memory for a large packet is taken as its bytes arrive.
 */
struct chunk *chunk_make_room(struct chunk **in);

/**
 * Behind a read: puts one of just the size in place of a chunk of which little is used, and none
 * of it taken. What waits for the rest of a packet, or for a request, then holds no more, and
 * the next socket is read into memory that is warm.
 */
void chunk_shrink(struct chunk **in);

/** Looks at the next packet of a chunk; see packet_scan(). */
static inline enum packet_state chunk_scan(const struct chunk *c, size_t *header, uint64_t *size)
{
	return packet_scan(c->data + c->parsed, c->data + c->used, PACKET_SIZE_MAX, header, size);
}

/** Gives a buffer without memory that of one that was put back, if there is one. */
void outbuf_get(struct buf *b);

/** Takes a buffer back and leaves one without memory in its place. */
void outbuf_put(struct buf *b);

/** From here on this thread keeps some of what it is given back, and from the second on none. */
void buffers_init(void);
void buffers_free(void);

/** Gives what this thread keeps to the allocator. */
void buffers_drop(void);
