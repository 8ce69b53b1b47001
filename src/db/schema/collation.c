/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _collation: [id, name, owner, type, locale, options].
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "data/coll.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/options.h"
#include "db/schema/schema.h"
#include "db/tuple/coll_id.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum { FIELD_ID, FIELD_NAME, FIELD_OWNER, FIELD_TYPE, FIELD_LOCALE, FIELD_OPTS };

struct collation_options {
	struct option_str french, alternate, case_first, case_level, normalization, strength;
	struct option_str numeric;
};

#define OPTION(name, member) {name, OPTION_ENUM, offsetof(struct collation_options, member)}
static const struct option collation_table[] = {
	OPTION("french_collation", french),
	OPTION("alternate_handling", alternate),
	OPTION("case_first", case_first),
	OPTION("case_level", case_level),
	OPTION("normalization_mode", normalization),
	OPTION("strength", strength),
	OPTION("numeric_collation", numeric),
	{NULL, 0, 0},
};
#undef OPTION

/** The words that an option may have, from the enumeration's value 1 on; NULL ends them. */
static const char *const switch_words[] = {"on", "off", NULL};
static const char *const alternate_words[] = {"non_ignorable", "shifted", NULL};
static const char *const case_first_words[] = {"off", "upper_first", "lower_first", NULL};
static const char *const strength_words[] = {
	"primary", "secondary", "tertiary", "quaternary", "identical", NULL,
};

static int collation_error(const char *text)
{
	client_error(ER_CANT_CREATE_COLLATION, text);
	return -1;
}

/** The number of the option's word, 0 where the option is not given; -1 for another word. */
static int word_decode(const struct option_str *option, const char *const *words,
		       const char *error)
{
	if (option->s == NULL)
		return 0;
	for (int i = 0; words[i] != NULL; i++) {
		if (strlen(words[i]) == option->len &&
		    strncasecmp(words[i], option->s, option->len) == 0)
			return i + 1;
	}
	return collation_error(error);
}

static int switch_decode(const struct option_str *option, const char *name)
{
	char error[128];
	snprintf(error, sizeof(error), "ICU wrong %s option setting, expected ON | OFF", name);
	return word_decode(option, switch_words, error);
}

static int options_apply(const struct collation_options *o, struct coll_def *def)
{
	int value = switch_decode(&o->french, "french_collation");
	if (value < 0)
		return -1;
	def->french_collation = value;
	value = word_decode(&o->alternate, alternate_words, "ICU wrong alternate_handling option "
			    "setting, expected NON_IGNORABLE | SHIFTED");
	if (value < 0)
		return -1;
	def->alternate_handling = value;
	value = word_decode(&o->case_first, case_first_words, "ICU wrong case_first option "
			    "setting, expected OFF | UPPER_FIRST | LOWER_FIRST");
	if (value < 0)
		return -1;
	def->case_first = value;
	value = switch_decode(&o->case_level, "case_level");
	if (value < 0)
		return -1;
	def->case_level = value;
	value = switch_decode(&o->normalization, "normalization_mode");
	if (value < 0)
		return -1;
	def->normalization_mode = value;
	value = word_decode(&o->strength, strength_words, "ICU wrong strength option setting, "
			    "expected PRIMARY | SECONDARY | TERTIARY | QUATERNARY | IDENTICAL");
	if (value < 0)
		return -1;
	def->strength = value;
	value = switch_decode(&o->numeric, "numeric_collation");
	if (value < 0)
		return -1;
	def->numeric_collation = value;
	return 0;
}

/** What a new row says. */
struct collation_row {
	const char *name;
	uint32_t id, owner, name_len;
	bool is_icu;
	struct coll_def def;
};

static int collation_type_decode(struct tuple *tuple, struct collation_row *row)
{
	const char *type;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_TYPE, &type, &len) != 0)
		return -1;
	row->is_icu = len == 3 && strncasecmp(type, "ICU", 3) == 0;
	if (!row->is_icu && !(len == 6 && strncasecmp(type, "BINARY", 6) == 0))
		return collation_error("unknown collation type");
	return 0;
}

static int collation_locale_decode(struct tuple *tuple, struct collation_row *row)
{
	const char *locale;
	uint32_t len;
	if (tuple_field_str(tuple, FIELD_LOCALE, &locale, &len) != 0)
		return -1;
	if (len > COLL_LOCALE_MAX)
		return collation_error("collation locale is too long");
	if (len > 0 && identifier_check(locale, len) != 0)
		return -1;
	memcpy(row->def.locale, locale, len);
	return 0;
}

/** Id, name and owner: what it takes to drop one. */
static int collation_row_begin(struct tuple *tuple, struct collation_row *row)
{
	if (tuple_field_u32(tuple, FIELD_ID, &row->id) != 0 ||
	    tuple_field_str(tuple, FIELD_NAME, &row->name, &row->name_len) != 0)
		return -1;
	if (row->name_len > IDENTIFIER_MAX)
		return collation_error("collation name is too long");
	if (identifier_check(row->name, row->name_len) != 0)
		return -1;
	return tuple_field_u32(tuple, FIELD_OWNER, &row->owner);
}

static int collation_row_decode(struct tuple *tuple, struct collation_row *row)
{
	if (collation_row_begin(tuple, row) != 0 || collation_type_decode(tuple, row) != 0 ||
	    collation_locale_decode(tuple, row) != 0)
		return -1;
	struct collation_options o = {0};
	const char *opts = tuple_field(tuple, FIELD_OPTS);
	if (options_decode(&opts, collation_table, &o, ER_WRONG_COLLATION_OPTIONS, FIELD_OPTS,
			   false) != 0)
		return -1;
	return options_apply(&o, &row->def);
}

/* Changes ---------------------------------------------------------------------- */

/** `old` or `new` is the entry that the statement took out or put in. */
static void collation_commit(struct change *change)
{
	coll_id_delete(change->old);
}

static void collation_rollback(struct change *change)
{
	struct coll_id *old = change->old, *new = change->new;
	if (new != NULL)
		coll_id_cache_del(new->id);
	if (old != NULL)
		coll_id_cache_put(old);
	coll_id_delete(new);
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

static int collation_access_check(const struct collation_row *row, uint32_t privilege)
{
	char *name = xstrndup(row->name, row->name_len);
	int rc = access_check_ddl(privilege, OBJECT_COLLATION, name, row->owner, NULL);
	xfree(name);
	return rc;
}

static int collation_create(struct txn *txn, struct txn_stmt *stmt)
{
	struct collation_row row = {0};
	if (collation_row_decode(stmt->new_tuple, &row) != 0 ||
	    collation_access_check(&row, PRIV_CREATE) != 0)
		return -1;
	struct coll *coll = NULL;
	if (row.is_icu && (coll = coll_new(&row.def)) == NULL)
		return -1;
	struct change *change = change_new(txn, stmt, sizeof(*change), collation_commit,
					   collation_rollback);
	if (change == NULL) {
		coll_unref(coll);
		return -1;
	}
	change->new = coll_id_new(row.id, row.name, row.name_len, coll);
	coll_id_cache_put(change->new);
	return 0;
}

static int collation_drop_error(const struct coll_id *coll_id, const char *why)
{
	client_error(ER_DROP_COLLATION, coll_id->name, why);
	return -1;
}

static int collation_drop(struct txn *txn, struct txn_stmt *stmt)
{
	struct collation_row row = {0};
	if (collation_row_begin(stmt->old_tuple, &row) != 0)
		return -1;
	struct coll_id *coll_id = (struct coll_id *)coll_id_by_id(row.id);
	if (row.id == COLL_ID_NONE)
		return collation_drop_error(coll_id, "system collation");
	if (collation_access_check(&row, PRIV_DROP) != 0)
		return -1;
	if (space_foreach(space_uses_collation, &row.id) != 0)
		return collation_drop_error(coll_id, "it is in use");
	struct change *change = change_new(txn, stmt, sizeof(*change), collation_commit,
					   collation_rollback);
	if (change == NULL)
		return -1;
	change->old = coll_id;
	coll_id_cache_del(row.id);
	return 0;
}

int alter_on_collation(struct txn *txn, struct txn_stmt *stmt)
{
	if (stmt->old_tuple == NULL)
		return collation_create(txn, stmt);
	if (stmt->new_tuple == NULL)
		return collation_drop(txn, stmt);
	client_error(ER_UNSUPPORTED, "collation", "alter");
	return -1;
}
