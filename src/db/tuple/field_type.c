/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Field types: names, which MessagePack values fit, and which types contain
 * which others. The relations are the reference's, found by experiment.
 */
#include <string.h>
#include <strings.h>

#include "data/mp.h"
#include "db/tuple/format.h"

const char *field_type_names[field_type_MAX] = {
	[FIELD_TYPE_ANY] = "any",
	[FIELD_TYPE_UNSIGNED] = "unsigned",
	[FIELD_TYPE_STRING] = "string",
	[FIELD_TYPE_NUMBER] = "number",
	[FIELD_TYPE_DOUBLE] = "double",
	[FIELD_TYPE_INTEGER] = "integer",
	[FIELD_TYPE_BOOLEAN] = "boolean",
	[FIELD_TYPE_VARBINARY] = "varbinary",
	[FIELD_TYPE_SCALAR] = "scalar",
	[FIELD_TYPE_DECIMAL] = "decimal",
	[FIELD_TYPE_UUID] = "uuid",
	[FIELD_TYPE_DATETIME] = "datetime",
	[FIELD_TYPE_INTERVAL] = "interval",
	[FIELD_TYPE_ARRAY] = "array",
	[FIELD_TYPE_MAP] = "map",
};

#define BIT(n) (1u << (n))

/** MessagePack types that fit; extensions are looked at one by one. */
static const uint32_t field_type_mp_types[field_type_MAX] = {
	[FIELD_TYPE_ANY] = UINT32_MAX,
	[FIELD_TYPE_UNSIGNED] = BIT(MP_UINT),
	[FIELD_TYPE_STRING] = BIT(MP_STR),
	[FIELD_TYPE_NUMBER] = BIT(MP_UINT) | BIT(MP_INT) | BIT(MP_FLOAT) | BIT(MP_DOUBLE),
	[FIELD_TYPE_DOUBLE] = BIT(MP_DOUBLE),
	[FIELD_TYPE_INTEGER] = BIT(MP_UINT) | BIT(MP_INT),
	[FIELD_TYPE_BOOLEAN] = BIT(MP_BOOL),
	[FIELD_TYPE_VARBINARY] = BIT(MP_BIN),
	[FIELD_TYPE_SCALAR] = BIT(MP_UINT) | BIT(MP_INT) | BIT(MP_FLOAT) | BIT(MP_DOUBLE) |
			      BIT(MP_STR) | BIT(MP_BIN) | BIT(MP_BOOL),
	[FIELD_TYPE_ARRAY] = BIT(MP_ARRAY),
	[FIELD_TYPE_MAP] = BIT(MP_MAP),
};

/** Types whose values all belong to the type, itself included. */
static const uint32_t field_type_inner[field_type_MAX] = {
	[FIELD_TYPE_ANY] = UINT32_MAX,
	[FIELD_TYPE_UNSIGNED] = BIT(FIELD_TYPE_UNSIGNED),
	[FIELD_TYPE_STRING] = BIT(FIELD_TYPE_STRING),
	[FIELD_TYPE_NUMBER] = BIT(FIELD_TYPE_NUMBER) | BIT(FIELD_TYPE_UNSIGNED) |
			      BIT(FIELD_TYPE_INTEGER) | BIT(FIELD_TYPE_DOUBLE) |
			      BIT(FIELD_TYPE_DECIMAL),
	[FIELD_TYPE_DOUBLE] = BIT(FIELD_TYPE_DOUBLE),
	[FIELD_TYPE_INTEGER] = BIT(FIELD_TYPE_INTEGER) | BIT(FIELD_TYPE_UNSIGNED),
	[FIELD_TYPE_BOOLEAN] = BIT(FIELD_TYPE_BOOLEAN),
	[FIELD_TYPE_VARBINARY] = BIT(FIELD_TYPE_VARBINARY),
	[FIELD_TYPE_SCALAR] = BIT(FIELD_TYPE_SCALAR) | BIT(FIELD_TYPE_UNSIGNED) |
			      BIT(FIELD_TYPE_STRING) | BIT(FIELD_TYPE_NUMBER) |
			      BIT(FIELD_TYPE_DOUBLE) | BIT(FIELD_TYPE_INTEGER) |
			      BIT(FIELD_TYPE_BOOLEAN) | BIT(FIELD_TYPE_VARBINARY) |
			      BIT(FIELD_TYPE_DECIMAL) | BIT(FIELD_TYPE_UUID) |
			      BIT(FIELD_TYPE_DATETIME),
	[FIELD_TYPE_DECIMAL] = BIT(FIELD_TYPE_DECIMAL),
	[FIELD_TYPE_UUID] = BIT(FIELD_TYPE_UUID),
	[FIELD_TYPE_DATETIME] = BIT(FIELD_TYPE_DATETIME),
	[FIELD_TYPE_INTERVAL] = BIT(FIELD_TYPE_INTERVAL),
	[FIELD_TYPE_ARRAY] = BIT(FIELD_TYPE_ARRAY),
	[FIELD_TYPE_MAP] = BIT(FIELD_TYPE_MAP),
};

static bool name_equal(const char *name, size_t len, const char *known)
{
	return strlen(known) == len && strncasecmp(name, known, len) == 0;
}

enum field_type field_type_by_name(const char *name, size_t len)
{
	for (int type = 0; type < field_type_MAX; type++)
		if (name_equal(name, len, field_type_names[type]))
			return type;
	if (name_equal(name, len, "num"))
		return FIELD_TYPE_UNSIGNED;
	if (name_equal(name, len, "str"))
		return FIELD_TYPE_STRING;
	if (name_equal(name, len, "int"))
		return FIELD_TYPE_INTEGER;
	if (name_equal(name, len, "*"))
		return FIELD_TYPE_ANY;
	return field_type_MAX;
}

bool field_type_contains(enum field_type outer, enum field_type inner)
{
	return field_type_inner[outer] & BIT(inner);
}

bool field_type_accepts(enum field_type type, const char *value, bool is_nullable)
{
	enum mp_type mp_type = mp_typeof(*value);
	if (field_type_mp_types[type] & BIT(mp_type))
		return true;
	if (mp_type == MP_NIL)
		return is_nullable;
	if (mp_type != MP_EXT)
		return false;
	int8_t ext_type;
	mp_decode_extl(&value, &ext_type);
	switch (type) {
	case FIELD_TYPE_DECIMAL:
	case FIELD_TYPE_NUMBER:
		return ext_type == MP_EXT_DECIMAL;
	case FIELD_TYPE_UUID:
		return ext_type == MP_EXT_UUID;
	case FIELD_TYPE_DATETIME:
		return ext_type == MP_EXT_DATETIME;
	case FIELD_TYPE_INTERVAL:
		return ext_type == MP_EXT_INTERVAL;
	case FIELD_TYPE_SCALAR:
		return ext_type == MP_EXT_DECIMAL || ext_type == MP_EXT_UUID ||
		       ext_type == MP_EXT_DATETIME;
	default:
		return false;
	}
}
