/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The encoder of answers.
 */
#include "net/reply.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/error_mp.h"
#include "db/iproto_const.h"
#include "db/port.h"
#include "db/schema/space.h"
#include "db/tuple/format_map.h"
#include "db/tuple/tuple.h"
#include "net/auth.h"
#include "net/connection.h"
#include "net/iproto.h"
#include "net/stat.h"

enum {
	AT_LENGTH = 1, AT_CODE = 8, AT_SYNC = 14, AT_SCHEMA_VERSION = 24,
	/** "81 30 dd COUNT(4)": a map of one, the key, an array. */
	DATA_HEADER_SIZE = 7, AT_COUNT = 3, FIXMAP = 0x80,
	/** An event's length, as an integer of 32 bits. */
	EVENT_LENGTH_SIZE = 5,
};

/** Seconds between looks whether another answer is done; see can_answer(). */
#define ENCODING_CHECK_INTERVAL 0.001

static const char header_template[REPLY_HEADER_SIZE] = {
	'\xce', 0, 0, 0, 0,
	'\x83', IPROTO_REQUEST_TYPE, '\xce', 0, 0, 0, 0,
	IPROTO_SYNC, '\xcf', 0, 0, 0, 0, 0, 0, 0, 0,
	IPROTO_SCHEMA_VERSION, '\xce', 0, 0, 0, 0,
};

static void put_u32(char *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static void put_u64(char *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

/** Writes the header of an answer whose body has `body_size` bytes. */
static void put_header(char *p, uint64_t sync, uint32_t code, size_t body_size)
{
	memcpy(p, header_template, REPLY_HEADER_SIZE);
	put_u32(p + AT_LENGTH, REPLY_HEADER_SIZE - 5 + body_size);
	put_u32(p + AT_CODE, code);
	put_u64(p + AT_SYNC, sync);
	put_u32(p + AT_SCHEMA_VERSION, schema_version);
}

static void put_data_header(char *p, uint32_t count)
{
	static const char data[DATA_HEADER_SIZE] = {'\x81', IPROTO_DATA, '\xdd'};
	memcpy(p, data, DATA_HEADER_SIZE);
	put_u32(p + AT_COUNT, count);
}

/** Waits out another answer's encoding. False where the connection is closed. */
static bool can_answer(struct connection *con)
{
	while (con->fd >= 0 && con->is_encoding) {
		/* A cancelled fiber does not sleep. */
		if (fiber_is_cancelled())
			fiber_reschedule();
		else
			fiber_sleep(ENCODING_CHECK_INTERVAL);
	}
	return con->fd >= 0;
}

void reply_ok(struct connection *con, uint64_t sync)
{
	if (!can_answer(con))
		return;
	char *p = buf_alloc(connection_output(con), REPLY_HEADER_SIZE + 1);
	put_header(p, sync, IPROTO_OK, 1);
	p[REPLY_HEADER_SIZE] = '\x80';
	connection_answered(con);
}

void reply_value(struct connection *con, uint64_t sync, const char *value, size_t size)
{
	if (!can_answer(con))
		return;
	char *p = buf_alloc(connection_output(con), REPLY_HEADER_SIZE + DATA_HEADER_SIZE + size);
	put_header(p, sync, IPROTO_OK, DATA_HEADER_SIZE + size);
	put_data_header(p + REPLY_HEADER_SIZE, value != NULL);
	if (size > 0)
		memcpy(p + REPLY_HEADER_SIZE + DATA_HEADER_SIZE, value, size);
	connection_answered(con);
}

void reply_raw(struct connection *con, const char *header, size_t header_size, const char *body,
	       size_t body_size)
{
	if (!can_answer(con))
		return;
	char *p = buf_alloc(connection_output(con), EVENT_LENGTH_SIZE + header_size + body_size);
	*p = '\xce';
	put_u32(p + 1, header_size + body_size);
	memcpy(p + EVENT_LENGTH_SIZE, header, header_size);
	if (body_size > 0)
		memcpy(p + EVENT_LENGTH_SIZE + header_size, body, body_size);
	connection_answered(con);
}

/** Encodes the values; key and map of the formats of tuples go to `formats`. */
static int dump_port(struct port *port, struct buf *out, unsigned flags, struct buf *formats)
{
	if ((flags & REPLY_FORMATS) == 0)
		return port_dump(port, out, (flags & REPLY_COMPAT_16) != 0);
	struct format_map map;
	format_map_create(&map);
	int count = port_dump_with_formats(port, out, &map);
	mp_put_uint(formats, IPROTO_TUPLE_FORMATS);
	format_map_put_formats(&map, formats);
	format_map_destroy(&map);
	return count;
}

/**
 * Encodes a port's values behind the headers, which are filled in afterwards.
 * Nobody else writes to the buffer or sends from it meanwhile, whatever the
 * encoder of the values does.
 */
static int put_port(struct connection *con, uint64_t sync, uint32_t code, struct port *port,
		    unsigned flags, const struct buf *position)
{
	struct buf *out = connection_output(con), formats = BUF_INIT;
	size_t begin = out->size;
	buf_alloc(out, REPLY_HEADER_SIZE + DATA_HEADER_SIZE);
	con->is_encoding = true;
	int count = dump_port(port, out, flags, &formats);
	con->is_encoding = false;
	if (con->fd < 0) {
		buf_truncate(out, 0);
		buf_free(&formats);
		return 0;
	}
	/* Once more, for the end of the turn that it is now. */
	out = connection_output(con);
	if (count >= 0 && position != NULL) {
		mp_put_uint(out, IPROTO_POSITION);
		mp_put_strn(out, position->data, position->size);
	}
	int keys = 1 + (position != NULL) + (formats.size > 0);
	if (count >= 0)
		buf_append(out, formats.data, formats.size);
	buf_free(&formats);
	size_t size = out->size - begin;
	if (count >= 0 && size > PACKET_SIZE_MAX) {
		client_error(ER_UNSUPPORTED, "Protocol", "an answer of more than 2 GB");
		count = -1;
	}
	if (count < 0) {
		buf_truncate(out, begin);
		return -1;
	}
	put_header(out->data + begin, sync, code, size - REPLY_HEADER_SIZE);
	put_data_header(out->data + begin + REPLY_HEADER_SIZE, count);
	out->data[begin + REPLY_HEADER_SIZE] = (char)(FIXMAP + keys);
	fiber()->usage.response_bytes += size;
	connection_answered(con);
	return 0;
}

int reply_port(struct connection *con, uint64_t sync, struct port *port, unsigned flags)
{
	return can_answer(con) ? put_port(con, sync, IPROTO_OK, port, flags, NULL) : 0;
}

int reply_page(struct connection *con, uint64_t sync, struct port *port,
	       const struct buf *position, unsigned flags)
{
	if (position->size == 0)
		position = NULL;
	return can_answer(con) ? put_port(con, sync, IPROTO_OK, port, flags, position) : 0;
}

int reply_tuple(struct connection *con, uint64_t sync, struct tuple *tuple, unsigned flags)
{
	uint32_t size = 0;
	if ((flags & REPLY_FORMATS) == 0) {
		const char *data = tuple != NULL ? tuple_data_range(tuple, &size) : NULL;
		reply_value(con, sync, data, size);
		return 0;
	}
	struct port port;
	port_c_create(&port);
	if (tuple != NULL)
		port_c_add_tuple(&port, tuple);
	int rc = reply_port(con, sync, &port, flags);
	port_destroy(&port);
	return rc;
}

int reply_push(struct connection *con, uint64_t sync, struct port *port)
{
	return con->fd < 0 ? 0 : put_port(con, sync, IPROTO_CHUNK, port, 0, NULL);
}

void reply_error(struct connection *con, uint64_t sync, const struct error *e)
{
	assert(e != NULL);
	stat_count(STAT_ERROR, 1);
	if (!can_answer(con))
		return;
	struct buf *out = connection_output(con);
	size_t begin = out->size;
	buf_alloc(out, REPLY_HEADER_SIZE);
	mp_put_map(out, 2);
	mp_put_uint(out, IPROTO_ERROR_24);
	mp_put_str(out, e->message);
	mp_put_uint(out, IPROTO_ERROR);
	error_put_stack(out, e, true);
	put_header(out->data + begin, sync, IPROTO_TYPE_ERROR | error_client_code(e),
		   out->size - begin - REPLY_HEADER_SIZE);
	connection_answered(con);
}

void reply_event(struct connection *con, const char *name, size_t len, const char *value,
		 size_t size)
{
	struct buf *out = connection_output(con);
	size_t begin = out->size;
	memset(buf_alloc(out, EVENT_LENGTH_SIZE), 0, EVENT_LENGTH_SIZE);
	mp_put_map(out, 1);
	mp_put_uint(out, IPROTO_REQUEST_TYPE);
	mp_put_uint(out, IPROTO_EVENT);
	mp_put_map(out, value != NULL ? 2 : 1);
	mp_put_uint(out, IPROTO_EVENT_KEY);
	mp_put_strn(out, name, len);
	if (value != NULL) {
		mp_put_uint(out, IPROTO_EVENT_DATA);
		buf_append(out, value, size);
	}
	out->data[begin] = '\xce';
	put_u32(out->data + begin + 1, out->size - begin - EVENT_LENGTH_SIZE);
	connection_answered(con);
}

void reply_id(struct connection *con, uint64_t sync, uint64_t features)
{
	if (!can_answer(con))
		return;
	struct buf *out = connection_output(con);
	size_t begin = out->size;
	buf_alloc(out, REPLY_HEADER_SIZE);
	mp_put_map(out, 3);
	mp_put_uint(out, IPROTO_VERSION);
	mp_put_uint(out, IPROTO_PROTOCOL_VERSION);
	mp_put_uint(out, IPROTO_FEATURES);
	mp_put_array(out, __builtin_popcountll(features));
	for (; features != 0; features &= features - 1)
		mp_put_uint(out, __builtin_ctzll(features));
	mp_put_uint(out, IPROTO_AUTH_TYPE);
	mp_put_str(out, password_method_names[auth_config.method]);
	put_header(out->data + begin, sync, IPROTO_OK, out->size - begin - REPLY_HEADER_SIZE);
	connection_answered(con);
}
