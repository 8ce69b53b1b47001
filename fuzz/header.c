/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets as a connection takes them: the short way of decoding a header, which nearly all
 * requests go, must agree with the long one, and what a request refers to must lie within
 * its packet. Also parses URIs and passwords of _user from the same bytes.
 */
#include "fuzz.h"

#include "data/mp.h"
#include "db/schema/password.h"
#include "db/wal/xrow.h"
#include "net/address.h"
#include "net/header.h"
#include "net/packet.h"

static void check_within(const char *p, const char *p_end, const char *begin, const char *end)
{
	FUZZ_CHECK(p == NULL || (p >= begin && p <= p_end && p_end <= end));
}

static void decode_body(struct xrow_header *row, uint32_t type, const char *begin, const char *end)
{
	struct request r;
	row->type = type;
	if (request_decode(&r, row, request_keys_required(type)) != 0)
		return;
	check_within(r.key, r.key_end, begin, end);
	check_within(r.tuple, r.tuple_end, begin, end);
	check_within(r.ops, r.ops_end, begin, end);
	check_within(r.after_tuple, r.after_tuple_end, begin, end);
	check_within(r.name, r.name + r.name_size, begin, end);
	check_within(r.space_name, r.space_name + r.space_name_size, begin, end);
	check_within(r.index_name, r.index_name + r.index_name_size, begin, end);
}

static void decode_packet(const char *begin, const char *end)
{
	struct xrow_header row, usual;
	const char *pos = begin;
	int rc = xrow_header_decode(&row, &pos, end);
	if (header_decode_usual(&usual, begin, end)) {
		FUZZ_CHECK(rc == 0);
		FUZZ_CHECK(usual.type == row.type && usual.sync == row.sync);
		FUZZ_CHECK(usual.schema_version == row.schema_version);
		FUZZ_CHECK(usual.stream_id == row.stream_id && usual.is_commit == row.is_commit);
		FUZZ_CHECK(usual.body == row.body && usual.body_size == row.body_size);
	}
	if (rc != 0)
		return;
	decode_body(&row, row.type, begin, end);
	/* As bodies of other types, too. */
	for (uint32_t other = IPROTO_SELECT; other <= IPROTO_ROLLBACK; other++)
		decode_body(&row, other, begin, end);
	decode_body(&row, IPROTO_ID, begin, end);
	decode_body(&row, IPROTO_WATCH, begin, end);
}

static void decode_copy(const char *begin, size_t size)
{
	char *copy = fuzz_copy(begin, size);
	struct address_uri uri;
	struct password password;
	decode_packet(copy, copy + size);
	address_parse(copy, size, &uri);
	if (size > 0 && mp_typeof(*copy) == MP_MAP && mp_check_whole(copy, copy + size) == 0 &&
	    password_decode(&password, copy) == NULL)
		password_matches(&password, copy, size);
	free(copy);
	fuzz_done();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { PACKET_MAX = 1 << 20 };
	static bool is_started;
	if (!is_started)
		fiber_init();
	is_started = true;
	const char *p = (const char *)data, *end = p + size;
	size_t header;
	uint64_t packet_size;
	while (packet_scan(p, end, PACKET_MAX, &header, &packet_size) == PACKET_WHOLE) {
		FUZZ_CHECK(header + packet_size <= (size_t)(end - p));
		decode_copy(p + header, packet_size);
		p += header + packet_size;
	}
	/* What is left is one more without a length. */
	decode_copy(p, end - p);
	return 0;
}
