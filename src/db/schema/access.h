/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Privileges behind access_check(): who was granted what, roles, and the check
 * of changes of the schema.
 */
#pragma once

#include "db/schema/user.h"

/** Rights on the universe, and on all objects of a type. */
extern struct access universe_access;
extern struct access entity_access[object_type_MAX];

/**
 * May the current user create (`access` is NULL), alter, drop or grant the object?
 * An owner may all but create. -1: ER_ACCESS_DENIED.
 */
int access_check_ddl(uint32_t privilege, enum object_type type, const char *object_name,
		     uint32_t owner_id, const struct access *access);

/** May the user work in a session? -1: AccessDenied. */
int access_check_session(const struct user *user);

/** The error for the first of the privileges. Returns -1. */
int access_denied(uint32_t privileges, enum object_type type, const char *object_name);
/** The same for another user than the current one; NULL: one without a name. */
int access_denied_to(const struct user *user, uint32_t privileges, enum object_type type,
		     const char *object_name);

/**
 * Triggers of scripts on a denial; event: the struct error, an AccessDeniedError. A check may
 * be made where no script can run, so they run where the error is handed to a script or to a
 * client: there access_denied_tell() is called, which may yield. The fiber's last error stays.
 */
extern struct list access_denied_triggers;
void access_denied_tell(void);

/** Recomputes the effective rights on an object from the granted ones. */
void access_update(struct access *access);
/** The same for every object: roles have changed. */
void access_update_all(void);

/**
 * The rights on an object of a row of _priv. NULL with the error of an object that
 * is not there. Roles have none: see alter_on_priv().
 */
struct access *access_find(enum object_type type, uint32_t id, bool is_entity,
			   uint32_t *owner_id, const char **name);

/**
 * The rights on a function of scripts that may be called by name, whether it is there or not; NULL
 * where nobody was ever granted it, unless it `is_made` then.
 */
struct access *access_of_lua_call(const char *name, size_t len, bool is_made);

/** Has anybody a right on an object? Looks in _priv. */
bool schema_object_is_granted(const char *type, uint32_t id);
/** Has a space a row with this key? */
bool schema_space_has_row(uint32_t space_id, uint32_t key);
/** Has an index of a system space (0: the primary) a row whose first part is `key`? */
bool schema_index_has_row(uint32_t space_id, uint32_t index_id, uint32_t key);

/** All users and roles there are, by token; NULL where a token is free. */
extern struct user *users[USER_MAX];
/** A role and what it contains, as bits of tokens. */
uint32_t role_closure(const struct user *user);

/** The universe's rights that credentials give now. */
uint32_t credentials_universal(const struct credentials *cr);

void credentials_init(void);
