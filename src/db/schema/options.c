/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Decodes maps of options by a table.
 */
#include "db/schema/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/mp.h"
#include "db/error.h"

static const char *const type_names[] = {
	[OPTION_BOOL] = "boolean",
	[OPTION_U32] = "unsigned",
	[OPTION_I64] = "integer",
	[OPTION_DOUBLE] = "float",
	[OPTION_STR] = "string",
	[OPTION_ENUM] = "enum",
};

int options_error(unsigned errcode, uint32_t fieldno, const char *format, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	client_error(errcode, fieldno, text);
	return -1;
}

/** -1 where the value is not of the type. Moves behind it. */
static int option_set(const char **data, enum option_type type, char *out)
{
	enum mp_type mp = mp_typeof(**data);
	switch (type) {
	case OPTION_BOOL:
		if (mp != MP_BOOL)
			return -1;
		*(bool *)out = mp_decode_bool(data);
		return 0;
	case OPTION_U32: {
		if (mp != MP_UINT)
			return -1;
		uint64_t v = mp_decode_uint(data);
		if (v > UINT32_MAX)
			return -1;
		*(uint32_t *)out = v;
		return 0;
	}
	case OPTION_I64:
		return mp_read_int64(data, (int64_t *)out) ? 0 : -1;
	case OPTION_DOUBLE:
		return mp_read_double(data, (double *)out) ? 0 : -1;
	case OPTION_STR:
	case OPTION_ENUM: {
		if (mp != MP_STR)
			return -1;
		struct option_str *str = (struct option_str *)out;
		str->s = mp_decode_str(data, &str->len);
		return 0;
	}
	case OPTION_MP:
		*(const char **)out = *data;
		mp_next(data);
		return 0;
	default:
		mp_next(data);
		return 0;
	}
}

int options_decode(const char **data, const struct option *table, void *out, unsigned errcode,
		   uint32_t fieldno, bool skip_unknown)
{
	uint32_t count = mp_decode_map(data);
	for (uint32_t i = 0; i < count; i++) {
		if (mp_typeof(**data) != MP_STR)
			return options_error(errcode, fieldno, "key must be a string");
		uint32_t len;
		const char *name = mp_decode_str(data, &len);
		const struct option *o = table;
		while (o->name != NULL &&
		       (strlen(o->name) != len || memcmp(o->name, name, len) != 0))
			o++;
		if (o->name == NULL) {
			if (!skip_unknown)
				return options_error(errcode, fieldno, "unexpected option '%.*s'",
						     (int)len, name);
			mp_next(data);
			continue;
		}
		if (option_set(data, o->type, (char *)out + o->offset) != 0)
			return options_error(errcode, fieldno, "'%s' must be %s", o->name,
					     type_names[o->type]);
	}
	return 0;
}
