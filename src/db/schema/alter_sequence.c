/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of _sequence (definitions), _sequence_data (values) and _space_sequence
 * (which space takes the values of a field from which sequence).
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/alter_shape.h"
#include "db/schema/schema.h"
#include "db/schema/sequence.h"
#include "db/tuple/field_path.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

/* _sequence: [id, owner, name, step, min, max, start, cache, cycle] --------------- */

enum {
	SEQ_ID, SEQ_OWNER, SEQ_NAME, SEQ_STEP, SEQ_MIN, SEQ_MAX, SEQ_START, SEQ_CACHE, SEQ_CYCLE,
};

static int field_i64(const struct tuple *tuple, uint32_t fieldno, int64_t *value)
{
	const char *field = tuple_field(tuple, fieldno);
	if (field != NULL && mp_read_int64(&field, value))
		return 0;
	char no[16];
	snprintf(no, sizeof(no), "%u", fieldno + 1);
	client_error(ER_FIELD_TYPE, no, "integer");
	return -1;
}

static int sequence_def_check(const struct sequence_def *def, unsigned errcode)
{
	const char *text = NULL;
	if (def->step == 0)
		text = "step option must be non-zero";
	else if (def->min > def->max)
		text = "max must be greater than or equal to min";
	else if (def->start < def->min || def->start > def->max)
		text = "start must be between min and max";
	if (text == NULL)
		return 0;
	client_error(errcode, def->name, text);
	return -1;
}

static struct sequence_def *sequence_def_decode(struct tuple *tuple, unsigned errcode)
{
	struct sequence_def d;
	const char *name;
	uint32_t len;
	if (tuple_field_str(tuple, SEQ_NAME, &name, &len) != 0)
		return NULL;
	if (len > IDENTIFIER_MAX) {
		char text[65];
		snprintf(text, sizeof(text), "%.64s", name);
		client_error(errcode, text, "sequence name is too long");
		return NULL;
	}
	if (identifier_check(name, len) != 0 || tuple_field_u32(tuple, SEQ_ID, &d.id) != 0 ||
	    tuple_field_u32(tuple, SEQ_OWNER, &d.uid) != 0 ||
	    field_i64(tuple, SEQ_STEP, &d.step) != 0 || field_i64(tuple, SEQ_MIN, &d.min) != 0 ||
	    field_i64(tuple, SEQ_MAX, &d.max) != 0 || field_i64(tuple, SEQ_START, &d.start) != 0 ||
	    tuple_field_bool(tuple, SEQ_CYCLE, &d.is_cyclic) != 0)
		return NULL;
	struct sequence_def *def = xmalloc(sizeof(*def));
	*def = d;
	def->name = xstrndup(name, len);
	if (sequence_def_check(def, errcode) != 0) {
		sequence_def_delete(def);
		return NULL;
	}
	return def;
}

static void create_rollback(struct change *change)
{
	sequence_cache_del(change->object);
	sequence_delete(change->object);
}

/** Takes the definition. */
static int sequence_create(struct txn *txn, struct txn_stmt *stmt, struct sequence_def *def)
{
	struct change *change = NULL;
	if (access_check_ddl(PRIV_CREATE, OBJECT_SEQUENCE, def->name, def->uid, NULL) == 0)
		change = change_new(txn, stmt, sizeof(*change), NULL, create_rollback);
	if (change == NULL) {
		sequence_def_delete(def);
		return -1;
	}
	struct sequence *seq = xcalloc(1, sizeof(*seq));
	seq->def = def;
	change->object = seq;
	sequence_cache_put(seq);
	return 0;
}

static void alter_commit(struct change *change)
{
	sequence_def_delete(change->old);
}

static void alter_rollback(struct change *change)
{
	struct sequence *seq = change->object;
	seq->def = change->old;
	sequence_def_delete(change->new);
}

/** Takes the definition. */
static int sequence_alter(struct txn *txn, struct txn_stmt *stmt, struct sequence *seq,
			  struct sequence_def *def)
{
	struct change *change = NULL;
	if (access_check_ddl(PRIV_ALTER, OBJECT_SEQUENCE, seq->def->name, seq->def->uid,
			     &seq->access) == 0)
		change = change_new(txn, stmt, sizeof(*change), alter_commit, alter_rollback);
	if (change == NULL) {
		sequence_def_delete(def);
		return -1;
	}
	change->object = seq;
	change->old = seq->def;
	change->new = seq->def = def;
	return 0;
}

static void drop_commit(struct change *change)
{
	sequence_delete(change->object);
}

static void drop_rollback(struct change *change)
{
	sequence_cache_put(change->object);
}

static int drop_error(const struct sequence *seq, const char *text)
{
	client_error(ER_DROP_SEQUENCE, seq->def->name, text);
	return -1;
}

static int sequence_drop(struct txn *txn, struct txn_stmt *stmt, struct sequence *seq)
{
	if (access_check_ddl(PRIV_DROP, OBJECT_SEQUENCE, seq->def->name, seq->def->uid,
			     &seq->access) != 0)
		return -1;
	if (schema_space_has_row(SPACE_SEQUENCE_DATA, seq->def->id))
		return drop_error(seq, "the sequence has data");
	if (seq->space_count > 0)
		return drop_error(seq, "the sequence is in use");
	if (schema_object_is_granted("sequence", seq->def->id))
		return drop_error(seq, "the sequence has grants");
	struct change *change = change_new(txn, stmt, sizeof(*change), drop_commit, drop_rollback);
	if (change == NULL)
		return -1;
	change->object = seq;
	sequence_cache_del(seq);
	return 0;
}

int alter_on_sequence(struct txn *txn, struct txn_stmt *stmt)
{
	uint32_t id;
	if (tuple_field_u32(stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple, SEQ_ID,
			    &id) != 0)
		return -1;
	struct sequence *seq = sequence_by_id(id);
	if (stmt->new_tuple == NULL)
		return sequence_drop(txn, stmt, seq);
	struct sequence_def *def = sequence_def_decode(stmt->new_tuple, seq == NULL ?
						       ER_CREATE_SEQUENCE : ER_ALTER_SEQUENCE);
	if (def == NULL)
		return -1;
	return seq == NULL ? sequence_create(txn, stmt, def) :
		sequence_alter(txn, stmt, seq, def);
}

/* _sequence_data: [id, value] ------------------------------------------------------ */

static struct sequence *sequence_find(uint32_t id)
{
	struct sequence *seq = sequence_by_id(id);
	if (seq == NULL) {
		char text[16];
		snprintf(text, sizeof(text), "%u", id);
		client_error(ER_NO_SUCH_SEQUENCE, text);
	}
	return seq;
}

/* A value once given stays given: nothing is put back where the transaction is undone. */
int alter_on_sequence_data(struct txn *txn, struct txn_stmt *stmt)
{
	(void)txn;
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id;
	if (tuple_field_u32(row, 0, &id) != 0)
		return -1;
	struct sequence *seq = sequence_find(id);
	if (seq == NULL)
		return -1;
	if (stmt->new_tuple != NULL) {
		int64_t value;
		if (field_i64(row, 1, &value) != 0)
			return -1;
		seq->value = value;
	}
	seq->is_started = stmt->new_tuple != NULL;
	seq->is_dirty = false;
	return 0;
}

/* _space_sequence: [space id, sequence id, is_generated, field, path] ---------------- */

/** Where the values of a sequence go. */
struct sequence_place {
	uint32_t fieldno;
	/** NULL: the field itself. */
	const struct field_path_text *path;
};

/** Ties a space to its sequence, or (seq NULL) leaves it without one. */
static void space_set_sequence(struct space *space, struct sequence *seq,
			       struct sequence_place place)
{
	if (space->sequence != NULL)
		space->sequence->space_count--;
	if (seq != NULL)
		seq->space_count++;
	space->sequence = seq;
	space->sequence_fieldno = place.fieldno;
	space->sequence_path = place.path;
}

struct space_sequence_change {
	struct change base;
	struct sequence_place old_place;
	bool was_generated;
};

static void space_sequence_rollback(struct change *base)
{
	struct space_sequence_change *change = (struct space_sequence_change *)base;
	struct space *space = base->object;
	struct sequence *new = base->new;
	if (new != NULL)
		new->is_generated = change->was_generated;
	space_set_sequence(space, base->old, change->old_place);
	schema_notice_space(space_id(space));
}

static int sequence_check_key(const struct space *space, struct sequence_place place,
			      const struct index_def *pk)
{
	const struct field_path *path = place.path != NULL ? place.path->path : NULL;
	const struct key_def *key = pk->key_def;
	for (uint32_t i = 0; i < key->part_count; i++) {
		if (key->parts[i].fieldno != place.fieldno || key->parts[i].path != path)
			continue;
		if (key->parts[i].type == FIELD_TYPE_UNSIGNED ||
		    key->parts[i].type == FIELD_TYPE_INTEGER)
			return 0;
		client_error(ER_MODIFY_INDEX, pk->name, space_name(space),
			     "sequence cannot be used with a non-integer key");
		return -1;
	}
	client_error(ER_MODIFY_INDEX, pk->name, space_name(space),
		     "sequence field must be a part of the index");
	return -1;
}

int space_sequence_check_key(const struct space *space, const struct index_def *pk)
{
	struct sequence_place place = {space->sequence_fieldno, space->sequence_path};
	return space->sequence == NULL ? 0 : sequence_check_key(space, place, pk);
}

static int space_sequence_check(const struct space *space, struct sequence_place place)
{
	const struct index *pk = space_index_find(space, 0);
	return pk == NULL ? -1 : sequence_check_key(space, place, pk->def);
}

/** The path of the row; one that can't be is none of the index's, as the check then tells. */
static int space_sequence_path(struct tuple *row, struct sequence_place *place)
{
	const char *text;
	uint32_t len;
	bool is_any_twice;
	if (tuple_field_count(row) <= 4)
		return 0;
	if (tuple_field_str(row, 4, &text, &len) != 0)
		return -1;
	if (len == 0)
		return 0;
	place->path = field_path_intern(text, len, &is_any_twice);
	if (place->path == NULL)
		place->fieldno = UINT32_MAX;
	return 0;
}

/** The place in the row; rows of older versions have none: the key's first part. */
static int space_sequence_place(struct tuple *row, const struct space *space,
				struct sequence_place *place)
{
	if (tuple_field_count(row) > 3)
		return tuple_field_u32(row, 3, &place->fieldno) != 0 ? -1 :
			space_sequence_path(row, place);
	const struct index *pk = space_index_find(space, 0);
	if (pk == NULL)
		return -1;
	place->fieldno = pk->def->key_def->parts[0].fieldno;
	return 0;
}

static int space_sequence_access(const struct space *space, const struct sequence *seq,
				 bool is_generated)
{
	/* Whoever inserts will move the sequence, so its rights are needed, too. */
	if (!is_generated && access_check(PRIV_READ | PRIV_WRITE, OBJECT_SEQUENCE, seq->def->name,
					  seq->def->uid, &seq->access) != 0)
		return -1;
	return access_check_ddl(PRIV_ALTER, OBJECT_SPACE, space_name(space), space->def->uid,
				&space->access);
}

int alter_on_space_sequence(struct txn *txn, struct txn_stmt *stmt)
{
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id, seq_id;
	struct sequence_place place = {0, NULL};
	bool is_generated;
	if (tuple_field_u32(row, 0, &id) != 0 || tuple_field_u32(row, 1, &seq_id) != 0 ||
	    tuple_field_bool(row, 2, &is_generated) != 0)
		return -1;
	struct space *space = space_find(id);
	struct sequence *seq = space == NULL ? NULL : sequence_find(seq_id);
	if (seq != NULL && stmt->new_tuple != NULL && stmt->old_tuple != NULL) {
		client_error(ER_UNSUPPORTED, "space \"_space_sequence\"", "update");
		return -1;
	}
	if (seq == NULL || space_sequence_access(space, seq, is_generated) != 0)
		return -1;
	if (stmt->new_tuple != NULL &&
	    (space_sequence_place(row, space, &place) != 0 ||
	     space_sequence_check(space, place) != 0))
		return -1;
	struct space_sequence_change *change = change_new(txn, stmt, sizeof(*change), NULL,
							  space_sequence_rollback);
	if (change == NULL)
		return -1;
	change->base.object = space;
	change->base.old = space->sequence;
	change->old_place.fieldno = space->sequence_fieldno;
	change->old_place.path = space->sequence_path;
	if (stmt->new_tuple != NULL) {
		change->base.new = seq;
		change->was_generated = seq->is_generated;
		seq->is_generated = is_generated;
		space_set_sequence(space, seq, place);
	} else {
		space_set_sequence(space, NULL, place);
	}
	schema_notice_space(space_id(space));
	return 0;
}
