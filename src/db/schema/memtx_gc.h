/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Freeing what a dropped or emptied space, or a closed read view, leaves behind: in
 * steps, by a fiber of its own, so that nobody waits for it. Memory that runs out
 * makes it happen at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct index;

/** Lets accounts of memory and closed views call us. */
void memtx_gc_init(void);

/**
 * Takes an index that nobody uses any more. `drops_tuples`: it is a primary one, whose
 * references to its tuples are given back.
 */
void memtx_gc_add(struct index *index, bool drops_tuples);

/** Frees all there is at once; false where there was nothing. */
bool memtx_gc_run(void);
