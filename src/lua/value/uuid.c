/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `uuid`: what uuid.lua calls. A UUID of scripts is a struct tt_uuid, whose
 * leading fields are integers of the machine; ours are bytes as they are written.
 *
 * All by FFI: they neither yield nor run Lua.
 */
#include "data/uuid.h"

#include "lua/bridge.h"
#include "lua/modules.h"

void tarn_uuid_swap(struct uuid *u);
void tarn_uuid_create(struct uuid *u);
int tarn_uuid_from_string(struct uuid *u, const char *str, size_t len);
void tarn_uuid_to_string(const struct uuid *u, char *out);

static void swap_bytes(uint8_t *a, uint8_t *b)
{
	uint8_t t = *a;
	*a = *b;
	*b = t;
}

/** From one form to the other; on a machine with the high byte first they are the same. */
void tarn_uuid_swap(struct uuid *u)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint8_t *p = u->bytes;
	swap_bytes(p, p + 3);
	swap_bytes(p + 1, p + 2);
	swap_bytes(p + 4, p + 5);
	swap_bytes(p + 6, p + 7);
#endif
}

void tarn_uuid_create(struct uuid *u)
{
	uuid_create(u);
	tarn_uuid_swap(u);
}

/** Returns 0, or -1. */
int tarn_uuid_from_string(struct uuid *u, const char *str, size_t len)
{
	if (uuid_from_string(u, str, len) != 0)
		return -1;
	tarn_uuid_swap(u);
	return 0;
}

/** Writes UUID_STR_LEN + 1 bytes. */
void tarn_uuid_to_string(const struct uuid *u, char *out)
{
	struct uuid copy = *u;
	tarn_uuid_swap(&copy);
	uuid_to_string(&copy, out);
}

void lua_uuid_init(lua_State *L)
{
	lua_load_embedded(L, "uuid.lua", "uuid");
}
