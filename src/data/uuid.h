/* SPDX-License-Identifier: BSD-2-Clause
 *
 * UUIDs: 16 bytes in the order they are written in (RFC 4122, big-endian
 * fields), random ones of version 4.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct uuid {
	uint8_t bytes[16];
};

enum {
	/** "64d22e4d-ac92-4a23-899a-e59f34af5479", without the zero. */
	UUID_STR_LEN = 36,
};

/** The nil UUID, all zeros. */
extern const struct uuid uuid_nil;

/** A random one (version 4) from the system's generator. */
void uuid_create(struct uuid *uuid);

/**
 * Reads the text form, in upper or lower case. -1 where `str` is anything else, or of a
 * variant that RFC 4122 reserves for the future.
 */
int uuid_from_string(struct uuid *uuid, const char *str, size_t len);

/** Writes the text form, in lower case, and a zero. */
void uuid_to_string(const struct uuid *uuid, char out[UUID_STR_LEN + 1]);

/** The text form in a buffer of the thread that is reused after some calls; for messages. */
const char *uuid_str(const struct uuid *uuid);

static inline bool uuid_is_nil(const struct uuid *uuid)
{
	return memcmp(uuid, &uuid_nil, sizeof(*uuid)) == 0;
}

static inline bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
