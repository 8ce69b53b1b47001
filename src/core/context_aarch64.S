/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a fiber's stack begins (see context.h), for 64-bit ARM. The return
 * address is declared undefined, which ends every unwinding here.
 */
#if defined(__aarch64__)
	.text
	.globl context_entry
	.type context_entry, %function
	.p2align 4
context_entry:
	.cfi_startproc
	.cfi_undefined x30
	/* context_switch() has restored x29 and popped the slot; sp is aligned to 16. */
	mov x29, xzr
	mov x30, xzr
	bl context_main
	brk #0
	.cfi_endproc
	.size context_entry, . - context_entry
#endif
	.section .note.GNU-stack, "", %progbits
