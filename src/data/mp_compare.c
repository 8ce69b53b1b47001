/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order and hash of MessagePack values. Numbers are compared by their exact
 * value whatever their encoding; an integer is never rounded to a double where
 * that could change the outcome. The order is the reference's, found by
 * experiment; the rank of extensions it does not have is ours.
 */
#include "data/mp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/datetime.h"
#include "data/decimal.h"

/** 2^63 and 2^64 as doubles, both exact. */
#define TWO_63 9223372036854775808.0
#define TWO_64 18446744073709551616.0

/** A number but a decimal, decoded: a negative integer, a non-negative one, or a double. */
struct mp_number {
	enum { NUMBER_NEGATIVE, NUMBER_UINT, NUMBER_DOUBLE } kind;
	union {
		int64_t i;
		uint64_t u;
		double d;
	};
};

static inline struct mp_number mp_number_of(const char *value)
{
	struct mp_number n;
	switch (mp_typeof(*value)) {
	case MP_UINT:
		n.kind = NUMBER_UINT;
		n.u = mp_decode_uint(&value);
		break;
	case MP_INT:
		n.i = mp_decode_int(&value);
		n.kind = n.i < 0 ? NUMBER_NEGATIVE : NUMBER_UINT;
		break;
	case MP_FLOAT:
		n.kind = NUMBER_DOUBLE;
		n.d = mp_decode_float(&value);
		break;
	default:
		assert(mp_typeof(*value) == MP_DOUBLE);
		n.kind = NUMBER_DOUBLE;
		n.d = mp_decode_double(&value);
		break;
	}
	return n;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_doubles(double a, double b)
{
	bool a_nan = isnan(a), b_nan = isnan(b);
	if (a_nan || b_nan)
		return b_nan - a_nan;
	return COMPARE(a, b);
}

static int compare_uint_double(uint64_t u, double d)
{
	if (isnan(d) || d < 0)
		return 1;
	if (d >= TWO_64)
		return -1;
	uint64_t whole = (uint64_t)d;
	if (u != whole)
		return COMPARE(u, whole);
	return d > (double)whole ? -1 : 0;
}

/** `i` is negative. */
static int compare_negative_double(int64_t i, double d)
{
	if (isnan(d) || d < -TWO_63)
		return 1;
	if (d >= 0)
		return -1;
	int64_t whole = (int64_t)d;
	if (i != whole)
		return COMPARE(i, whole);
	return d < (double)whole ? 1 : 0;
}

static int compare_numbers(struct mp_number a, struct mp_number b)
{
	if (a.kind == NUMBER_DOUBLE) {
		switch (b.kind) {
		case NUMBER_UINT:
			return -compare_uint_double(b.u, a.d);
		case NUMBER_NEGATIVE:
			return -compare_negative_double(b.i, a.d);
		default:
			return compare_doubles(a.d, b.d);
		}
	}
	if (b.kind == NUMBER_DOUBLE)
		return a.kind == NUMBER_UINT ? compare_uint_double(a.u, b.d) :
			compare_negative_double(a.i, b.d);
	if (a.kind != b.kind)
		return a.kind == NUMBER_NEGATIVE ? -1 : 1;
	return a.kind == NUMBER_UINT ? COMPARE(a.u, b.u) : COMPARE(a.i, b.i);
}

/** The content was checked with the value. */
static struct decimal mp_decimal_of(const char *value)
{
	struct decimal d = {0, 0, 0, 0};
	int8_t type;
	uint32_t len = mp_decode_extl(&value, &type);
	int rc = decimal_unpack(&d, value, len);
	assert(type == MP_EXT_DECIMAL && rc == 0);
	(void)rc;
	return d;
}

static int compare_decimal(const struct decimal *a, const char *b)
{
	struct decimal other;
	if (mp_typeof(*b) == MP_EXT) {
		other = mp_decimal_of(b);
		return decimal_compare(a, &other);
	}
	struct mp_number n = mp_number_of(b);
	switch (n.kind) {
	case NUMBER_DOUBLE:
		return decimal_compare_double(a, n.d);
	case NUMBER_UINT:
		decimal_from_uint64(&other, n.u);
		break;
	default:
		decimal_from_int64(&other, n.i);
		break;
	}
	return decimal_compare(a, &other);
}

/** One of them at least is a decimal. */
static __attribute__((noinline)) int compare_decimals(const char *a, const char *b)
{
	struct decimal d;
	if (mp_typeof(*a) == MP_EXT) {
		d = mp_decimal_of(a);
		return compare_decimal(&d, b);
	}
	d = mp_decimal_of(b);
	return -compare_decimal(&d, a);
}

int mp_compare_number(const char *a, const char *b)
{
	if (mp_typeof(*a) == MP_EXT || mp_typeof(*b) == MP_EXT)
		return compare_decimals(a, b);
	return compare_numbers(mp_number_of(a), mp_number_of(b));
}

int mp_compare_bytes(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
	int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return rc != 0 ? rc : COMPARE(a_len, b_len);
}

enum mp_class mp_classof(const char *value)
{
	switch (mp_typeof(*value)) {
	case MP_NIL:
		return MP_CLASS_NIL;
	case MP_BOOL:
		return MP_CLASS_BOOL;
	case MP_UINT:
	case MP_INT:
	case MP_FLOAT:
	case MP_DOUBLE:
		return MP_CLASS_NUMBER;
	case MP_STR:
		return MP_CLASS_STR;
	case MP_BIN:
		return MP_CLASS_BIN;
	case MP_ARRAY:
		return MP_CLASS_ARRAY;
	case MP_MAP:
		return MP_CLASS_MAP;
	case MP_EXT: {
		/* The byte that msgpuck calls an extension although it is none. */
		if ((uint8_t)*value == 0xc1)
			return MP_CLASS_EXT;
		int8_t type;
		mp_decode_extl(&value, &type);
		return type == MP_EXT_DECIMAL ? MP_CLASS_NUMBER :
			type == MP_EXT_UUID ? MP_CLASS_UUID :
			type == MP_EXT_DATETIME ? MP_CLASS_DATETIME : MP_CLASS_EXT;
	}
	}
	return MP_CLASS_NIL;
}

/** The content was checked with the value. */
static struct datetime mp_datetime_of(const char *value)
{
	struct datetime d = {0, 0, 0, 0};
	int8_t type;
	uint32_t len = mp_decode_extl(&value, &type);
	int rc = datetime_unpack(&d, value, len);
	assert(type == MP_EXT_DATETIME && rc == 0);
	(void)rc;
	return d;
}

/** Extensions: by type, then by content. */
static int compare_exts(const char *a, const char *b)
{
	int8_t a_type, b_type;
	uint32_t a_len = mp_decode_extl(&a, &a_type);
	uint32_t b_len = mp_decode_extl(&b, &b_type);
	if (a_type != b_type)
		return COMPARE(a_type, b_type);
	return mp_compare_bytes(a, a_len, b, b_len);
}

static int compare_encodings(const char *a, const char *b)
{
	const char *a_end = a, *b_end = b;
	mp_next(&a_end);
	mp_next(&b_end);
	return mp_compare_bytes(a, a_end - a, b, b_end - b);
}

int mp_compare_scalar(const char *a, const char *b)
{
	enum mp_class a_class = mp_classof(a), b_class = mp_classof(b);
	if (a_class != b_class)
		return COMPARE(a_class, b_class);
	switch (a_class) {
	case MP_CLASS_NIL:
		return 0;
	case MP_CLASS_BOOL: {
		bool a_true = mp_decode_bool(&a), b_true = mp_decode_bool(&b);
		return a_true - b_true;
	}
	case MP_CLASS_NUMBER:
		return mp_compare_number(a, b);
	case MP_CLASS_STR:
	case MP_CLASS_BIN: {
		uint32_t a_len = mp_decode_strbinl(&a), b_len = mp_decode_strbinl(&b);
		return mp_compare_bytes(a, a_len, b, b_len);
	}
	case MP_CLASS_DATETIME: {
		struct datetime x = mp_datetime_of(a), y = mp_datetime_of(b);
		return datetime_compare(&x, &y);
	}
	case MP_CLASS_UUID:
	case MP_CLASS_EXT:
		return compare_exts(a, b);
	default:
		return compare_encodings(a, b);
	}
}

/* Hashing ---------------------------------------------------------------- */

/** Folds the 128-bit product: every bit of the result depends on all of both. */
static inline uint64_t fold_multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Odd constants without pattern: digits of pi, e and the golden ratio. */
#define MIX_1 0x243f6a8885a308d3ull
#define MIX_2 0xb7e151628aed2a6bull
#define MIX_3 0x9e3779b97f4a7c15ull

static inline uint32_t hash_u64(uint64_t v, uint32_t seed)
{
	uint64_t h = fold_multiply(v ^ MIX_1, MIX_3 ^ seed);
	return (uint32_t)(h ^ h >> 32);
}

static inline uint64_t load_tail(const char *p, size_t size)
{
	uint64_t v = 0;
	memcpy(&v, p, size);
	return v;
}

uint32_t mp_hash_bytes(const void *data, size_t size, uint32_t seed)
{
	const char *p = data;
	uint64_t h = MIX_1 ^ seed ^ size;
	size_t left = size;
	for (; left > 8; left -= 8, p += 8)
		h = fold_multiply(h ^ load_tail(p, 8), MIX_2);
	h = fold_multiply(h ^ load_tail(p, left), MIX_3);
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t hash_number(struct mp_number n, uint32_t seed)
{
	if (n.kind == NUMBER_DOUBLE) {
		if (isnan(n.d))
			return hash_u64(0x7ff8000000000000ull, ~seed);
		if (n.d >= 0 && n.d < TWO_64 && n.d == (double)(uint64_t)n.d) {
			n.u = (uint64_t)n.d;
		} else if (n.d < 0 && n.d >= -TWO_63 && n.d == (double)(int64_t)n.d) {
			n.i = (int64_t)n.d;
		} else {
			uint64_t bits;
			memcpy(&bits, &n.d, sizeof(bits));
			return hash_u64(bits, ~seed);
		}
	}
	return hash_u64(n.u, seed);
}

static uint32_t hash_decimal(const char *value, uint32_t seed)
{
	struct decimal d = mp_decimal_of(value);
	struct decimal_hash key = decimal_hash_key(&d);
	switch (key.kind) {
	case DECIMAL_HASH_WHOLE:
		return hash_u64(key.bits, seed);
	case DECIMAL_HASH_DOUBLE:
		return hash_u64(key.bits, ~seed);
	default:
		return hash_u64(key.more, hash_u64(key.bits, seed));
	}
}

static __attribute__((noinline)) uint32_t hash_ext(const char *value, uint32_t seed)
{
	switch (mp_classof(value)) {
	case MP_CLASS_NUMBER:
		return hash_decimal(value, seed);
	case MP_CLASS_DATETIME: {
		struct datetime d = mp_datetime_of(value);
		return hash_u64((uint64_t)(int64_t)d.epoch, seed + d.nsec);
	}
	default: {
		int8_t type;
		uint32_t len = mp_decode_extl(&value, &type);
		return mp_hash_bytes(value, len, seed + type);
	}
	}
}

uint32_t mp_hash_scalar(const char *value, uint32_t seed)
{
	switch (mp_typeof(*value)) {
	case MP_UINT:
	case MP_INT:
	case MP_FLOAT:
	case MP_DOUBLE:
		return hash_number(mp_number_of(value), seed);
	case MP_STR:
	case MP_BIN: {
		uint32_t len = mp_decode_strbinl(&value);
		return mp_hash_bytes(value, len, seed);
	}
	case MP_EXT:
		return hash_ext(value, seed);
	default: {
		const char *end = value;
		mp_next(&end);
		return mp_hash_bytes(value, end - value, seed);
	}
	}
}

/* Reading numbers -------------------------------------------------------- */

/** The nearest double. */
static double mp_number_to_double(const char *value)
{
	if (mp_typeof(*value) == MP_EXT) {
		struct decimal d = mp_decimal_of(value);
		return decimal_to_double(&d);
	}
	struct mp_number n = mp_number_of(value);
	return n.kind == NUMBER_DOUBLE ? n.d : n.kind == NUMBER_UINT ? (double)n.u : (double)n.i;
}

uint64_t mp_number_order_key(const char *value)
{
	double d = mp_number_to_double(value);
	if (isnan(d))
		return 0;
	/* Adding zero turns -0.0 into 0.0. */
	d += 0.0;
	uint64_t bits;
	memcpy(&bits, &d, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

uint64_t mp_datetime_order_key(const char *value)
{
	/* Seconds are within 48 bits and a sign, nanoseconds within 30. */
	struct datetime d = mp_datetime_of(value);
	return (uint64_t)((int64_t)d.epoch + (1ll << 48)) << 15 | (uint32_t)d.nsec >> 15;
}

bool mp_read_int64(const char **data, int64_t *value)
{
	enum mp_type type = mp_typeof(**data);
	if (type == MP_UINT) {
		const char *p = *data;
		uint64_t u = mp_decode_uint(&p);
		if (u > INT64_MAX)
			return false;
		*value = u;
		*data = p;
		return true;
	}
	if (type != MP_INT)
		return false;
	*value = mp_decode_int(data);
	return true;
}

bool mp_read_uint64(const char **data, uint64_t *value)
{
	enum mp_type type = mp_typeof(**data);
	if (type == MP_UINT) {
		*value = mp_decode_uint(data);
		return true;
	}
	if (type != MP_INT)
		return false;
	const char *p = *data;
	int64_t i = mp_decode_int(&p);
	if (i < 0)
		return false;
	*value = i;
	*data = p;
	return true;
}

bool mp_read_double(const char **data, double *value)
{
	if (mp_classof(*data) != MP_CLASS_NUMBER)
		return false;
	*value = mp_number_to_double(*data);
	mp_next(data);
	return true;
}
