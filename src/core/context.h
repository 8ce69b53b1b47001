/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The context switch. It is inline so that the compiler saves only what is
 * live across it: the assembler text saves the frame pointer and the place to
 * go on, swaps stacks, and names every other register as overwritten.
 *
 * It ends in an indirect jump, not a return. The processor predicts a return by
 * a stack of call sites, which a switch upsets; the jump has one site in the
 * program and nearly always one target. Being inline it leaves that stack
 * balanced: the return out of fiber_yield() is predicted to go where the last
 * call of it came from, which is right where fibers wait in the same function.
 *
 * The stack of a context that does not run, from its saved stack pointer up:
 *
 *     sp[0]  where to go on      (x86-64, aarch64)
 *     sp[1]  frame pointer       (x86-64, aarch64)
 *
 * The control words of floating point (mxcsr, x87, fpcr) are not saved: they
 * belong to the thread, nobody here changes them.
 */
#pragma once

#include <stdint.h>

/** Where a new context begins (context_*.S): calls context_main(), which never returns. */
void context_entry(void);

/** The C function that runs on each new stack; defined in fiber.c. */
void context_main(void) __attribute__((noreturn, used));

/** Prepares a stack that ends at `top` (aligned to 16) for a first switch; returns its sp. */
static inline void *context_create(void *top)
{
	uintptr_t *sp = (uintptr_t *)top - 4;
	sp[0] = (uintptr_t)context_entry;
	sp[1] = 0;
	sp[2] = sp[3] = 0;
	return sp;
}

#if defined(__x86_64__)

/** Leaves this context, with its stack pointer in `*save`, and goes on in the one at `to`. */
static inline __attribute__((always_inline)) void context_switch(void **save, void *to)
{
	/* 128: the red zone below the stack pointer is in use by the surrounding function. */
	__asm__ volatile(
		"leaq -128(%%rsp), %%rsp\n\t"
		"pushq %%rbp\n\t"
		"leaq 1f(%%rip), %%rax\n\t"
		"pushq %%rax\n\t"
		"movq %%rsp, (%0)\n\t"
		"movq %1, %%rsp\n\t"
		"popq %%rax\n\t"
		"jmpq *%%rax\n\t"
		"1:\n\t"
		"popq %%rbp\n\t"
		"leaq 128(%%rsp), %%rsp\n\t"
		: "+D"(save), "+S"(to)
		:
		: "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
		  "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
		  "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
		  "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)",
		  "memory", "cc");
}

#elif defined(__aarch64__)

/** Leaves this context, with its stack pointer in `*save`, and goes on in the one at `to`. */
static inline __attribute__((always_inline)) void context_switch(void **save, void *to)
{
	register void **x0 __asm__("x0") = save;
	register void *x1 __asm__("x1") = to;
	__asm__ volatile(
		"adr x2, 1f\n\t"
		"stp x2, x29, [sp, #-16]!\n\t"
		"mov x3, sp\n\t"
		"str x3, [x0]\n\t"
		"mov sp, x1\n\t"
		"ldp x2, x29, [sp], #16\n\t"
		"br x2\n\t"
		"1:\n\t"
		: "+r"(x0), "+r"(x1)
		:
		: "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
		  "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
		  "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
		  "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
		  "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
		  "v30", "v31", "memory", "cc");
}

#else
#error "no context switch for this processor: write one here and a context_*.S"
#endif
