/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _collation: [id, name, owner, type, locale, options].
 */
#include "db/schema/collation.h"

#include <string.h>

#include "core/map.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum { FIELD_ID, FIELD_NAME, FIELD_OWNER, FIELD_TYPE, FIELD_LOCALE, FIELD_OPTS };

/** Names by id. */
static struct map_u64 collations;

void collation_cache_init(void)
{
	map_u64_create(&collations);
}

void collation_cache_free(void)
{
	uint64_t id;
	void *name;
	for (size_t pos = 0; map_u64_next(&collations, &pos, &id, &name);)
		xfree(name);
	map_u64_destroy(&collations);
}

bool collation_exists(uint32_t id)
{
	return collation_name(id) != NULL;
}

const char *collation_name(uint32_t id)
{
	return map_u64_get(&collations, id);
}

struct collation_options {
	struct option_str strength, alternate, case_first, french, normalization, numeric;
	struct option_str case_level;
};

#define OPTION(name) {#name, OPTION_ENUM, offsetof(struct collation_options, name)}
static const struct option collation_table[] = {
	OPTION(strength), OPTION(alternate), OPTION(case_first),
	{"french_collation", OPTION_ENUM, offsetof(struct collation_options, french)},
	{"normalization_mode", OPTION_ENUM, offsetof(struct collation_options, normalization)},
	{"numeric_collation", OPTION_ENUM, offsetof(struct collation_options, numeric)},
	OPTION(case_level),
	{NULL, 0, 0},
};
#undef OPTION

static bool strength_is_known(const struct option_str *s)
{
	static const char *const names[] = {
		"primary", "secondary", "tertiary", "quaternary", "identical",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (s->len == strlen(names[i]) && strncasecmp(s->s, names[i], s->len) == 0)
			return true;
	}
	return s->s == NULL;
}

static int collation_check(struct tuple *tuple)
{
	const char *type;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_TYPE, &type, &len) != 0)
		return -1;
	if (!(len == 3 && strncasecmp(type, "ICU", 3) == 0) &&
	    !(len == 6 && strncasecmp(type, "BINARY", 6) == 0)) {
		client_error(ER_CANT_CREATE_COLLATION, "unknown collation type");
		return -1;
	}
	struct collation_options o = {0};
	const char *opts = tuple_field(tuple, FIELD_OPTS);
	if (options_decode(&opts, collation_table, &o, ER_WRONG_COLLATION_OPTIONS, FIELD_OPTS,
			   false) != 0)
		return -1;
	if (!strength_is_known(&o.strength)) {
		client_error(ER_CANT_CREATE_COLLATION, "ICU wrong strength option setting, "
			     "expected PRIMARY | SECONDARY | TERTIARY | QUATERNARY | IDENTICAL");
		return -1;
	}
	return 0;
}

static void collation_set(uint32_t id, char *name)
{
	if (name != NULL)
		map_u64_put(&collations, id, name);
	else
		map_u64_del(&collations, id);
}

struct collation_change {
	struct change base;
	uint32_t id;
};

static void collation_commit(struct change *base)
{
	xfree(base->old);
}

static void collation_rollback(struct change *base)
{
	collation_set(((struct collation_change *)base)->id, base->old);
	xfree(base->new);
}

static bool format_uses_collation(const struct space_def *def, uint32_t id)
{
	for (uint32_t i = 0; i < def->field_count; i++) {
		if (def->fields[i].coll_id == id)
			return true;
	}
	return false;
}

static int space_uses_collation(struct space *space, void *arg)
{
	uint32_t id = *(uint32_t *)arg;
	if (format_uses_collation(space->def, id))
		return 1;
	for (uint32_t i = 0; i < space->index_count; i++) {
		const struct key_def *key = space->index[i]->def->key_def;
		for (uint32_t k = 0; k < key->part_count; k++) {
			if (key->parts[k].coll_id == id)
				return 1;
		}
	}
	return 0;
}

int alter_on_collation(struct txn *txn, struct txn_stmt *stmt)
{
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id, owner, len;
	const char *name;
	if (tuple_field_u32(row, FIELD_ID, &id) != 0 ||
	    tuple_field_u32(row, FIELD_OWNER, &owner) != 0 ||
	    tuple_field_str(row, FIELD_NAME, &name, &len) != 0 || identifier_check(name, len) != 0)
		return -1;
	if (stmt->new_tuple != NULL && collation_check(row) != 0)
		return -1;
	char *old = map_u64_get(&collations, id);
	char *copy = xstrndup(name, len);
	struct collation_change *change = NULL;
	if (stmt->new_tuple == NULL && space_foreach(space_uses_collation, &id) != 0)
		client_error(ER_DROP_COLLATION, copy, "it is in use");
	else if (access_check_ddl(old == NULL ? PRIV_CREATE : stmt->new_tuple == NULL ?
				  PRIV_DROP : PRIV_ALTER, OBJECT_COLLATION, copy, owner, NULL) == 0)
		change = change_new(txn, stmt, sizeof(*change), collation_commit,
				    collation_rollback);
	if (change == NULL || stmt->new_tuple == NULL) {
		xfree(copy);
		copy = NULL;
	}
	if (change == NULL)
		return -1;
	change->id = id;
	change->base.old = old;
	change->base.new = copy;
	collation_set(id, copy);
	return 0;
}
