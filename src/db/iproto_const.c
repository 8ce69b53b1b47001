/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of request types, as messages and statistics show them.
 */
#include "db/iproto_const.h"

#include <stddef.h>

const char *iproto_type_name(unsigned type)
{
	switch (type) {
	case IPROTO_OK: return "OK";
	case IPROTO_SELECT: return "SELECT";
	case IPROTO_INSERT: return "INSERT";
	case IPROTO_REPLACE: return "REPLACE";
	case IPROTO_UPDATE: return "UPDATE";
	case IPROTO_DELETE: return "DELETE";
	case IPROTO_CALL_16: return "CALL_16";
	case IPROTO_AUTH: return "AUTH";
	case IPROTO_EVAL: return "EVAL";
	case IPROTO_UPSERT: return "UPSERT";
	case IPROTO_CALL: return "CALL";
	case IPROTO_EXECUTE: return "EXECUTE";
	case IPROTO_NOP: return "NOP";
	case IPROTO_PREPARE: return "PREPARE";
	case IPROTO_BEGIN: return "BEGIN";
	case IPROTO_COMMIT: return "COMMIT";
	case IPROTO_ROLLBACK: return "ROLLBACK";
	case IPROTO_PING: return "PING";
	case IPROTO_JOIN: return "JOIN";
	case IPROTO_SUBSCRIBE: return "SUBSCRIBE";
	case IPROTO_VOTE_DEPRECATED: return "VOTE_DEPRECATED";
	case IPROTO_VOTE: return "VOTE";
	case IPROTO_FETCH_SNAPSHOT: return "FETCH_SNAPSHOT";
	case IPROTO_REGISTER: return "REGISTER";
	case IPROTO_ID: return "ID";
	case IPROTO_WATCH: return "WATCH";
	case IPROTO_UNWATCH: return "UNWATCH";
	case IPROTO_EVENT: return "EVENT";
	default: return NULL;
	}
}
