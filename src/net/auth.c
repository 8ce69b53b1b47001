/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The greeting and the chap-sha1 authentication. Source: the manual, "Binary
 * protocol", sections "Greeting message" and "Authentication".
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/log.h"
#include "core/memory.h"
#include "core/region.h"
#include "core/fiber.h"
#include "core/trigger.h"
#include "core/version.h"
#include "data/base64.h"
#include "data/mp.h"
#include "data/uuid.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/user.h"
#include "db/wal/wal.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/request.h"
#include "net/session.h"

enum { GREETING_LINE_SIZE = GREETING_SIZE / 2 };

void auth_salt(unsigned char *salt)
{
	if (getrandom(salt, SALT_SIZE, 0) != SALT_SIZE)
		panic("the system gives no random bytes");
}

void auth_greeting(const unsigned char *salt, char *out)
{
	char uuid[UUID_STR_LEN + 1], line[GREETING_SIZE];
	uuid_to_string(&instance_uuid, uuid);
	memset(out, ' ', GREETING_SIZE);
	int len = snprintf(line, sizeof(line), "Tarantool %s (Binary) %s",
			   TARN_COMPAT_RELEASE, uuid);
	memcpy(out, line, len);
	out[GREETING_LINE_SIZE - 1] = '\n';
	base64_encode(salt, SALT_SIZE, out + GREETING_LINE_SIZE);
	out[GREETING_SIZE - 1] = '\n';
}

/**
 * The scramble in an AUTH request's tuple [mechanism, scramble]. NULL with
 * ER_INVALID_MSGPACK set. The mechanism is not looked at, as in the reference.
 */
static const unsigned char *find_scramble(const char *tuple)
{
	uint32_t count = mp_decode_array(&tuple), len;
	if (count < 2) {
		client_error(ER_INVALID_MSGPACK, "authentication request body");
		return NULL;
	}
	mp_next(&tuple);
	enum mp_type type = mp_typeof(*tuple);
	if (type != MP_STR && type != MP_BIN) {
		client_error(ER_INVALID_MSGPACK, "authentication scramble");
		return NULL;
	}
	const char *scramble = mp_decode_strbin(&tuple, &len);
	if (len != SCRAMBLE_SIZE) {
		client_error(ER_INVALID_MSGPACK, "invalid scramble size");
		return NULL;
	}
	return (const unsigned char *)scramble;
}

/** Guest has no password: a client that gives one must give the empty one. */
static bool check_guest(const struct user *guest, const unsigned char *scramble,
			const unsigned char *salt)
{
	struct user u = *guest;
	char hash[32];
	unsigned char raw[SCRAMBLE_SIZE + 4];
	password_hash("", 0, hash);
	base64_decode(hash, strlen(hash), raw);
	memcpy(u.hash2, raw, SCRAMBLE_SIZE);
	u.has_password = true;
	return user_check_scramble(&u, scramble, salt);
}

static bool check_password(const struct connection *con, const struct user *user,
			   const unsigned char *scramble)
{
	if (user->id == USER_GUEST && !user->has_password)
		return check_guest(user, scramble, con->salt);
	return user->has_password && user_check_scramble(user, scramble, con->salt);
}

int auth_process(struct connection *con, const struct request *request)
{
	struct user *user = user_by_name(request->name, request->name_size);
	if (user == NULL)
		return -1;
	const char *tuple = request->tuple;
	if (user->id == USER_GUEST && mp_decode_array(&tuple) == 0) {
		session_set_user(con->session, user);
		return 0;
	}
	const unsigned char *scramble = find_scramble(request->tuple);
	if (scramble == NULL)
		return -1;
	char *name = region_memdup(&fiber()->region, user->name, strlen(user->name) + 1);
	if (name == NULL)
		return -1;
	struct session_auth event = {
		.session = con->session,
		.user_name = name,
		.is_authenticated = check_password(con, user, scramble),
	};
	/* Triggers may yield: the user is looked up anew behind them. */
	if (trigger_run(&session_auth_triggers, &event) != 0)
		return -1;
	if (!event.is_authenticated) {
		client_error(ER_PASSWORD_MISMATCH, name);
		return -1;
	}
	user = user_by_name(name, strlen(name));
	if (user == NULL)
		return -1;
	session_set_user(con->session, user);
	return 0;
}
