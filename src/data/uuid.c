/* SPDX-License-Identifier: BSD-2-Clause
 *
 * UUIDs: see uuid.h.
 */
#include "data/uuid.h"

#include <stdlib.h>
#include <sys/random.h>

const struct uuid uuid_nil;

void uuid_create(struct uuid *uuid)
{
	/* Requests of up to 256 bytes are not interrupted once the generator is seeded. */
	while (getrandom(uuid->bytes, sizeof(uuid->bytes), 0) != sizeof(uuid->bytes))
		;
	uuid->bytes[6] = (uuid->bytes[6] & 0x0f) | 0x40;
	uuid->bytes[8] = (uuid->bytes[8] & 0x3f) | 0x80;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/** Is there a dash before byte `i`? */
static bool uuid_dash_before(int i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

int uuid_from_string(struct uuid *uuid, const char *str, size_t len)
{
	if (len != UUID_STR_LEN)
		return -1;
	struct uuid result;
	for (int i = 0; i < 16; i++) {
		if (uuid_dash_before(i) && *str++ != '-')
			return -1;
		int high = hex_digit(str[0]), low = hex_digit(str[1]);
		if (high < 0 || low < 0)
			return -1;
		result.bytes[i] = high << 4 | low;
		str += 2;
	}
	/* Of the variants, that of the future is none yet. */
	if ((result.bytes[8] & 0xe0) == 0xe0)
		return -1;
	*uuid = result;
	return 0;
}

void uuid_to_string(const struct uuid *uuid, char out[UUID_STR_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";
	for (int i = 0; i < 16; i++) {
		if (uuid_dash_before(i))
			*out++ = '-';
		*out++ = digits[uuid->bytes[i] >> 4];
		*out++ = digits[uuid->bytes[i] & 0xf];
	}
	*out = '\0';
}

const char *uuid_str(const struct uuid *uuid)
{
	static _Thread_local char ring[4][UUID_STR_LEN + 1];
	static _Thread_local unsigned next;
	char *out = ring[next++ % 4];
	uuid_to_string(uuid, out);
	return out;
}
