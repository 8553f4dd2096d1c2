/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded, it makes the kernel one without trampolines: a program loads, but its link cannot be
 * made (-ENOTSUPP, 524), as on arm64 before 6.0. libbpf calls bpf(2) through syscall(2).
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_ENOTSUPP 524 /* include/linux/errno.h of the kernel */

static int needs_trampoline(const union bpf_attr *attr)
{
	return attr->link_create.attach_type == BPF_TRACE_FENTRY ||
	       attr->link_create.attach_type == BPF_TRACE_FEXIT;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list args;
	size_t i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (!next)
		abort();
	if (number == SYS_bpf && a[0] == BPF_LINK_CREATE &&
	    needs_trampoline((const union bpf_attr *)a[1])) {
		errno = KERNEL_ENOTSUPP;
		return -1;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
