/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers of the binary protocol, which the journal shares: request types and
 * the keys of headers and bodies. Source: the manual, "Binary protocol" and
 * "File formats" (internals).
 */
#pragma once

enum iproto_type {
	IPROTO_OK = 0,
	IPROTO_SELECT = 1,
	IPROTO_INSERT = 2,
	IPROTO_REPLACE = 3,
	IPROTO_UPDATE = 4,
	IPROTO_DELETE = 5,
	IPROTO_CALL_16 = 6,
	IPROTO_AUTH = 7,
	IPROTO_EVAL = 8,
	IPROTO_UPSERT = 9,
	IPROTO_CALL = 10,
	IPROTO_EXECUTE = 11,
	IPROTO_NOP = 12,
	IPROTO_PREPARE = 13,
	IPROTO_BEGIN = 14,
	IPROTO_COMMIT = 15,
	IPROTO_ROLLBACK = 16,
	IPROTO_PING = 64,
	IPROTO_JOIN = 65,
	IPROTO_SUBSCRIBE = 66,
	IPROTO_VOTE_DEPRECATED = 67,
	IPROTO_VOTE = 68,
	IPROTO_FETCH_SNAPSHOT = 69,
	IPROTO_REGISTER = 70,
	IPROTO_ID = 73,
	IPROTO_WATCH = 74,
	IPROTO_UNWATCH = 75,
	IPROTO_EVENT = 76,
	IPROTO_CHUNK = 128,
	/** Or-ed with the error code in a response. */
	IPROTO_TYPE_ERROR = 1 << 15,
};

enum iproto_key {
	/* Header. */
	IPROTO_REQUEST_TYPE = 0x00,
	IPROTO_SYNC = 0x01,
	IPROTO_REPLICA_ID = 0x02,
	IPROTO_LSN = 0x03,
	IPROTO_TIMESTAMP = 0x04,
	IPROTO_SCHEMA_VERSION = 0x05,
	IPROTO_SERVER_VERSION = 0x06,
	IPROTO_GROUP_ID = 0x07,
	IPROTO_TSN = 0x08,
	IPROTO_FLAGS = 0x09,
	IPROTO_STREAM_ID = 0x0a,
	/* Body, integers. */
	IPROTO_SPACE_ID = 0x10,
	IPROTO_INDEX_ID = 0x11,
	IPROTO_LIMIT = 0x12,
	IPROTO_OFFSET = 0x13,
	IPROTO_ITERATOR = 0x14,
	IPROTO_INDEX_BASE = 0x15,
	/* Body, others. */
	IPROTO_KEY = 0x20,
	IPROTO_TUPLE = 0x21,
	IPROTO_FUNCTION_NAME = 0x22,
	IPROTO_USER_NAME = 0x23,
	IPROTO_INSTANCE_UUID = 0x24,
	IPROTO_CLUSTER_UUID = 0x25,
	IPROTO_VCLOCK = 0x26,
	IPROTO_EXPR = 0x27,
	IPROTO_OPS = 0x28,
	IPROTO_BALLOT = 0x29,
	IPROTO_TUPLE_META = 0x2a,
	IPROTO_OPTIONS = 0x2b,
	IPROTO_DATA = 0x30,
	IPROTO_ERROR_24 = 0x31,
	IPROTO_METADATA = 0x32,
	IPROTO_SQL_TEXT = 0x40,
	IPROTO_SQL_BIND = 0x41,
	IPROTO_SQL_INFO = 0x42,
	IPROTO_STMT_ID = 0x43,
	IPROTO_ERROR = 0x52,
	IPROTO_VERSION = 0x54,
	IPROTO_FEATURES = 0x55,
	IPROTO_TIMEOUT = 0x56,
	IPROTO_AUTH_TYPE = 0x5b,
};

/** Flags of a journal row (IPROTO_FLAGS). */
enum iproto_flag {
	IPROTO_FLAG_COMMIT = 1,	/* the transaction's last row */
	IPROTO_FLAG_WAIT_SYNC = 2,
	IPROTO_FLAG_WAIT_ACK = 4,
};

/** The name users see, e.g. "SELECT"; NULL where the type is unknown. */
const char *iproto_type_name(unsigned type);
