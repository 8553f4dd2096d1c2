/* SPDX-License-Identifier: BSD-2-Clause */
/* Back end: the test GPU of gpusim.ko. Memory and evictions are the kernel's own. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../../user/sys/drm.h"
#include "../gpusim_uapi.h"
#include "backend.h"

#define MAX_NODES   16
#define DEADLINE_MS 5000

/* Set by init, read-only afterwards. */
static struct device {
	int kfd;
	int count;
	int node[MAX_NODES];
	unsigned int minor[MAX_NODES];
	bool gtt; /* hipHostMalloc gives driver memory */
} dev = {.kfd = -1};

static int open_nodes(void)
{
	struct hcs_drm_node node[HCS_DRM_MAX];
	char path[64];
	int fd, i, n, root = hcs_root();

	if (root < 0)
		return root;
	n = hcs_drm_nodes(root, node, HCS_DRM_MAX, hcs_deadline_ms(DEADLINE_MS));
	close(root);
	for (i = 0; i < n && dev.count < MAX_NODES; i++) {
		if (strcmp(node[i].driver, "gpusim") != 0)
			continue;
		snprintf(path, sizeof(path), "/dev/dri/renderD%u", node[i].minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		dev.minor[dev.count] = node[i].minor;
		dev.node[dev.count++] = fd;
	}
	return dev.count;
}

/* KFD first: the process must exist there before a render node can stop its queues. */
static hipError_t device_init(void)
{
	const char *userptr = getenv("HSA_USERPTR_FOR_PAGED_MEM");

	dev.gtt = userptr && !strcmp(userptr, "0");
	dev.kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (dev.kfd < 0)
		return hipErrorNoDevice;
	if (open_nodes() > 0)
		return hipSuccess;
	close(dev.kfd);
	dev.kfd = -1;
	return hipErrorNoDevice;
}

static int device_count(void)
{
	return dev.count;
}

static void device_bus_id(int device, char *id, size_t size)
{
	snprintf(id, size, "gpusim:%u", dev.minor[device]);
}

static int node_ioctl(unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(dev.node[0], request, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

static hipError_t device_register(void *ptr, size_t bytes)
{
	struct gpusim_range range = {.addr = (uintptr_t)ptr, .len = bytes};
	int ret = node_ioctl(GPUSIM_IOCTL_REGISTER, &range);

	/* HIP reports every failure of a registration as an invalid value. */
	return ret ? hipErrorInvalidValue : hipSuccess;
}

static hipError_t device_unregister(void *ptr, size_t bytes)
{
	struct gpusim_range range = {.addr = (uintptr_t)ptr, .len = bytes};

	return node_ioctl(GPUSIM_IOCTL_UNREGISTER, &range) ? hipErrorUnknown : hipSuccess;
}

static void *map_private(size_t bytes, int prot)
{
	void *ptr = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return ptr == MAP_FAILED ? NULL : ptr;
}

/*
 * As the thunk does: GTT on the first GPU, or user memory registered behind the caller's back
 * (USERPTR).
 */
static hipError_t device_host_alloc(void **ptr, size_t bytes)
{
	void *mem;

	if (dev.gtt) {
		mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, dev.node[0], 0);
		if (mem == MAP_FAILED)
			return hipErrorOutOfMemory;
	} else {
		mem = map_private(bytes, PROT_READ | PROT_WRITE);
		if (!mem)
			return hipErrorOutOfMemory;
		if (device_register(mem, bytes) != hipSuccess) {
			munmap(mem, bytes);
			return hipErrorOutOfMemory;
		}
	}
	*ptr = mem;
	return hipSuccess;
}

static void device_host_free(void *ptr, size_t bytes)
{
	if (!dev.gtt)
		device_unregister(ptr, bytes);
	munmap(ptr, bytes);
}

/*
 * The alias has an address of its own and no access for the CPU, as on MI355X: whoever takes it for
 * the host pointer finds out at once.
 */
static hipError_t device_host_register(void *ptr, size_t bytes, void **device)
{
	void *alias = map_private(bytes, PROT_NONE);
	hipError_t ret;

	if (!alias)
		return hipErrorOutOfMemory;
	ret = device_register(ptr, bytes);
	if (ret != hipSuccess) {
		munmap(alias, bytes);
		return ret;
	}
	*device = alias;
	return hipSuccess;
}

static hipError_t device_host_unregister(void *ptr, size_t bytes, void *device)
{
	hipError_t ret = device_unregister(ptr, bytes);

	munmap(device, bytes);
	return ret;
}

static hipError_t device_alloc(void **ptr, size_t bytes)
{
	*ptr = map_private(bytes, PROT_READ | PROT_WRITE);
	return *ptr ? hipSuccess : hipErrorOutOfMemory;
}

static void device_free(void *ptr, size_t bytes)
{
	munmap(ptr, bytes);
}

static hipError_t device_spend(uint64_t ns)
{
	struct gpusim_submit submit = {.work_ns = ns};

	return node_ioctl(GPUSIM_IOCTL_SUBMIT, &submit) ? hipErrorUnknown : hipSuccess;
}

const struct backend device_backend = {
	.init = device_init,
	.device_count = device_count,
	.bus_id = device_bus_id,
	.host_alloc = device_host_alloc,
	.host_free = device_host_free,
	.host_register = device_host_register,
	.host_unregister = device_host_unregister,
	.device_alloc = device_alloc,
	.device_free = device_free,
	.spend = device_spend,
};
