/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Telling a stack overflow from other faults. A fiber that runs into its guard
 * page raises SIGSEGV with no stack left, so the handler runs on a signal stack
 * of its own. It compares the faulting address with the running fiber's guard
 * page, writes the fiber's name to standard error, restores the default action
 * and returns: the instruction faults again and the process dies with a core
 * that shows the fiber's frames.
 *
 * Only functions that are safe in a signal handler are called here. The address
 * sanitizer has a handler of its own that does the same; ours stays out then.
 */
#include "core/stack.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/fiber.h"

#ifndef TARN_ASAN

static char signal_stack[16 * 1024];

static void put(const char *s, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDERR_FILENO, s, len);
		if (n <= 0)
			return;
		s += n;
		len -= n;
	}
}

static void put_number(uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = '0' + n % 10;
		n /= 10;
	} while (n > 0);
	put(digits + at, sizeof(digits) - at);
}

static void put_text(const char *s)
{
	put(s, strlen(s));
}

static bool is_overflow(const struct fiber *f, const char *address)
{
	const char *base = f->_stack.base;
	return base != NULL && address < base && address >= base - stack_page_size();
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
	(void)context;
	const struct fiber *f = fiber_current;
	if (f != NULL && is_overflow(f, info->si_addr)) {
		put_text("tarn: stack overflow in fiber ");
		put_number(f->id);
		put_text(" '");
		put_text(f->name);
		put_text("' (stack of ");
		put_number(f->stack_size);
		put_text(" bytes)\n");
	}
	signal(sig, SIG_DFL);
}

void stack_guard_install(void)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigemptyset(&action.sa_mask);
	if (sigaltstack(&stack, NULL) != 0)
		return;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

#else

void stack_guard_install(void)
{
}

#endif
