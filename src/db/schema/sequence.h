/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences: definitions (_sequence) and current values (_sequence_data).
 *
 * next() and set() of users write a row of _sequence_data. A value that a sequence
 * gives to the first field of an inserted tuple writes none: recovery takes it from
 * the tuple. So values are kept here, and sequence_flush() brings the rows of
 * _sequence_data up to them before a checkpoint.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/schema/user.h"

struct sequence_def {
	uint32_t id, uid;
	char *name;
	int64_t step, min, max, start;
	bool is_cyclic;
};

struct sequence {
	struct sequence_def *def;
	struct access access;
	/** The last value given, where there is one. */
	int64_t value;
	bool is_started;
	/** A space made it for itself: it has that space's rights. */
	bool is_generated;
	/** The value is not in _sequence_data. */
	bool is_dirty;
	/** Spaces that take their values from it. */
	uint32_t space_count;
};

struct sequence *sequence_by_id(uint32_t id);	/* NULL: none, no error set */

void sequence_foreach(void (*cb)(struct sequence *seq, void *arg), void *arg);

/** Advances it in memory. -1: ER_SEQUENCE_OVERFLOW. */
int sequence_advance(struct sequence *seq, int64_t *value);
/** A value came from elsewhere (an inserted tuple): the next ones are behind it. */
void sequence_follow(struct sequence *seq, int64_t value);

/** May the current user move or read it? Both take the right to write. */
int sequence_access_check(const struct sequence *seq);

/** Writes the current value as a row of _sequence_data. Yields. */
int sequence_write(struct sequence *seq);

/**
 * Writes the values that _sequence_data does not have; when it returns 0 all are
 * there. Called before a checkpoint freezes its view, with no yield in between. Yields.
 */
int sequence_flush(void);

void sequence_cache_init(void);
void sequence_cache_free(void);
void sequence_cache_put(struct sequence *seq);
void sequence_cache_del(struct sequence *seq);
void sequence_def_delete(struct sequence_def *def);
void sequence_delete(struct sequence *seq);
