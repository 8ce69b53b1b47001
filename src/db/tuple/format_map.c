/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples with the names of their fields in packets; see format_map.h.
 *
 * A format of ours is known by its own number while it lives. A tuple may outlive it: then
 * its dictionary serves, by numbers above those of formats, and has no types.
 */
#include "db/tuple/format_map.h"

#include <string.h>

#include "core/buf.h"
#include "core/memory.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple.h"

/** Dictionaries live for good, so strangers may not make as many as they like. */
enum {
	PEER_DICTS_MAX = 1 << 16,
	PEER_DICT_BYTES_MAX = 16 << 20,
	/** What a name takes beside its bytes, about. */
	NAME_OVERHEAD = 32,
};

static size_t peer_dict_bytes;

void format_map_create(struct format_map *m)
{
	memset(m, 0, sizeof(*m));
	map_u64_create(&m->dicts);
}

void format_map_destroy(struct format_map *m)
{
	map_u64_destroy(&m->dicts);
}

/* Writing ---------------------------------------------------------------------- */

static void note(struct format_map *m, uint64_t number, uint32_t dict)
{
	if (m->has_last && m->last == number)
		return;
	map_u64_put(&m->dicts, number, (void *)(uintptr_t)((uint64_t)dict + 1));
	m->last = number;
	m->has_last = true;
}

void format_map_put_tuple(struct format_map *m, struct buf *out,
			  const struct tuple_format *format, uint32_t dict, const char *data,
			  uint32_t size)
{
	uint64_t number = format->dict->id == dict ? format->id : FORMAT_ID_MAX + (uint64_t)dict;
	note(m, number, dict);
	uint32_t len = mp_sizeof_uint(number) + size;
	char *p = buf_alloc(out, mp_sizeof_ext(len));
	p = mp_encode_extl(p, MP_EXT_TUPLE, len);
	p = mp_encode_uint(p, number);
	memcpy(p, data, size);
}

void format_map_put(struct format_map *m, struct buf *out, const struct tuple *tuple)
{
	uint32_t size;
	const char *data = tuple_data_range(tuple, &size);
	const struct tuple_format *format = tuple_format(tuple);
	format_map_put_tuple(m, out, format, format->dict->id, data, size);
}

static void put_field(struct buf *out, const char *name, const struct tuple_format_field *field)
{
	mp_put_map(out, field == NULL ? 1 : field->is_nullable ? 3 : 2);
	mp_put_str(out, "name");
	mp_put_str(out, name);
	if (field == NULL)
		return;
	mp_put_str(out, "type");
	mp_put_str(out, field_type_names[field->type]);
	if (!field->is_nullable)
		return;
	mp_put_str(out, "is_nullable");
	mp_put_bool(out, true);
}

void format_map_put_formats(const struct format_map *m, struct buf *out)
{
	size_t pos = 0;
	uint64_t number;
	void *value;
	mp_put_map(out, m->dicts.count);
	while (map_u64_next(&m->dicts, &pos, &number, &value)) {
		const struct tuple_dictionary *dict =
			tuple_dictionary_by_id((uint32_t)((uintptr_t)value - 1));
		const struct tuple_format *format = number <= FORMAT_ID_MAX ?
						    tuple_formats[number] : NULL;
		/* Another may have its number by now, where the encoding of values yielded. */
		if (format != NULL && format->dict != dict)
			format = NULL;
		mp_put_uint(out, number);
		mp_put_array(out, dict->name_count);
		for (uint32_t i = 0; i < dict->name_count; i++)
			put_field(out, dict->names[i],
				  format != NULL && i < format->field_count ? &format->fields[i] :
				  NULL);
	}
}

/* Reading ---------------------------------------------------------------------- */

static int invalid_format(void)
{
	client_error(ER_INVALID_MSGPACK, "tuple format");
	return -1;
}

/** Takes the name of a field out of its map; NULL where there is none. */
static const char *read_name(const char **pos, uint32_t *len)
{
	static const char key[] = "name";
	const char *name = NULL;
	if (mp_typeof(**pos) != MP_MAP)
		return NULL;
	for (uint32_t count = mp_decode_map(pos); count > 0; count--) {
		uint32_t key_len = 0;
		const char *s = mp_typeof(**pos) == MP_STR ? mp_decode_str(pos, &key_len) : NULL;
		if (s == NULL)
			mp_next(pos);
		if (s != NULL && key_len == sizeof(key) - 1 && memcmp(s, key, key_len) == 0 &&
		    mp_typeof(**pos) == MP_STR)
			name = mp_decode_str(pos, len);
		else
			mp_next(pos);
	}
	/* Names of ours are zero-terminated. */
	return name != NULL && *len > 0 && memchr(name, 0, *len) == NULL ? name : NULL;
}

/** The dictionary of names; -1 where no more may be made. */
static int64_t peer_dictionary(const struct field_def *fields, uint32_t count, size_t bytes)
{
	uint32_t before = tuple_dictionary_count();
	if (before >= PEER_DICTS_MAX || peer_dict_bytes + bytes > PEER_DICT_BYTES_MAX) {
		const struct tuple_dictionary *known = tuple_dictionary_known(fields, count);
		if (known != NULL)
			return known->id;
		client_error(ER_TUPLE_FORMAT_LIMIT, PEER_DICTS_MAX);
		return -1;
	}
	uint32_t id = tuple_dictionary_intern(fields, count)->id;
	if (tuple_dictionary_count() != before)
		peer_dict_bytes += bytes;
	return id;
}

/** Takes the array of fields of a format; its dictionary, or -1. */
static int64_t read_format(const char **pos)
{
	if (mp_typeof(**pos) != MP_ARRAY)
		return invalid_format();
	uint32_t count = mp_decode_array(pos), done = 0;
	if (count > PEER_DICT_BYTES_MAX / NAME_OVERHEAD) {
		client_error(ER_TUPLE_FORMAT_LIMIT, PEER_DICTS_MAX);
		return -1;
	}
	struct field_def *fields = xcalloc(count + 1, sizeof(*fields));
	int64_t dict = 0;
	size_t bytes = 0;
	for (; done < count; done++) {
		uint32_t len = 0;
		const char *name = read_name(pos, &len);
		if (name == NULL) {
			dict = invalid_format();
			break;
		}
		fields[done].name = xstrndup(name, len);
		bytes += len + NAME_OVERHEAD;
	}
	if (dict == 0 && count > 0)
		dict = peer_dictionary(fields, count, bytes);
	for (uint32_t i = 0; i < done; i++)
		xfree(fields[i].name);
	xfree(fields);
	return dict;
}

int format_map_read(struct format_map *m, const char *formats)
{
	if (mp_typeof(*formats) != MP_MAP)
		return invalid_format();
	for (uint32_t count = mp_decode_map(&formats); count > 0; count--) {
		if (mp_typeof(*formats) != MP_UINT)
			return invalid_format();
		uint64_t number = mp_decode_uint(&formats);
		int64_t dict = read_format(&formats);
		if (dict < 0)
			return -1;
		map_u64_put(&m->dicts, number, (void *)(uintptr_t)(dict + 1));
	}
	return 0;
}

int format_map_read_unread(struct format_map *m)
{
	const char *formats = m->unread;
	m->unread = NULL;
	return formats != NULL ? format_map_read(m, formats) : 0;
}

/** Splits an extension's content; NULL where it is no number with an array behind it. */
static const char *split(const char *content, uint32_t len, uint64_t *number)
{
	const char *end = content + len, *array = content;
	if (len == 0 || mp_typeof(*content) != MP_UINT || mp_check_value(&array, end) != 0 ||
	    array == end || mp_typeof(*array) != MP_ARRAY || mp_check_whole(array, end) != 0)
		return NULL;
	*number = mp_decode_uint(&content);
	return array;
}

bool format_map_read_tuple(struct format_map *m, const char *content, uint32_t len,
			   const char **data, uint32_t *dict)
{
	uint64_t number;
	*data = split(content, len, &number);
	if (*data == NULL)
		return false;
	if (!m->has_last || m->last != number) {
		void *value = map_u64_get(&m->dicts, number);
		if (value == NULL)
			return false;
		m->last = number;
		m->last_dict = (uint32_t)((uintptr_t)value - 1);
		m->has_last = true;
	}
	*dict = m->last_dict;
	return true;
}

void format_map_strip(struct buf *out, const char *data, const char *end)
{
	while (data < end) {
		const char *begin = data, *array = NULL;
		enum mp_type type = mp_typeof(*data);
		uint64_t number;
		if (type == MP_ARRAY) {
			mp_decode_array(&data);
		} else if (type == MP_MAP) {
			mp_decode_map(&data);
		} else if (type == MP_EXT && (uint8_t)*data != 0xc1) {
			int8_t ext;
			uint32_t len = mp_decode_extl(&data, &ext);
			array = ext == MP_EXT_TUPLE ? split(data, len, &number) : NULL;
			data += len;
		} else {
			mp_next(&data);
		}
		if (array != NULL)
			begin = array;
		buf_append(out, begin, data - begin);
	}
}
