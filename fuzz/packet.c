/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets of the binary protocol, one behind the other: the length, the header, the body,
 * and what the body asks of a space with indexes of several kinds. All of an input is one
 * transaction, which is rolled back.
 */
#include "fuzz.h"

#include "core/log.h"
#include "core/loop.h"
#include "db/db.h"
#include "db/db_page.h"
#include "db/error.h"
#include "db/schema/bootstrap.h"
#include "db/schema/schema.h"
#include "db/schema/space.h"
#include "db/tuple/format_map.h"
#include "db/tuple/tuple.h"
#include "db/tuple/update.h"
#include "db/txn/txn.h"
#include "db/wal/wal_int.h"
#include "net/packet.h"
#include "../test/unit/db/json_mp.h"

enum { SPACE = 512, INDEX_COUNT = 4, ROWS_MAX = 100 };

static void insert(uint32_t space, const char *json)
{
	char row[1024], *end = row;
	json_to_mp(json, &end);
	if (db_insert(space, row, end, NULL) != 0) {
		fprintf(stderr, "%s: %s\n", json, diag_last()->message);
		abort();
	}
}

static void start(void)
{
	fiber_init();
	loop_init();
	log_set_level(LOG_FATAL);
	db_init();
	journal_set_bootstrapping(true);
	FUZZ_CHECK(schema_bootstrap() == 0);
	db_is_configured = true;
	insert(SPACE_SPACE, "[512, 1, 'test', 'memtx', 0, {}, [{'name': 'id', 'type': 'unsigned'}]]");
	insert(SPACE_INDEX, "[512, 0, 'pk', 'tree', {'unique': true}, [[0, 'unsigned']]]");
	insert(SPACE_INDEX, "[512, 1, 'hash', 'hash', {'unique': true}, [[0, 'unsigned']]]");
	insert(SPACE_INDEX, "[512, 2, 'scalar', 'tree', {'unique': false}, "
			    "[{'field': 1, 'type': 'scalar', 'is_nullable': true}]]");
	insert(SPACE_INDEX, "[512, 3, 'path', 'tree', {'unique': false}, "
			    "[{'field': 2, 'type': 'number', 'is_nullable': true, 'path': 'a.b'}]]");
	insert(SPACE, "[1, 'one', {'a': {'b': 1}}]");
	insert(SPACE, "[2, 2.5, {'a': {'b': 7, 'c': [1, 2, {'d': 'x'}]}}, [1, 2, 3]]");
	insert(SPACE, "[3, null, {}, -5, 'text', true]");
}

static void select_rows(const struct request *r)
{
	struct buf after = BUF_INIT, position = BUF_INIT;
	struct select_page page;
	page_of_request(&page, r, &after, &position);
	struct port port;
	uint32_t limit = r->limit < ROWS_MAX ? r->limit : ROWS_MAX;
	if (db_select(SPACE, r->index_id % (INDEX_COUNT + 1), r->iterator, r->offset, limit,
		      r->key, r->key_end, &page, &port) == 0) {
		/* A position that is told can be given back. */
		FUZZ_CHECK(position.size == 0 ||
			   mp_check_whole(position.data, buf_end(&position)) == 0);
		port_destroy(&port);
	}
	buf_free(&after);
	buf_free(&position);
}

/** A change; what comes out is a tuple. The operations alone, too, by names of the format. */
static void change(struct request *r)
{
	struct tuple *tuple = NULL;
	const char *ops = r->type == IPROTO_UPDATE ? r->tuple : r->ops;
	const char *ops_end = r->type == IPROTO_UPDATE ? r->tuple_end : r->ops_end;
	r->space_id = SPACE;
	r->index_id %= INDEX_COUNT + 1;
	if (db_process(r, &tuple) == 0 && tuple != NULL) {
		const char *data = tuple_data(tuple);
		FUZZ_CHECK(mp_check_whole(data, data + tuple->bsize) == 0);
		tuple_unref(tuple);
	}
	if (ops != NULL)
		update_check_ops(ops, ops_end, NULL, r->index_base, &fiber()->region);
}

/** Tuples as extensions among the arguments of a call: read, taken away, and written again. */
static void read_tuples(const struct request *r)
{
	struct format_map formats;
	struct buf plain = BUF_INIT, again = BUF_INIT;
	format_map_create(&formats);
	if (r->formats == NULL || r->tuple == NULL || format_map_read(&formats, r->formats) != 0)
		goto end;
	format_map_strip(&plain, r->tuple, r->tuple_end);
	const char *p = plain.data;
	mp_next(&p);
	FUZZ_CHECK(p == buf_end(&plain));
	p = r->tuple;
	for (uint32_t count = mp_decode_array(&p); count > 0; count--) {
		const char *value = p, *data;
		int8_t type;
		uint32_t dict;
		mp_next(&p);
		if (mp_typeof(*value) != MP_EXT)
			continue;
		uint32_t len = mp_decode_extl(&value, &type);
		if (format_map_read_tuple(&formats, value, len, &data, &dict)) {
			FUZZ_CHECK(mp_check_whole(data, value + len) == 0);
			format_map_put_tuple(&formats, &again, tuple_format_default, dict, data,
					     value + len - data);
		}
	}
	format_map_put_formats(&formats, &again);
	for (p = again.data; p < buf_end(&again);)
		FUZZ_CHECK(mp_check_value(&p, buf_end(&again)) == 0);
end:
	format_map_destroy(&formats);
	buf_free(&plain);
	buf_free(&again);
}

static void run(const struct xrow_header *row)
{
	struct request r;
	if (request_decode(&r, row, request_keys_required(row->type)) != 0)
		return;
	size_t size;
	switch (row->type) {
	case IPROTO_SELECT:
		select_rows(&r);
		break;
	case IPROTO_INSERT:
	case IPROTO_REPLACE:
	case IPROTO_UPDATE:
	case IPROTO_DELETE:
	case IPROTO_UPSERT:
		change(&r);
		const char *body = request_encode(&r, &fiber()->region, &size);
		FUZZ_CHECK(body != NULL && mp_check_whole(body, body + size) == 0);
		break;
	case IPROTO_CALL:
	case IPROTO_EVAL:
		read_tuples(&r);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_started;
	if (!is_started)
		start();
	is_started = true;
	const char *p = (const char *)data, *end = p + size;
	FUZZ_CHECK(box_txn_begin() == 0);
	size_t header;
	uint64_t body;
	while (packet_scan(p, end, 1 << 20, &header, &body) == PACKET_WHOLE) {
		char *copy = fuzz_copy(p + header, body);
		const char *pos = copy;
		struct xrow_header row;
		if (xrow_header_decode(&row, &pos, copy + body) == 0) {
			FUZZ_CHECK(pos == copy + body);
			run(&row);
		}
		for (pos = copy; pos < copy + body && xrow_decode_next(&row, &pos, copy + body) == 0;)
			FUZZ_CHECK(row.body == NULL || row.body + row.body_size == pos);
		free(copy);
		p += header + body;
	}
	box_txn_rollback();
	fuzz_done();
	return 0;
}
