/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Alterations of a space as a whole. The structure of the space stays where it is
 * (statements and triggers refer to it); its shape - definition, format, indexes -
 * is replaced by another one, and put back where the alteration is undone.
 */
#pragma once

#include "db/schema/schema.h"

struct alter {
	struct change base;
	struct space *space;
	struct space_shape old, new;
	/** The old primary index goes with its tuples (drop, truncate), not into a new one. */
	bool drops_tuples;
};

/**
 * Begins an alteration: a new shape with this definition (taken over where it is
 * not the space's own, also on failure) and these keys. Checks keys against the
 * definition, and the rows (`checks_rows`) against both. Nothing is changed yet. NULL: an error.
 */
struct alter *alter_begin(struct txn *txn, struct txn_stmt *stmt, struct space *space,
			  struct space_def *def, struct key_def *const *keys, uint32_t key_count,
			  bool checks_rows);

/** Puts the shape with these indexes (ordered by id) in force, and ends builds. */
void alter_finish(struct alter *alter, struct index *const *index, uint32_t index_count);
/** Ends an alteration that failed after alter_begin(). */
void alter_abort(struct alter *alter);

/** Gives an index another definition, building it anew where that has to be. */
int alter_index(struct txn *txn, struct txn_stmt *stmt, struct space *space, struct index *old,
		const struct index_def *def);

/**
 * A change that looks at all rows of a space may not follow others in a transaction.
 * -1: ER_MULTISTATEMENT_TRANSACTION.
 */
int alter_check_alone(const struct txn *txn, const char *what);

/** Number of rows; 0 where there is no index. */
size_t space_row_count(const struct space *space);

/** Does the space's sequence, if any, suit another primary key? -1: ER_MODIFY_INDEX. */
int space_sequence_check_key(const struct space *space, const struct index_def *pk);
