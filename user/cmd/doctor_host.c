/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the host for `hcwatch doctor`. Needs no right that an ordinary user has not. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "../sys/drm.h"
#include "../sys/kfd.h"
#include "../sys/module.h"
#include "../sys/numa.h"
#include "doctor_internal.h"

static uint64_t deadline(void)
{
	return hcs_deadline_ms(DOCTOR_READ_MS);
}

const char *doctor_why(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return "you may not read it";
	case -ENODEV:
		return "/proc or /sys is not mounted here";
	case -ETIMEDOUT:
		return "the kernel did not answer in time";
	case -EBADMSG:
	case -E2BIG:
		return "not what the kernel is known to write";
	default:
		return strerror(-error);
	}
}

static enum doctor_known known(int ret)
{
	if (ret >= 0)
		return DOCTOR_KNOWN;
	return ret == -ENOENT ? DOCTOR_ABSENT : DOCTOR_UNKNOWN;
}

static void read_module(struct doctor_module *out, int root, const char *name)
{
	static const char *const states[] = {
		[HCS_MODULE_ABSENT] = "not loaded",
		[HCS_MODULE_BUILT_IN] = "built in",
		[HCS_MODULE_LIVE] = "loaded",
		[HCS_MODULE_CHANGING] = "coming or going",
	};
	struct hcs_module m;
	uint64_t bytes;
	int ret = hcs_module_read(root, name, &m, deadline());

	*out = (struct doctor_module){.name = name, .known = known(ret), .btf = DOCTOR_UNKNOWN};
	if (ret)
		return;
	out->state = states[m.state];
	out->present = m.state != HCS_MODULE_ABSENT;
	out->out_of_tree = m.out_of_tree != 0;
	snprintf(out->version, sizeof(out->version), "%s", m.version);
	snprintf(out->srcversion, sizeof(out->srcversion), "%s", m.srcversion);
	out->btf = known(hcs_btf_check(root, name, &bytes, deadline()));
}

/* Display adapters of others are no GPU this is about. */
static void read_gpus(struct doctor_host *out, int root)
{
	struct hcs_drm_node node[HCS_DRM_MAX];
	int i, n = hcs_drm_nodes(root, node, HCS_DRM_MAX, deadline());

	out->gpus_known = known(n);
	for (i = 0; i < n; i++) {
		struct doctor_gpu *g = &out->gpu[out->n_gpus];
		bool amdgpu = !strcmp(node[i].driver, "amdgpu");

		if (!amdgpu && !node[i].has_gtt)
			continue;
		*g = (struct doctor_gpu){.render = node[i].minor,
					 .simulated = !amdgpu,
					 .has_gtt = node[i].has_gtt != 0,
					 .gtt_total = node[i].gtt_total,
					 .gtt_used = node[i].gtt_used};
		snprintf(g->driver, sizeof(g->driver), "%s", node[i].driver);
		out->n_gpus++;
	}
}

/* The in-tree module is ttm, that of amdgpu-dkms amdttm; both can be there, amdgpu uses its own. */
static void read_ttm(struct doctor_host *out, int root)
{
	static const char *const modules[] = {"amdttm", "ttm"};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages;
	size_t i;

	for (i = 0; i < 2 && out->n_gpus; i++) {
		if (hcs_module_param(root, modules[i], "pages_limit", &pages, deadline()) ||
		    !pages || pages > UINT64_MAX / page) /* 0: not set before the first GPU is */
			continue;
		out->ttm_module = modules[i];
		out->ttm_limit = pages * page;
		return;
	}
}

static void read_vm(struct doctor_vm *vm, int root, int nodes)
{
	int i;

	memset(vm, 0, sizeof(*vm));
	vm->nodes = nodes;
	for (i = 0; i < HCS_VM_COUNT; i++)
		vm->error[i] = hcs_vm_read(root, i, &vm->value[i], deadline());
	vm->swap_error = hcs_swap_read(root, &vm->swap, deadline());
}

static void read_names(struct doctor_host *out, int root)
{
	struct utsname u;

	uname(&u);
	snprintf(out->host, sizeof(out->host), "%s", u.nodename);
	if (hcs_setting(root, "proc/sys/kernel/osrelease", "proc", out->kernel, sizeof(out->kernel),
			deadline()))
		snprintf(out->kernel, sizeof(out->kernel), "%s", u.release);
}

void doctor_read_host(struct doctor_host *out, int root)
{
	struct doctor_vm vm;
	uint32_t gpuid[HCS_KFD_MAX_GPUS];
	uint64_t bytes;
	int nodes, kfd;
	bool blind;
	size_t i;

	memset(out, 0, sizeof(*out));
	read_names(out, root);
	read_module(&out->module[out->n_modules++], root, "amdgpu");
	/* without sysfs nothing says that there is no NUMA, no KFD and no GPU */
	blind = out->module[0].known == DOCTOR_UNKNOWN;
	nodes = blind ? -ENODEV : hcs_numa_nodes(root, out->node, DOCTOR_MAX_NODES, deadline());
	kfd = blind ? -ENODEV : hcs_kfd_gpus(root, gpuid, HCS_KFD_MAX_GPUS, deadline());
	out->nodes_known = known(nodes);
	out->n_nodes = nodes > 0 ? (size_t)nodes : 0;
	out->kfd = known(kfd);
	out->kernel_btf = known(hcs_btf_check(root, "vmlinux", &bytes, deadline()));
	read_gpus(out, root);
	if (blind)
		out->gpus_known = DOCTOR_UNKNOWN;
	for (i = 0; i < out->n_gpus; i++)
		if (out->gpu[i].simulated && out->n_modules < 2)
			read_module(&out->module[out->n_modules++], root, out->gpu[i].driver);
	read_ttm(out, root);
	read_vm(&vm, root, nodes);
	out->n_settings = doctor_settings(out->setting, &vm);
}
