/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Interned lists of field names: equal lists are one object with one number, so
 * that a script's copy of a tuple names its fields by a number. They live for
 * good; there are as many as different formats were ever in use.
 */
#include <stdbool.h>
#include <string.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/tuple/format.h"

/** A dictionary with its look-up: open addressing over field numbers + 1. */
struct dictionary {
	struct tuple_dictionary base;
	uint32_t mask;
	uint32_t slots[];
};

static const struct tuple_dictionary dictionary_empty;

/** From the names, each with its zero, to the dictionary. */
static struct map_str by_names;
static bool by_names_is_ready;

/** By id - 1. */
static struct dictionary **by_id;
static uint32_t by_id_count, by_id_capacity;

static uint32_t name_hash(const char *name, size_t len)
{
	return mp_hash_bytes(name, len, 0);
}

static struct dictionary *dictionary_new(const struct field_def *fields, uint32_t count)
{
	uint32_t size = 4;
	while (size < count * 2)
		size *= 2;
	struct dictionary *dict = xcalloc(1, sizeof(*dict) + size * sizeof(dict->slots[0]));
	dict->mask = size - 1;
	dict->base.name_count = count;
	dict->base.names = xcalloc(count, sizeof(char *));
	for (uint32_t i = 0; i < count; i++) {
		dict->base.names[i] = xstrdup(fields[i].name);
		uint32_t slot = name_hash(fields[i].name, strlen(fields[i].name)) & dict->mask;
		while (dict->slots[slot] != 0)
			slot = (slot + 1) & dict->mask;
		dict->slots[slot] = i + 1;
	}
	if (by_id_count == by_id_capacity) {
		by_id_capacity = by_id_capacity ? by_id_capacity * 2 : 16;
		by_id = xrealloc(by_id, by_id_capacity * sizeof(*by_id));
	}
	by_id[by_id_count++] = dict;
	dict->base.id = by_id_count;
	return dict;
}

static const struct tuple_dictionary *find(const struct field_def *fields, uint32_t count,
					   bool is_made)
{
	if (count == 0)
		return &dictionary_empty;
	if (!by_names_is_ready) {
		map_str_create(&by_names);
		by_names_is_ready = true;
	}
	struct buf key = BUF_INIT;
	for (uint32_t i = 0; i < count; i++)
		buf_append(&key, fields[i].name, strlen(fields[i].name) + 1);
	struct dictionary *dict = map_str_get(&by_names, key.data, key.size);
	if (dict == NULL && is_made) {
		dict = dictionary_new(fields, count);
		map_str_put(&by_names, key.data, key.size, dict);
	}
	buf_free(&key);
	return dict != NULL ? &dict->base : NULL;
}

const struct tuple_dictionary *tuple_dictionary_intern(const struct field_def *fields,
						       uint32_t count)
{
	return find(fields, count, true);
}

const struct tuple_dictionary *tuple_dictionary_known(const struct field_def *fields,
						      uint32_t count)
{
	return find(fields, count, false);
}

uint32_t tuple_dictionary_count(void)
{
	return by_id_count;
}

const struct tuple_dictionary *tuple_dictionary_by_id(uint32_t id)
{
	if (id == 0)
		return &dictionary_empty;
	return id <= by_id_count ? &by_id[id - 1]->base : NULL;
}

int tuple_dictionary_find(const struct tuple_dictionary *base, const char *name, size_t len)
{
	if (base->name_count == 0)
		return -1;
	const struct dictionary *dict = (const struct dictionary *)base;
	for (uint32_t slot = name_hash(name, len) & dict->mask; dict->slots[slot] != 0;
	     slot = (slot + 1) & dict->mask) {
		const char *known = base->names[dict->slots[slot] - 1];
		if (strlen(known) == len && memcmp(known, name, len) == 0)
			return dict->slots[slot] - 1;
	}
	return -1;
}
