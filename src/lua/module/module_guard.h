/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands in front of every exported function that may yield.
 */
#pragma once

/**
 * Keeps the call out of a trace that is being recorded. Where compiled code made the
 * call, stops the process with a message: a switch would corrupt the Lua heap. Where a
 * finalizer did, raises a Lua error. `func`: the exported function's name; `caller`: the
 * address it returns to.
 */
void module_guard(const char *func, const void *caller);

/** To be the first in an exported function. */
#define MODULE_GUARD() module_guard(__func__, __builtin_return_address(0))
