/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Characters of UTF-8, and which of them can be shown. The classes are ICU's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the character at `s`, which is before `end` (RFC 3629: no surrogates, no overlong
 * forms); returns its length, or 0 where there is none.
 */
int utf8_decode(const char *s, const char *end, uint32_t *code);

/**
 * Can YAML show it? Of U+0000 to U+FFFF what the specification calls printable and ASCII's
 * controls, which have escapes; beyond that characters which ICU says are printable.
 */
bool utf8_is_printable(uint32_t code);

/** May it be in a name of a schema object: neither a control, a line's end nor unassigned? */
bool utf8_is_nameable(uint32_t code);
