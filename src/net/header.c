/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See header.h.
 */
#include "net/header.h"

#include "data/mp.h"
#include "db/wal/xrow.h"

/** Reads an unsigned integer of any width; false where there is none before `end`. */
static inline bool read_uint(const char **pos, const char *end, uint64_t *value)
{
	const char *p = *pos;
	if (p == end)
		return false;
	unsigned char c = *p++;
	if (c < 0x80) {
		*value = c;
		*pos = p;
		return true;
	}
	if (c < 0xcc || c > 0xcf || end - p < 1 << (c - 0xcc))
		return false;
	uint64_t v = 0;
	for (int width = 1 << (c - 0xcc); width > 0; width--)
		v = v << 8 | (unsigned char)*p++;
	*value = v;
	*pos = p;
	return true;
}

bool header_decode_usual(struct xrow_header *row, const char *p, const char *end)
{
	enum { FIXMAP = 0x80, PAIRS_MAX = 3 };
	uint64_t type = 0, sync = 0, version = 0;
	if (p == end || (unsigned char)*p < FIXMAP || (unsigned char)*p > FIXMAP + PAIRS_MAX)
		return false;
	for (int pairs = (unsigned char)*p++ - FIXMAP; pairs > 0; pairs--) {
		if (p == end)
			return false;
		unsigned char key = *p++;
		uint64_t *value = key == IPROTO_REQUEST_TYPE ? &type :
				  key == IPROTO_SYNC ? &sync :
				  key == IPROTO_SCHEMA_VERSION ? &version : NULL;
		if (value == NULL || !read_uint(&p, end, value))
			return false;
	}
	if (type >= IPROTO_TYPE_ERROR || type == IPROTO_NOP || version > UINT32_MAX ||
	    (p != end && mp_check_whole(p, end) != 0))
		return false;
	*row = (struct xrow_header){
		.type = type,
		.sync = sync,
		.schema_version = version,
		.is_commit = true,
		.body = p != end ? p : NULL,
		.body_size = end - p,
	};
	return true;
}
