/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Error codes by number. The table is a part of the C interface of modules.
 */
#pragma once

#include <tarn/errcode.h>

/** The format of a code's text; "Unknown error" for a code that does not exist. */
const char *error_code_format(unsigned code);

/** "ER_..." of a code, or NULL. */
const char *error_code_name(unsigned code);
