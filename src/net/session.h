/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sessions: who a fiber works for. A connection, a console or the background
 * work of a script has one, with a user and a place for the user's own data.
 * Source: the manual, "Submodule box.session".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"
#include "db/schema/user.h"
#include "net/address.h"

struct fiber;
struct port;
struct session;

enum session_type {
	SESSION_BACKGROUND, SESSION_BINARY, SESSION_CONSOLE, SESSION_REPL, SESSION_APPLIER,
	session_type_MAX,
};
/** "background", "binary", ... as box.session.type() tells. */
extern const char *session_type_names[session_type_MAX];

/** What a kind of session can do beyond keeping its data. */
struct session_vtab {
	/**
	 * Sends values to the client ahead of the answer to request `sync`
	 * (box.session.push). -1 with an error set. Never yields.
	 */
	int (*push)(struct session *session, uint64_t sync, struct port *values);
};

struct session {
	/** From 1, growing, never used again. */
	uint64_t id;
	enum session_type type;
	/** The socket; -1 where there is none or it is closed. */
	int fd;
	/** NULL: nothing beyond the data. */
	const struct session_vtab *vtab;
	/** What vtab's functions work on: a connection, a console. */
	void *owner;
	/** The user that acts; credentials_current() points here inside a request. */
	struct credentials credentials;
	/** The client said that it knows errors as extensions: results have them so. */
	bool takes_errors;
	/** Its settings: see session_settings_get in db/schema/space.h. */
	uint32_t settings;
	/** A request of it ends the process, and so will never be answered. */
	bool is_exiting;
	/** The client's address; `peer.len` 0: not known. */
	struct address peer;
	/** The upper layer's: box.session.storage. 0 at first; see session_on_destroy(). */
	intptr_t storage;
};

void session_init(void);
void session_free(void);

/** A session of the user with this id. The caller owns it. */
struct session *session_new(enum session_type type, int fd, uint32_t uid);

/** Ends a session that no fiber works for any more. */
void session_delete(struct session *session);

/**
 * The running fiber's session. A fiber that has none gets one of its own here, of
 * type background and user admin, which ends with the fiber.
 */
struct session *session_current(void);

/** The same without making one: NULL where the fiber has none. */
struct session *session_peek(void);

/** The running fiber works for the session from now on, as its user, on request `sync`. */
void session_enter(struct session *session, uint64_t sync);

/** ... and no longer does. */
void session_leave(void);

/** The number that the client gave to the request the running fiber works on; else 0. */
uint64_t session_sync(void);

/** NULL where no such session lives. */
struct session *session_by_id(uint64_t id);

/** Makes the session, and the running fiber where it works for it, act as `user` from now on. */
void session_set_user(struct session *session, const struct user *user);

/** Sends values to the session's client; ER_UNSUPPORTED where it has none to send to. */
int session_push(struct session *session, uint64_t sync, struct port *values);

/** Registers what frees `storage` when a session ends. Called at start-up. */
void session_on_destroy(void (*destroy)(struct session *session));

/**
 * Triggers of scripts: struct trigger each, event: struct session (on_connect,
 * on_disconnect) or struct session_auth (on_auth). They run in a fiber of the
 * session and may yield. The first two run with the rights of admin. A failing
 * on_connect refuses the connection, a failing on_auth the user.
 */
extern struct list session_connect_triggers, session_disconnect_triggers, session_auth_triggers;

struct session_auth {
	struct session *session;
	/** Zero-terminated. */
	const char *user_name;
	/** Did the password match? */
	bool is_authenticated;
};
