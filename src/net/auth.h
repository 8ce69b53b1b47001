/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rules for logging in, which box.cfg sets. Source: the manual, configuration
 * reference, "Authentication".
 */
#pragma once

#include <stdbool.h>

#include "db/schema/password.h"

struct session;

struct auth_config {
	/** What the answer to ID says, and what new passwords are stored by. */
	enum password_method method;
	/** Seconds that a user must wait after a failed attempt ... */
	double delay;
	/** ... beyond so many failed ones within that time. */
	double retries;
	/** Seconds that a password is good for; 0: for ever. */
	double password_lifetime;
	/** Guest may do nothing over connections but log in as somebody else. */
	bool disable_guest;
};

extern struct auth_config auth_config;

/** 0, or -1 with AccessDeniedError where the session is the guest's and guest is disabled. */
int auth_check_guest(const struct session *session);
