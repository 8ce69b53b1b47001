/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What each stored procedure costs: box.stat.procedures().
 *
 * Whoever runs a procedure puts a mark before it and hands it in afterwards, with the
 * name; the difference in what the fiber has used (core/fiber.h) is the procedure's,
 * all that it called included. Always on: a call pays two reads of the processor's
 * counter and one look-up.
 *
 * Names are bounded: those beyond the limit are counted together as PROC_STAT_OTHER,
 * and calls of what does not exist or is not allowed as PROC_STAT_REFUSED, so clients
 * that invent names do not fill the table. All EVALs are PROC_STAT_EVAL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fiber.h"

#define PROC_STAT_EVAL "(eval)"
#define PROC_STAT_OTHER "(other)"
#define PROC_STAT_REFUSED "(refused)"

/** Names kept unless proc_stat_set_limit() says otherwise. */
enum { PROC_STAT_LIMIT_DEFAULT = 1000 };

struct proc_mark {
	uint64_t ticks;
	uint64_t switches;
	struct fiber_usage usage;
};

struct proc_stat {
	uint64_t calls, errors;
	/** Wall time, waits included; in ticks (core/ticks.h), all and the longest. */
	uint64_t ticks, ticks_max;
	/** How often the fiber was switched away and back. */
	uint64_t yields;
	struct fiber_usage usage;
};

void proc_stat_begin(struct proc_mark *mark);

/** Counts the call that `mark` began; `is_failed`: the error is the fiber's last one. */
void proc_stat_end(const struct proc_mark *mark, const char *name, size_t len, bool is_failed);

/**
 * The same for requests, which are numbered: the time of one that follows another at
 * once begins where that one ended. Reading the counter is half of all that this costs.
 */
void proc_stat_begin_request(struct proc_mark *mark, uint64_t number);
void proc_stat_end_request(const struct proc_mark *mark, uint64_t number, const char *name,
			   size_t len, bool is_failed);

/** Walks: start with *pos = 0; NULL at the end. The table may not change meanwhile. */
const struct proc_stat *proc_stat_next(size_t *pos, const char **name, size_t *len);

/** Forgets all names. */
void proc_stat_reset(void);

/** How many names are kept; those that are there already stay. */
size_t proc_stat_limit(void);
void proc_stat_set_limit(size_t limit);
