/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of schema objects: any UTF-8 text of printable characters.
 */
#include "core/memory.h"
#include "data/utf8.h"
#include "db/error.h"
#include "db/schema/schema.h"

int identifier_check(const char *name, size_t len)
{
	const char *s = name, *end = name + len;
	bool is_good = len > 0 && len <= IDENTIFIER_MAX;
	while (is_good && s < end) {
		uint32_t ch;
		int size = utf8_decode(s, end, &ch);
		is_good = size > 0 && utf8_is_nameable(ch);
		s += size;
	}
	if (is_good)
		return 0;
	char *copy = xstrndup(name, len < IDENTIFIER_MAX ? len : IDENTIFIER_MAX);
	client_error(ER_IDENTIFIER, copy);
	xfree(copy);
	return -1;
}
