/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations between the files that read, compute and apply them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/region.h"
#include "data/decimal.h"
#include "data/json_path.h"
#include "db/tuple/format.h"

/** A number, decoded, for `+` and `-`. */
struct update_number {
	enum { UPDATE_INTEGER, UPDATE_REAL, UPDATE_DECIMAL } kind;
	/** UPDATE_INTEGER: any int64_t or uint64_t. Regions align to 8 only. */
	__int128 integer __attribute__((packed, aligned(8)));
	double real;
	struct decimal decimal;
};

/** One operation, read and checked as far as it can be without a row. */
struct update_op {
	/** '+', '-', '&', '|', '^', ':', '=', '!' or '#'. */
	char opcode;
	/** From 0; below zero it counts from the end. */
	int32_t field_no;
	/** The field as the user named it; NULL where by number. */
	const char *name;
	uint32_t name_len;
	/** The place inside the field, read up to behind the field. */
	struct json_path path;
	bool has_path;
	/** The field's type is double: so is what is computed. */
	bool is_of_double;
	union {
		/** '=' and '!': the encoded value. */
		struct {
			const char *value;
			uint32_t value_size;
		};
		struct update_number number;
		uint64_t bits;
		/** '#'. */
		uint32_t delete_count;
		struct {
			/** From 0; below zero it counts from behind the end. */
			int32_t offset;
			int32_t cut;
			const char *paste;
			uint32_t paste_len;
		};
	};
};

enum {
	/** So many operations may be in one request, as in the reference. */
	UPDATE_OP_MAX = 4000,
};

/**
 * Reads all operations, to the region. NULL (also for none): ER_ILLEGAL_PARAMS,
 * ER_UNKNOWN_UPDATE_OP, ER_NO_SUCH_FIELD_NO, ER_NO_SUCH_FIELD_NAME,
 * ER_UPDATE_ARG_TYPE, ER_UPDATE_FIELD, ER_UPDATE_SPLICE, OutOfMemory; `*count` is
 * set where there is no error, `-1` returned otherwise.
 */
int update_read_ops(const char *ops, const char *ops_end, const struct tuple_dictionary *dict,
		    int index_base, struct region *region, struct update_op **result,
		    uint32_t *count);

/** The field for messages: its number from 1 or the quoted name. In a buffer of the thread. */
const char *update_op_field_str(const struct update_op *op);

/* Errors of an operation; all return -1. */
int update_error_arg_type(const struct update_op *op, const char *expected);
int update_error_no_field(const struct update_op *op);
int update_error_field(const struct update_op *op, const char *text);
int update_error_path(const struct update_op *op, int position);

/** Does the operation make a new value out of the old one ('+', '&', ':' ...)? */
static inline bool update_op_is_scalar(const struct update_op *op)
{
	return op->opcode != '=' && op->opcode != '!' && op->opcode != '#';
}

/** A value in the region or elsewhere. */
struct update_value {
	const char *data;
	uint32_t size;
};

/** The number, decoded. False: it is none. */
bool update_number_read(const char *value, struct update_number *number);

/** Applies '+', '-', '&', '|', '^' or ':' to a value. */
int update_scalar(const struct update_op *op, const char *old, struct region *region,
		  struct update_value *result);

/** Applies an operation with a path inside a field's value. */
int update_inside(const struct update_op *op, struct update_value old, struct region *region,
		  struct update_value *result);
