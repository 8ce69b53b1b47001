/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The client of the binary protocol, behind the module net.box: a transport is one
 * socket with the requests that wait for their answers. Private to the folder.
 *
 * Requests are encoded into the transport's output, which is sent once no fiber is ready
 * any more: what all of them asked for goes out in one write. Answers are read by a
 * watcher of the event loop, which finds the request by its number, gives it the body and
 * wakes who waits; the body becomes Lua values in the fiber that takes them.
 *
 * What a connection is made of beyond that (its states, logging in, the schema, triggers)
 * is in Lua: net_box*.lua.
 */
#pragma once

#include <ev.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/list.h"
#include "core/map.h"
#include "db/tuple/format_map.h"

struct error;
struct lua_ibuf;
struct tls;
struct tls_context;

/** What to ask for, and how its answer becomes Lua values. Names are in netbox.c. */
enum netbox_method {
	NETBOX_PING,
	NETBOX_CALL_16, NETBOX_CALL, NETBOX_EVAL,	/* (name, arguments) */
	NETBOX_INSERT, NETBOX_REPLACE,			/* (space, tuple) */
	NETBOX_DELETE,					/* (space, index, key) */
	NETBOX_UPDATE,					/* (space, index, key, operations) */
	NETBOX_UPSERT,					/* (space, tuple, operations) */
	/* (space, index, iterator, offset, limit, key[, after, fetch_pos]) */
	NETBOX_SELECT,		/* a list of tuples */
	NETBOX_SELECT_RAW,	/* a list of tables */
	NETBOX_GET,		/* a tuple; an error where there is another */
	NETBOX_FIRST,		/* a tuple */
	NETBOX_COUNT,		/* a call whose first value is the result */
	NETBOX_EXECUTE, NETBOX_PREPARE, NETBOX_UNPREPARE, /* (text or id, parameters, options) */
	NETBOX_BEGIN,		/* (timeout, isolation, is_sync) */
	NETBOX_COMMIT,		/* (is_sync) */
	NETBOX_ROLLBACK,
	NETBOX_WATCH_ONCE,	/* (key) */
	NETBOX_ID,		/* (has no schema): {version, features, auth type} */
	NETBOX_AUTH,		/* (user, method, scramble) */
	netbox_method_MAX,
};

struct netbox_request {
	enum netbox_method method;
	/** Dictionary of the names of the tuples' fields, or 0. */
	uint32_t dict;
	uint64_t sync;
	/** As the answer's header has it. */
	uint64_t schema_version;
	/** Where it stands among those that wait; NULL: it is done, or was given up. */
	struct netbox *transport;
	bool is_done;
	/** The answer goes to `ibuf` without the map around the data. */
	bool skip_header;
	bool return_raw;
	/** Messages of box.session.push() are of no interest. */
	bool drop_pushes;
	/** A counted reference: what went wrong. NULL: the answer is `body`. */
	struct error *error;
	/** The body as it came, a map; empty where the packet had none. */
	struct buf body;
	/** Tuples of the answer may be extensions; their formats, once these were read. */
	bool may_have_formats, has_formats;
	struct format_map formats;
	/** The user's buffer, kept alive by the reference, and what was written there. */
	struct lua_ibuf *ibuf;
	int ibuf_ref;
	size_t written;
	/** Whoever waits for the answer or for a message. */
	struct fiber_cond cond;
	/** Bodies of messages, each with its size in front, and their number. */
	struct buf pushes;
	uint32_t push_count;
	/** The message looked at last, by its number, and where it begins. */
	uint32_t push_last;
	size_t push_last_pos;
};

struct netbox_event {
	struct list link;
	/** Both MessagePack; data may be empty. */
	struct buf key, data;
};

struct netbox {
	int refs;
	int fd;
	/** NULL: not encrypted. */
	struct tls *tls;
	/** close() was called: nothing goes on. */
	bool is_closed;
	bool is_dirty;
	/** Whoever leads the connection is to look around. */
	bool is_touched;
	/** The server takes tuples as extensions in arguments of calls; it may answer with them. */
	bool takes_tuples, gets_tuples;
	/** The schema that is loaded (0: none), and what the last answer told; or 0. */
	uint64_t schema_version, schema_version_seen;
	/** How often one was loaded. */
	uint64_t schema_loads;
	/** The fiber that leads the connection, which loads it. */
	const struct fiber *leader;
	uint64_t last_sync;
	struct map_u64 requests;
	/** Why the socket was closed: a text, or NULL. */
	char *failure;
	struct buf out;
	/** Bytes of `out` that were sent. */
	size_t out_done;
	/** Input: what was not looked at yet begins at `in_pos`. */
	struct buf in;
	size_t in_pos;
	ev_io reader, writer;
	/** Carries a failed write, with its errno, to the next turn of the loop. */
	ev_timer failed;
	int failed_errno;
	/** Among those that have output, while is_dirty. */
	struct list dirty_link;
	/** Events of watched keys, in order. */
	struct list events;
	/** The fiber that leads the connection waits here. */
	struct fiber_cond changed;
};

/* Transport (transport.c) ---------------------------------------------------- */

/** Did the last answer tell of another schema than is loaded? */
static inline bool netbox_schema_is_stale(const struct netbox *t)
{
	return t->schema_version != 0 && t->schema_version_seen != 0 &&
	       t->schema_version != t->schema_version_seen;
}

/** One reference, the caller's. */
struct netbox *netbox_new(void);
void netbox_ref(struct netbox *t);
void netbox_unref(struct netbox *t);

/** Connects; -1 with errno set. `deadline` is of the monotonic clock. Yields. */
int netbox_connect(struct netbox *t, const char *host, const char *service, double deadline);

/** The socket speaks TLS from here on, as a client. */
void netbox_start_tls(struct netbox *t, struct tls_context *context);

/** Reads exactly `size` bytes; NULL with *why set. Yields. Before netbox_start() only. */
const char *netbox_read_exact(struct netbox *t, size_t size, double deadline, const char **why);

/**
 * Reads until the bytes `end` came and returns all up to them, with the size; as above.
 * Whoever reads next begins behind them.
 */
const char *netbox_read_until(struct netbox *t, const char *end, size_t *size, double deadline,
			      const char **why);

/** Sends all of it; false with *why set. Yields. Before netbox_start() only. */
bool netbox_write(struct netbox *t, const char *data, size_t size, double deadline,
		  const char **why);

/** From now on packets are read as they come. */
void netbox_start(struct netbox *t);

/** Closes the socket; requests that wait fail with the text. Never yields. */
void netbox_fail(struct netbox *t, const char *why);

/** The same for good. Safe in a finalizer. */
void netbox_close(struct netbox *t);

/** Sends the packet whose bytes stand in `packet`, soon. */
void netbox_send(struct netbox *t, const struct buf *packet);

/** Puts the request among those that wait, under its `sync`. */
void netbox_expect(struct netbox *t, struct netbox_request *request);

/* Requests (request.c) --------------------------------------------------------- */

void netbox_request_create(struct netbox_request *r, enum netbox_method method);
/** Gives it up where it still waits. `L` is for the reference to the buffer. */
void netbox_request_destroy(lua_State *L, struct netbox_request *r);

/**
 * [raises] Appends the packet: header, and the body from the arguments at `idx` and above.
 * `stream_id` 0: none. `formats`: tuples among the arguments of a call keep the names of
 * their fields, and these are noted there; or NULL.
 */
void netbox_encode(lua_State *L, int idx, enum netbox_method method, uint64_t sync,
		   uint64_t stream_id, struct format_map *formats, struct buf *out);

/** The same for WATCH and UNWATCH of a key, which have no answer. `type` is IPROTO's. */
void netbox_encode_watch(struct buf *out, unsigned type, const char *key, size_t len);

/** Takes the answer's packet: an error, or the body. Never raises. */
void netbox_request_finish(struct netbox_request *r, uint32_t type, const char *body,
			   size_t size);
/** Ends it with a ClientError of code ER_NO_CONNECTION that has the text. */
void netbox_request_fail(struct netbox_request *r, const char *why);
/** Takes a message. */
void netbox_request_push(struct netbox_request *r, const char *body, size_t size);

/* Answers (response.c) ---------------------------------------------------------- */

/**
 * [raises] Pushes the values of an answer without an error and returns their number.
 * `as_list`: as one value, as futures have it.
 */
int netbox_decode(lua_State *L, struct netbox_request *r, bool as_list);

/** [raises] Pushes the value of message number `i` from 0. */
void netbox_decode_push(lua_State *L, struct netbox_request *r, uint32_t i);

/** Finds the value of an integer key in a well-formed map; NULL where there is none. */
const char *netbox_find(const char *map, const char *end, uint64_t key);

void netbox_response_init(lua_State *L);

/* Futures (future.c) -------------------------------------------------------------- */

/** [raises] Pushes a future of the method and returns its request, which is not sent yet. */
struct netbox_request *netbox_push_future(lua_State *L, enum netbox_method method);

/** (future): the schema version in the answer's header; 0 where it is not done. */
int netbox_future_schema_version(lua_State *L);

void netbox_future_init(lua_State *L);
