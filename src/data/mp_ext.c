/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack extensions that are values of ours: their content, and their text.
 */
#include <string.h>

#include "data/datetime.h"
#include "data/decimal.h"
#include "data/mp.h"
#include "data/uuid.h"

bool mp_ext_is_valid(int8_t type, const char *data, uint32_t len)
{
	struct decimal decimal;
	struct datetime datetime;
	struct interval interval;
	switch (type) {
	case MP_EXT_DECIMAL:
		return decimal_unpack(&decimal, data, len) == 0;
	case MP_EXT_UUID:
		return len == sizeof(struct uuid);
	case MP_EXT_DATETIME:
		return datetime_unpack(&datetime, data, len) == 0;
	case MP_EXT_INTERVAL:
		return interval_unpack(&interval, data, len) == 0;
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
	struct datetime datetime;
	struct interval interval;
	switch (type) {
	case MP_EXT_DECIMAL:
		if (decimal_unpack(&decimal, value, len) != 0)
			return false;
		decimal_to_string(&decimal, text);
		return true;
	case MP_EXT_UUID:
		if (len != sizeof(uuid))
			return false;
		memcpy(&uuid, value, sizeof(uuid));
		uuid_to_string(&uuid, text);
		return true;
	case MP_EXT_DATETIME:
		if (datetime_unpack(&datetime, value, len) != 0)
			return false;
		datetime_to_string(&datetime, text);
		return true;
	case MP_EXT_INTERVAL:
		if (interval_unpack(&interval, value, len) != 0)
			return false;
		interval_to_string(&interval, text);
		return true;
	default:
		return false;
	}
}
