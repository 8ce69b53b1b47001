/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A new database, and who this instance is in its replica set.
 */
#include <assert.h>
#include <inttypes.h>

#include "core/buf.h"
#include "core/log.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/wal/wal_int.h"

/** Puts a row into a system space, as recovery would. `tuple` is a MessagePack array. */
static int insert_row(uint32_t space_id, const char *tuple, size_t size)
{
	char body[256];
	assert(size + 16 < sizeof(body));
	char *p = mp_encode_map(body, 2);
	p = mp_encode_uint(p, IPROTO_SPACE_ID);
	p = mp_encode_uint(p, space_id);
	p = mp_encode_uint(p, IPROTO_TUPLE);
	memcpy(p, tuple, size);
	p += size;
	struct xrow_header row = {
		.type = IPROTO_INSERT,
		.is_commit = true,
		.body = body,
		.body_size = p - body,
	};
	return db_recover_row(&row);
}

static int insert_identity(void)
{
	char data[128];
	char *p = mp_encode_array(data, 2);
	p = mp_encode_str(p, "cluster", 7);
	p = mp_encode_str(p, uuid_str(&replicaset_uuid), UUID_STR_LEN);
	if (insert_row(SPACE_SCHEMA, data, p - data) != 0)
		return -1;
	p = mp_encode_array(data, 2);
	p = mp_encode_uint(p, instance_id);
	p = mp_encode_str(p, uuid_str(&instance_uuid), UUID_STR_LEN);
	return insert_row(SPACE_CLUSTER, data, p - data);
}

static void choose_uuid(struct uuid *uuid, const struct uuid *wanted)
{
	if (uuid_is_nil(wanted))
		uuid_create(uuid);
	else
		*uuid = *wanted;
}

static void log_identity(void)
{
	say_info("assigned id %u to replica %s", instance_id, uuid_str(&instance_uuid));
	say_info("cluster uuid %s", uuid_str(&replicaset_uuid));
}

int bootstrap_run(const struct uuid *wanted_instance, const struct uuid *wanted_replicaset)
{
	choose_uuid(&instance_uuid, wanted_instance);
	choose_uuid(&replicaset_uuid, wanted_replicaset);
	instance_id = 1;
	vclock_create(&wal_vclock);
	say_info("instance uuid %s", uuid_str(&instance_uuid));
	journal_set_bootstrapping(true);
	int rc = schema_bootstrap();
	if (rc == 0)
		rc = insert_identity();
	journal_set_bootstrapping(false);
	if (rc == 0)
		log_identity();
	return rc;
}

/** Reads a field that is a UUID in text form; false where it is not. */
static bool tuple_uuid(const struct tuple *tuple, uint32_t fieldno, struct uuid *uuid)
{
	const char *field = tuple_field(tuple, fieldno);
	if (field == NULL || mp_typeof(*field) != MP_STR)
		return false;
	uint32_t len;
	const char *str = mp_decode_str(&field, &len);
	return uuid_from_string(uuid, str, len) == 0;
}

static struct index *primary_index(uint32_t id)
{
	struct space *space = space_by_id(id);
	return space == NULL ? NULL : space_index(space, 0);
}

static int find_replicaset(void)
{
	struct index *index = primary_index(SPACE_SCHEMA);
	struct tuple *tuple = NULL;
	char key[16];
	mp_encode_str(key, "cluster", 7);
	if (index != NULL && index->vtab->get(index, key, 1, &tuple) != 0)
		return -1;
	replicaset_uuid = uuid_nil;
	if (tuple == NULL || !tuple_uuid(tuple, 1, &replicaset_uuid)) {
		diag_set(XlogError, "the snapshot names no replica set: space _schema has no valid "
			 "row 'cluster'");
		return -1;
	}
	return 0;
}

/** Looks for the row of _cluster with our UUID; instance_id is 0 where there is none. */
static int find_instance(void)
{
	instance_id = 0;
	struct index *index = primary_index(SPACE_CLUSTER);
	if (index == NULL)
		return 0;
	struct iterator *it = index->vtab->iterator(index, ITER_ALL, NULL, 0);
	if (it == NULL)
		return -1;
	struct tuple *tuple;
	int rc;
	while ((rc = it->next(it, &tuple)) == 0 && tuple != NULL) {
		struct uuid uuid;
		uint64_t id;
		const char *field = tuple_field(tuple, 0);
		if (tuple_uuid(tuple, 1, &uuid) && uuid_equal(&uuid, &instance_uuid) &&
		    field != NULL && mp_read_uint64(&field, &id) && id > 0 && id < VCLOCK_MAX)
			instance_id = id;
	}
	it->free(it);
	return rc;
}

bool bootstrap_has_others(void)
{
	struct index *index = primary_index(SPACE_CLUSTER);
	return index != NULL && index->vtab->size(index) > 1;
}

int bootstrap_identify(const struct uuid *wanted_replicaset)
{
	if (find_replicaset() != 0 || find_instance() != 0)
		return -1;
	if (!uuid_is_nil(wanted_replicaset) && !uuid_equal(wanted_replicaset, &replicaset_uuid)) {
		client_error(ER_REPLICASET_UUID_MISMATCH, uuid_str(wanted_replicaset),
			     uuid_str(&replicaset_uuid));
		return -1;
	}
	if (instance_id == 0) {
		client_error(ER_UNKNOWN_REPLICA, uuid_str(&instance_uuid),
			     uuid_str(&replicaset_uuid));
		return -1;
	}
	log_identity();
	return 0;
}
