/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The cache of spaces, by id and by name, and the structure of a space.
 */
#include "db/schema/space.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/memory.h"
#include "core/trigger.h"
#include "db/error.h"
#include "db/schema/constraint.h"
#include "db/schema/schema.h"
#include "db/schema/user.h"
#include "db/tuple/tuple.h"

uint32_t schema_version;

static struct map_u64 spaces_by_id;
static struct map_str spaces_by_name;
/** The last space that was looked up. */
static struct space *space_last;

/* The cache ---------------------------------------------------------------- */

void space_cache_add(struct space *space)
{
	map_u64_put(&spaces_by_id, space_id(space), space);
	map_str_put(&spaces_by_name, space_name(space), strlen(space_name(space)), space);
}

void space_cache_del(struct space *space)
{
	map_u64_del(&spaces_by_id, space_id(space));
	map_str_del(&spaces_by_name, space_name(space), strlen(space_name(space)));
	if (space_last == space)
		space_last = NULL;
}

void space_cache_rename(struct space *space, const char *old_name)
{
	map_str_del(&spaces_by_name, old_name, strlen(old_name));
	map_str_put(&spaces_by_name, space_name(space), strlen(space_name(space)), space);
}

struct space *space_by_id(uint32_t id)
{
	if (space_last != NULL && space_last->def->id == id)
		return space_last;
	struct space *space = map_u64_get(&spaces_by_id, id);
	if (space != NULL)
		space_last = space;
	return space;
}

struct space *space_find(uint32_t id)
{
	struct space *space = space_by_id(id);
	if (space == NULL) {
		char name[16];
		snprintf(name, sizeof(name), "%u", id);
		client_error(ER_NO_SUCH_SPACE, name);
	}
	return space;
}

struct space *space_by_name(const char *name, size_t len)
{
	return map_str_get(&spaces_by_name, name, len);
}

struct index *space_index_find(const struct space *space, uint32_t iid)
{
	struct index *index = space_index(space, iid);
	if (index == NULL)
		client_error(ER_NO_SUCH_INDEX_ID, iid, space_name(space));
	return index;
}

struct index *space_index_find_unique(const struct space *space, uint32_t iid)
{
	struct index *index = space_index_find(space, iid);
	if (index != NULL && !index->def->is_unique) {
		client_error(ER_MORE_THAN_ONE_TUPLE);
		return NULL;
	}
	return index;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

int space_foreach(int (*cb)(struct space *space, void *arg), void *arg)
{
	uint32_t count = 0;
	uint32_t *ids = xmalloc((spaces_by_id.count + 1) * sizeof(*ids));
	uint64_t key;
	void *value;
	for (size_t pos = 0; map_u64_next(&spaces_by_id, &pos, &key, &value);)
		ids[count++] = key;
	qsort(ids, count, sizeof(*ids), compare_ids);
	int rc = 0;
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		struct space *space = space_by_id(ids[i]);
		if (space != NULL)
			rc = cb(space, arg);
	}
	xfree(ids);
	return rc;
}

int space_access_check(const struct space *space, uint32_t privileges)
{
	return access_check(privileges, OBJECT_SPACE, space_name(space), space->def->uid,
			    &space->access);
}

/* Definitions --------------------------------------------------------------- */

struct space_def *space_def_new(uint32_t id, uint32_t uid, const char *name, size_t name_len,
				const char *engine, size_t engine_len)
{
	struct space_def *def = xcalloc(1, sizeof(*def));
	def->id = id;
	def->uid = uid;
	def->name = xstrndup(name, name_len);
	def->engine_name = xstrndup(engine, engine_len);
	return def;
}

void space_def_delete(struct space_def *def)
{
	for (uint32_t i = 0; i < def->field_count; i++)
		xfree(def->fields[i].name);
	xfree(def->fields);
	constraint_free_all(def);
	xfree(def->name);
	xfree(def->engine_name);
	xfree(def);
}

/* Structure ------------------------------------------------------------------ */

const struct space_vtab *engine_by_name(const char *name)
{
	static const struct space_vtab *const engines[] = {
		&memtx_space_vtab, &sysview_space_vtab, &blackhole_space_vtab,
		&service_space_vtab,
	};
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strcmp(engines[i]->engine_name, name) == 0)
			return engines[i];
	}
	client_error(ER_NO_SUCH_ENGINE, name);
	return NULL;
}

struct space *space_new(struct space_def *def)
{
	const struct space_vtab *vtab = engine_by_name(def->engine_name);
	struct tuple_format *format = vtab == NULL ? NULL :
		tuple_format_new(NULL, 0, def->fields, def->field_count, def->exact_field_count);
	if (format == NULL) {
		space_def_delete(def);
		return NULL;
	}
	format->is_temporary = def->is_temporary;
	struct space *space = xcalloc(1, sizeof(*space));
	space->vtab = vtab;
	space->def = def;
	space->format = format;
	space->on_system_change = system_change_by_id(def->id);
	list_create(&space->before_replace);
	list_create(&space->on_replace);
	list_create(&space->builds);
	list_create(&space->referrers);
	return space;
}

void space_delete(struct space *space)
{
	assert(space->index_count == 0);
	trigger_destroy_all(&space->before_replace);
	trigger_destroy_all(&space->on_replace);
	for (uint32_t i = 0; i < space->old_format_count; i++)
		tuple_format_unref(space->old_formats[i]);
	xfree(space->old_formats);
	tuple_format_unref(space->format);
	space_def_delete(space->def);
	xfree(space->index);
	xfree(space->index_map);
	xfree(space);
}

void space_shape_get(const struct space *space, struct space_shape *shape)
{
	*shape = (struct space_shape){
		.def = space->def,
		.format = space->format,
		.dict = space->format->dict,
		.index = space->index,
		.index_count = space->index_count,
		.index_map = space->index_map,
		.index_id_max = space->index_id_max,
		.bsize = space->bsize,
	};
}

void space_shape_set(struct space *space, const struct space_shape *shape)
{
	space->def = shape->def;
	space->format = shape->format;
	space->index = shape->index;
	space->index_count = shape->index_count;
	space->index_map = shape->index_map;
	space->index_id_max = shape->index_id_max;
	space->bsize = shape->bsize;
}

static int space_free_one(struct space *space, void *arg)
{
	(void)arg;
	space_cache_del(space);
	for (uint32_t i = space->index_count; i > 0; i--) {
		if (i == 1 && space->vtab->owns_tuples)
			index_unref_tuples(space->index[0]);
		index_delete(space->index[i - 1]);
	}
	space->index_count = 0;
	space_delete(space);
	return 0;
}

void space_cache_init(void)
{
	map_u64_create(&spaces_by_id);
	map_str_create(&spaces_by_name);
}

void space_cache_free(void)
{
	space_foreach(space_free_one, NULL);
	map_u64_destroy(&spaces_by_id);
	map_str_destroy(&spaces_by_name);
}
