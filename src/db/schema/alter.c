/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a change of the schema is hung on its statement, and the values of rows of
 * system spaces.
 */
#include "db/schema/schema.h"

#include <stdio.h>
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

static int change_run_commit(struct trigger *trigger, void *event)
{
	(void)event;
	struct change *change = trigger->data;
	if (change->commit != NULL)
		change->commit(change);
	return 0;
}

static int change_run_rollback(struct trigger *trigger, void *event)
{
	(void)event;
	struct change *change = trigger->data;
	change->rollback(change);
	return 0;
}

void *change_new(struct txn *txn, struct txn_stmt *stmt, size_t size, change_func commit,
		 change_func rollback)
{
	struct change *change = region_alloc(&txn->region, size);
	if (change == NULL)
		return NULL;
	memset(change, 0, size);
	change->commit = commit;
	change->rollback = rollback;
	change->stmt = stmt;
	trigger_create(&change->_on_commit, change_run_commit, change, NULL);
	trigger_create(&change->_on_rollback, change_run_rollback, change, NULL);
	list_add_tail(&stmt->on_commit, &change->_on_commit.link);
	list_add(&stmt->on_rollback, &change->_on_rollback.link);
	return change;
}

void change_cancel(struct change *change)
{
	list_del(&change->_on_commit.link);
	list_del(&change->_on_rollback.link);
}

/* Values ------------------------------------------------------------------- */

static int field_type_error(uint32_t fieldno, const char *expected)
{
	char no[16];
	snprintf(no, sizeof(no), "%u", fieldno + 1);
	client_error(ER_FIELD_TYPE, no, expected);
	return -1;
}

int tuple_field_u32(const struct tuple *tuple, uint32_t fieldno, uint32_t *value)
{
	const char *field = tuple_field(tuple, fieldno);
	if (field == NULL || mp_typeof(*field) != MP_UINT)
		return field_type_error(fieldno, field_type_names[FIELD_TYPE_UNSIGNED]);
	uint64_t v = mp_decode_uint(&field);
	if (v > UINT32_MAX)
		return field_type_error(fieldno, field_type_names[FIELD_TYPE_UNSIGNED]);
	*value = v;
	return 0;
}

int tuple_field_str(const struct tuple *tuple, uint32_t fieldno, const char **value,
		    uint32_t *len)
{
	const char *field = tuple_field(tuple, fieldno);
	if (field == NULL || mp_typeof(*field) != MP_STR)
		return field_type_error(fieldno, field_type_names[FIELD_TYPE_STRING]);
	*value = mp_decode_str(&field, len);
	return 0;
}

int tuple_field_bool(const struct tuple *tuple, uint32_t fieldno, bool *value)
{
	const char *field = tuple_field(tuple, fieldno);
	if (field == NULL || mp_typeof(*field) != MP_BOOL)
		return field_type_error(fieldno, field_type_names[FIELD_TYPE_BOOLEAN]);
	*value = mp_decode_bool(&field);
	return 0;
}
