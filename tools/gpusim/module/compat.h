/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every difference between the kernels this module builds on, each with the version that made it.
 */
#ifndef GPUSIM_COMPAT_H
#define GPUSIM_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/version.h>

/* 6.3: vm_flags became read-only, to be changed through vm_flags_set(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

/* 6.12: drm_open() warns about drivers that do not take fake offsets as unsigned. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define GPUSIM_FOPS_BASE .owner = THIS_MODULE, .fop_flags = FOP_UNSIGNED_OFFSET
#else
#define GPUSIM_FOPS_BASE .owner = THIS_MODULE
#endif

/* 6.14: struct drm_driver lost its date. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define GPUSIM_DRM_VERSION .major = 1, .date = "20261201"
#else
#define GPUSIM_DRM_VERSION .major = 1
#endif

#endif
