/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files that make up key definitions tell each other.
 */
#pragma once

#include "db/tuple/key_def.h"

/** Chooses `_compare` and `_compare_with_key` for the parts. */
void key_def_set_comparators(struct key_def *def);

/** Chooses `_tuple_hint` and `_key_hint`, and sets `hint_is_exact`. */
void key_def_set_hints(struct key_def *def);
