/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Constraints: functions that must say yes to a field or a row, and foreign keys, which
 * want a row of another space (or the same) to be there. And values that fields take where
 * a row has none. Source: the manual, "Constraints", "Foreign keys", "Default values".
 *
 * They are part of a space's definition: of the rows of _space,
 *
 *     format[i].constraint = {name = function}
 *     format[i].foreign_key = {name = {space = id, field = name | number}}
 *     format[i].default = value, format[i].default_func = function
 *     flags.constraint = {name = function}
 *     flags.foreign_key = {name = {space = id, field = {name | number = name | number, ...}}}
 *
 * with functions by id and fields by number from 0. A foreign key without `space` leads to
 * its own space. What they refer to is looked up when a row is checked, so rows of _space may
 * be read from a file before what they need is there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"

struct region;
struct request;
struct space;
struct space_def;
struct tuple;
struct tuple_format;
struct txn;

/** A field by its name or, where that is NULL, by its number from 0. */
struct field_ref {
	char *name;
	uint32_t no;
};

enum { NO_FIELD = UINT32_MAX };

/** Fields that have to have a counterpart in a parent space. */
struct foreign_key {
	/** The parent; 0: the space itself. */
	uint32_t space_id;
	/** Pairs: the space's own field, and the parent's. */
	uint32_t field_count;
	struct field_ref *local, *foreign;
	/** In the parent's list `referrers`, since the child was last linked. */
	struct list link;
	struct space *child;
	/** The constraint's, since then. */
	const char *name;
};

struct constraint {
	char *name;
	/** The field that it is about; NO_FIELD: the row. */
	uint32_t fieldno;
	/** The function, where `fkey` is NULL. */
	uint32_t func_id;
	struct foreign_key *fkey;
};

/** What a field takes instead of nil. */
struct field_default {
	uint32_t fieldno;
	/** MessagePack, or NULL: nil. With a function, its argument. */
	char *value;
	uint32_t value_size;
	/** 0: none. */
	uint32_t func_id;
};

/* Definitions ------------------------------------------------------------------ */

/**
 * Adds the functions of a map {name = id} to a definition; `fieldno` may be NO_FIELD.
 * `errcode` is ER_CREATE_SPACE or ER_ALTER_SPACE, of an error in the map. -1: an error.
 */
int constraint_decode_funcs(struct space_def *def, unsigned errcode, uint32_t fieldno,
			    const char *data);
/** The same of a map of foreign keys. */
int constraint_decode_fkeys(struct space_def *def, unsigned errcode, uint32_t fieldno,
			    const char *data);
/** Adds a default; `value` is MessagePack or NULL. */
void constraint_add_default(struct space_def *def, uint32_t fieldno, const char *value,
			    uint32_t size, uint32_t func_id);

/** Do what the constraints refer to, functions and parents, exist and suit? -1: an error. */
int constraint_check_def(const struct space_def *def);

/** Are the definitions' constraints the same? */
bool constraint_defs_equal(const struct space_def *a, const struct space_def *b);

/** Frees a definition's constraints and defaults. */
void constraint_free_all(struct space_def *def);

/** Does any space's constraint or default call the function? */
bool constraint_uses_func(uint32_t func_id);

/** Does a foreign key of another space lead to this one? */
bool constraint_is_parent(const struct space *space);

/**
 * May the space be emptied? -1 with ER_FOREIGN_KEY_INTEGRITY where a foreign key leads to it from
 * another space that has rows.
 */
int constraint_check_truncate(const struct space *space);

/* Rows ------------------------------------------------------------------------- */

/**
 * Checks a row against the constraints of a definition, which is the space's or is about to
 * be; the row has the format of that. Runs functions. -1: ER_FIELD_CONSTRAINT_FAILED,
 * ER_TUPLE_CONSTRAINT_FAILED, ER_FIELD_FOREIGN_KEY_FAILED, ER_COMPLEX_FOREIGN_KEY_FAILED, or
 * ER_TRANSACTION_YIELD where a function yielded.
 */
int constraint_check_row(struct space *space, const struct space_def *def, struct tuple *row);

/**
 * Checks all rows of a space against a definition that it is about to have. Yields, where rows
 * are many and the transaction allows it, while functions are called; foreign keys are looked
 * up at once, since parents could go meanwhile.
 */
int constraint_check_rows(struct space *space, const struct space_def *def,
			  struct tuple_format *format);

/** The part of foreign keys in constraint_check_row(). */
int foreign_key_check_row(struct space *space, const struct space_def *def,
			  const struct constraint *c, struct tuple *row);

/**
 * A row of a space goes, or another one comes in its place. -1 with
 * ER_FOREIGN_KEY_INTEGRITY where a row of a child needs it.
 */
int foreign_key_check_parent(struct space *space, struct tuple *old_row, struct tuple *new_row);

/** Foreign keys in all definitions; 0: foreign_key_check_parent() has nothing to do. */
extern uint32_t foreign_key_def_count;

/**
 * Puts defaults in the place of nils of the row that a request inserts or replaces, and behind
 * its end, for a space that has defaults; what it makes is on the region. -1: a function's error.
 */
int constraint_apply_defaults(struct space *space, struct request *request,
			      struct region *region);

/** The field's number from 1 and its name, as messages tell it: "2 (age)". */
const char *constraint_field_text(const struct space_def *def, uint32_t fieldno);
