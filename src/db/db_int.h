/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the database's files share behind its face.
 */
#pragma once

#include "db/db.h"

struct space;
struct txn;
struct region;

/**
 * A change without a check of rights or of read-only mode: of the program itself,
 * or of a row that is being recovered (request->header is set: nothing goes to the
 * journal).
 */
int db_process_unchecked(struct request *request, struct tuple **result);

/** Carries out a statement on a space and ends it. Changes the request, as db_process() does. */
int db_execute(struct space *space, struct request *request, struct tuple **result);

/** Read-only mode, unless the space is of this instance only. -1: ER_READONLY. */
int db_check_writable(const struct space *space);

/** The sequence of a space gives or takes the value of its field in a tuple to be put. */
int db_handle_sequence(struct space *space, struct request *request, struct region *region);

/** Runs the before_replace triggers and makes the request one that has the effect they want. */
int db_before_replace(struct space *space, struct txn *txn, struct request *request);
