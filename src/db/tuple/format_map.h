/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples with the names of their fields in packets. Source: Tarantool 3.0, "Tuple
 * formats in IPROTO". A tuple is a MessagePack extension of the type 7 whose content is
 *
 *     number of its format (an unsigned integer) | the tuple's array
 *
 * and the body has under IPROTO_TUPLE_FORMATS a map from such numbers to formats, which
 * are what space:format() returns: arrays of {name = ..., type = ...}. Numbers mean
 * nothing beyond their packet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"

struct buf;
struct tuple;
struct tuple_format;

/** The formats of one packet, while that is written or read. */
struct format_map {
	/** From a format's number to the dictionary of its names + 1. */
	struct map_u64 dicts;
	/** The number that was looked up last. */
	uint64_t last;
	uint32_t last_dict;
	bool has_last;
	/** A packet's formats that are still to be read, or NULL. Borrowed. */
	const char *unread;
};

void format_map_create(struct format_map *m);
void format_map_destroy(struct format_map *m);

/* Writing. */

/** Appends a tuple's array as an extension, and notes its format. */
void format_map_put_tuple(struct format_map *m, struct buf *out,
			  const struct tuple_format *format, uint32_t dict, const char *data,
			  uint32_t size);

/** The same for a tuple, with the names that its format has. */
void format_map_put(struct format_map *m, struct buf *out, const struct tuple *tuple);

/** Appends the map of the formats noted. */
void format_map_put_formats(const struct format_map *m, struct buf *out);

/* Reading. */

/**
 * Takes the formats of a packet: a well-formed value. What else it has than names is passed
 * over. -1: ER_INVALID_MSGPACK, or ER_TUPLE_FORMAT_LIMIT where peers have told of so many
 * formats that no more are remembered.
 */
int format_map_read(struct format_map *m, const char *formats);

/** The same for those that are `unread`: once it is known that their sender may do what it asks. */
int format_map_read_unread(struct format_map *m);

/**
 * Finds the array in an extension's content, and the dictionary of its names. False where
 * the content is no such, or its format was not told.
 */
bool format_map_read_tuple(struct format_map *m, const char *content, uint32_t len,
			   const char **data, uint32_t *dict);

/**
 * Appends well-formed MessagePack without extensions of the type: the arrays alone. One
 * whose content is no tuple stays as it is.
 */
void format_map_strip(struct buf *out, const char *data, const char *end);
