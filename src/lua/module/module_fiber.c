/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The functions of tarn/module.h that yield: the guard, then the runtime's own. Within
 * the program the same names mean the unguarded functions (FIBER_UNGUARDED in
 * core/fiber.h), whose symbols are used here; so this file includes none of fiber.h.
 */
#include <tarn/module.h>

#include "core/coio.h"
#include "core/latch.h"
#include "lua/module/module_guard.h"

void unguarded_fiber_start_va(struct fiber *f, va_list args);
void unguarded_fiber_yield(void);
void unguarded_fiber_sleep(double seconds);
void unguarded_fiber_reschedule(void);
int unguarded_fiber_join_timeout(struct fiber *f, double timeout);
int unguarded_fiber_join(struct fiber *f);
int unguarded_fiber_cond_wait_timeout(struct fiber_cond *cond, double timeout);
int unguarded_fiber_cond_wait(struct fiber_cond *cond);

void fiber_start(struct fiber *f, ...)
{
	MODULE_GUARD();
	va_list args;
	va_start(args, f);
	unguarded_fiber_start_va(f, args);
	va_end(args);
}

void fiber_yield(void)
{
	MODULE_GUARD();
	unguarded_fiber_yield();
}

void fiber_sleep(double seconds)
{
	MODULE_GUARD();
	unguarded_fiber_sleep(seconds);
}

void fiber_reschedule(void)
{
	MODULE_GUARD();
	unguarded_fiber_reschedule();
}

int fiber_join_timeout(struct fiber *f, double timeout)
{
	MODULE_GUARD();
	return unguarded_fiber_join_timeout(f, timeout);
}

int fiber_join(struct fiber *f)
{
	MODULE_GUARD();
	return unguarded_fiber_join(f);
}

int fiber_cond_wait_timeout(struct fiber_cond *cond, double timeout)
{
	MODULE_GUARD();
	return unguarded_fiber_cond_wait_timeout(cond, timeout);
}

int fiber_cond_wait(struct fiber_cond *cond)
{
	MODULE_GUARD();
	return unguarded_fiber_cond_wait(cond);
}

/* Latches -------------------------------------------------------------- */

box_latch_t *box_latch_new(void)
{
	return latch_new();
}

void box_latch_delete(box_latch_t *latch)
{
	latch_delete(latch);
}

void box_latch_lock(box_latch_t *latch)
{
	MODULE_GUARD();
	latch_lock(latch);
}

int box_latch_trylock(box_latch_t *latch)
{
	return latch_trylock(latch);
}

void box_latch_unlock(box_latch_t *latch)
{
	latch_unlock(latch);
}

/* Blocking calls ------------------------------------------------------- */

int coio_wait(int fd, int event, double timeout)
{
	MODULE_GUARD();
	return coio_wait_events(fd, event, timeout);
}

ssize_t coio_call(ssize_t (*func)(va_list), ...)
{
	MODULE_GUARD();
	va_list args;
	va_start(args, func);
	ssize_t result = coio_call_va(func, args);
	va_end(args);
	return result;
}

int coio_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		     struct addrinfo **res, double timeout)
{
	MODULE_GUARD();
	return coio_resolve(host, port, hints, res, timeout);
}
