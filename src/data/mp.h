/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack: what we need beyond msgpuck. A check that is safe for any input,
 * extension types, an exact order and hash of scalar values, and the text form
 * that users see when they print a tuple.
 *
 * Include this header, not <msgpuck.h>. Functions that take a value without an
 * end want one that mp_check_value() or mp_check_whole() has passed.
 */
#pragma once

#include <msgpuck.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum {
	/**
	 * Containers may nest so deep in data from outside; what recurses over values relies on
	 * it.
	 */
	MP_DEPTH_MAX = 512,
};

/** Extension types. Source: the manual, "MessagePack extensions". */
enum mp_ext_type {
	MP_EXT_UNKNOWN = 0,
	MP_EXT_DECIMAL = 1,
	MP_EXT_UUID = 2,
	MP_EXT_ERROR = 3,
	MP_EXT_DATETIME = 4,
	MP_EXT_INTERVAL = 6,
	MP_EXT_TUPLE = 7,	/* in packets only, see db/tuple/format_map.h */
};

/**
 * Checks one value and moves `*data` behind it. -1 where it is cut short, not
 * well-formed (byte 0xc1, an extension of a known type with other content than that
 * type has), or nested deeper than MP_DEPTH_MAX; `*data` is
 * undefined then. Unlike msgpuck's mp_check() it does not overflow on the
 * counts of huge containers. No error is set.
 */
int mp_check_value(const char **data, const char *end);

/** Checks that exactly one value fills the range. */
int mp_check_whole(const char *data, const char *end);

/**
 * Encodes a number of a script (9 bytes at most): one without a fraction becomes an integer where
 * those have the range.
 */
static inline char *mp_encode_number(char *data, double value)
{
	if (value >= -0x1p63 && value < 0x1p63) {
		int64_t integer = (int64_t)value;
		if ((double)integer == value)
			return integer >= 0 ? mp_encode_uint(data, (uint64_t)integer) :
					      mp_encode_int(data, integer);
	} else if (value >= 0x1p63 && value < 0x1p64) {
		return mp_encode_uint(data, (uint64_t)value);
	}
	return mp_encode_double(data, value);
}

/** Decodes an extension's header; `*data` is then at its `len` bytes. */
uint32_t mp_decode_extl(const char **data, int8_t *type);
/** Bytes of an extension value with its header. */
uint32_t mp_sizeof_ext(uint32_t len);
/** Encodes the header; the caller writes `len` bytes behind. */
char *mp_encode_extl(char *data, int8_t type, uint32_t len);

/** Has an extension of a type that is known the content that it must have? */
bool mp_ext_is_valid(int8_t type, const char *data, uint32_t len);

/** Classes of scalar values, in the order in which values of different classes sort. */
enum mp_class {
	MP_CLASS_NIL,
	MP_CLASS_BOOL,
	MP_CLASS_NUMBER,
	MP_CLASS_STR,
	MP_CLASS_BIN,
	MP_CLASS_UUID,
	MP_CLASS_DATETIME,
	/** Any other extension. */
	MP_CLASS_EXT,
	MP_CLASS_ARRAY,
	MP_CLASS_MAP,
};

enum mp_class mp_classof(const char *value);

/**
 * Compares two numbers of any encoding by their exact values. NaN equals NaN and
 * is below all others; 0.0 equals -0.0.
 */
int mp_compare_number(const char *a, const char *b);

/** Bytes, then length. Also for strings. */
int mp_compare_bytes(const char *a, uint32_t a_len, const char *b, uint32_t b_len);

/**
 * Compares two scalars: by class, then within it. Containers may be given (they
 * have no order that users rely on): by class, then by their bytes.
 */
int mp_compare_scalar(const char *a, const char *b);

/** A hash of a scalar: values that compare equal hash alike. */
uint32_t mp_hash_scalar(const char *value, uint32_t seed);

/** A hash of bytes. */
uint32_t mp_hash_bytes(const void *data, size_t size, uint32_t seed);

/**
 * A number as a double, and as an order-preserving integer: a < b implies
 * key(a) <= key(b). For hints.
 */
uint64_t mp_number_order_key(const char *value);

/** A datetime as an order-preserving integer: a < b implies key(a) <= key(b). For hints. */
uint64_t mp_datetime_order_key(const char *value);

/** The int64_t, where the value is an integer in its range (of any integer encoding). */
bool mp_read_int64(const char **data, int64_t *value);
/** The uint64_t, where the value is a non-negative integer. */
bool mp_read_uint64(const char **data, uint64_t *value);
/** The number as a double; false where it is none. */
bool mp_read_double(const char **data, double *value);

enum { MP_EXT_TEXT_SIZE = 256 };

/** The text of a value that is an extension, zero-terminated; false where it has none. */
bool mp_ext_to_string(const char *value, char text[MP_EXT_TEXT_SIZE]);

/**
 * Appends a value as users of the reference see it when they print a tuple, in
 * YAML's flow style: `[1, 'abc', {'a': 1}]`. Numbers have 14 digits; strings that
 * are no text appear as `!!binary`.
 */
void mp_print(struct buf *out, const char *value);
