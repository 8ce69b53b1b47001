/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who may do what. Rights on an object are those of its owner, those on the
 * universe, those on all objects of the type, and those on the object itself;
 * each granted directly or by a role.
 */
#include "db/schema/access.h"

#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/trigger.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"
#include "db/schema/sequence.h"

const char *object_type_names[object_type_MAX] = {
	[OBJECT_UNKNOWN] = "unknown",
	[OBJECT_UNIVERSE] = "universe",
	[OBJECT_SPACE] = "space",
	[OBJECT_FUNCTION] = "function",
	[OBJECT_USER] = "user",
	[OBJECT_ROLE] = "role",
	[OBJECT_SEQUENCE] = "sequence",
	[OBJECT_COLLATION] = "collation",
	[OBJECT_LUA_EVAL] = "lua_eval",
	[OBJECT_LUA_CALL] = "lua_call",
	[OBJECT_SQL] = "sql",
};

static const char *const privilege_names[] = {
	"Read", "Write", "Execute", "Session", "Usage", "Create", "Drop", "Alter", "Reference",
	"Trigger", "Insert", "Update", "Delete", "Grant", "Revoke",
};

struct access universe_access;
struct access entity_access[object_type_MAX];

/** From the name of a function that was granted by name, to its rights. They live for good. */
static struct map_str lua_call_access;

static int credentials_slot;
static struct credentials admin_credentials = {USER_ADMIN, 0, PRIV_ALL};

static void credentials_recycle(struct fiber *f, void *value)
{
	(void)value;
	f->slot[credentials_slot] = NULL;
}

void credentials_init(void)
{
	static bool is_done;
	if (!is_done)
		credentials_slot = fiber_slot_new(credentials_recycle);
	is_done = true;
}

struct credentials *credentials_current(void)
{
	struct credentials *cr = fiber()->slot[credentials_slot];
	return cr != NULL ? cr : &admin_credentials;
}

struct credentials *credentials_set(struct credentials *cr)
{
	struct fiber *f = fiber();
	struct credentials *old = f->slot[credentials_slot];
	f->slot[credentials_slot] = cr;
	return old;
}

void credentials_create(struct credentials *cr, const struct user *user)
{
	cr->uid = user->id;
	cr->token = user->token;
	cr->universal = universe_access.effective[user->token];
}

/** The user behind credentials; NULL where it was dropped meanwhile. */
static const struct user *credentials_user(const struct credentials *cr)
{
	const struct user *user = users[cr->token];
	return user != NULL && user->id == cr->uid ? user : NULL;
}

struct list access_denied_triggers = LIST_INIT(access_denied_triggers);

/** The denial whose triggers have not run; compared only, never looked into. */
static const struct error *untold;

void access_denied_tell(void)
{
	struct error *e = diag_last();
	if (untold == NULL || e != untold)
		return;
	untold = NULL;
	error_ref(e);
	if (trigger_run(&access_denied_triggers, e) != 0)
		diag_log();
	diag_set_error(e);
	error_unref(e);
}

int access_denied(uint32_t privileges, enum object_type type, const char *object_name)
{
	return access_denied_to(credentials_user(credentials_current()), privileges, type,
				object_name);
}

int access_denied_to(const struct user *user, uint32_t privileges, enum object_type type,
		     const char *object_name)
{
	unsigned bit = __builtin_ctz(privileges);
	access_denied_error(bit < sizeof(privilege_names) / sizeof(privilege_names[0]) ?
			    privilege_names[bit] : "Unknown", object_type_names[type],
			    object_name != NULL ? object_name : "",
			    user != NULL ? user->name : "");
	untold = list_empty(&access_denied_triggers) ? NULL : diag_last();
	return -1;
}

/** The program itself may all; a user that was dropped may nothing. */
uint32_t credentials_universal(const struct credentials *cr)
{
	if (cr == &admin_credentials)
		return PRIV_ALL;
	return credentials_user(cr) != NULL ? universe_access.effective[cr->token] : 0;
}

/** The rights that the current user lacks, PRIV_USAGE among them. */
static uint32_t access_missing(uint32_t privileges, enum object_type type, uint32_t owner_id,
			       const struct access *access)
{
	const struct credentials *cr = credentials_current();
	uint32_t missing = (privileges | PRIV_USAGE) & ~credentials_universal(cr);
	if (missing == 0 || type == OBJECT_UNIVERSE)
		return missing;
	/* What one owns one may do, if one may do anything. */
	if (owner_id == cr->uid && (missing & PRIV_USAGE) == 0)
		return 0;
	missing &= ~entity_access[type].effective[cr->token];
	/* Usage may be of all objects of the type, not of one. */
	if (access != NULL)
		missing &= ~access->effective[cr->token] | PRIV_USAGE;
	return missing;
}

int access_check(uint32_t privileges, enum object_type type, const char *object_name,
		 uint32_t owner_id, const struct access *access)
{
	uint32_t missing = access_missing(privileges, type, owner_id, access);
	if (missing == 0)
		return 0;
	/* Of a call, the reference tells what it needs, whatever is missing. */
	if (type == OBJECT_FUNCTION && privileges == PRIV_EXECUTE)
		return access_denied(PRIV_EXECUTE, type, object_name);
	if ((credentials_universal(credentials_current()) & PRIV_USAGE) == 0)
		return access_denied(PRIV_USAGE, OBJECT_UNIVERSE, NULL);
	return access_denied(missing, type, type == OBJECT_UNIVERSE ? NULL : object_name);
}

bool access_allows(uint32_t privileges, enum object_type type, uint32_t owner_id,
		   const struct access *access)
{
	return access_missing(privileges, type, owner_id, access) == 0;
}

int access_check_ddl(uint32_t privilege, enum object_type type, const char *object_name,
		     uint32_t owner_id, const struct access *access)
{
	/* Whoever creates an object will own it: that gives no right to create it. */
	if (privilege == PRIV_CREATE)
		owner_id = UINT32_MAX;
	return access_check(privilege, type, object_name, owner_id, access);
}

uint32_t role_closure(const struct user *user)
{
	uint32_t closure = 1u << user->token, last;
	do {
		last = closure;
		for (uint32_t rest = closure; rest != 0; rest &= rest - 1) {
			const struct user *role = users[__builtin_ctz(rest)];
			if (role != NULL)
				closure |= role->roles;
		}
	} while (closure != last);
	return closure;
}

void access_update(struct access *access)
{
	for (int token = 0; token < USER_MAX; token++) {
		uint32_t effective = 0;
		if (users[token] != NULL) {
			for (uint32_t rest = role_closure(users[token]); rest != 0;
			     rest &= rest - 1)
				effective |= access->granted[__builtin_ctz(rest)];
		}
		access->effective[token] = effective;
	}
}

static int update_space(struct space *space, void *arg)
{
	(void)arg;
	access_update(&space->access);
	return 0;
}

static void update_func(struct func *func, void *arg)
{
	(void)arg;
	access_update(&func->access);
}

static void update_sequence(struct sequence *seq, void *arg)
{
	(void)arg;
	access_update(&seq->access);
}

void access_update_all(void)
{
	access_update(&universe_access);
	for (int type = 0; type < object_type_MAX; type++)
		access_update(&entity_access[type]);
	for (int token = 0; token < USER_MAX; token++) {
		if (users[token] != NULL)
			access_update(&users[token]->access);
	}
	size_t pos = 0, len;
	const char *name;
	void *access;
	while (map_str_next(&lua_call_access, &pos, &name, &len, &access))
		access_update(access);
	space_foreach(update_space, NULL);
	func_foreach(update_func, NULL);
	sequence_foreach(update_sequence, NULL);
}

static struct access *access_of_user(enum object_type type, uint32_t id, uint32_t *owner_id,
				     const char **name)
{
	struct user *user = user_find(id);
	if (user == NULL || user->is_role != (type == OBJECT_ROLE)) {
		char text[16];
		snprintf(text, sizeof(text), "%u", id);
		client_error(type == OBJECT_ROLE ? ER_NO_SUCH_ROLE : ER_NO_SUCH_USER,
			     user != NULL ? user->name : text);
		return NULL;
	}
	*owner_id = user->owner_id;
	*name = user->name;
	return &user->access;
}

struct access *access_find(enum object_type type, uint32_t id, bool is_entity,
			   uint32_t *owner_id, const char **name)
{
	*owner_id = USER_ADMIN;
	*name = "";
	if (type == OBJECT_UNIVERSE)
		return &universe_access;
	if (is_entity)
		return &entity_access[type];
	char text[16];
	snprintf(text, sizeof(text), "%u", id);
	switch (type) {
	case OBJECT_SPACE: {
		struct space *space = space_find(id);
		if (space == NULL)
			return NULL;
		*owner_id = space->def->uid;
		*name = space->def->name;
		return &space->access;
	}
	case OBJECT_FUNCTION: {
		struct func *func = func_by_id(id);
		if (func == NULL) {
			client_error(ER_NO_SUCH_FUNCTION, text);
			return NULL;
		}
		*owner_id = func->def->uid;
		*name = func->def->name;
		return &func->access;
	}
	case OBJECT_SEQUENCE: {
		struct sequence *seq = sequence_by_id(id);
		if (seq == NULL) {
			client_error(ER_NO_SUCH_SEQUENCE, text);
			return NULL;
		}
		*owner_id = seq->def->uid;
		*name = seq->def->name;
		return &seq->access;
	}
	case OBJECT_USER:
	case OBJECT_ROLE:
		return access_of_user(type, id, owner_id, name);
	default:
		return &entity_access[type];
	}
}

struct access *access_of_lua_call(const char *name, size_t len, bool is_made)
{
	struct access *access = map_str_get(&lua_call_access, name, len);
	if (access == NULL && is_made) {
		access = xcalloc(1, sizeof(*access));
		map_str_put(&lua_call_access, name, len, access);
	}
	return access;
}

bool schema_index_has_row(uint32_t space_id, uint32_t index_id, uint32_t key)
{
	struct space *space = space_by_id(space_id);
	struct index *index = space == NULL ? NULL : space_index(space, index_id);
	if (index == NULL)
		return false;
	char buf[8];
	mp_encode_uint(buf, key);
	return index->vtab->count(index, ITER_EQ, buf, 1) > 0;
}

bool schema_space_has_row(uint32_t space_id, uint32_t key)
{
	return schema_index_has_row(space_id, 0, key);
}

bool schema_object_is_granted(const char *type, uint32_t id)
{
	struct space *space = space_by_id(SPACE_PRIV);
	struct index *index = space == NULL ? NULL : space_index(space, 2);
	if (index == NULL)
		return false;
	char buf[64];
	char *end = mp_encode_str(buf, type, strlen(type));
	mp_encode_uint(end, id);
	return index->vtab->count(index, ITER_EQ, buf, 2) > 0;
}

int access_check_session(const struct user *user)
{
	struct credentials cr;
	credentials_create(&cr, user);
	return (credentials_universal(&cr) & PRIV_SESSION) != 0 ? 0 :
		access_denied_to(user, PRIV_SESSION, OBJECT_UNIVERSE, NULL);
}
