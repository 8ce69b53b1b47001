/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See override.h.
 */
#include "net/override.h"

#include <assert.h>
#include <stdio.h>

#include "db/error.h"
#include "db/iproto_const.h"
#include "db/txn/txn.h"
#include "db/wal/xrow.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/reply.h"
#include "net/session.h"
#include "net/worker.h"

int override_count;

/** By type; the last is that of unknown ones. */
static net_override_cb overrides[NET_TYPE_MAX + 2];

void net_override(int type, bool is_on, net_override_cb cb)
{
	assert(type >= NET_TYPE_UNKNOWN && type <= NET_TYPE_MAX);
	net_override_cb *place = &overrides[type == NET_TYPE_UNKNOWN ? NET_TYPE_MAX + 1 : type];
	override_count += is_on - (*place != NULL);
	*place = is_on ? cb : NULL;
}

int override_run(struct connection *con, const struct packet *packet, const struct xrow_header *row)
{
	int type = row->type <= NET_TYPE_MAX ? (int)row->type : NET_TYPE_UNKNOWN;
	if (type != NET_TYPE_UNKNOWN && overrides[type] == NULL && iproto_type_name(type) == NULL)
		type = NET_TYPE_UNKNOWN;
	net_override_cb cb = overrides[type == NET_TYPE_UNKNOWN ? NET_TYPE_MAX + 1 : type];
	if (cb == NULL)
		return 0;
	worker_hand_over();
	const char *body = row->body != NULL ? row->body : packet->end;
	int rc = cb(con->session, type, packet->begin, body - packet->begin, body,
		    packet->end - body);
	/* A stream's transaction goes on to its next request. */
	if (row->stream_id == 0 && txn_current() != NULL)
		txn_rollback(txn_current());
	return rc;
}

int net_send(uint64_t session_id, const char *header, size_t header_size, const char *body,
	     size_t body_size)
{
	struct session *session = session_by_id(session_id);
	if (session == NULL) {
		char text[64];
		snprintf(text, sizeof(text), "Session %llu does not exist",
			 (unsigned long long)session_id);
		client_error(ER_ILLEGAL_PARAMS, text);
		return -1;
	}
	if (session->type != SESSION_BINARY) {
		client_error(ER_ILLEGAL_PARAMS, "the session is not binary");
		return -1;
	}
	struct connection *con = session->owner;
	if (con->fd < 0) {
		client_error(ER_SESSION_CLOSED);
		return -1;
	}
	/* Held, since it may wait for an answer that is being encoded. */
	con->in_flight++;
	reply_raw(con, header, header_size, body, body_size);
	con->in_flight--;
	connection_free_if_over(con);
	return 0;
}
