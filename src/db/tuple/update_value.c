/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations that compute a new value from the old one: arithmetic, bits
 * and splice.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/update_private.h"

static bool read_decimal(const char *value, struct decimal *d)
{
	int8_t type;
	uint32_t len = mp_decode_extl(&value, &type);
	return type == MP_EXT_DECIMAL && decimal_unpack(d, value, len) == 0;
}

bool update_number_read(const char *value, struct update_number *number)
{
	switch (mp_typeof(*value)) {
	case MP_UINT:
		number->kind = UPDATE_INTEGER;
		number->integer = mp_decode_uint(&value);
		return true;
	case MP_INT:
		number->kind = UPDATE_INTEGER;
		number->integer = mp_decode_int(&value);
		return true;
	case MP_FLOAT:
		number->kind = UPDATE_REAL;
		number->real = mp_decode_float(&value);
		return true;
	case MP_DOUBLE:
		number->kind = UPDATE_REAL;
		number->real = mp_decode_double(&value);
		return true;
	case MP_EXT:
		number->kind = UPDATE_DECIMAL;
		return read_decimal(value, &number->decimal);
	default:
		return false;
	}
}

enum {
	/** The most that a number takes: a decimal with its head. */
	SCALAR_SIZE_MAX = 3 + DECIMAL_PACKED_SIZE_MAX,
};

static double number_to_double(const struct update_number *n)
{
	return n->kind == UPDATE_INTEGER ? (double)n->integer : n->real;
}

/** A float where that loses nothing, as in the reference; else, and in its fields, a double. */
static char *encode_real(char *p, double value, bool is_double)
{
	if (!is_double && fabs(value) <= FLT_MAX && (double)(float)value == value)
		return mp_encode_float(p, (float)value);
	return mp_encode_double(p, value);
}

/** Integers are in the range of 64 bits. False: infinite, NaN or too large. */
static bool number_to_decimal(const struct update_number *n, struct decimal *d)
{
	switch (n->kind) {
	case UPDATE_INTEGER:
		if (n->integer < 0)
			decimal_from_int64(d, n->integer);
		else
			decimal_from_uint64(d, n->integer);
		return true;
	case UPDATE_REAL:
		return decimal_from_double(d, n->real) == 0;
	default:
		*d = n->decimal;
		return true;
	}
}

/** One of the two is a decimal. */
static int update_decimal(const struct update_op *op, const struct update_number *a, char **p)
{
	struct decimal x, y, sum;
	if (!number_to_decimal(a, &x) || !number_to_decimal(&op->number, &y))
		return update_error_arg_type(op, "a number convertible to decimal");
	int rc = op->opcode == '+' ? decimal_add(&sum, &x, &y) : decimal_sub(&sum, &x, &y);
	if (rc != 0) {
		client_error(ER_UPDATE_DECIMAL_OVERFLOW, op->opcode, update_op_field_str(op));
		return -1;
	}
	*p = decimal_pack(&sum, mp_encode_extl(*p, MP_EXT_DECIMAL, decimal_packed_size(&sum)));
	return 0;
}

static int update_arith(const struct update_op *op, const char *old, char **p)
{
	struct update_number a;
	const struct update_number *b = &op->number;
	if (!update_number_read(old, &a))
		return update_error_arg_type(op, "a number");
	if (a.kind == UPDATE_DECIMAL || b->kind == UPDATE_DECIMAL)
		return update_decimal(op, &a, p);
	if (a.kind == UPDATE_REAL || b->kind == UPDATE_REAL) {
		double x = number_to_double(&a), y = number_to_double(b);
		*p = encode_real(*p, op->opcode == '+' ? x + y : x - y, op->is_of_double);
		return 0;
	}
	__int128 sum = op->opcode == '+' ? a.integer + b->integer : a.integer - b->integer;
	if (sum < INT64_MIN || sum > UINT64_MAX) {
		client_error(ER_UPDATE_INTEGER_OVERFLOW, op->opcode, update_op_field_str(op));
		return -1;
	}
	*p = sum < 0 ? mp_encode_int(*p, sum) : mp_encode_uint(*p, sum);
	return 0;
}

static int update_bits(const struct update_op *op, const char *old, char **p)
{
	uint64_t value;
	if (!mp_read_uint64(&old, &value))
		return update_error_arg_type(op, "a positive integer");
	switch (op->opcode) {
	case '&':
		value &= op->bits;
		break;
	case '|':
		value |= op->bits;
		break;
	default:
		value ^= op->bits;
		break;
	}
	*p = mp_encode_uint(*p, value);
	return 0;
}

static int update_splice(const struct update_op *op, const char *old, struct region *region,
			 struct update_value *result)
{
	if (mp_typeof(*old) != MP_STR)
		return update_error_arg_type(op, "a string");
	uint32_t len;
	const char *str = mp_decode_str(&old, &len);
	int64_t offset = op->offset < 0 ? (int64_t)op->offset + len + 1 : op->offset;
	if (offset < 0) {
		client_error(ER_UPDATE_SPLICE, update_op_field_str(op), "offset is out of bound");
		return -1;
	}
	if (offset > len)
		offset = len;
	/* A negative length leaves so many bytes at the end. */
	int64_t rest = len - offset, cut = op->cut < 0 ? rest + op->cut : op->cut;
	cut = cut < 0 ? 0 : cut > rest ? rest : cut;
	uint64_t new_len = (uint64_t)len - cut + op->paste_len;
	char *data = new_len <= UINT32_MAX - 5 ? region_alloc(region, 5 + new_len) : NULL;
	if (data == NULL) {
		if (new_len > UINT32_MAX - 5)
			diag_set(OutOfMemory, "A string of %llu bytes is too long",
				 (unsigned long long)new_len);
		return -1;
	}
	char *p = mp_encode_strl(data, new_len);
	p = mempcpy(p, str, offset);
	p = mempcpy(p, op->paste, op->paste_len);
	p = mempcpy(p, str + offset + cut, rest - cut);
	*result = (struct update_value){data, p - data};
	return 0;
}

int update_scalar(const struct update_op *op, const char *old, struct region *region,
		  struct update_value *result)
{
	if (op->opcode == ':')
		return update_splice(op, old, region, result);
	char *data = region_alloc(region, SCALAR_SIZE_MAX), *p = data;
	if (data == NULL)
		return -1;
	int rc = op->opcode == '+' || op->opcode == '-' ? update_arith(op, old, &p) :
		update_bits(op, old, &p);
	if (rc == 0)
		*result = (struct update_value){data, p - data};
	return rc;
}
