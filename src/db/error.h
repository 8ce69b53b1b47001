/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors of the database: ClientError, the type that carries a code of
 * errcode.h, and the types derived from it.
 */
#pragma once

#include "core/diag.h"
#include "db/errcode.h"

extern const struct error_type
	type_ClientError,
	type_AccessDeniedError,	/* derived from ClientError */
	type_XlogError,
	type_XlogGapError,	/* derived from XlogError */
	type_LoggedError,	/* a ClientError that is also written to the log when raised */
	type_CustomError;	/* made by a script */

/**
 * Sets a ClientError. The arguments behind `code` are those of the code's
 * format in errcode.h (%s: char *, %u: unsigned, %c: int).
 */
#define client_error(code, ...) \
	client_error_set(&type_ClientError, (code), __FILE__, __LINE__, ##__VA_ARGS__)

void client_error_set(const struct error_type *type, unsigned code, const char *file,
		      unsigned line, ...);

/** Sets one of the code with another text than the code's: what later versions say. */
void client_error_set_text(unsigned code, const char *text);

/** Builds one without setting it; the caller owns the reference. */
struct error *client_error_new(unsigned code, const char *file, unsigned line, ...);

/** Sets AccessDeniedError with the fields access_type, object_type, object_name, user. */
void access_denied_error(const char *access_type, const char *object_type,
			 const char *object_name, const char *user_name);

/** Adds a detail that is a text; cut at some 500 bytes. */
void error_set_string(struct error *e, const char *name, const char *value);

/** For core/diag.h's error_log_name: "ER_..." of a ClientError, else NULL. */
const char *client_error_log_name(const struct error *e);

/**
 * The code a client sees: `e->code`; ER_PROC_LUA for LuajitError, ER_SYSTEM for SystemError, ...
 */
unsigned error_client_code(const struct error *e);
