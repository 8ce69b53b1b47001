/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Key definitions: making, merging, checking keys. Comparators and hints are in
 * compare.c and hint.c.
 */
#include "db/tuple/key_def.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/coll.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/key_def_private.h"
#include "db/tuple/tuple_field.h"

static size_t key_def_size(uint32_t part_count)
{
	return offsetof(struct key_def, parts) + part_count * sizeof(struct key_part);
}

/**
 * Can the part's values be ordered? Those of any, array and map have an order of
 * ours; whether an index takes them is for its owner to say.
 */
static int key_part_check(const struct key_part *part)
{
	if (part->coll_id != COLL_NONE && coll_id_by_id(part->coll_id) == NULL) {
		char id[16];
		snprintf(id, sizeof(id), "#%u", part->coll_id);
		client_error(ER_NO_SUCH_COLLATION, id);
		return -1;
	}
	return 0;
}

static void key_def_finish(struct key_def *def)
{
	def->has_coll = false;
	for (uint32_t i = 0; i < def->part_count; i++) {
		const struct key_part *part = &def->parts[i];
		def->has_nullable |= part->is_nullable;
		def->has_exclude_null |= part->exclude_null;
		def->has_desc |= part->is_desc;
		def->has_path |= part->path != NULL;
		def->is_multikey |= part->path != NULL && part->path->any_step != PATH_NO_ANY;
		def->has_coll |= part->coll != NULL;
		coll_ref(part->coll);
	}
	key_def_set_comparators(def);
	key_def_set_hints(def);
}

static struct key_def *key_def_make(const struct key_part *parts, uint32_t part_count,
				    bool is_func)
{
	assert(part_count > 0);
	for (uint32_t i = 0; i < part_count; i++)
		if (key_part_check(&parts[i]) != 0)
			return NULL;
	struct key_def *def = xcalloc(1, key_def_size(part_count));
	def->part_count = def->unique_part_count = part_count;
	def->is_func = is_func;
	memcpy(def->parts, parts, part_count * sizeof(*parts));
	for (uint32_t i = 0; i < part_count; i++) {
		uint32_t id = parts[i].coll_id;
		def->parts[i].coll = id != COLL_NONE ? coll_id_by_id(id)->coll : NULL;
	}
	key_def_finish(def);
	return def;
}

struct key_def *key_def_new(const struct key_part *parts, uint32_t part_count)
{
	return key_def_make(parts, part_count, false);
}

struct key_def *key_def_new_func(const struct key_part *parts, uint32_t part_count)
{
	return key_def_make(parts, part_count, true);
}

struct key_def *key_def_dup(const struct key_def *def)
{
	size_t size = key_def_size(def->part_count);
	for (uint32_t i = 0; i < def->part_count; i++)
		coll_ref(def->parts[i].coll);
	return memcpy(xmalloc(size), def, size);
}

void key_def_delete(struct key_def *def)
{
	for (uint32_t i = 0; i < def->part_count; i++)
		coll_unref(def->parts[i].coll);
	xfree(def);
}

/**
 * Are two rows with equal parts of the definition equal in this part, too? Not where
 * they are equal only in the eyes of another collation. What a function returns is no
 * place of a row.
 */
static bool key_def_decides(const struct key_def *def, const struct key_part *part)
{
	for (uint32_t i = 0; i < def->part_count && !def->is_func; i++)
		if (key_part_same_place(&def->parts[i], part) &&
		    (def->parts[i].coll == NULL || def->parts[i].coll == part->coll))
			return true;
	return false;
}

struct key_def *key_def_merge(const struct key_def *first, const struct key_def *second)
{
	struct key_def *def = xcalloc(1, key_def_size(first->part_count + second->part_count));
	memcpy(def->parts, first->parts, first->part_count * sizeof(def->parts[0]));
	def->part_count = def->unique_part_count = first->part_count;
	def->is_func = first->is_func;
	for (uint32_t i = 0; i < second->part_count; i++)
		if (!key_def_decides(first, &second->parts[i]))
			def->parts[def->part_count++] = second->parts[i];
	key_def_finish(def);
	return def;
}

bool key_def_equal(const struct key_def *a, const struct key_def *b)
{
	if (a->part_count != b->part_count || a->is_func != b->is_func)
		return false;
	for (uint32_t i = 0; i < a->part_count; i++) {
		const struct key_part *p = &a->parts[i], *q = &b->parts[i];
		if (!key_part_same_place(p, q) || p->type != q->type ||
		    p->is_nullable != q->is_nullable || p->exclude_null != q->exclude_null ||
		    p->is_desc != q->is_desc ||
		    p->coll_id != q->coll_id)
			return false;
	}
	return true;
}

bool tuple_key_has_null(const struct tuple *tuple, const struct key_def *def)
{
	if (!def->has_nullable)
		return false;
	for (uint32_t i = 0; i < def->part_count; i++) {
		const char *field = tuple_field_by_part(tuple, &def->parts[i]);
		if (field == NULL || mp_typeof(*field) == MP_NIL)
			return true;
	}
	return false;
}

bool tuple_key_is_excluded(const struct tuple *tuple, const struct key_def *def)
{
	for (uint32_t i = 0; i < def->part_count && def->has_exclude_null; i++) {
		if (!def->parts[i].exclude_null)
			continue;
		const char *field = tuple_field_by_part(tuple, &def->parts[i]);
		if (field == NULL || mp_typeof(*field) == MP_NIL)
			return true;
	}
	return false;
}

int key_validate(const struct key_def *def, const char *key, uint32_t part_count, bool is_exact,
		 bool allow_nil)
{
	if (is_exact && part_count != def->part_count) {
		client_error(ER_EXACT_MATCH, def->part_count, part_count);
		return -1;
	}
	if (part_count > def->part_count) {
		client_error(ER_KEY_PART_COUNT, def->part_count, part_count);
		return -1;
	}
	for (uint32_t i = 0; i < part_count; i++) {
		const struct key_part *part = &def->parts[i];
		if (!field_type_accepts(part->type, key, allow_nil && part->is_nullable)) {
			client_error(ER_KEY_PART_TYPE, i, field_type_names[part->type]);
			return -1;
		}
		mp_next(&key);
	}
	return 0;
}
