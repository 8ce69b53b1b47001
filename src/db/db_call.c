/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls of stored procedures, evaluation of scripts, and sequences by number.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/db_int.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"
#include "db/schema/sequence.h"
#include "db/txn/txn.h"

static const struct call_runtime *call_runtime;

void db_set_call_runtime(const struct call_runtime *runtime)
{
	call_runtime = runtime;
}

int db_call_finish(int rc, struct port *result)
{
	struct txn *txn = txn_current();
	if (txn == NULL)
		return rc;
	if (rc == 0) {
		port_destroy(result);
		txn_rollback(txn);
		client_error(ER_FUNCTION_TX_ACTIVE);
		return -1;
	}
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	txn_rollback(txn);
	diag_move(&saved, diag_get());
	return -1;
}

static int check_runtime(const char *name)
{
	if (call_runtime != NULL)
		return 0;
	client_error(ER_NO_SUCH_PROC, name);
	return -1;
}

/**
 * May the user call it: as everything, or by what was granted on functions of scripts, by name or
 * all of them?
 */
static bool may_call_global(const char *name, size_t len)
{
	if (access_allows(PRIV_EXECUTE, OBJECT_UNIVERSE, UINT32_MAX, NULL))
		return true;
	const struct access *access = access_of_lua_call(name, len, false);
	if (access != NULL &&
	    access_allows(PRIV_EXECUTE, OBJECT_LUA_CALL, UINT32_MAX, access))
		return true;
	return access_allows(PRIV_EXECUTE, OBJECT_LUA_CALL, UINT32_MAX, NULL) &&
	       !call_runtime->is_builtin(name, len);
}

/** A function that is not in _func: by its global name. */
static int call_global(const char *name, size_t len, struct port *args, struct port *result)
{
	if (call_runtime != NULL && may_call_global(name, len))
		return call_runtime->call(name, len, args, result);
	char *copy = xstrndup(name, len < IDENTIFIER_MAX ? len : IDENTIFIER_MAX);
	int rc = access_check(PRIV_EXECUTE, OBJECT_FUNCTION, copy, UINT32_MAX, NULL);
	if (rc == 0)
		rc = check_runtime(copy);
	xfree(copy);
	return rc != 0 ? rc : call_runtime->call(name, len, args, result);
}

int db_call_open(const char *name, size_t len, struct port *args, struct port *result)
{
	struct func *func = func_by_name(name, len);
	return func != NULL ? func_call(func, args, result) :
		call_global(name, len, args, result);
}

int db_eval_open(const char *expr, size_t len, struct port *args, struct port *result)
{
	if ((!access_allows(PRIV_EXECUTE, OBJECT_LUA_EVAL, UINT32_MAX, NULL) &&
	     access_check(PRIV_EXECUTE, OBJECT_UNIVERSE, NULL, UINT32_MAX, NULL) != 0) ||
	    check_runtime("eval") != 0)
		return -1;
	return call_runtime->eval(expr, len, args, result);
}

int db_call(const char *name, size_t len, struct port *args, struct port *result)
{
	return db_call_finish(db_call_open(name, len, args, result), result);
}

int db_eval(const char *expr, size_t len, struct port *args, struct port *result)
{
	return db_call_finish(db_eval_open(expr, len, args, result), result);
}

/* Sequences ------------------------------------------------------------------------- */

static struct sequence *find_sequence(uint32_t seq_id)
{
	struct sequence *seq = sequence_by_id(seq_id);
	if (seq == NULL) {
		char name[16];
		snprintf(name, sizeof(name), "%u", seq_id);
		client_error(ER_NO_SUCH_SEQUENCE, name);
		return NULL;
	}
	return sequence_access_check(seq) == 0 ? seq : NULL;
}

static int check_sequence_writable(void)
{
	struct space *space = space_find(SPACE_SEQUENCE_DATA);
	return space == NULL ? -1 : db_check_writable(space);
}

int64_t db_sequence_next(uint32_t seq_id, int64_t *result)
{
	struct sequence *seq = find_sequence(seq_id);
	if (seq == NULL || check_sequence_writable() != 0 || sequence_advance(seq, result) != 0)
		return -1;
	return sequence_write(seq);
}

int db_sequence_set(uint32_t seq_id, int64_t value)
{
	struct sequence *seq = find_sequence(seq_id);
	if (seq == NULL || check_sequence_writable() != 0)
		return -1;
	seq->value = value;
	seq->is_started = true;
	return sequence_write(seq);
}

int db_sequence_reset(uint32_t seq_id)
{
	struct sequence *seq = find_sequence(seq_id);
	if (seq == NULL || check_sequence_writable() != 0)
		return -1;
	char key[16], *end = mp_encode_array(key, 1);
	end = mp_encode_uint(end, seq_id);
	struct request request = {
		.type = IPROTO_DELETE, .space_id = SPACE_SEQUENCE_DATA, .key = key, .key_end = end,
	};
	seq->is_started = seq->is_dirty = false;
	return db_process_unchecked(&request, NULL);
}

int db_sequence_current(uint32_t seq_id, int64_t *result)
{
	struct sequence *seq = find_sequence(seq_id);
	if (seq == NULL)
		return -1;
	if (!seq->is_started) {
		client_error(ER_SEQUENCE_NOT_STARTED, seq->def->name);
		return -1;
	}
	*result = seq->value;
	return 0;
}
