/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The cache of users and roles.
 */
#include "db/schema/user.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/schema.h"

struct user *users[USER_MAX];

struct user *user_find(uint32_t uid)
{
	for (int i = 0; i < USER_MAX; i++) {
		if (users[i] != NULL && users[i]->id == uid)
			return users[i];
	}
	return NULL;
}

struct user *user_by_id(uint32_t uid)
{
	struct user *user = user_find(uid);
	if (user == NULL) {
		char name[16];
		snprintf(name, sizeof(name), "%u", uid);
		client_error(ER_NO_SUCH_USER, name);
	}
	return user;
}

struct user *user_find_by_name(const char *name, size_t len)
{
	for (int i = 0; i < USER_MAX; i++) {
		if (users[i] != NULL && strlen(users[i]->name) == len &&
		    memcmp(users[i]->name, name, len) == 0)
			return users[i];
	}
	return NULL;
}

struct user *user_by_name(const char *name, size_t len)
{
	struct user *user = user_find_by_name(name, len);
	if (user != NULL)
		return user;
	char *copy = xstrndup(name, len < IDENTIFIER_MAX ? len : IDENTIFIER_MAX);
	client_error(ER_NO_SUCH_USER, copy);
	xfree(copy);
	return NULL;
}

int user_cache_add(struct user *user)
{
	int token = 0;
	/* The credentials of fibers without any are the admin's: its token is fixed. */
	if (user->id != USER_ADMIN)
		token++;
	while (token < USER_MAX && users[token] != NULL)
		token++;
	if (token == USER_MAX || (user->id == USER_ADMIN && token != 0)) {
		client_error(ER_USER_MAX, USER_MAX);
		return -1;
	}
	user->token = token;
	users[token] = user;
	return 0;
}

void user_cache_put(struct user *user)
{
	assert(users[user->token] == NULL);
	users[user->token] = user;
}

void user_cache_del(struct user *user)
{
	assert(users[user->token] == user);
	users[user->token] = NULL;
}

void user_delete(struct user *user)
{
	xfree(user->name);
	xfree(user);
}

void user_cache_free(void)
{
	for (int i = 0; i < USER_MAX; i++) {
		if (users[i] != NULL)
			user_delete(users[i]);
		users[i] = NULL;
	}
	memset(&universe_access, 0, sizeof(universe_access));
	memset(entity_access, 0, sizeof(entity_access));
}
