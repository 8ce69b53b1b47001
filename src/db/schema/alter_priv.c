/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _priv: [grantor, grantee, object type, object id, privileges]. An empty
 * string for the id means all objects of the type.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum { FIELD_GRANTOR, FIELD_GRANTEE, FIELD_TYPE, FIELD_ID, FIELD_PRIVILEGE };

/** The bits of a row that mean something. */
enum { PRIV_ANY = 0xffff };

struct priv_def {
	uint32_t grantor, grantee, privileges, object_id;
	bool is_entity;
	enum object_type type;
	/** What the privilege is on. */
	struct access *access;
	struct user *role, *user;
};

struct priv_change {
	struct change base;
	struct priv_def def;
	/** What was granted before. */
	uint32_t old;
};

static int priv_type_decode(const char *name, uint32_t len)
{
	for (int type = OBJECT_UNIVERSE; type < object_type_MAX; type++) {
		if (strlen(object_type_names[type]) == len &&
		    memcmp(object_type_names[type], name, len) == 0)
			return type;
	}
	char *text = xstrndup(name, len);
	client_error(ER_UNKNOWN_SCHEMA_OBJECT, text);
	xfree(text);
	return -1;
}

static int priv_id_decode(struct tuple *tuple, struct priv_def *def)
{
	const char *field = tuple_field(tuple, FIELD_ID);
	uint32_t len;
	if (field != NULL && mp_typeof(*field) == MP_STR) {
		const char *name = mp_decode_str(&field, &len);
		def->is_entity = len == 0;
		if (def->is_entity && def->type == OBJECT_UNIVERSE) {
			client_error(ER_UNKNOWN_SCHEMA_OBJECT, object_type_names[def->type]);
			return -1;
		}
		if (def->is_entity)
			return 0;
		if (def->type == OBJECT_LUA_CALL) {
			def->access = access_of_lua_call(name, len, true);
			return 0;
		}
	}
	return tuple_field_u32(tuple, FIELD_ID, &def->object_id);
}

static int priv_decode(struct tuple *tuple, struct priv_def *def)
{
	const char *type;
	uint32_t len;
	memset(def, 0, sizeof(*def));
	if (tuple_field_u32(tuple, FIELD_GRANTOR, &def->grantor) != 0 ||
	    tuple_field_u32(tuple, FIELD_GRANTEE, &def->grantee) != 0 ||
	    tuple_field_str(tuple, FIELD_TYPE, &type, &len) != 0 ||
	    tuple_field_u32(tuple, FIELD_PRIVILEGE, &def->privileges) != 0)
		return -1;
	int rc = priv_type_decode(type, len);
	if (rc < 0)
		return -1;
	def->type = rc;
	return priv_id_decode(tuple, def);
}

/**
 * Finds what the row is about; may the current user grant (or revoke) it? `is_less`: rights are
 * taken, which those may do, too, who have the right to revoke, as by the role 'super'.
 */
static int priv_resolve(struct priv_def *def, uint32_t privilege, bool is_less)
{
	struct user *grantor = user_by_id(def->grantor);
	if (grantor == NULL)
		return -1;
	def->user = user_by_id(def->grantee);
	if (def->user == NULL)
		return -1;
	uint32_t owner_id = USER_ADMIN;
	const char *name = "";
	if (def->access == NULL)
		def->access = access_find(def->type, def->object_id, def->is_entity, &owner_id,
					  &name);
	if (def->access == NULL)
		return -1;
	uint32_t uid = credentials_current()->uid;
	if (def->type == OBJECT_ROLE && !def->is_entity) {
		def->role = user_find(def->object_id);
		/* Everybody may grant the role that everybody has, and take it back. */
		if (def->role->id == ROLE_PUBLIC && def->privileges == PRIV_EXECUTE &&
		    (uid == USER_ADMIN || uid == def->grantor))
			return 0;
	}
	/* The admin may have others give only what is theirs. */
	if (uid == USER_ADMIN && privilege == PRIV_GRANT && grantor->id != USER_ADMIN &&
	    grantor->id != owner_id)
		return access_denied_to(grantor, privilege, def->type, name);
	if (is_less && access_allows(PRIV_REVOKE, def->type, UINT32_MAX, def->access))
		return 0;
	/* Rights are the owner's to give, and the admin's, whatever others may do. */
	if (uid == USER_ADMIN || (uid == owner_id && uid == def->grantor))
		return access_check(0, OBJECT_UNIVERSE, NULL, USER_ADMIN, NULL);
	return access_denied(privilege, def->type, name);
}

/** Would `user` contain itself by way of `role`? */
static int role_check_loop(const struct user *role, const struct user *user)
{
	if ((role_closure(role) & (1u << user->token)) == 0)
		return 0;
	client_error(ER_ROLE_LOOP, role->name, user->name);
	return -1;
}

static uint32_t priv_get(const struct priv_def *def)
{
	return def->access->granted[def->user->token];
}

/** Who may execute a role is a member of it. */
static void priv_set(const struct priv_def *def, uint32_t privileges)
{
	def->access->granted[def->user->token] = privileges;
	if (def->role == NULL) {
		access_update(def->access);
		return;
	}
	uint32_t bit = 1u << def->role->token;
	if ((privileges & PRIV_EXECUTE) != 0)
		def->user->roles |= bit;
	else
		def->user->roles &= ~bit;
	access_update_all();
}

static void priv_rollback(struct change *base)
{
	struct priv_change *change = (struct priv_change *)base;
	priv_set(&change->def, change->old);
}

int alter_on_priv(struct txn *txn, struct txn_stmt *stmt)
{
	struct priv_def def, old = {0};
	bool is_grant = stmt->new_tuple != NULL;
	if (priv_decode(is_grant ? stmt->new_tuple : stmt->old_tuple, &def) != 0 ||
	    (stmt->old_tuple != NULL && priv_decode(stmt->old_tuple, &old) != 0))
		return -1;
	bool is_less = !is_grant || (def.privileges & ~old.privileges) == 0;
	if (priv_resolve(&def, is_grant ? PRIV_GRANT : PRIV_REVOKE, is_less) != 0)
		return -1;
	if (def.user->id == USER_ADMIN && def.type == OBJECT_UNIVERSE &&
	    (!is_grant || def.privileges != UINT32_MAX)) {
		client_error(ER_GRANT, "can't revoke universe from the admin user");
		return -1;
	}
	if (is_grant && (def.privileges & PRIV_ANY) == 0) {
		client_error(ER_GRANT, "the grant tuple has no privileges");
		return -1;
	}
	if (is_grant && def.role != NULL && role_check_loop(def.role, def.user) != 0)
		return -1;
	struct priv_change *change = change_new(txn, stmt, sizeof(*change), NULL, priv_rollback);
	if (change == NULL)
		return -1;
	change->def = def;
	change->old = priv_get(&def);
	priv_set(&def, is_grant ? def.privileges : 0);
	return 0;
}
