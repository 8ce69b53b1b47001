/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: answers, encoded straight into the connection's output
 * buffer. Nothing is written to a closed connection. None of these yields, save
 * where a script's __serialize yields while a port's values are encoded: that
 * holds up the connection's other answers, which wait for it.
 *
 * The header has a fixed size, so connectors that count on it work, and it is
 * one copy of a template:
 *
 *     ce LENGTH(4)  83  00 ce CODE(4)  01 cf SYNC(8)  05 ce SCHEMA_VERSION(4)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct connection;
struct error;
struct port;
struct tuple;

enum { REPLY_HEADER_SIZE = 28 };

/** How an answer's values are encoded: bits. */
enum reply_flag {
	/** Of the old CALL: each value that is no array becomes one. */
	REPLY_COMPAT_16 = 1,
	/** Tuples are extensions, and their formats follow (db/tuple/format_map.h). */
	REPLY_FORMATS = 2,
};

/** Success with an empty body. */
void reply_ok(struct connection *con, uint64_t sync);

/** Success with a port's values as an array. -1 where they can't be encoded: nothing is sent. */
int reply_port(struct connection *con, uint64_t sync, struct port *port, unsigned flags);

/** The same with a position, where that is not empty. */
int reply_page(struct connection *con, uint64_t sync, struct port *port,
	       const struct buf *position, unsigned flags);

/** Success with an array of one tuple, or of none for NULL. -1 as reply_port(). */
int reply_tuple(struct connection *con, uint64_t sync, struct tuple *tuple, unsigned flags);

/** An error with its code, text and stack of causes. */
void reply_error(struct connection *con, uint64_t sync, const struct error *e);

/** An event: the name and its value, which may be NULL. Not while an answer is encoded. */
void reply_event(struct connection *con, const char *name, size_t len, const char *value,
		 size_t size);

/** A packet of any header and body. Waits where an answer is being encoded. */
void reply_raw(struct connection *con, const char *header, size_t header_size, const char *body,
	       size_t body_size);

/** Success with an array of one value, or of none for NULL. */
void reply_value(struct connection *con, uint64_t sync, const char *value, size_t size);

/** The protocol's version and the features (bits) we have. */
void reply_id(struct connection *con, uint64_t sync, uint64_t features);

/** A message ahead of the answer (box.session.push). -1 where the values can't be encoded. */
int reply_push(struct connection *con, uint64_t sync, struct port *port);
