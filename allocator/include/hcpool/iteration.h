/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iteration marks for hcwatch. Self-contained: an application may copy this one file. C and C++.
 *
 *	hcwatch_iteration_begin(id);
 *	... submit GPU work, wait for it ...
 *	hcwatch_iteration_end(id);
 *
 * Each call is a USDT mark (provider "hcwatch", names iteration_begin and iteration_end, one
 * unsigned 8-byte argument): one nop in the code and a note in the ELF file, no function call, no
 * library, no semaphore. It costs nothing while no tracer is attached.
 *
 * `id` is the application's own number of the iteration. Begin and end of one iteration must be
 * called by the same thread with the same id; several threads may have iterations at the same
 * time. Never fails and takes no lock; any thread and any signal handler may call it.
 *
 * Implemented on x86-64 and aarch64. Elsewhere both functions do nothing and the compiler says so
 * with a #warning.
 *
 * Note format: version 3 of the "stapsdt" ELF note as read by SystemTap, gdb, bpftrace, perf and
 * libbpf: note type 3, address of the nop, address of .stapsdt.base, address of a semaphore or 0,
 * then provider, name and arguments as strings. A reader compares the base symbol's address with
 * the section's to correct the other addresses when prelink moved the file.
 */
#ifndef HCPOOL_ITERATION_H
#define HCPOOL_ITERATION_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define HCWATCH_USDT 1
#endif

#ifdef HCWATCH_USDT
/*
 * Assembler text of one mark. `args` is in USDT notation, for example "8@%0 8@%1". Operands should
 * have the "r" constraint: a register is the one form every reader understands.
 *
 * The note's "?" flag puts it into the section group of the surrounding code: when the linker
 * drops a duplicate inline function of C++, its marks go too. Labels: 990 the nop, 991 and 992
 * around the owner's name, 993 and 994 around the description.
 */
#define HCWATCH_USDT_MARK(provider, name, args)                                  \
	"990:	nop\n"                                                             \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
	"	.balign 4\n"                                                           \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991:	.asciz \"stapsdt\"\n"                                              \
	"992:	.balign 4\n"                                                       \
	"993:	.8byte 990b\n"                                                     \
	"	.8byte _.stapsdt.base\n"                                               \
	"	.8byte 0\n"                                                            \
	"	.asciz \"" provider "\"\n"                                       \
	"	.asciz \"" name "\"\n"                                           \
	"	.asciz \"" args "\"\n"                                           \
	"994:	.balign 4\n"                                                       \
	"	.popsection\n"                                                         \
	"	.ifndef _.stapsdt.base\n"                                              \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"	.weak _.stapsdt.base\n"                                                \
	"	.hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                             \
	"	.size _.stapsdt.base, 1\n"                                             \
	"	.popsection\n"                                                         \
	"	.endif\n"
#else
#warning "hcpool/iteration.h: no USDT marks on this architecture, hcwatch will not see iterations"
#endif

static inline void hcwatch_iteration_begin(uint64_t id)
{
#ifdef HCWATCH_USDT
	__asm__ __volatile__(HCWATCH_USDT_MARK("hcwatch", "iteration_begin", "8@%0") : : "r"(id));
#else
	(void)id;
#endif
}

static inline void hcwatch_iteration_end(uint64_t id)
{
#ifdef HCWATCH_USDT
	__asm__ __volatile__(HCWATCH_USDT_MARK("hcwatch", "iteration_end", "8@%0") : : "r"(id));
#else
	(void)id;
#endif
}

#endif
