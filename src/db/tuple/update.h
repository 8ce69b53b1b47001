/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Update operations on a row: `+ - & | ^ = ! # :`, each [op, field, argument...].
 * Source: the manual, box.space:update() and :upsert().
 */
#pragma once

#include <stdint.h>

struct tuple_dictionary;
struct tuple_format;
struct region;

/**
 * Applies a MessagePack array of operations to a row. `index_base` is what
 * field numbers count from (1 in scripts, 0 in the protocol's default); fields
 * may be named through `dict` (may be NULL). `format` (may be NULL) tells of which type
 * they are: numbers in fields of doubles stay doubles. Returns the new row on the region,
 * its size in `*new_size`, and in `*column_mask` a bit for each field that may
 * have changed (bit 63: any from 63 on). NULL: ER_ILLEGAL_PARAMS,
 * ER_UNKNOWN_UPDATE_OP, ER_NO_SUCH_FIELD_NO, ER_NO_SUCH_FIELD_NAME,
 * ER_UPDATE_ARG_TYPE, ER_UPDATE_INTEGER_OVERFLOW, ER_UPDATE_SPLICE, ER_UPDATE_FIELD.
 */
const char *update_execute(const char *ops, const char *ops_end, const char *row,
			   const char *row_end, const struct tuple_dictionary *dict,
			   const struct tuple_format *format, int index_base, struct region *region,
			   uint32_t *new_size, uint64_t *column_mask);

/** The same for upsert: an operation that cannot be applied to the row is logged and skipped. */
const char *upsert_execute(const char *ops, const char *ops_end, const char *row,
			   const char *row_end, const struct tuple_dictionary *dict,
			   const struct tuple_format *format, int index_base, struct region *region,
			   uint32_t *new_size, uint64_t *column_mask);

/** Checks operations without a row, as upsert does where there is none. The region stays as it is. */
int update_check_ops(const char *ops, const char *ops_end, const struct tuple_dictionary *dict,
		     int index_base, struct region *region);
