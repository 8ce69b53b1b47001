/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What each type of request does. A handler leaves the answer in the output
 * buffer and returns 0, or returns -1 with an error set, which is the answer.
 */
#include "net/request.h"

#include <stdio.h>
#include <string.h>

#include "core/diag.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/db_page.h"
#include "db/error.h"
#include "db/proc_stat.h"
#include "db/schema/access.h"
#include "db/schema/space.h"
#include "db/tuple/format_map.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "net/auth.h"
#include "net/connection.h"
#include "net/header.h"
#include "net/iproto.h"
#include "net/latency.h"
#include "net/override.h"
#include "net/reply.h"
#include "net/session.h"
#include "net/stat.h"
#include "net/stream.h"
#include "net/subscription.h"
#include "net/watch.h"
#include "net/worker.h"

#define FEATURE(name) (UINT64_C(1) << IPROTO_FEATURE_ ## name)

/** What ID tells clients of. */
static uint64_t features_offered =
	FEATURE(STREAMS) | FEATURE(TRANSACTIONS) | FEATURE(ERROR_EXTENSION) | FEATURE(WATCHERS) |
	FEATURE(PAGINATION) | FEATURE(SPACE_AND_INDEX_NAMES) | FEATURE(WATCH_ONCE) |
	FEATURE(DML_TUPLE_EXTENSION) | FEATURE(CALL_RET_TUPLE_EXTENSION) |
	FEATURE(CALL_ARG_TUPLE_EXTENSION) | FEATURE(IS_SYNC);

void net_set_call_tuples(bool is_offered)
{
	uint64_t bits = FEATURE(CALL_RET_TUPLE_EXTENSION) | FEATURE(CALL_ARG_TUPLE_EXTENSION);
	features_offered = is_offered ? features_offered | bits : features_offered & ~bits;
}

/** How the answer to a request on a space has its tuples. */
static unsigned dml_flags(const struct connection *con)
{
	return (con->features & FEATURE(DML_TUPLE_EXTENSION)) != 0 ? REPLY_FORMATS : 0;
}

/** The same for a call. */
static unsigned call_flags(const struct connection *con, uint32_t type)
{
	if (type == IPROTO_CALL_16)
		return REPLY_COMPAT_16;
	return (con->features & FEATURE(CALL_RET_TUPLE_EXTENSION)) != 0 ? REPLY_FORMATS : 0;
}

/** Names become numbers. */
static int resolve_names(struct request *r)
{
	enum { SHOWN_MAX = 256 };
	char name[SHOWN_MAX];
	struct space *space = r->space_name == NULL ? space_by_id(r->space_id) :
			      space_by_name(r->space_name, r->space_name_size);
	if (space == NULL && r->space_name != NULL) {
		snprintf(name, sizeof(name), "%.*s", (int)r->space_name_size, r->space_name);
		client_error(ER_NO_SUCH_SPACE, name);
		return -1;
	}
	if (space == NULL || r->index_name == NULL) {
		r->space_id = space != NULL ? space->def->id : r->space_id;
		return 0;
	}
	r->space_id = space->def->id;
	for (uint32_t i = 0; i < space->index_count; i++) {
		const struct index_def *def = space->index[i]->def;
		if (strlen(def->name) == r->index_name_size &&
		    memcmp(def->name, r->index_name, r->index_name_size) == 0) {
			r->index_id = def->iid;
			return 0;
		}
	}
	snprintf(name, sizeof(name), "%.*s", (int)r->index_name_size, r->index_name);
	client_error(ER_NO_SUCH_INDEX_NAME, name, space->def->name);
	return -1;
}

/** Decodes a request on a space. */
static int decode_on_space(struct request *r, const struct xrow_header *row)
{
	if (request_decode(r, row, request_keys_required(row->type)) != 0)
		return -1;
	return r->space_name == NULL && r->index_name == NULL ? 0 : resolve_names(r);
}

/** A select that begins behind a tuple, or tells the position of its last one. */
static int process_select_page(struct connection *con, uint64_t sync, const struct request *r)
{
	struct port port;
	struct buf after = BUF_INIT, position = BUF_INIT;
	struct select_page page;
	page_of_request(&page, r, &after, &position);
	int rc = db_select(r->space_id, r->index_id, r->iterator, r->offset, r->limit, r->key,
			   r->key_end, &page, &port);
	if (rc == 0) {
		rc = reply_page(con, sync, &port, &position, dml_flags(con));
		port_destroy(&port);
	}
	buf_free(&after);
	buf_free(&position);
	return rc;
}

static int process_select(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	struct port port;
	stat_count(STAT_SELECT, 1);
	if (decode_on_space(&r, row) != 0)
		return -1;
	if (r.after_tuple != NULL || r.after_position != NULL || r.fetches_position)
		return process_select_page(con, row->sync, &r);
	if (db_select(r.space_id, r.index_id, r.iterator, r.offset, r.limit, r.key, r.key_end, NULL,
		      &port) != 0)
		return -1;
	int rc = reply_port(con, row->sync, &port, dml_flags(con));
	port_destroy(&port);
	return rc;
}

static int process_change(struct connection *con, const struct xrow_header *row, enum stat_id stat)
{
	struct request r;
	struct tuple *tuple = NULL;
	stat_count(stat, 1);
	if (decode_on_space(&r, row) != 0)
		return -1;
	worker_hand_over();
	if (db_process(&r, &tuple) != 0)
		return -1;
	int rc = reply_tuple(con, row->sync, row->type != IPROTO_UPSERT ? tuple : NULL,
			     dml_flags(con));
	if (tuple != NULL)
		tuple_unref(tuple);
	return rc;
}

/** Decodes a request that is not on a space. */
static int decode_with_body(struct request *r, const struct xrow_header *row)
{
	if (row->body != NULL)
		return request_decode(r, row, request_keys_required(row->type));
	client_error(ER_INVALID_MSGPACK, "missing request body");
	return -1;
}

/** Does the call and answers, with the formats of tuples among its arguments or NULL. */
static int run_call(struct connection *con, const struct xrow_header *row,
		    const struct request *request, struct format_map *formats)
{
	static const char no_args[] = "\x90";
	const struct request r = *request;
	struct port args, result;
	struct proc_mark mark;
	uint64_t number = stat_totals[STAT_NET_REQUESTS];
	proc_stat_begin_request(&mark, number);
	if (r.tuple != NULL)
		port_msgpack_create(&args, r.tuple, r.tuple_end);
	else
		port_msgpack_create(&args, no_args, no_args + 1);
	port_msgpack_set_formats(&args, formats);
	int rc = row->type == IPROTO_EVAL ? db_eval_open(r.name, r.name_size, &args, &result) :
		 db_call_open(r.name, r.name_size, &args, &result);
	/* A stream's transaction goes on to its next request. */
	if (row->stream_id == 0)
		rc = db_call_finish(rc, &result);
	if (rc == 0) {
		rc = reply_port(con, row->sync, &result, call_flags(con, row->type));
		port_destroy(&result);
	}
	port_destroy(&args);
	if (row->type == IPROTO_EVAL)
		proc_stat_end_request(&mark, number, PROC_STAT_EVAL, strlen(PROC_STAT_EVAL),
				      rc != 0);
	else
		proc_stat_end_request(&mark, number, r.name, r.name_size, rc != 0);
	return rc;
}

static int process_call(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	stat_count(row->type == IPROTO_EVAL ? STAT_EVAL : STAT_CALL, 1);
	if (decode_with_body(&r, row) != 0)
		return -1;
	worker_hand_over();
	if (r.formats == NULL)
		return run_call(con, row, &r, NULL);
	struct format_map formats;
	format_map_create(&formats);
	/* Not before the right to call is checked: names that are told stay for good. */
	formats.unread = r.formats;
	int rc = run_call(con, row, &r, &formats);
	format_map_destroy(&formats);
	return rc;
}

static int process_auth(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	stat_count(STAT_AUTH, 1);
	if (decode_with_body(&r, row) != 0)
		return -1;
	worker_hand_over();
	if (auth_process(con, &r) != 0)
		return -1;
	reply_ok(con, row->sync);
	return 0;
}

static int begin(const struct request *r)
{
	if (r->has_timeout && !(r->timeout > 0)) {
		client_error(ER_ILLEGAL_PARAMS, "timeout must be a number greater than 0");
		return -1;
	}
	if (box_txn_begin() != 0)
		return -1;
	if ((!r->has_timeout || box_txn_set_timeout(r->timeout) == 0) &&
	    box_txn_set_isolation(r->txn_isolation) == 0)
		return 0;
	txn_rollback(txn_current());
	return -1;
}

/** BEGIN, COMMIT and ROLLBACK, which streams have alone. */
static int process_txn(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	if (row->stream_id == 0) {
		client_error(ER_UNABLE_TO_PROCESS_OUT_OF_STREAM, iproto_type_name(row->type));
		return -1;
	}
	if (request_decode(&r, row, 0) != 0)
		return -1;
	if (r.has_is_sync && !r.is_sync) {
		client_error(ER_ILLEGAL_PARAMS, "is_sync can only be true");
		return -1;
	}
	worker_hand_over();
	int rc;
	if (row->type == IPROTO_BEGIN)
		rc = begin(&r);
	else if (row->type == IPROTO_COMMIT)
		rc = box_txn_commit();
	else
		rc = box_txn_rollback();
	if (rc == 0)
		reply_ok(con, row->sync);
	return rc;
}

/** WATCH and UNWATCH have no answer but an error; WATCH_ONCE has the value. */
static int process_watch(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	if (request_decode(&r, row, 0) != 0)
		return -1;
	if (r.name == NULL) {
		client_error(ER_MISSING_REQUEST_FIELD, "event key");
		return -1;
	}
	if (row->type == IPROTO_WATCH)
		return subscription_watch(con, r.name, r.name_size);
	if (row->type == IPROTO_UNWATCH) {
		subscription_unwatch(con, r.name, r.name_size);
		return 0;
	}
	size_t size = 0;
	const char *value = watch_value(r.name, r.name_size, &size);
	reply_value(con, row->sync, value, size);
	return 0;
}

static int process_id(struct connection *con, const struct xrow_header *row)
{
	struct request r;
	if (request_decode(&r, row, 0) != 0)
		return -1;
	con->features = r.features & features_offered;
	con->session->takes_errors = (r.features & FEATURE(ERROR_EXTENSION)) != 0;
	reply_id(con, row->sync, features_offered);
	return 0;
}

static int process_sql(enum stat_id stat)
{
	stat_count(stat, 1);
	client_error(ER_UNSUPPORTED, "This server", "SQL");
	return -1;
}

/** In a transaction of a stream these have no place. */
static bool is_of_stream(uint32_t type)
{
	return type != IPROTO_AUTH && type != IPROTO_ID && type != IPROTO_WATCH &&
	       type != IPROTO_UNWATCH;
}

static int dispatch(struct connection *con, const struct xrow_header *row)
{
	if (row->stream_id != 0 && !is_of_stream(row->type)) {
		client_error(ER_UNABLE_TO_PROCESS_IN_STREAM, iproto_type_name(row->type));
		return -1;
	}
	if (auth_config.disable_guest && row->type != IPROTO_AUTH && row->type != IPROTO_ID &&
	    auth_check_guest(con->session) != 0)
		return -1;
	if (row->schema_version != 0 && row->schema_version != schema_version) {
		client_error(ER_WRONG_SCHEMA_VERSION, schema_version, row->schema_version);
		return -1;
	}
	switch (row->type) {
	case IPROTO_PING:
		reply_ok(con, row->sync);
		return 0;
	case IPROTO_ID:
		return process_id(con, row);
	case IPROTO_WATCH:
	case IPROTO_UNWATCH:
	case IPROTO_WATCH_ONCE:
		return process_watch(con, row);
	case IPROTO_AUTH:
		return process_auth(con, row);
	case IPROTO_SELECT:
		return process_select(con, row);
	case IPROTO_INSERT:
		return process_change(con, row, STAT_INSERT);
	case IPROTO_REPLACE:
		return process_change(con, row, STAT_REPLACE);
	case IPROTO_UPDATE:
		return process_change(con, row, STAT_UPDATE);
	case IPROTO_DELETE:
		return process_change(con, row, STAT_DELETE);
	case IPROTO_UPSERT:
		return process_change(con, row, STAT_UPSERT);
	case IPROTO_CALL:
	case IPROTO_CALL_16:
	case IPROTO_EVAL:
		return process_call(con, row);
	case IPROTO_BEGIN:
	case IPROTO_COMMIT:
	case IPROTO_ROLLBACK:
		return process_txn(con, row);
	case IPROTO_EXECUTE:
		return process_sql(STAT_EXECUTE);
	case IPROTO_PREPARE:
		return process_sql(STAT_PREPARE);
	default:
		client_error(ER_UNKNOWN_REQUEST_TYPE, row->type);
		return -1;
	}
}

/** Answers with the last error; where the session's user was dropped, that is the error. */
static void answer_error(struct connection *con, uint64_t sync)
{
	access_denied_tell();
	uint32_t uid = con->session->credentials.uid;
	if (user_find(uid) == NULL) {
		char name[16];
		snprintf(name, sizeof(name), "%u", uid);
		client_error(ER_NO_SUCH_USER, name);
	}
	reply_error(con, sync, diag_last());
}

/** Scripts may do requests in place of the server, but not those of a guest who is disabled. */
static int run(struct connection *con, const struct packet *packet, const struct xrow_header *row)
{
	if (override_count > 0 && auth_check_guest(con->session) == 0) {
		int rc = override_run(con, packet, row);
		if (rc != 0)
			return rc > 0 ? 0 : -1;
	}
	return dispatch(con, row);
}

bool request_process(struct connection *con, const struct packet *packet)
{
	struct xrow_header row;
	const char *pos = packet->begin;
	int rc = 0;
	if (!header_decode_usual(&row, pos, packet->end))
		rc = xrow_header_decode(&row, &pos, packet->end);
	struct stream *stream = NULL;
	if (rc == 0 && row.stream_id != 0) {
		stream = stream_get(con, row.stream_id);
		rc = stream != NULL ? 0 : -1;
	}
	if (stream != NULL && stream->is_busy) {
		stream_queue(stream, packet);
		return false;
	}
	if (stream != NULL)
		stream_enter(stream);
	else
		stream_disturb(NULL);
	session_enter(con->session, row.sync);
	if (rc != 0 || run(con, packet, &row) != 0)
		answer_error(con, row.sync);
	latency_count(rc == 0 ? row.type : IPROTO_OK, packet->arrived);
	if (stream != NULL)
		stream_leave(stream);
	return true;
}
