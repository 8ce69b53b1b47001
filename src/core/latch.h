/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Latches: locks that fibers hold across yields. Handed over in the order of arrival.
 */
#pragma once

#include "core/list.h"

struct fiber;

struct latch {
	/** Who holds it, or NULL. */
	struct fiber *owner;
	/** Those that wait, the first in front. */
	struct list waiters;
};

struct latch *latch_new(void);
/** Of a latch that nobody holds. */
void latch_delete(struct latch *latch);
/** Waits for as long as it takes; a cancel does not end it. Yields. */
void latch_lock(struct latch *latch);
/** 0: locked now; 1: somebody holds it. */
int latch_trylock(struct latch *latch);
/** By the one who holds it. The first that waits holds it from now on. */
void latch_unlock(struct latch *latch);
