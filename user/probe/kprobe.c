/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../sys/num.h"
#include "../sys/sys.h"
#include "kprobe.h"

#define PMU	"sys/bus/event_source/devices/kprobe"
#define READ_MS 1000

/* "config:0": the bit of attr.config that makes it a probe of the return. */
static int return_bit(int root, uint64_t *bit)
{
	char text[32];
	ssize_t n = hcs_read_file(root, PMU "/format/retprobe", text, sizeof(text),
				  hcs_deadline_ms(READ_MS));

	if (n < 0)
		return (int)n;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "config:", 7))
		return -EBADMSG;
	return hcs_num_u64(text + 7, 0, 63, bit);
}

int hcw_kprobe_open(uint64_t addr, bool on_return)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	uint64_t type = 0, bit = 0;
	int root = hcs_root();
	int ret = root;

	if (root >= 0)
		ret = hcs_read_u64(root, PMU "/type", &type, hcs_deadline_ms(READ_MS));
	if (!ret && on_return)
		ret = return_bit(root, &bit);
	if (root >= 0)
		close(root);
	if (ret < 0)
		return ret;
	attr.type = (__u32)type;
	attr.config = on_return ? 1ull << bit : 0;
	attr.config1 = 0; /* no name */
	attr.config2 = addr;
	ret = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return ret < 0 ? -errno : ret;
}
