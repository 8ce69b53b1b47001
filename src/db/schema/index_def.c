/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A row of _index, decoded and checked: [space id, index id, name, type, options,
 * parts]. Parts are [field, type] or {field = , type = , is_nullable = , collation = }.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/func.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/field_path.h"
#include "db/tuple/tuple.h"

enum { FIELD_ID, FIELD_IID, FIELD_NAME, FIELD_TYPE, FIELD_OPTS, FIELD_PARTS };

struct index_options {
	bool unique;
	int64_t dimension;
	struct option_str distance, sql;
	int64_t range_size, page_size, run_count_per_level, lsn;
	double run_size_ratio, bloom_fpr;
	uint32_t func;
	bool hint;
};

#define OPTION(name, type) {#name, type, offsetof(struct index_options, name)}
static const struct option index_option_table[] = {
	OPTION(unique, OPTION_BOOL),
	OPTION(dimension, OPTION_I64),
	OPTION(distance, OPTION_ENUM),
	OPTION(range_size, OPTION_I64),
	OPTION(page_size, OPTION_I64),
	OPTION(run_count_per_level, OPTION_I64),
	OPTION(run_size_ratio, OPTION_DOUBLE),
	OPTION(bloom_fpr, OPTION_DOUBLE),
	OPTION(lsn, OPTION_I64),
	OPTION(func, OPTION_U32),
	OPTION(hint, OPTION_BOOL),
	OPTION(sql, OPTION_STR),
	{NULL, 0, 0},
};
#undef OPTION

static int modify_error(const struct space *space, const char *name, const char *text)
{
	client_error(ER_MODIFY_INDEX, name, space_name(space), text);
	return -1;
}

static enum rtree_distance distance_decode(const struct option_str *s)
{
	if (s->s == NULL || (s->len == 6 && strncasecmp(s->s, "euclid", 6) == 0))
		return RTREE_EUCLID;
	if (s->len == 9 && strncasecmp(s->s, "manhattan", 9) == 0)
		return RTREE_MANHATTAN;
	return rtree_distance_MAX;
}

static int index_options_check(const struct index_options *o)
{
	if (distance_decode(&o->distance) == rtree_distance_MAX)
		return options_error(ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				     "distance must be either 'euclid' or 'manhattan'");
	if (o->page_size <= 0 || (o->range_size > 0 && o->page_size > o->range_size))
		return options_error(ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				     "page_size must be greater than 0 and less than or equal to "
				     "range_size");
	if (o->run_count_per_level <= 0)
		return options_error(ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				     "run_count_per_level must be greater than 0");
	if (o->run_size_ratio <= 1)
		return options_error(ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				     "run_size_ratio must be greater than 1");
	if (o->bloom_fpr <= 0 || o->bloom_fpr > 1)
		return options_error(ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				     "bloom_fpr must be greater than 0 and less than or equal "
				     "to 1");
	return 0;
}

/* Parts ---------------------------------------------------------------------- */

static int parts_error(const char *text)
{
	client_error(ER_WRONG_INDEX_PARTS, text);
	return -1;
}

static int key_part_decode_array(const char **data, struct key_part *part)
{
	if (mp_typeof(**data) != MP_ARRAY)
		return parts_error("expected an array");
	uint32_t count = mp_decode_array(data);
	if (count < 1)
		return parts_error("expected a non-empty array");
	if (count < 2)
		return parts_error("a field type is missing");
	if (mp_typeof(**data) != MP_UINT)
		return parts_error("field id must be an integer");
	uint64_t fieldno = mp_decode_uint(data);
	part->fieldno = fieldno < UINT32_MAX ? fieldno : UINT32_MAX;
	if (mp_typeof(**data) != MP_STR)
		return parts_error("field type must be a string");
	uint32_t len;
	const char *type = mp_decode_str(data, &len);
	part->type = field_type_by_name(type, len);
	if (part->type == field_type_MAX)
		return parts_error("unknown field type");
	for (uint32_t i = 2; i < count; i++)
		mp_next(data);
	return 0;
}

struct part_options {
	uint32_t field, collation;
	struct option_str type, nullable_action, sort_order, path;
	bool is_nullable, exclude_null;
};

#define OPTION(name, type) {#name, type, offsetof(struct part_options, name)}
static const struct option part_option_table[] = {
	OPTION(field, OPTION_U32),
	OPTION(type, OPTION_STR),
	OPTION(collation, OPTION_U32),
	OPTION(is_nullable, OPTION_BOOL),
	OPTION(nullable_action, OPTION_ENUM),
	OPTION(sort_order, OPTION_ENUM),
	OPTION(path, OPTION_STR),
	OPTION(exclude_null, OPTION_BOOL),
	{NULL, 0, 0},
};
#undef OPTION

static int key_part_decode_path(const struct option_str *text, uint32_t no,
				struct key_part *part)
{
	bool is_any_twice;
	const struct field_path_text *path = field_path_intern(text->s, text->len, &is_any_twice);
	if (is_any_twice)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "no more than one array index "
				     "placeholder [*] is allowed in JSON path");
	if (path == NULL)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "invalid path");
	part->path = path->path;
	part->path_text = path->text;
	return 0;
}

static int key_part_decode_map(const char **data, uint32_t partno, struct key_part *part)
{
	struct part_options o = {.collation = COLL_NONE};
	uint32_t no = partno + 1;
	if (mp_typeof(**data) != MP_MAP)
		return options_error(ER_WRONG_INDEX_OPTIONS, no,
				     "index part is expected to be a map");
	if (options_decode(data, part_option_table, &o, ER_WRONG_INDEX_OPTIONS, no, false) != 0)
		return -1;
	part->fieldno = o.field;
	part->type = o.type.s == NULL ? field_type_MAX : field_type_by_name(o.type.s, o.type.len);
	if (part->type == field_type_MAX)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "index part: unknown field type");
	if (o.sort_order.s != NULL && !option_str_is(&o.sort_order, "asc", 3) &&
	    !option_str_is(&o.sort_order, "desc", 4))
		return options_error(ER_WRONG_INDEX_OPTIONS, no,
				     "index part: unknown sort order");
	bool is_none = o.nullable_action.s != NULL && option_str_is(&o.nullable_action, "none", 4);
	if (o.nullable_action.s != NULL && is_none != o.is_nullable)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "index part: conflicting "
				     "nullability and nullable action properties");
	if (o.collation != COLL_NONE && o.collation != COLL_ID_NONE) {
		if (part->type != FIELD_TYPE_STRING && part->type != FIELD_TYPE_SCALAR)
			return options_error(ER_WRONG_INDEX_OPTIONS, no, "collation is reasonable "
					     "only for string and scalar parts");
		if (coll_id_by_id(o.collation) == NULL)
			return options_error(ER_WRONG_INDEX_OPTIONS, no,
					     "collation was not found by ID");
	}
	if (o.exclude_null && !o.is_nullable)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "index part: conflicting "
				     "exclude_null and nullability properties");
	if (o.path.s != NULL && o.path.len > 0 && key_part_decode_path(&o.path, no, part) != 0)
		return -1;
	part->is_nullable = o.is_nullable;
	part->exclude_null = o.exclude_null;
	part->is_desc = o.sort_order.s != NULL && option_str_is(&o.sort_order, "desc", 4);
	part->coll_id = o.collation;
	return 0;
}

/** All parts with `[*]` have to lead to the same array. */
static int key_parts_check_multikey(const struct key_part *parts, uint32_t count)
{
	const struct key_part *first = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct field_path *path = parts[i].path;
		if (path == NULL || path->any_step == PATH_NO_ANY)
			continue;
		if (first == NULL)
			first = &parts[i];
		else if (first->fieldno != parts[i].fieldno ||
			 !field_path_same_array(first->path, path))
			return options_error(ER_WRONG_INDEX_OPTIONS, i + 1,
					     "incompatable multikey index path");
	}
	return 0;
}

/** All parts have the form of the first one. */
static int key_parts_decode(const char *data, uint32_t count, struct key_part *parts)
{
	bool is_array = mp_typeof(*data) == MP_ARRAY;
	for (uint32_t i = 0; i < count; i++) {
		parts[i] = (struct key_part){.coll_id = COLL_NONE};
		int rc = is_array ? key_part_decode_array(&data, &parts[i]) :
			key_part_decode_map(&data, i, &parts[i]);
		if (rc != 0)
			return -1;
	}
	return key_parts_check_multikey(parts, count);
}

/* Checks ---------------------------------------------------------------------- */

/** A row of _index, decoded. */
struct index_row {
	uint32_t iid;
	const char *name;
	enum index_type type;
	struct index_options opts;
	struct key_part parts[KEY_PART_MAX];
	uint32_t part_count;
	bool has_nullable;
	bool is_multikey;
};

static int primary_check(const struct index_row *row, const struct space *space)
{
	if (row->opts.func != 0)
		return modify_error(space, row->name, "primary key can not use a function");
	if (!row->has_nullable)
		return 0;
	client_error(ER_NULLABLE_PRIMARY, space_name(space));
	return -1;
}

static int func_parts_error(void)
{
	client_error(ER_FUNC_INDEX_PARTS, "key part numbers must be sequential and first part "
		     "number must be 1");
	return -1;
}

/** What a function returns is an array whose fields are the parts, in order. */
static int func_parts_check(const struct index_row *row)
{
	if (row->part_count == 0)
		return func_parts_error();
	for (uint32_t i = 0; i < row->part_count; i++) {
		if (row->parts[i].path != NULL) {
			client_error(ER_UNSUPPORTED, "Functional index", "json paths");
			return -1;
		}
		if (row->parts[i].fieldno != i)
			return func_parts_error();
	}
	return 0;
}

/** What holds for an index of any engine. */
static int index_row_check(const struct index_row *row, const struct space *space)
{
	if (row->iid >= INDEX_ID_MAX)
		return modify_error(space, row->name, "index id too big");
	if (row->part_count == 0)
		return modify_error(space, row->name, "part count must be positive");
	if (row->iid == 0 && !row->opts.unique)
		return modify_error(space, row->name, "primary key must be unique");
	if (row->iid == 0 && row->is_multikey)
		return modify_error(space, row->name, "primary key cannot be multikey");
	for (uint32_t i = 0; i < row->part_count; i++) {
		if (row->parts[i].fieldno > KEY_FIELDNO_MAX)
			return modify_error(space, row->name, "field no is too big");
		for (uint32_t j = 0; j < i; j++) {
			if (key_part_same_place(&row->parts[j], &row->parts[i]))
				return modify_error(space, row->name,
						    "same key part is indexed twice");
		}
	}
	return row->iid == 0 ? primary_check(row, space) : 0;
}

/**
 * A multikey index is not made over a field that the format lets be nil; later the format may
 * come to say so, as in the reference, and files may have such an index.
 */
static int multikey_root_check(const struct index_row *row, const struct space *space)
{
	for (uint32_t i = 0; i < row->part_count && row->is_multikey && db_is_configured; i++) {
		const struct key_part *part = &row->parts[i];
		if (part->path == NULL || part->path->any_step == PATH_NO_ANY ||
		    part->fieldno >= space->def->field_count ||
		    !space->def->fields[part->fieldno].is_nullable)
			continue;
		client_error(ER_UNSUPPORTED, "multikey index", "nullable root field");
		return -1;
	}
	return 0;
}

/** What stands before the checks of each type; the type may be unknown here. */
static int memtx_type_check(const struct index_row *row, const struct space *space)
{
	if (row->type != INDEX_TREE && row->type != index_type_MAX && row->has_nullable) {
		client_error(ER_UNSUPPORTED, index_type_names[row->type], "nullable parts");
		return -1;
	}
	if (multikey_root_check(row, space) != 0)
		return -1;
	if (row->type != index_type_MAX)
		return 0;
	client_error(ER_INDEX_TYPE, row->name, space_name(space));
	return -1;
}

static int rtree_dimension_check(const struct index_row *row, const struct space *space)
{
	if (row->opts.dimension >= 1 && row->opts.dimension <= RTREE_DIMENSION_MAX)
		return 0;
	char text[128];
	snprintf(text, sizeof(text), "dimension (%lld): must belong to range [%u, %u]",
		 (long long)row->opts.dimension, 1, RTREE_DIMENSION_MAX);
	client_error(ER_UNSUPPORTED_INDEX_FEATURE, row->name, index_type_names[INDEX_RTREE],
		     space_name(space), space->def->engine_name, text);
	return -1;
}

static int memtx_check_special(const struct index_row *row, const struct space *space)
{
	const struct key_part *part = &row->parts[0];
	bool is_rtree = row->type == INDEX_RTREE;
	if (row->part_count != 1)
		return modify_error(space, row->name, is_rtree ?
				    "RTREE index key can not be multipart" :
				    "BITSET index key can not be multipart");
	if (row->opts.unique)
		return modify_error(space, row->name, is_rtree ?
				    "RTREE index can not be unique" :
				    "BITSET can not be unique");
	if (is_rtree && part->type != FIELD_TYPE_ARRAY)
		return modify_error(space, row->name, "RTREE index field type must be ARRAY");
	if (!is_rtree && part->type != FIELD_TYPE_UNSIGNED && part->type != FIELD_TYPE_STRING)
		return modify_error(space, row->name,
				    "BITSET index field type must be NUM or STR");
	if (is_rtree && rtree_dimension_check(row, space) != 0)
		return -1;
	return 0;
}

static int memtx_type_error(const struct index_row *row, const struct space *space,
			    const char *what)
{
	char text[64];
	snprintf(text, sizeof(text), "%s %s", index_type_names[row->type], what);
	return modify_error(space, row->name, text);
}

/** What memtx wants of an index. */
static int memtx_index_check(const struct index_row *row, const struct space *space)
{
	if (memtx_type_check(row, space) != 0)
		return -1;
	if (row->type == INDEX_HASH && !row->opts.unique)
		return modify_error(space, row->name, "HASH index must be unique");
	if (row->type != INDEX_TREE && row->is_multikey)
		return memtx_type_error(row, space, "index cannot be multikey");
	if (row->type != INDEX_TREE && row->opts.func != 0)
		return memtx_type_error(row, space, "index can not use a function");
	if (row->type == INDEX_RTREE || row->type == INDEX_BITSET)
		return memtx_check_special(row, space);
	for (uint32_t i = 0; i < row->part_count; i++) {
		enum field_type type = row->parts[i].type;
		if (type != FIELD_TYPE_ANY && type != FIELD_TYPE_MAP && type != FIELD_TYPE_ARRAY &&
		    type != FIELD_TYPE_INTERVAL)
			continue;
		char text[64];
		snprintf(text, sizeof(text), "field type '%s' is not supported",
			 field_type_names[type]);
		return modify_error(space, row->name, text);
	}
	return 0;
}

static enum index_type index_type_decode(const char *name, uint32_t len)
{
	int i = 0;
	while (i < index_type_MAX && (strlen(index_type_names[i]) != len ||
				      strncasecmp(index_type_names[i], name, len) != 0))
		i++;
	return i;
}

static int index_parts_decode(struct index_row *row, struct tuple *tuple,
			      const struct space *space)
{
	const char *data = tuple_field(tuple, FIELD_PARTS);
	row->part_count = mp_decode_array(&data);
	if (row->part_count > KEY_PART_MAX)
		return modify_error(space, row->name, "too many key parts");
	if (row->part_count > 0 && key_parts_decode(data, row->part_count, row->parts) != 0)
		return -1;
	for (uint32_t i = 0; i < row->part_count; i++) {
		const struct key_part *part = &row->parts[i];
		row->has_nullable |= part->is_nullable;
		row->is_multikey |= part->path != NULL && part->path->any_step != PATH_NO_ANY;
	}
	return row->opts.func != 0 ? func_parts_check(row) : 0;
}

/** All but the name, which is in the row already. */
static int index_row_decode(struct index_row *row, struct tuple *tuple, const struct space *space)
{
	const char *type;
	uint32_t type_len;
	if (tuple_field_str(tuple, FIELD_TYPE, &type, &type_len) != 0 ||
	    tuple_field_u32(tuple, FIELD_IID, &row->iid) != 0)
		return -1;
	row->type = index_type_decode(type, type_len);
	const char *opts = tuple_field(tuple, FIELD_OPTS);
	if (options_decode(&opts, index_option_table, &row->opts, ER_WRONG_INDEX_OPTIONS,
			   FIELD_OPTS, false) != 0 ||
	    index_options_check(&row->opts) != 0)
		return -1;
	return index_parts_decode(row, tuple, space);
}

int index_func_find(uint32_t id, struct func **func)
{
	/* A snapshot has the rows of functions behind those of indexes. */
	*func = func_by_id(id);
	if (*func == NULL || ((*func)->def->is_deterministic && (*func)->def->is_sandboxed))
		return 0;
	return options_error(ER_WRONG_INDEX_OPTIONS, 0, "referenced function doesn't satisfy "
			     "functional index function constraints");
}

static struct index_def *index_def_make(const struct index_row *row, const struct space *space)
{
	struct func *func = NULL;
	if (row->opts.func != 0 && index_func_find(row->opts.func, &func) != 0)
		return NULL;
	struct key_def *key = row->opts.func != 0 ?
		key_def_new_func(row->parts, row->part_count) :
		key_def_new(row->parts, row->part_count);
	if (key == NULL)
		return NULL;
	const struct index *pk = space_index(space, 0);
	const struct key_def *pk_def = pk != NULL && row->iid != 0 ? pk->def->key_def : NULL;
	struct index_def *def = index_def_new(space_id(space), row->iid, row->name,
					      strlen(row->name), row->type, row->opts.unique,
					      row->opts.hint, key, pk_def);
	def->dimension = row->opts.dimension;
	def->distance = distance_decode(&row->opts.distance);
	key_def_delete(key);
	index_def_set_func(def, row->opts.func, func);
	return def;
}

struct index_def *index_def_decode(struct tuple *tuple, const struct space *space)
{
	const char *name;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_NAME, &name, &len) != 0)
		return NULL;
	if (len > IDENTIFIER_MAX) {
		char text[65];
		snprintf(text, sizeof(text), "%.64s", name);
		modify_error(space, text, "index name is too long");
		return NULL;
	}
	if (identifier_check(name, len) != 0)
		return NULL;
	char *copy = xstrndup(name, len);
	struct index_row row = {
		.name = copy,
		.opts = {
			.unique = true, .dimension = 2, .page_size = 8192,
			.run_count_per_level = 2, .run_size_ratio = 3.5, .bloom_fpr = 0.05,
			.hint = true,
		},
	};
	struct index_def *def = NULL;
	if (index_row_decode(&row, tuple, space) == 0 && index_row_check(&row, space) == 0 &&
	    memtx_index_check(&row, space) == 0)
		def = index_def_make(&row, space);
	xfree(copy);
	return def;
}
