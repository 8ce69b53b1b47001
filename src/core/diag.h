/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors. A function that fails returns -1, NULL or false and leaves one error,
 * with its chain of causes, in the diagnostics area of the fiber it runs in
 * (each thread has at least one fiber, so workers have an area too).
 *
 * An error is counted, immutable once set save for its `cause`, and belongs to
 * a type: a static object of the layer that raises it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error_type {
	/** As users see it in `error.type`, e.g. "ClientError". */
	const char *name;
	/** NULL for a root. */
	const struct error_type *parent;
};

/** A detail of an error: a name and a value in MessagePack. */
struct error_field {
	struct error_field *next;
	uint32_t size;
	/** The name, a zero, then `size` bytes of the value. */
	char data[];
};

struct error {
	uint32_t refs;
	/** A code of the database (see db/errcode.h), or 0. */
	uint32_t code;
	/** The value of errno at the time, for a system error; or 0. */
	int saved_errno;
	/** Line in `file`. */
	uint32_t line;
	const struct error_type *type;
	/** A counted reference to what led to it, or NULL. */
	struct error *cause;
	struct error_field *fields;
	/** Where it was raised: source file, cut at 64 bytes. */
	char file[64];
	/** For a type made by a script: its name; else empty. */
	char custom_type[64];
	/** The text without a type or code, zero-terminated. */
	char *message;
};

extern const struct error_type
	type_Exception,
	type_SystemError,	/* a system call failed; message ends with strerror */
	type_SocketError,
	type_OutOfMemory,
	type_FiberIsCancelled,
	type_FiberSliceIsExceeded,	/* it ran for too long without a yield */
	type_TimedOut,
	type_ChannelIsClosed,
	type_IllegalParams,
	type_LuajitError;

/**
 * Makes an error with one reference, which the caller owns. Never fails. Does
 * not touch the diagnostics area; keeps errno where the type is SystemError.
 */
struct error *error_new(const struct error_type *type, uint32_t code,
			const char *file, unsigned line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

void error_ref(struct error *e);
void error_unref(struct error *e);

/** Adds a detail. `value` is one MessagePack value of `size` bytes; copied. */
void error_set_field(struct error *e, const char *name, const char *value, size_t size);

/** The MessagePack value of a detail, or NULL. */
const char *error_field(const struct error *e, const char *name);

/** Removes a detail, if it is there. */
void error_del_field(struct error *e, const char *name);

/** Is the error of the type or of one derived from it? */
bool error_is(const struct error *e, const struct error_type *type);

/**
 * How the log names an error, e.g. "ER_ILLEGAL_PARAMS"; set by the layer that
 * owns the codes. NULL, or where it returns NULL: error_type_name().
 */
extern const char *(*error_log_name)(const struct error *e);

/** What the log has behind an error's text: its fields. NULL: nothing. */
extern void (*error_log_fields)(const struct error *e, char *out, size_t size);

/** `custom_type`, or the type's name. */
const char *error_type_name(const struct error *e);

struct diag {
	/** A counted reference, or NULL. */
	struct error *last;
};

/** The current fiber's area. */
struct diag *diag_get(void);

/** The last error, borrowed; NULL where there is none. */
static inline struct error *diag_last(void)
{
	return diag_get()->last;
}

/** Makes `e` the last error; takes a reference of its own. */
void diag_set_error(struct error *e);

/** Puts `e` on top: what was last becomes its cause. */
void diag_add_error(struct error *e);

void diag_clear(struct diag *diag);

/** Moves the error from one area to another, replacing what was there. */
void diag_move(struct diag *from, struct diag *to);

/** Sets a new error with the place in the source. `type` is the name without `type_`. */
#define diag_set(type, ...) do { \
	struct error *_e = error_new(&type_##type, 0, __FILE__, __LINE__, __VA_ARGS__); \
	diag_set_error(_e); \
	error_unref(_e); \
} while (0)

/** A SystemError (or a type derived from it): the text, ": " and strerror(errno). */
#define diag_set_errno(type, ...) \
	diag_set_system_error(&type_##type, __FILE__, __LINE__, __VA_ARGS__)

void diag_set_system_error(const struct error_type *type, const char *file, unsigned line,
			   const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Writes the last error, with its causes, to the log: "LuajitError: text". */
void diag_log(void);
