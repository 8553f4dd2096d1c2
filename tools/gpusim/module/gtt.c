// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory the driver owns: what makes a pool immune. Flags as ttm_bo_mmap_obj() and
 * amdgpu_gem_object_mmap(). */
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <drm/drm_file.h>

#include "compat.h"
#include "gpusim.h"

#define FAULT_AROUND 16 /* as TTM_BO_VM_NUM_PREFAULT */

/* Shared by all VMAs that a mapping was split into; freed whole with the last. */
struct gtt_buffer {
	refcount_t vmas;
	struct gpusim_device *gpu;
	unsigned long npages;
	struct page *pages[];
};

u64 gpusim_gtt_total(void)
{
	unsigned long mib = READ_ONCE(gpusim_params.gtt_total_mib);

	return mib ? (u64)mib << 20 : (u64)totalram_pages() / 2 << PAGE_SHIFT;
}

static int gtt_charge(struct gpusim_device *gpu, unsigned long npages)
{
	unsigned long limit = gpusim_gtt_total() >> PAGE_SHIFT;
	int ret = 0;

	mutex_lock(&gpu->gtt_lock);
	if (gpu->gtt_used > limit || npages > limit - gpu->gtt_used)
		ret = -ENOMEM;
	else
		WRITE_ONCE(gpu->gtt_used, gpu->gtt_used + npages);
	mutex_unlock(&gpu->gtt_lock);
	return ret;
}

static void gtt_uncharge(struct gpusim_device *gpu, unsigned long npages)
{
	mutex_lock(&gpu->gtt_lock);
	WRITE_ONCE(gpu->gtt_used, gpu->gtt_used - npages);
	mutex_unlock(&gpu->gtt_lock);
}

static void gtt_free(struct gtt_buffer *buffer)
{
	unsigned long i;

	for (i = 0; i < buffer->npages && buffer->pages[i]; i++) {
		__free_page(buffer->pages[i]);
		cond_resched();
	}
	gtt_uncharge(buffer->gpu, buffer->npages);
	kvfree(buffer);
}

static int gtt_fill(struct gtt_buffer *buffer)
{
	/* A pool too big for the machine is the caller's error, nothing to kill others for. */
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	int node = numa_mem_id();
	unsigned long i;

	for (i = 0; i < buffer->npages; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		buffer->pages[i] = alloc_pages_node(node, gfp, 0);
		if (!buffer->pages[i])
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

static struct gtt_buffer *gtt_alloc(struct gpusim_device *gpu, unsigned long npages)
{
	struct gtt_buffer *buffer;
	int ret;

	ret = gtt_charge(gpu, npages);
	if (ret)
		return ERR_PTR(ret);
	buffer = kvzalloc(struct_size(buffer, pages, npages), GFP_KERNEL);
	if (!buffer) {
		gtt_uncharge(gpu, npages);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&buffer->vmas, 1);
	buffer->gpu = gpu;
	buffer->npages = npages;
	ret = gtt_fill(buffer);
	if (ret) {
		gtt_free(buffer);
		return ERR_PTR(ret);
	}
	return buffer;
}

static vm_fault_t gtt_fault(struct vm_fault *vmf)
{
	struct gtt_buffer *buffer = vmf->vma->vm_private_data;
	unsigned long addr = vmf->address, i;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	/* pgoff counts from the start of the mapping, also after it was split or moved */
	for (i = 0; i < FAULT_AROUND; i++) {
		if (addr >= vmf->vma->vm_end || vmf->pgoff + i >= buffer->npages)
			break;
		ret = vmf_insert_pfn(vmf->vma, addr, page_to_pfn(buffer->pages[vmf->pgoff + i]));
		if (ret != VM_FAULT_NOPAGE)
			break;
		addr += PAGE_SIZE;
	}
	/* The faulting page is in; the others were only a guess. */
	return i ? VM_FAULT_NOPAGE : ret;
}

static void gtt_vma_open(struct vm_area_struct *vma)
{
	struct gtt_buffer *buffer = vma->vm_private_data;

	refcount_inc(&buffer->vmas);
}

static void gtt_vma_close(struct vm_area_struct *vma)
{
	struct gtt_buffer *buffer = vma->vm_private_data;

	if (refcount_dec_and_test(&buffer->vmas))
		gtt_free(buffer);
}

static const struct vm_operations_struct gtt_vm_ops = {
	.open = gtt_vma_open,
	.close = gtt_vma_close,
	.fault = gtt_fault,
};

int gpusim_gtt_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct drm_file *drm_file = file->private_data;
	struct gtt_buffer *buffer;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff)
		return -EINVAL;
	buffer = gtt_alloc(to_gpusim(drm_file->minor->dev), vma_pages(vma));
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	vma->vm_private_data = buffer;
	vma->vm_ops = &gtt_vm_ops;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	return 0;
}
