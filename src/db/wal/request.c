/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The codec of request bodies: a map from IPROTO keys to values. A body has
 * been checked to be well-formed MessagePack by xrow_header_decode().
 */
#include <assert.h>
#include <string.h>

#include "core/region.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/wal/xrow.h"

#define BIT(key) (UINT64_C(1) << (key))

static int invalid_body(void)
{
	client_error(ER_INVALID_MSGPACK, "packet body");
	return -1;
}

/** A number that does not fit becomes the largest: it names nothing, and limits nothing. */
static uint32_t decode_u32(const char **pos)
{
	uint64_t value = mp_decode_uint(pos);
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static const char *key_name(unsigned key)
{
	switch (key) {
	case IPROTO_SPACE_ID: return "space id";
	case IPROTO_INDEX_ID: return "index id";
	case IPROTO_LIMIT: return "limit";
	case IPROTO_OFFSET: return "offset";
	case IPROTO_ITERATOR: return "iterator";
	case IPROTO_INDEX_BASE: return "index base";
	case IPROTO_KEY: return "key";
	case IPROTO_TUPLE: return "tuple";
	case IPROTO_FUNCTION_NAME: return "function name";
	case IPROTO_USER_NAME: return "user name";
	case IPROTO_EXPR: return "expression";
	case IPROTO_OPS: return "operations";
	default: return "unknown";
	}
}

/** What the value of a key is, and where it goes. */
enum value_kind {
	/** Of a key that says nothing here. */
	VALUE_SKIPPED = 0,
	VALUE_NUMBER,
	/** Two pointers: to its beginning and, behind that, to its end. */
	VALUE_ARRAY,
	/** A pointer, and the size elsewhere. */
	VALUE_TEXT,
	VALUE_FLAG,
	/** A pointer to a value of any type. */
	VALUE_ANY,
	VALUE_TIMEOUT,
	VALUE_IS_SYNC,
	VALUE_FEATURES,
};

#define NUMBER(field) {VALUE_NUMBER, offsetof(struct request, field), 0}
#define ARRAY(field) {VALUE_ARRAY, offsetof(struct request, field), 0}
#define TEXT(field) {VALUE_TEXT, offsetof(struct request, field), \
		     offsetof(struct request, field##_size)}
#define FLAG(field) {VALUE_FLAG, offsetof(struct request, field), 0}

static const struct request_key {
	uint8_t kind, offset, size_offset;
} request_keys[] = {
	[IPROTO_SPACE_ID] = NUMBER(space_id),
	[IPROTO_INDEX_ID] = NUMBER(index_id),
	[IPROTO_LIMIT] = NUMBER(limit),
	[IPROTO_OFFSET] = NUMBER(offset),
	[IPROTO_ITERATOR] = NUMBER(iterator),
	[IPROTO_INDEX_BASE] = NUMBER(index_base),
	[IPROTO_TXN_ISOLATION] = NUMBER(txn_isolation),
	[IPROTO_KEY] = ARRAY(key),
	[IPROTO_TUPLE] = ARRAY(tuple),
	[IPROTO_OPS] = ARRAY(ops),
	[IPROTO_AFTER_TUPLE] = ARRAY(after_tuple),
	[IPROTO_FUNCTION_NAME] = TEXT(name),
	[IPROTO_EXPR] = TEXT(name),
	[IPROTO_EVENT_KEY] = TEXT(name),
	[IPROTO_USER_NAME] = TEXT(name),
	[IPROTO_SPACE_NAME] = TEXT(space_name),
	[IPROTO_INDEX_NAME] = TEXT(index_name),
	[IPROTO_AFTER_POSITION] = TEXT(after_position),
	[IPROTO_FETCH_POSITION] = FLAG(fetches_position),
	[IPROTO_TUPLE_FORMATS] = {VALUE_ANY, offsetof(struct request, formats), 0},
	[IPROTO_TIMEOUT] = {VALUE_TIMEOUT, 0, 0},
	[IPROTO_IS_SYNC] = {VALUE_IS_SYNC, offsetof(struct request, is_sync), 0},
	[IPROTO_FEATURES] = {VALUE_FEATURES, 0, 0},
};

#undef NUMBER
#undef ARRAY
#undef TEXT
#undef FLAG

_Static_assert(sizeof(struct request) <= UINT8_MAX, "offsets are bytes");

/** An array of numbers as bits; those that have no bit are skipped. */
static bool features_field(struct request *request, const char **pos)
{
	if (mp_typeof(**pos) != MP_ARRAY)
		return false;
	for (uint32_t count = mp_decode_array(pos); count > 0; count--) {
		if (mp_typeof(**pos) != MP_UINT)
			return false;
		uint64_t feature = mp_decode_uint(pos);
		if (feature < 64)
			request->features |= BIT(feature);
	}
	return true;
}

/** Takes one value; false where its type is wrong. */
static bool request_field(struct request *request, uint64_t key, const char **pos)
{
	static const struct request_key unknown = {VALUE_SKIPPED, 0, 0};
	bool is_known = key < sizeof(request_keys) / sizeof(request_keys[0]);
	const struct request_key *k = is_known ? &request_keys[key] : &unknown;
	char *to = (char *)request + k->offset;
	switch (k->kind) {
	case VALUE_NUMBER:
		if (mp_typeof(**pos) != MP_UINT)
			return false;
		*(uint32_t *)to = decode_u32(pos);
		return true;
	case VALUE_ARRAY:
		if (mp_typeof(**pos) != MP_ARRAY)
			return false;
		((const char **)to)[0] = *pos;
		mp_next(pos);
		((const char **)to)[1] = *pos;
		return true;
	case VALUE_TEXT:
		if (mp_typeof(**pos) != MP_STR)
			return false;
		*(const char **)to = mp_decode_str(pos, (uint32_t *)((char *)request +
								     k->size_offset));
		return true;
	case VALUE_IS_SYNC:
		request->has_is_sync = true;
		/* fallthrough */
	case VALUE_FLAG:
		if (mp_typeof(**pos) != MP_BOOL)
			return false;
		*(bool *)to = mp_decode_bool(pos);
		return true;
	case VALUE_ANY:
		*(const char **)to = *pos;
		mp_next(pos);
		return true;
	case VALUE_TIMEOUT:
		request->has_timeout = true;
		return mp_read_double(pos, &request->timeout);
	case VALUE_FEATURES:
		return features_field(request, pos);
	default:
		mp_next(pos);
		return true;
	}
}

int request_decode(struct request *request, const struct xrow_header *row, uint64_t key_required)
{
	memset(request, 0, sizeof(*request));
	request->type = row->type;
	const char *p = row->body;
	if (p != NULL) {
		if (mp_typeof(*p) != MP_MAP)
			return invalid_body();
		uint32_t count = mp_decode_map(&p);
		for (uint32_t i = 0; i < count; i++) {
			if (mp_typeof(*p) != MP_UINT) {
				mp_next(&p);
				mp_next(&p);
				continue;
			}
			uint64_t key = mp_decode_uint(&p);
			if (!request_field(request, key, &p))
				return invalid_body();
			if (key == IPROTO_SPACE_NAME)
				key_required &= ~BIT(IPROTO_SPACE_ID);
			else if (key < 64)
				key_required &= ~BIT(key);
		}
		assert(p == row->body + row->body_size);
	}
	if (key_required == 0)
		return 0;
	/* The lowest key is told, but of a log-in the name, as in the reference. */
	unsigned missing = key_required & BIT(IPROTO_USER_NAME) ? IPROTO_USER_NAME :
			   (unsigned)__builtin_ctzll(key_required);
	client_error(ER_MISSING_REQUEST_FIELD, key_name(missing));
	return -1;
}

uint64_t request_keys_required(uint32_t type)
{
	switch (type) {
	case IPROTO_SELECT:
		return BIT(IPROTO_SPACE_ID) | BIT(IPROTO_LIMIT) | BIT(IPROTO_KEY);
	case IPROTO_INSERT:
	case IPROTO_REPLACE:
		return BIT(IPROTO_SPACE_ID) | BIT(IPROTO_TUPLE);
	case IPROTO_UPDATE:
		return BIT(IPROTO_SPACE_ID) | BIT(IPROTO_KEY) | BIT(IPROTO_TUPLE);
	case IPROTO_DELETE:
		return BIT(IPROTO_SPACE_ID) | BIT(IPROTO_KEY);
	case IPROTO_UPSERT:
		return BIT(IPROTO_SPACE_ID) | BIT(IPROTO_TUPLE) | BIT(IPROTO_OPS);
	case IPROTO_CALL:
	case IPROTO_CALL_16:
		return BIT(IPROTO_FUNCTION_NAME);
	case IPROTO_EVAL:
		return BIT(IPROTO_EXPR);
	case IPROTO_AUTH:
		return BIT(IPROTO_USER_NAME) | BIT(IPROTO_TUPLE);
	default:
		return 0;
	}
}

static char *put_uint(char *p, unsigned key, uint64_t value)
{
	p = mp_encode_uint(p, key);
	return mp_encode_uint(p, value);
}

static char *put_value(char *p, unsigned key, const char *begin, const char *end)
{
	p = mp_encode_uint(p, key);
	memcpy(p, begin, end - begin);
	return p + (end - begin);
}

const char *request_encode(const struct request *r, struct region *region, size_t *size)
{
	/* The map's byte, three numbers of up to 6 bytes, three keys. */
	size_t max = 1 + 3 * 6 + 3 + (r->key_end - r->key) + (r->tuple_end - r->tuple) +
		     (r->ops_end - r->ops);
	char *begin = region_alloc(region, max);
	if (begin == NULL)
		return NULL;
	unsigned count = 1;
	char *p = put_uint(begin + 1, IPROTO_SPACE_ID, r->space_id);
	if (r->index_id != 0) {
		p = put_uint(p, IPROTO_INDEX_ID, r->index_id);
		count++;
	}
	if (r->index_base != 0) {
		p = put_uint(p, IPROTO_INDEX_BASE, r->index_base);
		count++;
	}
	if (r->key != NULL) {
		p = put_value(p, IPROTO_KEY, r->key, r->key_end);
		count++;
	}
	if (r->ops != NULL) {
		p = put_value(p, IPROTO_OPS, r->ops, r->ops_end);
		count++;
	}
	if (r->tuple != NULL) {
		p = put_value(p, IPROTO_TUPLE, r->tuple, r->tuple_end);
		count++;
	}
	*begin = (char)(0x80 | count);
	*size = p - begin;
	assert(*size <= max);
	return begin;
}
