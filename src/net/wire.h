/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: a connection's socket, with TLS or without, on the event loop of the
 * thread that serves it.
 */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/buf.h"

struct chunk;
struct linger_set;
struct tls;

struct wire {
	/** Watchers for input and output; the second is active only while the socket is full. */
	ev_io input, output;
	struct ev_loop *loop;
	/** NULL: not encrypted. */
	struct tls *tls;
	int fd;
};

typedef void (*wire_cb)(struct ev_loop *loop, ev_io *w, int events);

/** Takes over the socket and `tls`. The callbacks find `data` in their watcher. */
void wire_open(struct wire *wire, struct ev_loop *loop, int fd, struct tls *tls, wire_cb on_readable,
	       wire_cb on_writable, void *data);

/** Begins to read, what TLS has decrypted already included. */
void wire_start_input(struct wire *wire);

/**
 * Reads once into a chunk: *in, or another that takes its place. The bytes read, 0: there are
 * none now, -1: the connection is over, with EPROTO where TLS is why (see tls_reason()).
 */
ssize_t wire_read(struct wire *wire, struct chunk **in);

/**
 * With TLS, behind each read without an error. That may have been what a write, or the next
 * read, was waiting for: where `wants_input`, goes on with the second; true where wire_write()
 * is to be called for output that is there.
 */
bool wire_after_read(struct wire *wire, bool wants_input, bool has_output);

/**
 * Sends what the socket takes of the bytes behind *sent, and moves that; on_writable is called
 * when it can take what is left. The bytes sent, or -1: the connection is over. A buffer that
 * was sent whole is given back, with *sent 0.
 */
ssize_t wire_write(struct wire *wire, struct buf *out, size_t *sent);

/** Closes the socket; with `linger` what was sent last is to arrive (see linger.h). */
void wire_close(struct wire *wire, struct linger_set *linger);
