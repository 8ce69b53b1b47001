/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: failed logins by the user's name, whether there is such a user or
 * not, for auth_delay and auth_retries. Source: the manual, configuration reference.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	/** So many names are kept; beyond, the one that failed longest ago is forgotten. */
	LOGIN_NAMES_MAX = 4096,
};

/** May a login by this name be tried now? */
bool login_attempt_is_allowed(const char *name, size_t len);

/** Counts a failed one; one that succeeded forgets those before. */
void login_attempt_note(const char *name, size_t len, bool is_success);

/** Forgets all. */
void login_attempts_free(void);
