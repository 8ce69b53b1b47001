/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors: their types, their making and their way through diagnostics areas.
 * Errors live in ordinary memory, and counts are not atomic: an error belongs
 * to one thread at a time and is handed over with the work it came from.
 */
#include "core/diag.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/memory.h"

const struct error_type type_Exception = {"Exception", NULL};
const struct error_type type_SystemError = {"SystemError", &type_Exception};
const struct error_type type_SocketError = {"SocketError", &type_SystemError};
const struct error_type type_OutOfMemory = {"OutOfMemory", &type_SystemError};
const struct error_type type_FiberIsCancelled = {"FiberIsCancelled", &type_Exception};
const struct error_type type_FiberSliceIsExceeded = {"FiberSliceIsExceeded", &type_Exception};
const struct error_type type_TimedOut = {"TimedOut", &type_SystemError};
const struct error_type type_ChannelIsClosed = {"ChannelIsClosed", &type_Exception};
const struct error_type type_IllegalParams = {"IllegalParams", &type_Exception};
const struct error_type type_LuajitError = {"LuajitError", &type_Exception};

enum {
	/** Bytes of fields behind an error's text in the log. */
	LOG_FIELDS_MAX = 1000,
};

const char *(*error_log_name)(const struct error *e);
void (*error_log_fields)(const struct error *e, char *out, size_t size);

static bool type_is(const struct error_type *type, const struct error_type *parent)
{
	for (; type != NULL; type = type->parent) {
		if (type == parent)
			return true;
	}
	return false;
}

static char *format_message(const char *format, va_list ap)
{
	char text[512];
	va_list again;
	va_copy(again, ap);
	int len = vsnprintf(text, sizeof(text), format, ap);
	char *message;
	if (len < 0) {
		message = xstrdup(format);
	} else if ((size_t)len < sizeof(text)) {
		message = xstrndup(text, len);
	} else {
		message = xmalloc(len + 1);
		vsnprintf(message, len + 1, format, again);
	}
	va_end(again);
	return message;
}

static struct error *error_vnew(const struct error_type *type, uint32_t code, const char *file,
				unsigned line, int saved_errno, char *message)
{
	struct error *e = xmalloc(sizeof(*e));
	e->refs = 1;
	e->code = code;
	e->saved_errno = saved_errno;
	e->line = line;
	e->type = type;
	e->cause = NULL;
	e->fields = NULL;
	size_t len = file != NULL ? strnlen(file, sizeof(e->file) - 1) : 0;
	if (len > 0)
		memcpy(e->file, file, len);
	e->file[len] = '\0';
	e->custom_type[0] = '\0';
	e->message = message;
	return e;
}

struct error *error_new(const struct error_type *type, uint32_t code, const char *file,
			unsigned line, const char *format, ...)
{
	int saved_errno = type_is(type, &type_SystemError) ? errno : 0;
	va_list ap;
	va_start(ap, format);
	char *message = format_message(format, ap);
	va_end(ap);
	return error_vnew(type, code, file, line, saved_errno, message);
}

void error_ref(struct error *e)
{
	assert(e->refs > 0);
	e->refs++;
}

void error_unref(struct error *e)
{
	/* The chain of causes may be long: no recursion. */
	while (e != NULL) {
		assert(e->refs > 0);
		if (--e->refs > 0)
			return;
		struct error *cause = e->cause;
		for (struct error_field *f = e->fields, *next; f != NULL; f = next) {
			next = f->next;
			xfree(f);
		}
		xfree(e->message);
		xfree(e);
		e = cause;
	}
}

static struct error_field **find_field(const struct error *e, const char *name)
{
	struct error_field **place = (struct error_field **)&e->fields;
	while (*place != NULL && strcmp((*place)->data, name) != 0)
		place = &(*place)->next;
	return place;
}

void error_set_field(struct error *e, const char *name, const char *value, size_t size)
{
	size_t name_size = strlen(name) + 1;
	struct error_field *f = xmalloc(sizeof(*f) + name_size + size);
	f->size = size;
	memcpy(f->data, name, name_size);
	memcpy(f->data + name_size, value, size);
	struct error_field **place = find_field(e, name);
	f->next = *place != NULL ? (*place)->next : NULL;
	xfree(*place);
	*place = f;
}

const char *error_field(const struct error *e, const char *name)
{
	struct error_field *f = *find_field(e, name);
	return f != NULL ? f->data + strlen(name) + 1 : NULL;
}

void error_del_field(struct error *e, const char *name)
{
	struct error_field **place = find_field(e, name);
	struct error_field *f = *place;
	if (f == NULL)
		return;
	*place = f->next;
	xfree(f);
}

bool error_is(const struct error *e, const struct error_type *type)
{
	return type_is(e->type, type);
}

const char *error_type_name(const struct error *e)
{
	return e->custom_type[0] != '\0' ? e->custom_type : e->type->name;
}

struct diag *diag_get(void)
{
	return &fiber()->diag;
}

void diag_set_error(struct error *e)
{
	struct diag *diag = diag_get();
	error_ref(e);
	error_unref(diag->last);
	diag->last = e;
}

void diag_add_error(struct error *e)
{
	struct diag *diag = diag_get();
	assert(e != diag->last && e->cause == NULL);
	error_ref(e);
	e->cause = diag->last;
	diag->last = e;
}

void diag_clear(struct diag *diag)
{
	error_unref(diag->last);
	diag->last = NULL;
}

void diag_move(struct diag *from, struct diag *to)
{
	if (from == to)
		return;
	error_unref(to->last);
	to->last = from->last;
	from->last = NULL;
}

void diag_set_system_error(const struct error_type *type, const char *file, unsigned line,
			   const char *format, ...)
{
	int saved_errno = errno;
	va_list ap;
	va_start(ap, format);
	char *text = format_message(format, ap);
	va_end(ap);
	char *message = xasprintf("%s: %s", text, strerror(saved_errno));
	xfree(text);
	struct error *e = error_vnew(type, 0, file, line, saved_errno, message);
	diag_set_error(e);
	error_unref(e);
	errno = saved_errno;
}

void diag_log(void)
{
	for (const struct error *e = diag_last(); e != NULL; e = e->cause) {
		const char *name = error_log_name != NULL ? error_log_name(e) : NULL;
		if (LOG_ERROR > log_level)
			continue;
		char fields[LOG_FIELDS_MAX] = "";
		if (error_log_fields != NULL)
			error_log_fields(e, fields, sizeof(fields));
		char *text = xasprintf("%s%s", e->message, fields);
		log_write(LOG_ERROR, e->file, e->line, text, "%s",
			  name != NULL ? name : error_type_name(e));
		xfree(text);
	}
}
