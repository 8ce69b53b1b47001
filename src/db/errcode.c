/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The table of error codes: looked up by code.
 */
#include "db/errcode.h"

#include <stddef.h>

static const struct {
	const char *name, *format;
} errors[box_error_code_MAX] = {
#define X(code, name, format) [code] = {#name, format},
	TARN_ERROR_CODES(X)
#undef X
};

const char *error_code_format(unsigned code)
{
	if (code >= box_error_code_MAX || errors[code].format == NULL)
		code = ER_UNKNOWN;
	return errors[code].format;
}

const char *error_code_name(unsigned code)
{
	return code < box_error_code_MAX ? errors[code].name : NULL;
}
