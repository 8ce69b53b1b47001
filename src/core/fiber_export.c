/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What tarn/module.h has of fibers beside the runtime's own functions and does not
 * yield: attributes, the current fiber, the time. What yields is in lua/module/module_fiber.c,
 * behind its guard.
 */
#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"

struct fiber_attr {
	size_t stack_size;
};

struct fiber_attr *fiber_attr_new(void)
{
	struct fiber_attr *attr = xmalloc(sizeof(*attr));
	attr->stack_size = FIBER_STACK_SIZE_DEFAULT;
	return attr;
}

void fiber_attr_delete(struct fiber_attr *attr)
{
	xfree(attr);
}

int fiber_attr_setstacksize(struct fiber_attr *attr, size_t stack_size)
{
	if (stack_size < FIBER_STACK_SIZE_MIN) {
		diag_set(IllegalParams, "stack size must be at least %d bytes",
			 FIBER_STACK_SIZE_MIN);
		return -1;
	}
	attr->stack_size = stack_size;
	return 0;
}

size_t fiber_attr_getstacksize(struct fiber_attr *attr)
{
	return attr != NULL ? attr->stack_size : FIBER_STACK_SIZE_DEFAULT;
}

struct fiber *fiber_new_ex(const char *name, const struct fiber_attr *attr, fiber_func f)
{
	return fiber_new_sized(name, attr != NULL ? attr->stack_size : 0, f);
}

struct fiber *fiber_self(void)
{
	return fiber();
}

double fiber_time(void)
{
	return loop_time();
}

int64_t fiber_time64(void)
{
	return (int64_t)(loop_time() * 1e6);
}

double fiber_clock(void)
{
	return loop_monotonic();
}

int64_t fiber_clock64(void)
{
	return (int64_t)(loop_monotonic() * 1e6);
}

/*
 * Inline functions of the runtime, as symbols. The inline ones have no symbol of their
 * own, in a build without optimisation neither: they are always inlined.
 */

bool fiber_is_cancelled_symbol(void) __asm__("fiber_is_cancelled");
bool fiber_is_cancelled_symbol(void)
{
	return fiber_is_cancelled();
}

int fiber_check_slice_symbol(void) __asm__("fiber_check_slice");
int fiber_check_slice_symbol(void)
{
	return fiber_check_slice();
}
