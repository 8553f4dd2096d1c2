/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ioctls of the test GPU's render nodes (/dev/dri/renderD*, driver "gpusim").
 *
 * Memory the driver owns (GTT) is made by
 *	mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
 * exactly `bytes` rounded up to a page, zeroed, counted against mem_info_gtt_total of that node
 * (-ENOMEM above it), freed with the last munmap. The mapping is
 * VM_IO|VM_PFNMAP|VM_DONTEXPAND|VM_DONTDUMP|VM_DONTCOPY.
 *
 * Evictions are of the whole process, as in KFD: any file of any render node opened by the process
 * joins the same process object, and a register on one node is seen by both. -EBADF in a process
 * that only inherited the file, as from /dev/kfd.
 *
 * /dev/kfd is to be opened before the first render node: stats_<gpuid>/evicted_ms appear when a
 * render node is opened, and failing that at the next GPUSIM_IOCTL_REGISTER. They go with the
 * process' last render node.
 */
#ifndef GPUSIM_UAPI_H
#define GPUSIM_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

struct gpusim_info {
	__u32 gpu_id;	      /* out: as in stats_<gpuid> */
	__u32 restore_passes; /* out: passes of this process so far */
};

/*
 * User range the GPU works from; page aligned. REGISTER faults it in: -EFAULT when it is not mapped
 * or is memory of a driver, -EEXIST when a range begins there already. UNREGISTER takes the same
 * two numbers, on either node: -ENOENT when there is no such range. Both wait for a restore pass
 * that is running.
 */
struct gpusim_range {
	__u64 addr, len;
};

/*
 * Spend work_ns of GPU time. Waits while the queues are evicted, also when that happens half way.
 * A signal ends it with -EINTR, never restarted by the kernel: then work_ns is the rest, and
 * calling again with the same struct finishes the work.
 */
struct gpusim_submit {
	__u64 work_ns;	 /* in; 0 = only wait until the queues run. Out: 0, after -EINTR the rest */
	__u64 waited_ns; /* out: time spent evicted in this call */
};

/* 0x40 is DRM_COMMAND_BASE, 'd' is DRM_IOCTL_BASE */
#define GPUSIM_INFO		0x00
#define GPUSIM_REGISTER		0x01
#define GPUSIM_UNREGISTER	0x02
#define GPUSIM_SUBMIT		0x03

#define GPUSIM_IOCTL_INFO	_IOR('d', 0x40 + GPUSIM_INFO, struct gpusim_info)
#define GPUSIM_IOCTL_REGISTER	_IOW('d', 0x40 + GPUSIM_REGISTER, struct gpusim_range)
#define GPUSIM_IOCTL_UNREGISTER _IOW('d', 0x40 + GPUSIM_UNREGISTER, struct gpusim_range)
#define GPUSIM_IOCTL_SUBMIT	_IOWR('d', 0x40 + GPUSIM_SUBMIT, struct gpusim_submit)

#endif
