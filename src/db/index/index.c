/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Index definitions, and what all kinds of indexes share.
 */
#include "db/index/index.h"

#include <assert.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/error_fields.h"
#include "db/index/index_private.h"
#include "db/tuple/tuple.h"

const char *index_type_names[index_type_MAX] = {
	[INDEX_TREE] = "TREE",
	[INDEX_HASH] = "HASH",
	[INDEX_BITSET] = "BITSET",
	[INDEX_RTREE] = "RTREE",
};

const char *iterator_type_names[iterator_type_MAX] = {
	[ITER_EQ] = "EQ",
	[ITER_REQ] = "REQ",
	[ITER_ALL] = "ALL",
	[ITER_LT] = "LT",
	[ITER_LE] = "LE",
	[ITER_GE] = "GE",
	[ITER_GT] = "GT",
	[ITER_BITS_ALL_SET] = "BITS_ALL_SET",
	[ITER_BITS_ANY_SET] = "BITS_ANY_SET",
	[ITER_BITS_ALL_NOT_SET] = "BITS_ALL_NOT_SET",
	[ITER_OVERLAPS] = "OVERLAPS",
	[ITER_NEIGHBOR] = "NEIGHBOR",
	[ITER_NP] = "NP",
	[ITER_PP] = "PP",
};

struct mem_account index_memory = {.name = "memtx_index", .limit = SIZE_MAX};
bool index_is_undoing;
const struct index_func_vtab *index_func_vtab;

struct index_def *index_def_new(uint32_t space_id, uint32_t iid, const char *name, size_t name_len,
				enum index_type type, bool is_unique, bool hint,
				const struct key_def *key_def, const struct key_def *pk_def)
{
	struct index_def *def = xcalloc(1, sizeof(*def));
	def->space_id = space_id;
	def->iid = iid;
	def->name = xstrndup(name, name_len);
	def->type = type;
	def->is_unique = is_unique;
	def->hint = hint;
	def->key_def = key_def_dup(key_def);
	index_def_set_pk(def, pk_def);
	return def;
}

void index_def_set_pk(struct index_def *def, const struct key_def *pk_def)
{
	if (def->cmp_def != NULL)
		key_def_delete(def->cmp_def);
	if (pk_def == NULL || (def->is_unique && !def->key_def->has_nullable))
		def->cmp_def = key_def_dup(def->key_def);
	else
		def->cmp_def = key_def_merge(def->key_def, pk_def);
}

void index_def_set_func(struct index_def *def, uint32_t func_id, struct func *func)
{
	if (func != NULL)
		index_func_vtab->pin(func);
	if (def->func != NULL)
		index_func_vtab->unpin(def->func);
	def->func_id = func_id;
	def->func = func;
}

struct index_def *index_def_dup(const struct index_def *def)
{
	struct index_def *copy = xcalloc(1, sizeof(*copy));
	*copy = *def;
	copy->name = xstrdup(def->name);
	copy->key_def = key_def_dup(def->key_def);
	copy->cmp_def = key_def_dup(def->cmp_def);
	copy->func = NULL;
	index_def_set_func(copy, def->func_id, def->func);
	return copy;
}

void index_def_delete(struct index_def *def)
{
	key_def_delete(def->key_def);
	key_def_delete(def->cmp_def);
	index_def_set_func(def, 0, NULL);
	xfree(def->name);
	xfree(def);
}

struct index *index_new(const struct index_def *def, const char *space_name)
{
	struct index_def *own = index_def_dup(def);
	struct index *index = NULL;
	switch (def->type) {
	case INDEX_TREE:
		index = def->key_def->is_multikey || def->key_def->is_func ?
			keys_index_new(own) : tree_index_new(own);
		break;
	case INDEX_HASH:
		if (!def->is_unique)
			client_error(ER_MODIFY_INDEX, def->name, space_name,
				     "HASH index must be unique");
		else if (def->key_def->has_nullable)
			client_error(ER_UNSUPPORTED, "HASH", "nullable parts");
		else
			index = hash_index_new(own);
		break;
	case INDEX_BITSET:
		index = bitset_index_new(own);
		break;
	case INDEX_RTREE:
		index = rtree_index_new(own);
		break;
	default:
		client_error(ER_INDEX_TYPE, def->name, space_name);
		break;
	}
	if (index == NULL) {
		index_def_delete(own);
		return NULL;
	}
	index->def = own;
	index->space_name = xstrdup(space_name);
	return index;
}

void index_delete(struct index *index)
{
	struct index_def *def = index->def;
	const char *space_name = index->space_name;
	index->vtab->destroy(index);
	xfree((char *)space_name);
	index_def_delete(def);
}

int index_explain_key(const struct index *index, const char *key, uint32_t part_count)
{
	struct error *e = diag_last();
	error_set_string(e, "index", index->def->name);
	error_set_string(e, "space", index->space_name);
	size_t size = index_key_size(key, part_count);
	char header[5];
	size_t header_size = mp_encode_array(header, part_count) - header;
	char *data = xmalloc(header_size + size);
	memcpy(data, header, header_size);
	memcpy(data + header_size, key, size);
	error_set_row(e, "key", data, header_size + size);
	xfree(data);
	return -1;
}

static int check_key(const struct index *index, enum iterator_type type, const char *key,
		     uint32_t part_count)
{
	const struct index_def *def = index->def;
	if (def->type == INDEX_RTREE)
		return rtree_check_key(index, type, key, part_count);
	uint32_t expected = def->key_def->part_count;
	if (part_count > expected) {
		client_error(ER_KEY_PART_COUNT, expected, part_count);
		return -1;
	}
	bool is_whole_scan = part_count == 0 &&
		(type == ITER_ALL || (type == ITER_GT && def->type == INDEX_HASH));
	if (def->type != INDEX_TREE && part_count < expected && !is_whole_scan) {
		client_error(ER_PARTIAL_KEY, index_type_names[def->type], expected, part_count);
		return -1;
	}
	return key_validate(def->key_def, key, part_count, false, true);
}

int index_check_key(const struct index *index, enum iterator_type type, const char *key,
		    uint32_t part_count)
{
	return check_key(index, type, key, part_count) == 0 ? 0 :
		index_explain_key(index, key, part_count);
}

void index_unsupported(const struct index *index, const char *feature)
{
	client_error(ER_UNSUPPORTED_INDEX_FEATURE, index->def->name,
		     index_type_names[index->def->type], index->space_name, "memtx", feature);
}

void index_duplicate(const struct index *index)
{
	client_error(ER_TUPLE_FOUND, index->def->name, index->space_name);
}

int index_check_dup(const struct index *index, const struct tuple *old_tuple,
		    const struct tuple *dup, enum dup_replace_mode mode)
{
	if (dup == NULL)
		return 0;
	bool is_allowed = dup == old_tuple;
	if (mode == DUP_INSERT)
		is_allowed = false;
	else if (mode == DUP_REPLACE && old_tuple == NULL)
		is_allowed = true;
	if (is_allowed)
		return 0;
	index_duplicate(index);
	error_set_row(diag_last(), "old_tuple", tuple_data(dup), dup->bsize);
	return -1;
}

size_t index_key_size(const char *key, uint32_t part_count)
{
	const char *end = key;
	for (uint32_t i = 0; i < part_count; i++)
		mp_next(&end);
	return end - key;
}

bool index_is_sound(const struct index *index, const char *damage)
{
	if (damage != NULL)
		say_error("index '%s' of space '%s' is damaged: %s", index->def->name,
			  index->space_name, damage);
	return damage == NULL;
}
