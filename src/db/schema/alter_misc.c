/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows of small system spaces: _schema, _cluster, and those of SQL that have no
 * meaning here yet.
 */
#include <string.h>

#include "data/mp.h"
#include "data/uuid.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/access.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "db/wal/wal.h"

enum { REPLICA_MAX = 32 };

static int uuid_decode(struct tuple *row, struct uuid *uuid)
{
	const char *text;
	uint32_t len;
	if (tuple_field_str(row, 1, &text, &len) != 0)
		return -1;
	if (uuid_from_string(uuid, text, len) != 0) {
		char copy[64];
		snprintf(copy, sizeof(copy), "%.*s", (int)(len < 63 ? len : 63), text);
		client_error(ER_INVALID_UUID, copy);
		return -1;
	}
	return 0;
}

int alter_on_schema(struct txn *txn, struct txn_stmt *stmt)
{
	(void)txn;
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	const char *key;
	uint32_t len;
	struct uuid uuid;
	if (tuple_field_str(row, 0, &key, &len) != 0)
		return -1;
	if (len != 7 || memcmp(key, "cluster", 7) != 0 || !db_is_configured)
		return 0;
	/* The replica set's number is in every file: it never changes. */
	if (stmt->new_tuple != NULL && uuid_decode(row, &uuid) != 0)
		return -1;
	if (stmt->new_tuple != NULL && uuid_equal(&uuid, &replicaset_uuid))
		return 0;
	client_error(ER_REPLICASET_UUID_IS_RO);
	return -1;
}

int alter_on_cluster(struct txn *txn, struct txn_stmt *stmt)
{
	(void)txn;
	struct tuple *row = stmt->new_tuple != NULL ? stmt->new_tuple : stmt->old_tuple;
	uint32_t id;
	struct uuid uuid, old_uuid;
	if (tuple_field_u32(row, 0, &id) != 0 || uuid_decode(row, &uuid) != 0)
		return -1;
	if (!db_is_configured)
		return 0;
	if (id == 0) {
		client_error(ER_ILLEGAL_PARAMS,
			     "can't initialize replica id with a reserved value 0");
		return -1;
	}
	if (id >= REPLICA_MAX) {
		client_error(ER_REPLICA_MAX, REPLICA_MAX);
		return -1;
	}
	if (id == instance_id) {
		client_error(ER_LOCAL_INSTANCE_ID_IS_READ_ONLY, id);
		return -1;
	}
	if (stmt->new_tuple != NULL && stmt->old_tuple != NULL) {
		if (uuid_decode(stmt->old_tuple, &old_uuid) != 0)
			return -1;
		if (!uuid_equal(&uuid, &old_uuid)) {
			client_error(ER_UNSUPPORTED, "Space _cluster",
				     "updates of instance uuid");
			return -1;
		}
	}
	return 0;
}

int alter_on_unsupported(struct txn *txn, struct txn_stmt *stmt)
{
	(void)txn;
	(void)stmt;
	/* What was refused can't be there to be deleted. */
	client_error(ER_UNSUPPORTED, "tarn", "triggers and constraints of SQL");
	return -1;
}
