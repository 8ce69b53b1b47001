/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Datetimes and intervals as MessagePack extensions. See datetime.h.
 */
#include <endian.h>
#include <string.h>

#include "data/datetime.h"
#include "data/mp.h"

enum {
	SHORT_SIZE = 8,
	INTERVAL_UNITS = 8,
	INTERVAL_ADJUST_ID = 8,
};

static bool is_short(const struct datetime *d)
{
	return d->nsec == 0 && d->tzoffset == 0 && d->tzindex == 0;
}

uint32_t datetime_packed_size(const struct datetime *d)
{
	return is_short(d) ? SHORT_SIZE : DATETIME_PACKED_SIZE_MAX;
}

char *datetime_pack(const struct datetime *d, char *out)
{
	uint64_t seconds = htole64((uint64_t)(int64_t)d->epoch);
	out = mempcpy(out, &seconds, sizeof(seconds));
	if (is_short(d))
		return out;
	uint32_t nsec = htole32(d->nsec);
	uint16_t zone[] = {htole16(d->tzoffset), htole16(d->tzindex)};
	out = mempcpy(out, &nsec, sizeof(nsec));
	return mempcpy(out, zone, sizeof(zone));
}

int datetime_unpack(struct datetime *result, const char *data, uint32_t len)
{
	uint64_t seconds;
	uint32_t nsec = 0;
	uint16_t zone[2] = {0, 0};
	if (len != SHORT_SIZE && len != DATETIME_PACKED_SIZE_MAX)
		return -1;
	memcpy(&seconds, data, sizeof(seconds));
	if (len > SHORT_SIZE) {
		memcpy(&nsec, data + SHORT_SIZE, sizeof(nsec));
		memcpy(zone, data + SHORT_SIZE + sizeof(nsec), sizeof(zone));
	}
	struct datetime d = {
		(double)(int64_t)le64toh(seconds), (int32_t)le32toh(nsec),
		(int16_t)le16toh(zone[0]), (int16_t)le16toh(zone[1]),
	};
	if (!datetime_is_valid(&d))
		return -1;
	*result = d;
	return 0;
}

/** The number of a field that is not zero goes before its value. */
static char *pack_field(char *out, uint8_t id, int64_t value)
{
	if (value == 0)
		return out;
	*out++ = (char)id;
	return value > 0 ? mp_encode_uint(out, value) : mp_encode_int(out, value);
}

char *interval_pack(const struct interval *i, char *out)
{
	const double *values = &i->year;
	char *p = out + 1;
	uint8_t count = i->adjust != 0;
	for (int n = 0; n < INTERVAL_UNITS; n++) {
		count += values[n] != 0;
		p = pack_field(p, n, (int64_t)values[n]);
	}
	p = pack_field(p, INTERVAL_ADJUST_ID, i->adjust);
	*out = (char)count;
	return p;
}

uint32_t interval_packed_size(const struct interval *i)
{
	char scratch[INTERVAL_PACKED_SIZE_MAX];
	return interval_pack(i, scratch) - scratch;
}

/** A whole number of any sign; false where there is none within the data. */
static bool read_whole(const char **data, const char *end, int64_t *value)
{
	if (*data == end)
		return false;
	enum mp_type type = mp_typeof(**data);
	if (!(type == MP_UINT && mp_check_uint(*data, end) <= 0) &&
	    !(type == MP_INT && mp_check_int(*data, end) <= 0))
		return false;
	return mp_read_int64(data, value);
}

int interval_unpack(struct interval *result, const char *data, uint32_t len)
{
	const char *end = data + len;
	if (len == 0)
		return -1;
	uint8_t count = *data++;
	struct interval i = {.adjust = INTERVAL_EXCESS};
	double *values = &i.year;
	for (; count > 0; count--) {
		int64_t value;
		uint8_t id = data < end ? *data++ : UINT8_MAX;
		if (id > INTERVAL_ADJUST_ID || !read_whole(&data, end, &value))
			return -1;
		if (id == INTERVAL_ADJUST_ID)
			i.adjust = value < 0 || value > INTERVAL_LAST ? -1 : (int)value;
		else
			values[id] = (double)value;
	}
	if (data != end || !interval_is_valid(&i))
		return -1;
	*result = i;
	return 0;
}
