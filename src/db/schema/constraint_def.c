/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Constraints in definitions of spaces: decoded from rows of _space, checked, compared, freed.
 */
#include "db/schema/constraint.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/func.h"
#include "db/schema/space.h"
#include "db/schema/schema.h"

uint32_t foreign_key_def_count;

/** An error of the map's form, which a row written by hand can have. */
static int map_error(const struct space_def *def, unsigned errcode, uint32_t fieldno,
		     const char *what)
{
	char text[128];
	if (fieldno == NO_FIELD)
		snprintf(text, sizeof(text), "%s", what);
	else
		snprintf(text, sizeof(text), "field %u: %s", fieldno + 1, what);
	client_error(errcode, def->name, text);
	return -1;
}

static struct constraint *add_constraint(struct space_def *def, uint32_t fieldno,
					 const char *name, uint32_t name_len)
{
	def->constraints = xrealloc(def->constraints,
				    (def->constraint_count + 1) * sizeof(*def->constraints));
	struct constraint *c = &def->constraints[def->constraint_count++];
	*c = (struct constraint){.name = xstrndup(name, name_len), .fieldno = fieldno};
	return c;
}

static int decode_name(const struct space_def *def, unsigned errcode, uint32_t fieldno,
		       const char **data, const char **name, uint32_t *len)
{
	if (mp_typeof(**data) != MP_STR)
		return map_error(def, errcode, fieldno, "name of a constraint is not a string");
	*name = mp_decode_str(data, len);
	if (*len > IDENTIFIER_MAX)
		return map_error(def, errcode, fieldno, "name of a constraint is too long");
	return identifier_check(*name, *len);
}

static bool decode_u32(const char **data, uint32_t *value)
{
	if (mp_typeof(**data) != MP_UINT)
		return false;
	uint64_t v = mp_decode_uint(data);
	*value = v;
	return v <= UINT32_MAX;
}

int constraint_decode_funcs(struct space_def *def, unsigned errcode, uint32_t fieldno,
			    const char *data)
{
	if (mp_typeof(*data) != MP_MAP)
		return map_error(def, errcode, fieldno, "constraint is not a map");
	uint32_t count = mp_decode_map(&data);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = NULL;
		uint32_t len = 0, id;
		if (decode_name(def, errcode, fieldno, &data, &name, &len) != 0)
			return -1;
		if (!decode_u32(&data, &id))
			return map_error(def, errcode, fieldno,
					 "constraint's function is not a number");
		add_constraint(def, fieldno, name, len)->func_id = id;
	}
	return 0;
}

/* Foreign keys ------------------------------------------------------------------ */

static void field_refs_free(struct field_ref *refs, uint32_t count)
{
	for (uint32_t i = 0; i < count && refs != NULL; i++)
		xfree(refs[i].name);
	xfree(refs);
}

static void foreign_key_delete(struct foreign_key *key)
{
	field_refs_free(key->local, key->field_count);
	field_refs_free(key->foreign, key->field_count);
	xfree(key);
}

static bool decode_ref(const char **data, struct field_ref *ref)
{
	if (mp_typeof(**data) == MP_STR) {
		uint32_t len;
		const char *name = mp_decode_str(data, &len);
		ref->name = xstrndup(name, len);
		return true;
	}
	return decode_u32(data, &ref->no);
}

/** `field`: of a field's key the parent's field, of a row's a map {own = parent's}. */
static bool decode_pairs(struct foreign_key *key, uint32_t fieldno, const char *data)
{
	bool is_map = fieldno == NO_FIELD;
	if (is_map && mp_typeof(*data) != MP_MAP)
		return false;
	uint32_t count = is_map ? mp_decode_map(&data) : 1;
	if (count == 0)
		return false;
	key->field_count = count;
	key->local = xcalloc(count, sizeof(*key->local));
	key->foreign = xcalloc(count, sizeof(*key->foreign));
	for (uint32_t i = 0; i < count; i++) {
		if (!is_map)
			key->local[i].no = fieldno;
		else if (!decode_ref(&data, &key->local[i]))
			return false;
		if (!decode_ref(&data, &key->foreign[i]))
			return false;
	}
	return true;
}

/** {space = id, field = ...} */
static bool decode_fkey(struct foreign_key *key, uint32_t fieldno, const char **data)
{
	if (mp_typeof(**data) != MP_MAP)
		return false;
	const char *field = NULL;
	uint32_t count = mp_decode_map(data);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		if (mp_typeof(**data) != MP_STR)
			return false;
		const char *name = mp_decode_str(data, &len);
		if (len == 5 && memcmp(name, "space", 5) == 0) {
			if (!decode_u32(data, &key->space_id))
				return false;
		} else if (len == 5 && memcmp(name, "field", 5) == 0) {
			field = *data;
			mp_next(data);
		} else {
			return false;
		}
	}
	return field != NULL && decode_pairs(key, fieldno, field);
}

int constraint_decode_fkeys(struct space_def *def, unsigned errcode, uint32_t fieldno,
			    const char *data)
{
	if (mp_typeof(*data) != MP_MAP)
		return map_error(def, errcode, fieldno, "foreign_key is not a map");
	uint32_t count = mp_decode_map(&data);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = NULL;
		uint32_t len = 0;
		if (decode_name(def, errcode, fieldno, &data, &name, &len) != 0)
			return -1;
		struct foreign_key *key = xcalloc(1, sizeof(*key));
		add_constraint(def, fieldno, name, len)->fkey = key;
		foreign_key_def_count++;
		if (!decode_fkey(key, fieldno, &data))
			return map_error(def, errcode, fieldno,
					 "foreign_key is not {space = id, field = ...}");
		if (key->space_id == def->id)
			key->space_id = 0;
	}
	return 0;
}

/* Defaults ---------------------------------------------------------------------- */

void constraint_add_default(struct space_def *def, uint32_t fieldno, const char *value,
			    uint32_t size, uint32_t func_id)
{
	def->defaults = xrealloc(def->defaults, (def->default_count + 1) * sizeof(*def->defaults));
	struct field_default *d = &def->defaults[def->default_count++];
	*d = (struct field_default){.fieldno = fieldno, .func_id = func_id};
	if (value == NULL)
		return;
	d->value = xmalloc(size);
	d->value_size = size;
	memcpy(d->value, value, size);
}

void constraint_free_all(struct space_def *def)
{
	for (uint32_t i = 0; i < def->constraint_count; i++) {
		struct constraint *c = &def->constraints[i];
		if (c->fkey != NULL) {
			foreign_key_delete(c->fkey);
			foreign_key_def_count--;
		}
		xfree(c->name);
	}
	for (uint32_t i = 0; i < def->default_count; i++)
		xfree(def->defaults[i].value);
	xfree(def->constraints);
	xfree(def->defaults);
}

/* Checks ------------------------------------------------------------------------ */

/** Functions of constraints and defaults are stored in the database. */
static const char *func_unfit(const struct func *func, bool is_deterministic)
{
	if (func == NULL)
		return "function was not found";
	if (func->def->language != FUNC_LUA)
		return "function must be in Lua";
	if (func->def->body == NULL)
		return "function must be persistent (have a body)";
	if (is_deterministic && !func->def->is_deterministic)
		return "function must be deterministic";
	return NULL;
}

static bool has_field(const struct space_def *def, const struct field_ref *ref)
{
	if (ref->name == NULL)
		return true;
	for (uint32_t i = 0; i < def->field_count; i++) {
		if (strcmp(def->fields[i].name, ref->name) == 0)
			return true;
	}
	return false;
}

static const char *foreign_key_unfit(const struct space_def *def, const struct constraint *c)
{
	const struct foreign_key *key = c->fkey;
	const struct space *parent = key->space_id == 0 ? NULL : space_by_id(key->space_id);
	const struct space_def *parent_def = key->space_id == 0 ? def :
		parent == NULL ? NULL : parent->def;
	if (parent_def == NULL)
		return "foreign space was not found";
	if (parent != NULL && parent->vtab != &memtx_space_vtab)
		return "foreign space has no rows of its own";
	if (parent_def->is_temporary && !def->is_temporary)
		return "foreign key from non-temporary space can't refer to temporary space";
	if (parent_def->is_local && !def->is_local)
		return "foreign key from non-local space can't refer to local space";
	for (uint32_t i = 0; i < key->field_count; i++) {
		/* The space's own names may come with a later format. */
		if (!has_field(parent_def, &key->foreign[i]) && key->space_id != 0)
			return "foreign field was not found";
	}
	return NULL;
}

int constraint_check_def(const struct space_def *def)
{
	/* Functions and parents may follow in the files. */
	if (!db_is_configured)
		return 0;
	for (uint32_t i = 0; i < def->constraint_count; i++) {
		const struct constraint *c = &def->constraints[i];
		const char *why = c->fkey != NULL ? foreign_key_unfit(def, c) :
			func_unfit(func_by_id(c->func_id), true);
		if (why == NULL)
			continue;
		client_error(c->fkey != NULL ? ER_CREATE_FOREIGN_KEY : ER_CREATE_CONSTRAINT,
			     c->name, def->name, why);
		return -1;
	}
	for (uint32_t i = 0; i < def->default_count; i++) {
		const struct field_default *d = &def->defaults[i];
		const struct func *func = d->func_id != 0 ? func_by_id(d->func_id) : NULL;
		const char *why = d->func_id == 0 ? NULL : func_unfit(func, false);
		if (why == NULL)
			continue;
		client_error(ER_CREATE_DEFAULT_FUNC, func != NULL ? func->def->name :
			     tuple_field_no_str(d->func_id - 1), why);
		error_set_string(diag_last(), "space", def->name);
		error_set_string(diag_last(), "field", constraint_field_text(def, d->fieldno));
		return -1;
	}
	return 0;
}

static bool refs_equal(const struct field_ref *a, const struct field_ref *b)
{
	if (a->name == NULL || b->name == NULL)
		return a->name == b->name && a->no == b->no;
	return strcmp(a->name, b->name) == 0;
}

static bool foreign_keys_equal(const struct foreign_key *a, const struct foreign_key *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->space_id != b->space_id || a->field_count != b->field_count)
		return false;
	for (uint32_t i = 0; i < a->field_count; i++) {
		if (!refs_equal(&a->local[i], &b->local[i]) ||
		    !refs_equal(&a->foreign[i], &b->foreign[i]))
			return false;
	}
	return true;
}

bool constraint_defs_equal(const struct space_def *a, const struct space_def *b)
{
	if (a->constraint_count != b->constraint_count)
		return false;
	for (uint32_t i = 0; i < a->constraint_count; i++) {
		const struct constraint *x = &a->constraints[i], *y = &b->constraints[i];
		if (strcmp(x->name, y->name) != 0 || x->fieldno != y->fieldno ||
		    x->func_id != y->func_id || !foreign_keys_equal(x->fkey, y->fkey))
			return false;
	}
	return true;
}

static int space_uses_func(struct space *space, void *arg)
{
	uint32_t id = *(uint32_t *)arg;
	const struct space_def *def = space->def;
	for (uint32_t i = 0; i < def->constraint_count; i++) {
		if (def->constraints[i].fkey == NULL && def->constraints[i].func_id == id)
			return 1;
	}
	for (uint32_t i = 0; i < def->default_count; i++) {
		if (def->defaults[i].func_id == id)
			return 1;
	}
	return 0;
}

bool constraint_uses_func(uint32_t func_id)
{
	return space_foreach(space_uses_func, &func_id) != 0;
}
