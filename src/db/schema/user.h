/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Users, roles and privileges, and the check that every access goes through.
 * Source: the manual, "Access control".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"
#include "core/map.h"
#include "db/schema/password.h"

enum {
	USER_MAX = 32,	/* users and roles together, as in the reference */
	USER_GUEST = 0, USER_ADMIN = 1, ROLE_PUBLIC = 2, ROLE_REPLICATION = 3, ROLE_SUPER = 31,
};

enum privilege {
	PRIV_READ = 1, PRIV_WRITE = 2, PRIV_EXECUTE = 4, PRIV_SESSION = 8, PRIV_USAGE = 16,
	PRIV_CREATE = 32, PRIV_DROP = 64, PRIV_ALTER = 128, PRIV_REFERENCE = 256,
	PRIV_TRIGGER = 512, PRIV_INSERT = 1024, PRIV_UPDATE = 2048, PRIV_DELETE = 4096,
	PRIV_GRANT = 8192, PRIV_REVOKE = 16384, PRIV_ALL = ~0u,
};

enum object_type {
	OBJECT_UNKNOWN = 0, OBJECT_UNIVERSE, OBJECT_SPACE, OBJECT_FUNCTION, OBJECT_USER,
	OBJECT_ROLE, OBJECT_SEQUENCE, OBJECT_COLLATION,
	/* Of Tarantool 3.0: EVAL, CALL of functions of scripts (of all or by name), SQL. */
	OBJECT_LUA_EVAL, OBJECT_LUA_CALL, OBJECT_SQL,
	object_type_MAX,
};
extern const char *object_type_names[object_type_MAX];

/** Rights of each user on one object, by the user's token. */
struct access {
	uint32_t granted[USER_MAX];	/* directly */
	uint32_t effective[USER_MAX];	/* with those of roles */
};

struct user {
	uint32_t id;
	uint32_t owner_id;
	/** Index in struct access, from 0 to USER_MAX - 1. */
	uint8_t token;
	bool is_role;
	char *name;
	/** What was stored to check a password by; see password.h. */
	struct password password;
	/** When it was set, in seconds since 1970; 0: not known. */
	uint64_t password_time;
	/** Tokens of roles granted to it directly, as bits. */
	uint32_t roles;
	/** Rights on this user or role. */
	struct access access;
};

/** Who acts: kept by sessions and, while a `setuid` function runs, replaced. */
struct credentials {
	uint32_t uid;
	uint8_t token;
	uint32_t universal;
};

/** The current fiber's; those of admin where nobody set any. */
struct credentials *credentials_current(void);
/** Sets the fiber's (borrowed; NULL: admin's). Returns what was there. */
struct credentials *credentials_set(struct credentials *cr);
void credentials_create(struct credentials *cr, const struct user *user);

/** NULL with ER_NO_SUCH_USER set where there is none. */
struct user *user_by_id(uint32_t uid);
struct user *user_by_name(const char *name, size_t len);
/** The same without an error. */
struct user *user_find(uint32_t uid);
struct user *user_find_by_name(const char *name, size_t len);

/** 0 or -1 with AccessDeniedError. `object_name` may be NULL for the universe. Owners may all. */
int access_check(uint32_t privileges, enum object_type type, const char *object_name,
		 uint32_t owner_id, const struct access *access);

/** The same without an error. */
bool access_allows(uint32_t privileges, enum object_type type, uint32_t owner_id,
		   const struct access *access);
