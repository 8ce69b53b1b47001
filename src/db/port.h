/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ports: where values go to or come from without either side knowing the other:
 * arguments and results of a procedure, rows of a select. A port lives on the
 * caller's stack; each kind has a table of functions. Kinds: port_c (tuples and
 * MessagePack values, below); the Lua layer adds one whose values are on a
 * coroutine's stack.
 */
#pragma once

#include <stdint.h>
#include <stdbool.h>

#include "core/buf.h"

struct format_map;
struct port;
struct tuple;

struct port_vtab {
	/** Name for asserts and debugging. */
	const char *name;
	/**
	 * Appends the values one behind the other (no array header) to `out` and returns
	 * their number; -1 with an error set where a value can't be encoded: `out` is as
	 * before. Never yields. `compat_16`: the old CALL's form, in which every value
	 * that is not an array is wrapped in one. `formats`: tuples become extensions, and
	 * their formats are noted there; NULL: they become arrays.
	 */
	int (*dump)(struct port *port, struct buf *out, bool compat_16,
		    struct format_map *formats);
	void (*destroy)(struct port *port);
};

struct port {
	const struct port_vtab *vtab;
	/** Private to the kind. */
	char pad[56];
};

static inline int port_dump(struct port *port, struct buf *out, bool compat_16)
{
	return port->vtab->dump(port, out, compat_16, NULL);
}

/** The same with tuples as extensions; see tuple/format_map.h. */
static inline int port_dump_with_formats(struct port *port, struct buf *out,
					 struct format_map *formats)
{
	return port->vtab->dump(port, out, false, formats);
}

/** Frees what the port holds. */
static inline void port_destroy(struct port *port)
{
	port->vtab->destroy(port);
}

extern const struct port_vtab port_c_vtab;

/** A list of tuples and MessagePack values. */
void port_c_create(struct port *port);
/** Takes a reference of its own. Stops the process where there is no memory for the list. */
void port_c_add_tuple(struct port *port, struct tuple *tuple);
/** One MessagePack value, copied. */
void port_c_add_mp(struct port *port, const char *data, const char *end);
uint32_t port_c_count(const struct port *port);
/**
 * The tuple at an index from 0 (borrowed), or NULL where it is a MessagePack value, which is then
 * in *data.
 */
struct tuple *port_c_at(const struct port *port, uint32_t i, const char **data, uint32_t *size);

extern const struct port_vtab port_msgpack_vtab;

/**
 * A port over a MessagePack array that the caller keeps alive: arguments that came over the wire.
 */
void port_msgpack_create(struct port *port, const char *data, const char *end);
/** There may be tuples as extensions among the values, of these formats (borrowed; unread). */
void port_msgpack_set_formats(struct port *port, struct format_map *formats);
/** The formats, or NULL. */
struct format_map *port_msgpack_formats(const struct port *port);
const char *port_msgpack_data(const struct port *port, const char **end);
