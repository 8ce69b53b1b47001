/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Looking at all rows of a space while the server goes on: to build an index, or to
 * check the rows against a new format.
 *
 *     tx:      freeze a view, note changes ---------> apply the changes -> new shape
 *     worker:             gather, check, sort, load
 *
 * The view holds the rows of one moment; what statements, and their undoing, change
 * from then on is noted with the build and applied to the new index in the same order,
 * until nothing is left. Whatever in a note does not fit (a duplicate, a wrong type)
 * fails the build, not the statement.
 *
 * Kinds of indexes that cannot be loaded at once take rows one by one, in steps, in tx; so are
 * rows checked by functions of constraints.
 *
 * While builds are under way the space is locked for alterations, and no checkpoint
 * begins: the row of _index is there before its transaction is sure to be committed.
 */
#pragma once

#include <stdbool.h>

struct space;
struct index;
struct tuple;
struct tuple_format;
struct txn;

/**
 * Fills a new index (NULL: only checks) with the rows of a space, each of which is checked
 * against `format` (NULL: none is). Yields where the current transaction allows it: this
 * statement is its first and only one. Then changes go on to be noted until
 * space_builds_end(). -1: an error; the index is to be deleted behind space_builds_end().
 */
int space_build(struct space *space, struct index *index, struct tuple_format *format);

/**
 * Checks each row by a function, which runs in tx; also those that change meanwhile. Yields
 * as space_build() does; the function may not. Ends the build. -1: an error.
 */
int space_check_each(struct space *space, int (*check)(struct tuple *row, void *arg), void *arg);

/**
 * Brings all builds of the space up to date; may yield. From its return to the new shape
 * nothing may. -1: an error.
 */
int space_builds_complete(struct space *space);

/** Forgets the builds and unlocks the space. For a space without builds, nothing. */
void space_builds_end(struct space *space);

/** The rows changed: `old_tuple` went, `new_tuple` came; either may be NULL. */
void space_builds_note(struct space *space, struct tuple *old_tuple, struct tuple *new_tuple);

/** -1 with ER_ALTER_SPACE where the space is locked by a build. */
int space_check_unlocked(const struct space *space);

/** Waits until no build is under way. Yields. -1: FiberIsCancelled. */
int space_builds_wait(void);
