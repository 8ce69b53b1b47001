/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C frames of a fiber, by the chain of frame pointers, which all of our code
 * keeps. Code without them (LuaJIT's interpreter) ends the chain.
 */
#include "core/fiber.h"

/** Follows the chain from `frame` while it stays in the fiber's stack and leads upwards. */
static int follow(const struct fiber *f, const uintptr_t *frame, void **pcs, int count, int max)
{
	const char *low = f->_stack.base, *high = low + f->_stack.size;
	while (count < max) {
		const char *at = (const char *)frame;
		if (at < low || at > high - 2 * sizeof(*frame) ||
		    (uintptr_t)at % sizeof(*frame) != 0)
			break;
		if (frame[1] == 0)
			break;
		pcs[count++] = (void *)frame[1];
		low = at + sizeof(*frame);
		frame = (const uintptr_t *)frame[0];
	}
	return count;
}

__attribute__((noinline)) int fiber_backtrace(const struct fiber *f, void **pcs, int max)
{
	if (f == fiber())
		return follow(f, __builtin_frame_address(0), pcs, 0, max);
	if (f->_stack.base == NULL || max == 0)
		return 0; /* main, while another runs: its stack is the thread's */
	const uintptr_t *sp = f->_sp;
	pcs[0] = (void *)sp[0];
	return follow(f, (const uintptr_t *)sp[1], pcs, 1, max);
}
