/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sessions by id and by fiber. Two slots of a fiber tell its session and the
 * request's number; both are empty in a fiber that works for nobody.
 */
#include "net/session.h"

#include <stdio.h>

#include "core/fiber.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/trigger.h"
#include "db/error.h"
#include "db/schema/space.h"

const char *session_type_names[session_type_MAX] = {
	[SESSION_BACKGROUND] = "background",
	[SESSION_BINARY] = "binary",
	[SESSION_CONSOLE] = "console",
	[SESSION_REPL] = "repl",
	[SESSION_APPLIER] = "applier",
};

struct list session_connect_triggers = LIST_INIT(session_connect_triggers);
struct list session_disconnect_triggers = LIST_INIT(session_disconnect_triggers);
struct list session_auth_triggers = LIST_INIT(session_auth_triggers);

static struct map_u64 session_map;
static uint64_t session_id_last;
static int slot_session = -1, slot_sync = -1;
static void (*storage_destroy)(struct session *session);

/** A fiber ends: its background session, if it had one, ends with it. */
static void slot_recycle(struct fiber *f, void *value)
{
	struct session *session = value;
	f->slot[slot_session] = NULL;
	if (session->type == SESSION_BACKGROUND)
		session_delete(session);
}

static void sync_recycle(struct fiber *f, void *value)
{
	f->slot[slot_sync] = NULL;
}

static uint32_t *settings_get(void)
{
	return &session_current()->settings;
}

void session_init(void)
{
	session_settings_get = settings_get;
	map_u64_create(&session_map);
	if (slot_session < 0) {
		slot_session = fiber_slot_new(slot_recycle);
		slot_sync = fiber_slot_new(sync_recycle);
	}
}

void session_free(void)
{
	session_settings_get = NULL;
	trigger_destroy_all(&session_connect_triggers);
	trigger_destroy_all(&session_disconnect_triggers);
	trigger_destroy_all(&session_auth_triggers);
	map_u64_destroy(&session_map);
}

struct session *session_new(enum session_type type, int fd, uint32_t uid)
{
	struct session *session = xcalloc(1, sizeof(*session));
	session->id = ++session_id_last;
	session->type = type;
	session->fd = fd;
	const struct user *user = user_find(uid);
	if (user != NULL)
		credentials_create(&session->credentials, user);
	else if (uid == USER_ADMIN)
		/* A script before box.cfg(): there are no users yet. */
		session->credentials = *credentials_current();
	map_u64_put(&session_map, session->id, session);
	return session;
}

void session_delete(struct session *session)
{
	if (storage_destroy != NULL)
		storage_destroy(session);
	map_u64_del(&session_map, session->id);
	xfree(session);
}

struct session *session_peek(void)
{
	return fiber()->slot[slot_session];
}

struct session *session_current(void)
{
	struct session *session = session_peek();
	if (session == NULL) {
		session = session_new(SESSION_BACKGROUND, -1, USER_ADMIN);
		fiber()->slot[slot_session] = session;
	}
	return session;
}

void session_enter(struct session *session, uint64_t sync)
{
	struct fiber *f = fiber();
	struct session *own = f->slot[slot_session];
	f->slot[slot_session] = session;
	if (own != NULL && own != session && own->type == SESSION_BACKGROUND)
		session_delete(own);
	f->slot[slot_sync] = (void *)(uintptr_t)sync;
	credentials_set(&session->credentials);
}

void session_leave(void)
{
	struct fiber *f = fiber();
	f->slot[slot_session] = NULL;
	f->slot[slot_sync] = NULL;
	credentials_set(NULL);
}

uint64_t session_sync(void)
{
	return (uintptr_t)fiber()->slot[slot_sync];
}

struct session *session_by_id(uint64_t id)
{
	return map_u64_get(&session_map, id);
}

void session_set_user(struct session *session, const struct user *user)
{
	credentials_create(&session->credentials, user);
	if (session_peek() == session)
		credentials_set(&session->credentials);
}

int session_push(struct session *session, uint64_t sync, struct port *values)
{
	if (session->vtab == NULL || session->vtab->push == NULL) {
		char what[64];
		snprintf(what, sizeof(what), "Session '%s'", session_type_names[session->type]);
		client_error(ER_UNSUPPORTED, what, "push()");
		return -1;
	}
	return session->vtab->push(session, sync, values);
}

void session_on_destroy(void (*destroy)(struct session *session))
{
	storage_destroy = destroy;
}

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a slot holds a request's number");
