/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack extensions that are values of ours: their content, and their text.
 */
#include <string.h>

#include "data/decimal.h"
#include "data/mp.h"
#include "data/uuid.h"

bool mp_ext_is_valid(int8_t type, const char *data, uint32_t len)
{
	struct decimal decimal;
	switch (type) {
	case MP_EXT_DECIMAL:
		return decimal_unpack(&decimal, data, len) == 0;
	case MP_EXT_UUID:
		return len == sizeof(struct uuid);
	default:
		return true;
	}
}

bool mp_ext_to_string(const char *value, char text[MP_EXT_TEXT_SIZE])
{
	int8_t type;
	if ((uint8_t)*value == 0xc1)
		return false;
	uint32_t len = mp_decode_extl(&value, &type);
	struct decimal decimal;
	struct uuid uuid;
	if (!mp_ext_is_valid(type, value, len))
		return false;
	switch (type) {
	case MP_EXT_DECIMAL:
		if (decimal_unpack(&decimal, value, len) != 0)
			return false;
		decimal_to_string(&decimal, text);
		return true;
	case MP_EXT_UUID:
		memcpy(&uuid, value, sizeof(uuid));
		uuid_to_string(&uuid, text);
		return true;
	default:
		return false;
	}
}
