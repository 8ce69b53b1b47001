/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See error_mp.h.
 */
#include "db/error_mp.h"

#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"

/** Keys of an error's map (manual: "MP_ERROR"). */
enum error_key {
	ERROR_KEY_TYPE = 0, ERROR_KEY_FILE = 1, ERROR_KEY_LINE = 2, ERROR_KEY_MESSAGE = 3,
	ERROR_KEY_ERRNO = 4, ERROR_KEY_CODE = 5, ERROR_KEY_FIELDS = 6,
	ERROR_KEY_STACK = 0,
};

/* To MessagePack ------------------------------------------------------------- */

static void put_fields(struct buf *out, const struct error *e, uint32_t count)
{
	mp_put_uint(out, ERROR_KEY_FIELDS);
	mp_put_map(out, count);
	if (e->custom_type[0] != '\0') {
		mp_put_str(out, "custom_type");
		mp_put_str(out, e->custom_type);
	}
	for (const struct error_field *f = e->fields; f != NULL; f = f->next) {
		mp_put_str(out, f->data);
		buf_append(out, f->data + strlen(f->data) + 1, f->size);
	}
}

static void put_error(struct buf *out, const struct error *e, unsigned code)
{
	uint32_t field_count = e->custom_type[0] != '\0';
	for (const struct error_field *f = e->fields; f != NULL; f = f->next)
		field_count++;
	mp_put_map(out, field_count > 0 ? 7 : 6);
	mp_put_uint(out, ERROR_KEY_TYPE);
	mp_put_str(out, e->type->name);
	mp_put_uint(out, ERROR_KEY_LINE);
	mp_put_uint(out, e->line);
	mp_put_uint(out, ERROR_KEY_FILE);
	mp_put_str(out, e->file);
	mp_put_uint(out, ERROR_KEY_MESSAGE);
	mp_put_str(out, e->message);
	mp_put_uint(out, ERROR_KEY_ERRNO);
	mp_put_uint(out, e->saved_errno);
	mp_put_uint(out, ERROR_KEY_CODE);
	mp_put_uint(out, code);
	if (field_count > 0)
		put_fields(out, e, field_count);
}

void error_put_stack(struct buf *out, const struct error *e, bool client_codes)
{
	uint32_t depth = 0;
	for (const struct error *i = e; i != NULL; i = i->cause)
		depth++;
	mp_put_map(out, 1);
	mp_put_uint(out, ERROR_KEY_STACK);
	mp_put_array(out, depth);
	for (const struct error *i = e; i != NULL; i = i->cause)
		put_error(out, i, client_codes ? error_client_code(i) : i->code);
}

/* From MessagePack ------------------------------------------------------------ */

/** What a map said. Texts are inside of the data, fields is a map there. */
struct parsed {
	const char *type, *file, *message, *fields;
	uint32_t type_len, file_len, message_len;
	uint64_t line, saved_errno, code;
};

static const struct error_type *type_by_name(const char *name, uint32_t len)
{
	static const struct error_type *const types[] = {
		&type_ClientError, &type_AccessDeniedError, &type_XlogError, &type_XlogGapError,
		&type_LoggedError, &type_CustomError, &type_SystemError, &type_SocketError,
		&type_OutOfMemory, &type_TimedOut, &type_FiberIsCancelled, &type_ChannelIsClosed,
		&type_IllegalParams, &type_LuajitError,
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i]->name) == len && memcmp(types[i]->name, name, len) == 0)
			return types[i];
	}
	return &type_ClientError;
}

static int read_str(const char **data, const char **str, uint32_t *len)
{
	if (mp_typeof(**data) != MP_STR)
		return -1;
	*str = mp_decode_str(data, len);
	return 0;
}

static int read_uint(const char **data, uint64_t *value)
{
	if (mp_typeof(**data) != MP_UINT)
		return -1;
	*value = mp_decode_uint(data);
	return 0;
}

static int parse_pair(const char **data, struct parsed *p)
{
	uint64_t key;
	if (read_uint(data, &key) != 0)
		return -1;
	switch (key) {
	case ERROR_KEY_TYPE: return read_str(data, &p->type, &p->type_len);
	case ERROR_KEY_FILE: return read_str(data, &p->file, &p->file_len);
	case ERROR_KEY_MESSAGE: return read_str(data, &p->message, &p->message_len);
	case ERROR_KEY_LINE: return read_uint(data, &p->line);
	case ERROR_KEY_ERRNO: return read_uint(data, &p->saved_errno);
	case ERROR_KEY_CODE: return read_uint(data, &p->code);
	case ERROR_KEY_FIELDS:
		if (mp_typeof(**data) != MP_MAP)
			return -1;
		p->fields = *data;
		break;
	}
	mp_next(data);
	return 0;
}

static void set_fields(struct error *e, const char *data)
{
	uint32_t count = mp_decode_map(&data);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = NULL;
		uint32_t len = 0;
		if (read_str(&data, &name, &len) != 0)
			mp_next(&data);
		const char *value = data;
		mp_next(&data);
		if (name == NULL || memchr(name, '\0', len) != NULL)
			continue;
		if (len == strlen("custom_type") && memcmp(name, "custom_type", len) == 0 &&
		    mp_typeof(*value) == MP_STR) {
			uint32_t size;
			const char *s = mp_decode_str(&value, &size);
			size = size < sizeof(e->custom_type) ? size : sizeof(e->custom_type) - 1;
			memcpy(e->custom_type, s, size);
			e->custom_type[size] = '\0';
			continue;
		}
		char *copy = xstrndup(name, len);
		error_set_field(e, copy, value, data - value);
		xfree(copy);
	}
}

/** One error of the chain; NULL where it is none. */
static struct error *parse_error(const char **data)
{
	enum { LEN_MAX = 1 << 20 };
	struct parsed p = {0};
	if (mp_typeof(**data) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(data); count > 0; count--) {
		if (parse_pair(data, &p) != 0)
			return NULL;
	}
	if (p.type == NULL || p.message == NULL)
		return NULL;
	char file[64];
	uint32_t file_len = p.file_len < sizeof(file) ? p.file_len : sizeof(file) - 1;
	memcpy(file, p.file != NULL ? p.file : "", file_len);
	file[file_len] = '\0';
	int len = p.message_len < LEN_MAX ? (int)p.message_len : LEN_MAX;
	struct error *e = error_new(type_by_name(p.type, p.type_len), (uint32_t)p.code, file,
				    (unsigned)p.line, "%.*s", len, p.message);
	e->saved_errno = (int)p.saved_errno;
	if (p.fields != NULL)
		set_fields(e, p.fields);
	return e;
}

/** The array of errors; each one's cause is the next. */
static struct error *parse_chain(const char **data)
{
	struct error *first = NULL, **place = &first;
	if (mp_typeof(**data) != MP_ARRAY)
		return NULL;
	for (uint32_t count = mp_decode_array(data); count > 0; count--) {
		*place = parse_error(data);
		if (*place == NULL) {
			if (first != NULL)
				error_unref(first);
			return NULL;
		}
		place = &(*place)->cause;
	}
	return first;
}

struct error *error_from_stack(const char *data, const char *end)
{
	struct error *e = NULL;
	if (mp_check_whole(data, end) != 0 || mp_typeof(*data) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(&data); count > 0; count--) {
		uint64_t key;
		if (read_uint(&data, &key) != 0)
			break;
		if (key != ERROR_KEY_STACK || e != NULL) {
			mp_next(&data);
			continue;
		}
		e = parse_chain(&data);
		if (e == NULL)
			return NULL;
	}
	return e;
}
