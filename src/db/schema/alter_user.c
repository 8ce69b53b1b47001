/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _user: [id, owner, name, "user" or "role", {method = data}], and where the rules
 * for passwords need them, [{method = data}, ...] of old ones, and the time of the last.
 */
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum { FIELD_ID, FIELD_OWNER, FIELD_NAME, FIELD_TYPE, FIELD_AUTH,
	FIELD_AUTH_HISTORY, FIELD_LAST_MODIFIED };

static int user_error(const struct user *user, const char *text)
{
	client_error(user->is_role ? ER_CREATE_ROLE : ER_CREATE_USER, user->name, text);
	return -1;
}

/** The password from {method = data}. Guest may have the empty one alone. */
static int user_decode_auth(struct user *user, const char *data)
{
	const char *map = data;
	if (user->is_role && mp_decode_map(&map) > 0)
		return user_error(user, "authentication data can not be set for a role");
	const char *problem = password_decode(&user->password, data);
	if (problem != NULL)
		return user_error(user, problem);
	if (user->id == USER_GUEST && (user->password.has_chap || user->password.has_pap) &&
	    !password_matches(&user->password, "", 0)) {
		client_error(ER_GUEST_USER_PASSWORD);
		return -1;
	}
	return 0;
}

/** When the password was set, where the row says so. */
static uint64_t user_decode_time(struct tuple *tuple)
{
	const char *time = tuple_field(tuple, FIELD_LAST_MODIFIED);
	return time != NULL && mp_typeof(*time) == MP_UINT ? mp_decode_uint(&time) : 0;
}

static struct user *user_decode(struct tuple *tuple)
{
	const char *name, *type;
	uint32_t id, owner, name_len, type_len;
	if (tuple_field_u32(tuple, FIELD_ID, &id) != 0 ||
	    tuple_field_u32(tuple, FIELD_OWNER, &owner) != 0 ||
	    tuple_field_str(tuple, FIELD_NAME, &name, &name_len) != 0 ||
	    tuple_field_str(tuple, FIELD_TYPE, &type, &type_len) != 0)
		return NULL;
	struct user *user = xcalloc(1, sizeof(*user));
	user->id = id;
	user->owner_id = owner;
	user->name = xstrndup(name, name_len <= IDENTIFIER_MAX ? name_len : 64);
	user->is_role = type_len == 4 && memcmp(type, "role", 4) == 0;
	user->password_time = user_decode_time(tuple);
	const char *auth = tuple_field(tuple, FIELD_AUTH);
	if (name_len > IDENTIFIER_MAX)
		user_error(user, "user name is too long");
	else if (!user->is_role && (type_len != 4 || memcmp(type, "user", 4) != 0))
		user_error(user, "unknown user type");
	else if (identifier_check(name, name_len) == 0 &&
		 (auth == NULL || mp_typeof(*auth) != MP_MAP || user_decode_auth(user, auth) == 0))
		return user;
	user_delete(user);
	return NULL;
}

static void create_rollback(struct change *change)
{
	user_cache_del(change->object);
	user_delete(change->object);
}

static int user_create(struct txn *txn, struct txn_stmt *stmt, struct user *user)
{
	enum object_type type = user->is_role ? OBJECT_ROLE : OBJECT_USER;
	struct change *change = NULL;
	if (access_check_ddl(PRIV_CREATE, type, user->name, user->owner_id, NULL) == 0)
		change = change_new(txn, stmt, sizeof(*change), NULL, create_rollback);
	if (change == NULL || user_cache_add(user) != 0) {
		if (change != NULL)
			change_cancel(change);
		user_delete(user);
		return -1;
	}
	change->object = user;
	return 0;
}

static void drop_commit(struct change *change)
{
	user_delete(change->object);
}

static void drop_rollback(struct change *change)
{
	user_cache_put(change->object);
	access_update_all();
}

static int drop_error(const struct user *user, const char *text)
{
	client_error(ER_DROP_USER, user->name, text);
	return -1;
}

/**
 * Does it own an object, has it granted something, or is it a role that somebody has? Users that
 * it made are no objects of its.
 */
static bool user_has_objects(const struct user *user)
{
	static const uint32_t spaces[] = {SPACE_SPACE, SPACE_FUNC, SPACE_SEQUENCE, SPACE_PRIV};
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		if (schema_index_has_row(spaces[i], 1, user->id))
			return true;
	}
	return schema_space_has_row(SPACE_PRIV, user->id) ||
		(user->is_role && schema_object_is_granted("role", user->id));
}

static int user_drop(struct txn *txn, struct txn_stmt *stmt, struct user *user)
{
	if (access_check_ddl(PRIV_DROP, user->is_role ? OBJECT_ROLE : OBJECT_USER, user->name,
			     user->owner_id, &user->access) != 0)
		return -1;
	if (user->id <= ROLE_REPLICATION || user->id == ROLE_SUPER)
		return drop_error(user, "the user or the role is a system");
	if (user_has_objects(user))
		return drop_error(user, "the user has objects");
	struct change *change = change_new(txn, stmt, sizeof(*change), drop_commit, drop_rollback);
	if (change == NULL)
		return -1;
	change->object = user;
	user_cache_del(user);
	return 0;
}

/** Swaps what a row says of the user between the cached structure and `other`. */
static void user_swap(struct user *user, struct user *other)
{
	struct user was = *user;
	user->owner_id = other->owner_id;
	user->name = other->name;
	user->is_role = other->is_role;
	user->password = other->password;
	user->password_time = other->password_time;
	*other = was;
}

static void update_commit(struct change *change)
{
	user_delete(change->new);
}

static void update_rollback(struct change *change)
{
	user_swap(change->object, change->new);
	user_delete(change->new);
}

/** A role that somebody has stays one: its grants could not be read back. */
static int user_check_type(const struct user *user, const struct user *new)
{
	if (!user->is_role || new->is_role || !schema_object_is_granted("role", user->id))
		return 0;
	return user_error(user, "a role that is granted can not become a user");
}

static int user_update(struct txn *txn, struct txn_stmt *stmt, struct user *user, struct user *new)
{
	struct change *change = NULL;
	if (access_check_ddl(PRIV_ALTER, OBJECT_USER, user->name, user->owner_id,
			     &user->access) == 0 &&
	    user_check_type(user, new) == 0)
		change = change_new(txn, stmt, sizeof(*change), update_commit, update_rollback);
	if (change == NULL) {
		user_delete(new);
		return -1;
	}
	change->object = user;
	change->new = new;
	user_swap(user, new);
	return 0;
}

int alter_on_user(struct txn *txn, struct txn_stmt *stmt)
{
	uint32_t id;
	if (tuple_field_u32(stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple, FIELD_ID,
			    &id) != 0)
		return -1;
	struct user *user = user_find(id);
	if (stmt->new_tuple == NULL)
		return user_drop(txn, stmt, user);
	struct user *new = user_decode(stmt->new_tuple);
	if (new == NULL)
		return -1;
	return user == NULL ? user_create(txn, stmt, new) : user_update(txn, stmt, user, new);
}
