/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ports of this layer: a list of tuples and MessagePack values, of which the
 * first few live in the port itself, and a port over an array that came over the
 * wire.
 */
#include "db/port.h"

#include <assert.h>
#include <string.h>

#include <msgpuck.h>

#include "core/memory.h"
#include "db/tuple/format_map.h"
#include "db/tuple/tuple.h"

/** One entry: a tuple, or a copied value where `tuple` is NULL. */
struct port_c_entry {
	struct tuple *tuple;
	char *mp;
	uint32_t mp_size;
};

struct port_c {
	const struct port_vtab *vtab;
	uint32_t count, capacity;
	struct port_c_entry *entries;
	/** Room for the only entry of most calls. */
	struct port_c_entry first;
};
_Static_assert(sizeof(struct port_c) <= sizeof(struct port), "a port_c fits a port");

struct port_msgpack {
	const struct port_vtab *vtab;
	const char *data, *end;
	struct format_map *formats;
};
_Static_assert(sizeof(struct port_msgpack) <= sizeof(struct port), "a port_msgpack fits a port");

void port_c_create(struct port *port)
{
	struct port_c *p = (struct port_c *)port;
	p->vtab = &port_c_vtab;
	p->count = 0;
	p->capacity = 1;
	p->entries = &p->first;
}

static struct port_c_entry *port_c_new_entry(struct port *port)
{
	struct port_c *p = (struct port_c *)port;
	assert(p->vtab == &port_c_vtab);
	if (p->count == p->capacity) {
		uint32_t capacity = p->capacity < 8 ? 16 : p->capacity * 2;
		bool is_inside = p->entries == &p->first;
		p->entries = xrealloc(is_inside ? NULL : p->entries,
				      capacity * sizeof(*p->entries));
		if (is_inside)
			p->entries[0] = p->first;
		p->capacity = capacity;
	}
	return &p->entries[p->count++];
}

void port_c_add_tuple(struct port *port, struct tuple *tuple)
{
	struct port_c_entry *e = port_c_new_entry(port);
	tuple_ref(tuple);
	e->tuple = tuple;
	e->mp = NULL;
	e->mp_size = 0;
}

void port_c_add_mp(struct port *port, const char *data, const char *end)
{
	struct port_c_entry *e = port_c_new_entry(port);
	e->tuple = NULL;
	e->mp_size = end - data;
	e->mp = xmalloc(e->mp_size);
	memcpy(e->mp, data, e->mp_size);
}

uint32_t port_c_count(const struct port *port)
{
	return ((const struct port_c *)port)->count;
}

struct tuple *port_c_at(const struct port *port, uint32_t i, const char **data, uint32_t *size)
{
	const struct port_c *p = (const struct port_c *)port;
	assert(i < p->count);
	*data = p->entries[i].mp;
	*size = p->entries[i].mp_size;
	return p->entries[i].tuple;
}

/** Appends a value; in the old CALL's form one that is no array becomes an array of one. */
static void port_dump_value(struct buf *out, const char *data, uint32_t size, bool compat_16)
{
	if (compat_16 && mp_typeof(*data) != MP_ARRAY) {
		char *p = buf_alloc(out, 1);
		mp_encode_array(p, 1);
	}
	buf_append(out, data, size);
}

static int port_c_dump(struct port *port, struct buf *out, bool compat_16,
		       struct format_map *formats)
{
	struct port_c *p = (struct port_c *)port;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct port_c_entry *e = &p->entries[i];
		if (e->tuple != NULL && formats != NULL) {
			format_map_put(formats, out, e->tuple);
		} else if (e->tuple != NULL) {
			uint32_t size;
			const char *data = tuple_data_range(e->tuple, &size);
			buf_append(out, data, size);
		} else {
			port_dump_value(out, e->mp, e->mp_size, compat_16);
		}
	}
	return p->count;
}

static void port_c_destroy(struct port *port)
{
	struct port_c *p = (struct port_c *)port;
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->entries[i].tuple != NULL)
			tuple_unref(p->entries[i].tuple);
		else
			xfree(p->entries[i].mp);
	}
	if (p->entries != &p->first)
		xfree(p->entries);
}

const struct port_vtab port_c_vtab = {
	.name = "c",
	.dump = port_c_dump,
	.destroy = port_c_destroy,
};

void port_msgpack_create(struct port *port, const char *data, const char *end)
{
	struct port_msgpack *p = (struct port_msgpack *)port;
	p->vtab = &port_msgpack_vtab;
	p->data = data;
	p->end = end;
	p->formats = NULL;
}

void port_msgpack_set_formats(struct port *port, struct format_map *formats)
{
	struct port_msgpack *p = (struct port_msgpack *)port;
	assert(p->vtab == &port_msgpack_vtab);
	p->formats = formats;
}

struct format_map *port_msgpack_formats(const struct port *port)
{
	const struct port_msgpack *p = (const struct port_msgpack *)port;
	assert(p->vtab == &port_msgpack_vtab);
	return p->formats;
}

const char *port_msgpack_data(const struct port *port, const char **end)
{
	const struct port_msgpack *p = (const struct port_msgpack *)port;
	assert(p->vtab == &port_msgpack_vtab);
	*end = p->end;
	return p->data;
}

static int port_msgpack_dump(struct port *port, struct buf *out, bool compat_16,
			     struct format_map *formats)
{
	(void)formats;	/* its values are no tuples of ours */
	struct port_msgpack *p = (struct port_msgpack *)port;
	const char *pos = p->data;
	uint32_t count = mp_decode_array(&pos);
	for (uint32_t i = 0; i < count; i++) {
		const char *value = pos;
		mp_next(&pos);
		port_dump_value(out, value, pos - value, compat_16);
	}
	return count;
}

static void port_msgpack_destroy(struct port *port)
{
	(void)port;
}

const struct port_vtab port_msgpack_vtab = {
	.name = "msgpack",
	.dump = port_msgpack_dump,
	.destroy = port_msgpack_destroy,
};
