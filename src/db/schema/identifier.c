/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of schema objects: any UTF-8 text of printable characters.
 */
#include "core/memory.h"
#include "db/error.h"
#include "db/schema/schema.h"

/**
 * Decodes a character of UTF-8 (RFC 3629: no surrogates, no overlong forms);
 * returns its length, or 0 where there is none.
 */
static int utf8_decode(const unsigned char *s, size_t len, uint32_t *ch)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	int size = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
		s[0] < 0xf5 ? 4 : 0;
	if (size == 0 || (size_t)size > len)
		return 0;
	*ch = size == 1 ? s[0] : s[0] & (0xff >> (size + 1));
	for (int i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*ch = *ch << 6 | (s[i] & 0x3f);
	}
	if (*ch < smallest[size] || *ch > 0x10ffff || (*ch >= 0xd800 && *ch <= 0xdfff))
		return 0;
	return size;
}

/** Controls, separators of lines and paragraphs, and what is no character. */
static bool is_printable(uint32_t ch)
{
	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
		return false;
	if (ch == 0x2028 || ch == 0x2029)
		return false;
	return (ch & 0xfffe) != 0xfffe && !(ch >= 0xfdd0 && ch <= 0xfdef);
}

int identifier_check(const char *name, size_t len)
{
	const unsigned char *s = (const unsigned char *)name, *end = s + len;
	bool is_good = len > 0 && len <= IDENTIFIER_MAX;
	while (is_good && s < end) {
		uint32_t ch;
		int size = utf8_decode(s, end - s, &ch);
		is_good = size > 0 && is_printable(ch);
		s += size;
	}
	if (is_good)
		return 0;
	char *copy = xstrndup(name, len < IDENTIFIER_MAX ? len : IDENTIFIER_MAX);
	client_error(ER_IDENTIFIER, copy);
	xfree(copy);
	return -1;
}
