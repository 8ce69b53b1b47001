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
#include "db/error.h"
#include "db/schema/collation.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"

enum { FIELD_ID, FIELD_IID, FIELD_NAME, FIELD_TYPE, FIELD_OPTS, FIELD_PARTS };

enum {
	KEY_PART_MAX = 255,
	/** A format describes all fields up to the last indexed one, so there is a bound. */
	KEY_FIELDNO_MAX = 1 << 20,
	RTREE_DIMENSION_MAX = 20,
};

struct index_options {
	bool unique;
	int64_t dimension;
	struct option_str distance, sql;
	int64_t range_size, page_size, run_count_per_level, lsn;
	double run_size_ratio, bloom_fpr;
	uint32_t func;
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
	OPTION(sql, OPTION_STR),
	{NULL, 0, 0},
};
#undef OPTION

static int modify_error(const struct space *space, const char *name, const char *text)
{
	client_error(ER_MODIFY_INDEX, name, space_name(space), text);
	return -1;
}

static int index_options_check(const struct index_options *o)
{
	if (o->distance.s != NULL && !option_str_is(&o->distance, "euclid", 6) &&
	    !option_str_is(&o->distance, "manhattan", 9))
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
				     "bloom_fpr must be greater than 0 and less than or equal to 1");
	if (o->func != 0) {
		client_error(ER_UNSUPPORTED, "tarn", "functional indexes");
		return -1;
	}
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
	uint32_t count = mp_decode_array(data);
	if (count < 1)
		return parts_error("a field id is missing");
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
	bool is_nullable;
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
	{NULL, 0, 0},
};
#undef OPTION

static int key_part_decode_map(const char **data, uint32_t partno, struct key_part *part)
{
	struct part_options o = {.collation = COLL_NONE};
	uint32_t no = partno + 1;
	if (options_decode(data, part_option_table, &o, ER_WRONG_INDEX_OPTIONS, no, false) != 0)
		return -1;
	part->fieldno = o.field;
	part->type = o.type.s == NULL ? field_type_MAX : field_type_by_name(o.type.s, o.type.len);
	if (part->type == field_type_MAX)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "index part: unknown field type");
	bool is_none = o.nullable_action.s != NULL && option_str_is(&o.nullable_action, "none", 4);
	if (o.nullable_action.s != NULL && is_none != o.is_nullable)
		return options_error(ER_WRONG_INDEX_OPTIONS, no, "index part: conflicting "
				     "nullability and nullable action properties");
	if (o.collation != COLL_NONE) {
		if (part->type != FIELD_TYPE_STRING && part->type != FIELD_TYPE_SCALAR)
			return options_error(ER_WRONG_INDEX_OPTIONS, no, "collation is reasonable "
					     "only for string and scalar parts");
		if (!collation_exists(o.collation))
			return options_error(ER_WRONG_INDEX_OPTIONS, no,
					     "collation was not found by ID");
	}
	if (o.path.s != NULL && o.path.len > 0) {
		client_error(ER_UNSUPPORTED, "tarn", "JSON paths in index parts");
		return -1;
	}
	part->is_nullable = o.is_nullable;
	part->coll_id = o.collation;
	return 0;
}

static int key_parts_decode(const char *data, uint32_t count, struct key_part *parts)
{
	for (uint32_t i = 0; i < count; i++) {
		struct key_part *part = &parts[i];
		*part = (struct key_part){.coll_id = COLL_NONE};
		int rc;
		if (mp_typeof(*data) == MP_ARRAY)
			rc = key_part_decode_array(&data, part);
		else if (mp_typeof(*data) == MP_MAP)
			rc = key_part_decode_map(&data, i, part);
		else
			rc = options_error(ER_WRONG_INDEX_OPTIONS, i + 1,
					   "index part is expected to be a map");
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* Checks ---------------------------------------------------------------------- */

/** What holds for an index of any engine. */
static int index_def_check(const struct index_def *def, const struct space *space)
{
	const struct key_def *key = def->key_def;
	if (def->iid >= INDEX_ID_MAX)
		return modify_error(space, def->name, "index id too big");
	if (def->iid == 0 && !def->is_unique)
		return modify_error(space, def->name, "primary key must be unique");
	for (uint32_t i = 0; i < key->part_count; i++) {
		if (key->parts[i].fieldno > KEY_FIELDNO_MAX)
			return modify_error(space, def->name, "field no is too big");
		for (uint32_t j = 0; j < i; j++) {
			if (key->parts[j].fieldno == key->parts[i].fieldno)
				return modify_error(space, def->name,
						    "same key part is indexed twice");
		}
	}
	if (def->iid == 0 && key->has_nullable) {
		client_error(ER_NULLABLE_PRIMARY, space_name(space));
		return -1;
	}
	return 0;
}

static int memtx_check_special(const struct index_def *def, const struct space *space)
{
	const struct key_part *part = &def->key_def->parts[0];
	bool is_rtree = def->type == INDEX_RTREE;
	if (def->key_def->part_count != 1)
		return modify_error(space, def->name, is_rtree ?
				    "RTREE index key can not be multipart" :
				    "BITSET index key can not be multipart");
	if (def->is_unique)
		return modify_error(space, def->name, is_rtree ?
				    "RTREE index can not be unique" :
				    "BITSET can not be unique");
	if (is_rtree && part->type != FIELD_TYPE_ARRAY)
		return modify_error(space, def->name, "RTREE index field type must be ARRAY");
	if (!is_rtree && part->type != FIELD_TYPE_UNSIGNED && part->type != FIELD_TYPE_STRING)
		return modify_error(space, def->name,
				    "BITSET index field type must be NUM or STR");
	if (part->is_nullable) {
		client_error(ER_UNSUPPORTED, is_rtree ? "RTREE" : "BITSET", "nullable parts");
		return -1;
	}
	return 0;
}

/** What memtx wants of an index. */
static int memtx_index_check(const struct index_def *def, const struct space *space)
{
	if (def->type == INDEX_RTREE || def->type == INDEX_BITSET)
		return memtx_check_special(def, space);
	if (def->type == INDEX_HASH && !def->is_unique)
		return modify_error(space, def->name, "HASH index must be unique");
	if (def->type == INDEX_HASH && def->key_def->has_nullable) {
		client_error(ER_UNSUPPORTED, "HASH", "nullable parts");
		return -1;
	}
	for (uint32_t i = 0; i < def->key_def->part_count; i++) {
		enum field_type type = def->key_def->parts[i].type;
		if (type != FIELD_TYPE_ANY && type != FIELD_TYPE_MAP && type != FIELD_TYPE_ARRAY)
			continue;
		char text[64];
		snprintf(text, sizeof(text), "field type '%s' is not supported",
			 field_type_names[type]);
		return modify_error(space, def->name, text);
	}
	return 0;
}

static int rtree_dimension_check(const struct index_options *o, const char *name,
				 const struct space *space)
{
	if (o->dimension >= 1 && o->dimension <= RTREE_DIMENSION_MAX)
		return 0;
	char text[128];
	snprintf(text, sizeof(text), "dimension (%lld): must belong to range [%u, %u]",
		 (long long)o->dimension, 1, RTREE_DIMENSION_MAX);
	client_error(ER_UNSUPPORTED_INDEX_FEATURE, name, index_type_names[INDEX_RTREE],
		     space_name(space), space->def->engine_name, text);
	return -1;
}

static enum index_type index_type_decode(const char *name, uint32_t len)
{
	int i = 0;
	while (i < index_type_MAX && (strlen(index_type_names[i]) != len ||
				      strncasecmp(index_type_names[i], name, len) != 0))
		i++;
	return i;
}

/** The key's definition from the row's parts. NULL: an error is set. */
static struct key_def *key_def_decode(struct tuple *tuple, const char *name,
				      const struct space *space)
{
	const char *data = tuple_field(tuple, FIELD_PARTS);
	uint32_t count = mp_decode_array(&data);
	if (count == 0) {
		modify_error(space, name, "part count must be positive");
		return NULL;
	}
	if (count > KEY_PART_MAX) {
		modify_error(space, name, "too many key parts");
		return NULL;
	}
	struct key_part parts[KEY_PART_MAX];
	if (key_parts_decode(data, count, parts) != 0)
		return NULL;
	return key_def_new(parts, count);
}

static struct index_def *index_def_make(struct tuple *tuple, const struct space *space,
					const char *name, enum index_type type,
					const struct index_options *o)
{
	uint32_t iid;
	if (tuple_field_u32(tuple, FIELD_IID, &iid) != 0)
		return NULL;
	struct key_def *key = key_def_decode(tuple, name, space);
	if (key == NULL)
		return NULL;
	const struct index *pk = space_index(space, 0);
	const struct key_def *pk_def = pk != NULL && iid != 0 ? pk->def->key_def : NULL;
	struct index_def *def = index_def_new(space_id(space), iid, name, strlen(name), type,
					      o->unique, true, key, pk_def);
	key_def_delete(key);
	if (def == NULL)
		return NULL;
	if (index_def_check(def, space) != 0 || memtx_index_check(def, space) != 0 ||
	    (type == INDEX_RTREE && rtree_dimension_check(o, name, space) != 0)) {
		index_def_delete(def);
		return NULL;
	}
	return def;
}

struct index_def *index_def_decode(struct tuple *tuple, const struct space *space)
{
	const char *name, *type_name;
	uint32_t name_len, type_len;
	if (tuple_field_str(tuple, FIELD_NAME, &name, &name_len) != 0 ||
	    identifier_check(name, name_len) != 0 ||
	    tuple_field_str(tuple, FIELD_TYPE, &type_name, &type_len) != 0)
		return NULL;
	struct index_options o = {
		.unique = true, .dimension = 2, .page_size = 8192, .run_count_per_level = 2,
		.run_size_ratio = 3.5, .bloom_fpr = 0.05,
	};
	char *copy = xstrndup(name, name_len);
	struct index_def *def = NULL;
	const char *opts = tuple_field(tuple, FIELD_OPTS);
	enum index_type type = index_type_decode(type_name, type_len);
	if (type == index_type_MAX)
		client_error(ER_INDEX_TYPE, copy, space_name(space));
	else if (options_decode(&opts, index_option_table, &o, ER_WRONG_INDEX_OPTIONS, FIELD_OPTS,
				false) == 0 && index_options_check(&o) == 0)
		def = index_def_make(tuple, space, copy, type, &o);
	xfree(copy);
	return def;
}
