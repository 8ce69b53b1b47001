/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors of the database: a code of errcode.h with its text filled in.
 */
#include "db/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "db/error_fields.h"

const struct error_type
	type_ClientError = {"ClientError", NULL},
	type_AccessDeniedError = {"AccessDeniedError", &type_ClientError},
	type_XlogError = {"XlogError", NULL},
	type_XlogGapError = {"XlogGapError", &type_XlogError},
	type_LoggedError = {"LoggedError", &type_ClientError},
	type_CustomError = {"CustomError", &type_ClientError};

static struct error *client_error_vnew(const struct error_type *type, unsigned code,
				       const char *file, unsigned line, va_list ap)
{
	char small[256], *text = small;
	va_list copy;
	va_copy(copy, ap);
	int len = vsnprintf(small, sizeof(small), error_code_format(code), copy);
	va_end(copy);
	if ((size_t)len >= sizeof(small)) {
		text = xmalloc(len + 1);
		va_copy(copy, ap);
		vsnprintf(text, len + 1, error_code_format(code), copy);
		va_end(copy);
	}
	struct error *e = error_new(type, code, file, line, "%s", text);
	if (text != small)
		xfree(text);
	error_set_arguments(e, code, ap);
	return e;
}

struct error *client_error_new(unsigned code, const char *file, unsigned line, ...)
{
	va_list ap;
	va_start(ap, line);
	struct error *e = client_error_vnew(&type_ClientError, code, file, line, ap);
	va_end(ap);
	return e;
}

void client_error_set(const struct error_type *type, unsigned code, const char *file,
		      unsigned line, ...)
{
	va_list ap;
	va_start(ap, line);
	struct error *e = client_error_vnew(type, code, file, line, ap);
	va_end(ap);
	diag_set_error(e);
	error_unref(e);
	if (type == &type_LoggedError)
		diag_log();
}

void client_error_set_text(unsigned code, const char *text)
{
	struct error *e = error_new(&type_ClientError, code, __FILE__, __LINE__, "%s", text);
	diag_set_error(e);
	error_unref(e);
}

void access_denied_error(const char *access_type, const char *object_type,
			 const char *object_name, const char *user_name)
{
	client_error_set(&type_AccessDeniedError, ER_ACCESS_DENIED, __FILE__, __LINE__,
			 access_type, object_type, object_name, user_name);
}

unsigned error_client_code(const struct error *e)
{
	if (error_is(e, &type_ClientError))
		return e->code;
	if (error_is(e, &type_OutOfMemory))
		return ER_MEMORY_ISSUE;
	if (error_is(e, &type_SystemError))
		return ER_SYSTEM;
	if (error_is(e, &type_XlogError))
		return ER_INVALID_XLOG;
	return ER_PROC_LUA;
}

const char *client_error_log_name(const struct error *e)
{
	return error_is(e, &type_ClientError) ? error_code_name(e->code) : NULL;
}
