/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The greeting and logging in. Source: the manual, "Binary protocol", sections "Greeting
 * message" and "Authentication".
 *
 * A login that fails tells nothing: an unknown user, a role, a user without a password or
 * with one of another method, and a wrong password have the same answer after the same
 * work, and count alike as failed attempts.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/region.h"
#include "core/sys.h"
#include "core/trigger.h"
#include "core/version.h"
#include "data/base64.h"
#include "data/mp.h"
#include "data/uuid.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/schema.h"
#include "db/schema/user.h"
#include "db/wal/wal.h"
#include "net/auth.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/login_attempts.h"
#include "net/request.h"
#include "net/session.h"

struct auth_config auth_config;

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

/** What an AUTH request gives to be checked. */
struct proof {
	enum password_method method;
	/** A scramble, or the password itself. */
	const char *data;
	uint32_t size;
};

/**
 * Reads the tuple [method, proof]. -1 with ER_INVALID_MSGPACK. Methods that are not known
 * are taken for chap-sha1, as in the reference.
 */
static int proof_decode(struct proof *proof, const char *tuple)
{
	uint32_t count = mp_decode_array(&tuple), len;
	if (count < 2) {
		client_error(ER_INVALID_MSGPACK, "authentication request body");
		return -1;
	}
	proof->method = PASSWORD_CHAP_SHA1;
	if (mp_typeof(*tuple) == MP_STR) {
		const char *name = mp_decode_str(&tuple, &len);
		if (password_method_by_name(name, len) == PASSWORD_PAP_SHA256)
			proof->method = PASSWORD_PAP_SHA256;
	} else {
		mp_next(&tuple);
	}
	enum mp_type type = mp_typeof(*tuple);
	if (type != MP_STR && type != MP_BIN) {
		client_error(ER_INVALID_MSGPACK, "authentication scramble");
		return -1;
	}
	proof->data = mp_decode_strbin(&tuple, &proof->size);
	if (proof->method == PASSWORD_CHAP_SHA1 && proof->size != SCRAMBLE_SIZE) {
		client_error(ER_INVALID_MSGPACK, "invalid scramble size");
		return -1;
	}
	return 0;
}

/** A guest without a password has the empty one. */
static void guest_password(struct password *password)
{
	char text[PASSWORD_TEXT_SIZE];
	char map[PASSWORD_TEXT_SIZE * 2], *p = mp_encode_map(map, 1);
	password_hash("", 0, text);
	p = mp_encode_str(p, password_method_names[PASSWORD_CHAP_SHA1],
			  strlen(password_method_names[PASSWORD_CHAP_SHA1]));
	mp_encode_str(p, text, strlen(text));
	password_decode(password, map);
}

/** `user` may be NULL; the work is the same. */
static bool check_proof(const struct user *user, const struct proof *proof,
			const unsigned char *salt)
{
	static const struct password none;
	struct password guest;
	const struct password *password = user != NULL && !user->is_role ? &user->password : &none;
	if (user != NULL && user->id == USER_GUEST && !password->has_chap && !password->has_pap) {
		guest_password(&guest);
		password = &guest;
	}
	if (proof->method == PASSWORD_PAP_SHA256)
		return password_check_pap(password, proof->data, proof->size);
	return password_check_chap(password, (const unsigned char *)proof->data, salt);
}

static int refuse(void)
{
	client_error_set_text(ER_PASSWORD_MISMATCH,
			     "User not found or supplied credentials are invalid");
	return -1;
}

static bool password_is_expired(const struct user *user)
{
	return auth_config.password_lifetime > 0 && user->password_time > 0 &&
	       user->id != USER_GUEST &&
	       clock_realtime() - user->password_time > auth_config.password_lifetime;
}

/** May the user, whose password was right, have a session? */
static int check_session(const struct user *user)
{
	int rc = access_check_session(user);
	if (rc == 0 && password_is_expired(user)) {
		client_error_set_text(ER_PASSWORD_MISMATCH, "Password expired");
		rc = -1;
	}
	return rc;
}

int auth_check_guest(const struct session *session)
{
	if (!auth_config.disable_guest || session->credentials.uid != USER_GUEST)
		return 0;
	return access_denied(PRIV_SESSION, OBJECT_UNIVERSE, NULL);
}

/** Becomes guest without a password. */
static int auth_guest(struct connection *con)
{
	if (auth_config.disable_guest)
		return refuse();
	const struct user *guest = user_by_id(USER_GUEST);
	if (guest == NULL || check_session(guest) != 0)
		return -1;
	session_set_user(con->session, guest);
	return 0;
}

int auth_process(struct connection *con, const struct request *request)
{
	static const char guest[] = "guest";
	const char *tuple = request->tuple;
	if (request->name_size == strlen(guest) &&
	    memcmp(request->name, guest, strlen(guest)) == 0 && mp_decode_array(&tuple) == 0)
		return auth_guest(con);
	struct proof proof;
	if (proof_decode(&proof, request->tuple) != 0)
		return -1;
	/* No name is longer; one that is cut belongs to nobody. */
	uint32_t size = request->name_size <= IDENTIFIER_MAX ? request->name_size :
			IDENTIFIER_MAX + 1;
	char *name = region_alloc(&fiber()->region, size + 1);
	if (name == NULL)
		return -1;
	memcpy(name, request->name, size);
	name[size] = '\0';
	if (!login_attempt_is_allowed(name, size)) {
		client_error_set_text(ER_PASSWORD_MISMATCH, "Too many authentication attempts");
		return -1;
	}
	const struct user *user = user_find_by_name(name, size);
	struct session_auth event = {
		.session = con->session,
		.user_name = name,
		.is_authenticated = check_proof(user, &proof, con->salt),
	};
	login_attempt_note(name, size, event.is_authenticated);
	/* Triggers may yield: the user is looked up anew behind them. */
	if (trigger_run(&session_auth_triggers, &event) != 0)
		return -1;
	user = user_find_by_name(name, size);
	if (!event.is_authenticated || user == NULL ||
	    (auth_config.disable_guest && user->id == USER_GUEST))
		return refuse();
	if (check_session(user) != 0)
		return -1;
	session_set_user(con->session, user);
	return 0;
}
