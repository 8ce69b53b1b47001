/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Characters of UTF-8: see utf8.h.
 */
#include "data/utf8.h"

#include <unicode/uchar.h>

int utf8_decode(const char *s, const char *end, uint32_t *code)
{
	static const uint32_t code_min[5] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t c = *s;
	if (c < 0x80) {
		*code = c;
		return 1;
	}
	int len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || end - s < len)
		return 0;
	uint32_t v = c & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (v < code_min[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*code = v;
	return len;
}

bool utf8_is_printable(uint32_t code)
{
	if (code > 0xffff)
		return u_isprint((UChar32)code);
	return code < 0x80 || (code >= 0xa0 && code < 0xfffe && code != 0xfeff);
}

bool utf8_is_nameable(uint32_t code)
{
	enum { REPLACEMENT_CHARACTER = 0xfffd };	/* what was no character */
	if (code == REPLACEMENT_CHARACTER)
		return false;
	switch (u_charType((UChar32)code)) {
	case U_UNASSIGNED:
	case U_CONTROL_CHAR:
	case U_LINE_SEPARATOR:
	case U_PARAGRAPH_SEPARATOR:
		return false;
	default:
		return true;
	}
}
