/* SPDX-License-Identifier: BSD-2-Clause */
/* stat, cmdline, status and cgroup of a process, meminfo of a node. */
#include <errno.h>
#include <string.h>
#include "fuzz.h"
#include "../../user/sys/cgroup.h"
#include "../../user/sys/numa.h"
#include "../../user/sys/pidns.h"
#include "../../user/sys/proc.h"

static void check_proc(const uint8_t *data, size_t size)
{
	struct hcs_proc p;
	char buf[16];
	ssize_t n;
	int ret = hcs_proc_read(fuzz_root("proc/9/stat", data, size), 9, &p, 0);

	FUZZ_CHECK(!ret || ret == -EBADMSG || ret == -E2BIG);
	FUZZ_CHECK(ret || (memchr(p.comm, '\0', sizeof(p.comm)) && p.tgid >= 0 && p.parent >= 0));
	n = hcs_proc_cmdline(fuzz_root("proc/9/cmdline", data, size), 9, buf, sizeof(buf), 0);
	FUZZ_CHECK(n >= 0 && n < (ssize_t)sizeof(buf) && strlen(buf) == (size_t)n);
}

static void check_namespaces(const uint8_t *data, size_t size)
{
	struct hcs_pid_names names;
	int ret = hcs_pid_names(fuzz_root("proc/9/status", data, size), 9, &names, 0);

	FUZZ_CHECK(!ret || ret == -EBADMSG);
	FUZZ_CHECK(ret || (names.tgid > 0 && names.levels && names.levels <= HCS_PIDNS_LEVELS &&
			   names.number[names.levels - 1] > 0));
	ret = hcs_cgroup_in(fuzz_root("proc/9/cgroup", data, size), 9, "/a", 0);
	FUZZ_CHECK(ret == 0 || ret == 1 || ret == -EBADMSG);
}

static void check_nodes(int ret, const int *node)
{
	FUZZ_CHECK(ret <= 4 && (ret >= 0 || ret == -EBADMSG || ret == -E2BIG || ret == -ENOENT));
	for (int i = 1; i < ret; i++)
		FUZZ_CHECK(node[i] > node[i - 1]);
}

/* All three files hold the input: at least one of them never fits, so each parser is also met
 * alone. */
static void check_numa(const uint8_t *data, size_t size)
{
	int root = fuzz_root("proc/9/status", data, size);
	int node[4];

	check_nodes(hcs_numa_allowed(root, 9, node, 4, 0), node);
	fuzz_root("sys/devices/system/node/node0/meminfo", data, size);
	root = fuzz_root("sys/devices/system/node/online", data, size);
	check_nodes(hcs_numa_nodes(root, node, 4, 0), node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_proc(data, size);
	check_namespaces(data, size);
	check_numa(data, size);
	return 0;
}
