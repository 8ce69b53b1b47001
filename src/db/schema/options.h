/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Maps of options in rows of system spaces (space flags, index options, parts of
 * a key, fields of a format): a table names them, their types and where their
 * values go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_BOOL,	/* bool */
	OPTION_U32,	/* uint32_t */
	OPTION_I64,	/* int64_t */
	OPTION_DOUBLE,	/* double */
	OPTION_STR,	/* struct option_str, borrowed */
	OPTION_ENUM,	/* the same; the caller knows the words */
	OPTION_MP,	/* const char *: of any type, borrowed */
	OPTION_ANY,	/* ignored, of any type */
};

struct option_str {
	const char *s;
	uint32_t len;
};

struct option {
	/** NULL ends the table. */
	const char *name;
	enum option_type type;
	/** Where in the structure the value goes. */
	size_t offset;
};

/**
 * Decodes a map (*data is at its header and ends behind it) by the table into
 * `out`, which holds the defaults. An unknown option is an error, unless
 * `skip_unknown`. -1: the error `errcode` (of a format with a field number and
 * a text).
 */
int options_decode(const char **data, const struct option *table, void *out, unsigned errcode,
		   uint32_t fieldno, bool skip_unknown);

/** The error of a wrong option. Returns -1. */
int options_error(unsigned errcode, uint32_t fieldno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline bool option_str_is(const struct option_str *a, const char *word, size_t len)
{
	return a->len == len && __builtin_memcmp(a->s, word, len) == 0;
}
