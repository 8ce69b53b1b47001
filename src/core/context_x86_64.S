/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a fiber's stack begins (see context.h). The return address is declared
 * undefined, which ends every unwinding here: an error raised by LuaJIT that no
 * frame of the fiber catches finds the end of the stack, and a debugger shows
 * the fiber's frames only.
 */
#if defined(__x86_64__)
	.text
	.globl context_entry
	.type context_entry, @function
	.p2align 4
context_entry:
	.cfi_startproc
	.cfi_undefined rip
	/* context_switch() jumped here and left sp at the frame pointer's slot. */
	popq %rbp
	.cfi_def_cfa rsp, 16
	xorl %ebp, %ebp
	call context_main
	ud2
	.cfi_endproc
	.size context_entry, . - context_entry
#endif
	.section .note.GNU-stack, "", @progbits
