/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A little JSON to MessagePack for tests: numbers, strings without escapes, null,
 * true, false, arrays and objects of at most 15 members. A number with a dot is a
 * double; 'single' quotes serve as well, so that C strings stay readable.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "data/mp.h"

static inline const char *json_skip(const char *s)
{
	while (*s == ' ' || *s == ',' || *s == ':')
		s++;
	return s;
}

static inline const char *json_scalar_to_mp(const char *s, char **p)
{
	if (*s == '\'' || *s == '"') {
		const char *end = strchr(s + 1, *s);
		*p = mp_encode_str(*p, s + 1, end - s - 1);
		return end + 1;
	}
	if (strncmp(s, "null", 4) == 0) {
		*p = mp_encode_nil(*p);
		return s + 4;
	}
	if (strncmp(s, "true", 4) == 0 || strncmp(s, "false", 5) == 0) {
		*p = mp_encode_bool(*p, *s == 't');
		return s + (*s == 't' ? 4 : 5);
	}
	size_t len = strspn(s, "+-0123456789.e");
	if (memchr(s, '.', len) != NULL)
		*p = mp_encode_double(*p, strtod(s, NULL));
	else if (*s == '-')
		*p = mp_encode_int(*p, strtoll(s, NULL, 10));
	else
		*p = mp_encode_uint(*p, strtoull(s, NULL, 10));
	return s + len;
}

/** Encodes one value at `*p` and moves it; returns the text behind the value. */
static inline const char *json_to_mp(const char *s, char **p)
{
	s = json_skip(s);
	if (*s != '[' && *s != '{')
		return json_scalar_to_mp(s, p);
	char *head = (*p)++;
	char close = *s == '[' ? ']' : '}';
	int count = 0;
	for (s = json_skip(s + 1); *s != close; s = json_skip(s), count++)
		s = json_to_mp(s, p);
	*head = close == ']' ? 0x90 + count : 0x80 + count / 2;
	return s + 1;
}
