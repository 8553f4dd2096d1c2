// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters, platform devices, render nodes and ioctls of the test GPU. */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>

#include "../gpusim_uapi.h"
#include "compat.h"
#include "gpusim.h"

struct gpusim_params gpusim_params = {
	.gpu_ids = {52541, 61601},
	.page_cost_ns = 1460,
	.evict = true,
};

module_param_array_named(gpu_ids, gpusim_params.gpu_ids, uint, NULL, 0444);
MODULE_PARM_DESC(gpu_ids, "Ids of the two GPUs, as in stats_<gpuid>");
module_param_named(page_cost_ns, gpusim_params.page_cost_ns, uint, 0644);
MODULE_PARM_DESC(page_cost_ns, "Time a restore pass spends per page of a range");
module_param_named(gtt_total_mib, gpusim_params.gtt_total_mib, ulong, 0644);
MODULE_PARM_DESC(gtt_total_mib, "GTT of each GPU; 0 = half of RAM");
module_param_named(evict, gpusim_params.evict, bool, 0644);
MODULE_PARM_DESC(evict, "N: count invalidations, but leave the queues running");

static int info_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct gpusim_process *process = file->driver_priv;
	struct gpusim_info *info = data;

	info->gpu_id = gpusim_params.gpu_ids[to_gpusim(drm)->index];
	mutex_lock(&process->lock);
	info->restore_passes = process->passes;
	mutex_unlock(&process->lock);
	return 0;
}

/* As /dev/kfd: a file serves the address space that opened it, not a child that inherited it. */
static bool is_foreign(const struct gpusim_process *process)
{
	return process->mm != current->mm;
}

static int register_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct gpusim_process *process = file->driver_priv;
	const struct gpusim_range *range = data;

	if (is_foreign(process))
		return -EBADF;
	gpusim_process_add_stats(process);
	return gpusim_range_register(process, range->addr, range->len);
}

static int unregister_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct gpusim_process *process = file->driver_priv;
	const struct gpusim_range *range = data;

	if (is_foreign(process))
		return -EBADF;
	return gpusim_range_unregister(process, range->addr, range->len);
}

static int submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct gpusim_process *process = file->driver_priv;
	struct gpusim_submit *submit = data;

	if (is_foreign(process))
		return -EBADF;
	return gpusim_process_submit(process, &submit->work_ns, &submit->waited_ns);
}

/* the names that DRM_IOCTL_DEF_DRV() makes up */
#define DRM_IOCTL_GPUSIM_INFO	    GPUSIM_IOCTL_INFO
#define DRM_IOCTL_GPUSIM_REGISTER   GPUSIM_IOCTL_REGISTER
#define DRM_IOCTL_GPUSIM_UNREGISTER GPUSIM_IOCTL_UNREGISTER
#define DRM_IOCTL_GPUSIM_SUBMIT	    GPUSIM_IOCTL_SUBMIT

static const struct drm_ioctl_desc gpusim_ioctls[] = {
	DRM_IOCTL_DEF_DRV(GPUSIM_INFO, info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(GPUSIM_REGISTER, register_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(GPUSIM_UNREGISTER, unregister_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(GPUSIM_SUBMIT, submit_ioctl, DRM_RENDER_ALLOW),
};

static int gpusim_open(struct drm_device *drm, struct drm_file *file)
{
	struct gpusim_process *process = gpusim_process_get();

	if (IS_ERR(process))
		return PTR_ERR(process);
	file->driver_priv = process;
	return 0;
}

static void gpusim_postclose(struct drm_device *drm, struct drm_file *file)
{
	gpusim_process_put(file->driver_priv);
}

static const struct file_operations gpusim_fops = {
	GPUSIM_FOPS_BASE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.mmap = gpusim_gtt_mmap,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
};

static const struct drm_driver gpusim_drm_driver = {
	GPUSIM_DRM_VERSION,	    .name = "gpusim",
	.desc = "hcwatch test GPU", .driver_features = DRIVER_RENDER | DRIVER_GEM,
	.open = gpusim_open,	    .postclose = gpusim_postclose,
	.ioctls = gpusim_ioctls,    .num_ioctls = ARRAY_SIZE(gpusim_ioctls),
	.fops = &gpusim_fops,
};

static ssize_t mem_info_gtt_total_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", gpusim_gtt_total());
}
static DEVICE_ATTR_RO(mem_info_gtt_total);

static ssize_t mem_info_gtt_used_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct gpusim_device *gpu = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", (u64)READ_ONCE(gpu->gtt_used) << PAGE_SHIFT);
}
static DEVICE_ATTR_RO(mem_info_gtt_used);

static struct attribute *gpusim_dev_attrs[] = {
	&dev_attr_mem_info_gtt_total.attr,
	&dev_attr_mem_info_gtt_used.attr,
	NULL,
};
ATTRIBUTE_GROUPS(gpusim_dev);

static ssize_t counters_show(struct device_driver *driver, char *buf)
{
	return gpusim_counters_show(buf);
}
static DRIVER_ATTR_RO(counters);

static ssize_t overtakers_show(struct device_driver *driver, char *buf)
{
	return gpusim_overtakers_show(buf);
}

/* Writing anything begins anew. */
static ssize_t overtakers_store(struct device_driver *driver, const char *buf, size_t len)
{
	gpusim_overtakers_reset();
	return len;
}
static DRIVER_ATTR_RW(overtakers);

static struct attribute *gpusim_driver_attrs[] = {
	&driver_attr_counters.attr,
	&driver_attr_overtakers.attr,
	NULL,
};
ATTRIBUTE_GROUPS(gpusim_driver);

static void unregister_node(void *drm)
{
	drm_dev_unregister(drm);
}

static int gpusim_probe(struct platform_device *pdev)
{
	struct gpusim_device *gpu;
	int ret;

	gpu = devm_drm_dev_alloc(&pdev->dev, &gpusim_drm_driver, struct gpusim_device, drm);
	if (IS_ERR(gpu))
		return PTR_ERR(gpu);
	gpu->index = pdev->id;
	mutex_init(&gpu->gtt_lock);
	platform_set_drvdata(pdev, gpu);
	ret = drm_dev_register(&gpu->drm, 0);
	if (ret)
		return ret;
	return devm_add_action_or_reset(&pdev->dev, unregister_node, &gpu->drm);
}

static struct platform_driver gpusim_platform_driver = {
	.probe = gpusim_probe,
	.driver =
		{
			.name = "gpusim",
			.groups = gpusim_driver_groups,
			.dev_groups = gpusim_dev_groups,
			.suppress_bind_attrs =
				true, /* unbinding under open files is not what this GPU is for */
		},
};

static struct platform_device *gpus[GPUSIM_GPUS];

static void remove_gpus(void)
{
	int i;

	for (i = 0; i < GPUSIM_GPUS; i++)
		if (!IS_ERR_OR_NULL(gpus[i]))
			platform_device_unregister(gpus[i]);
}

static int add_gpus(void)
{
	int i;

	for (i = 0; i < GPUSIM_GPUS; i++) {
		gpus[i] = platform_device_register_simple("gpusim", i, NULL, 0);
		if (IS_ERR(gpus[i])) {
			int ret = PTR_ERR(gpus[i]);

			remove_gpus();
			return ret;
		}
	}
	return 0;
}

static int __init gpusim_init(void)
{
	int ret;

	ret = gpusim_kfd_find();
	if (ret)
		return ret;
	ret = platform_driver_register(&gpusim_platform_driver);
	if (ret)
		goto forget_kfd;
	ret = add_gpus();
	if (ret)
		goto unregister_driver;
	return 0;

unregister_driver:
	platform_driver_unregister(&gpusim_platform_driver);
forget_kfd:
	gpusim_kfd_forget();
	return ret;
}

static void __exit gpusim_exit(void)
{
	remove_gpus();
	platform_driver_unregister(&gpusim_platform_driver);
	gpusim_kfd_forget();
}

module_init(gpusim_init);
module_exit(gpusim_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("hcwatch test GPU: host memory side of an AMD GPU driver");
