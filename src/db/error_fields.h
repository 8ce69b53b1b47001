/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What errors are about, as fields beside the text: `space`, `index`, `field`, `key`,
 * `old_tuple`, `new_tuple`, `user` and so on. Texts are those of the reference, which programs
 * match; the fields are for people and for programs that want to know.
 *
 * Most come from the values that the text is made of, by the table in error_fields.c. What
 * only the caller of a failing function knows, it adds.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

/** Adds the values of a code's text, under their names. `ap` stays as it is. */
void error_set_arguments(struct error *e, unsigned code, va_list ap);

enum { ERROR_ARGUMENT_NAME_SIZE = 32 };
/** The name of a code's value by its number from 0. False: it has none, or no such value. */
bool error_argument_name(unsigned code, int no, char *name);

/** Adds a row or a key, in MessagePack, unless it is large. */
void error_set_row(struct error *e, const char *name, const char *data, size_t size);

/** " {space: 't', index: 'pk'}" for the log, cut at `size`; for core/diag.h's error_log_fields. */
void error_print_fields(const struct error *e, char *out, size_t size);
