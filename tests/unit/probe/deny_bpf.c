/* SPDX-License-Identifier: BSD-2-Clause */
/* deny_bpf ERRNO COMMAND [ARG]...: runs a command under a seccomp filter that answers bpf(2) with
 * ERRNO, as the profile of a container does. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int error = argc > 2 ? (unsigned int)atoi(argv[1]) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (!error) {
		fputs("Usage: deny_bpf ERRNO COMMAND [ARG]...\n", stderr);
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		fprintf(stderr, "deny_bpf: cannot install the filter: %s\n", strerror(errno));
		return 3;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "deny_bpf: %s: %s\n", argv[2], strerror(errno));
	return 3;
}
