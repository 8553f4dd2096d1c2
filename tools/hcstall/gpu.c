/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "gpu.h"

#define DEADLINE_MS 5000

/* Newest first; the last is the development name. */
static const char *const hip_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
					"libamdhip64.so", NULL};
static const char *const blas_names[] = {"librocblas.so.5", "librocblas.so.4", "librocblas.so.0",
					 "librocblas.so", NULL};

int stall_hip_check(const struct stall_gpu *gpu, hipError_t hip, const char *call,
		    struct stall_err *err)
{
	if (hip == hipSuccess)
		return 0;
	return stall_fail(err, HCW_EXIT_UNSUPPORTED, "%s failed: %s (%d)", call,
			  gpu->hip.hipGetErrorString(hip), (int)hip);
}

int stall_blas_check(rocblas_status status, const char *call, struct stall_err *err)
{
	if (status == rocblas_status_success)
		return 0;
	return stall_fail(err, HCW_EXIT_UNSUPPORTED, "%s failed: rocBLAS status %d", call,
			  (int)status);
}

/*
 * RTLD_GLOBAL: rocBLAS finds the HIP that is already here, whatever path it was loaded from.
 * RTLD_NODELETE: HIP has threads and exit handlers of its own, it is never taken out again.
 */
static void *load(const char *path, const char *const *names, const char *option,
		  struct stall_err *err)
{
	const int flags = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE;
	const char *const *name;
	void *lib = NULL;

	if (path)
		lib = dlopen(path, flags);
	for (name = names; !path && !lib && *name; name++)
		lib = dlopen(*name, flags);
	if (lib)
		return lib;
	stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot load %s: %.300s", path ? path : names[0],
		   dlerror());
	stall_hint(err, "install ROCm, or say where it is by LD_LIBRARY_PATH or %s", option);
	return NULL;
}

static int bind_hip(struct stall_gpu *gpu, struct stall_err *err)
{
#define BIND(ret, name, args)                                    \
	gpu->hip.name = (ret(*) args)dlsym(gpu->hip_lib, #name); \
	if (!gpu->hip.name)                                      \
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "the HIP runtime has no " #name);
	HIP_WORK_CALLS(BIND)
#undef BIND
	return 0;
}

static int bind_blas(struct stall_gpu *gpu, struct stall_err *err)
{
#define BIND(ret, name, args)                                      \
	gpu->blas.name = (ret(*) args)dlsym(gpu->blas_lib, #name); \
	if (!gpu->blas.name)                                       \
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "rocBLAS has no " #name);
	ROCBLAS_CALLS(BIND)
#undef BIND
	return 0;
}

static int start(struct stall_gpu *gpu, struct stall_err *err)
{
	int count = 0;

	if (stall_hip_check(gpu, gpu->hip.hipInit(0), "hipInit", err) ||
	    stall_hip_check(gpu, gpu->hip.hipGetDeviceCount(&count), "hipGetDeviceCount", err))
		return -1;
	if (count < 1)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "HIP sees no GPU");
	return stall_hip_check(gpu, gpu->hip.hipSetDevice(0), "hipSetDevice", err);
}

int stall_gpu_open(struct stall_gpu *gpu, const struct stall_options *opts, struct stall_err *err)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->hip_lib = load(opts->hip, hip_names, "--hip", err);
	if (!gpu->hip_lib)
		return -1;
	gpu->blas_lib = load(opts->rocblas, blas_names, "--rocblas", err);
	if (gpu->blas_lib && !bind_hip(gpu, err) && !bind_blas(gpu, err) && !start(gpu, err))
		return 0;
	stall_gpu_close(gpu);
	return -1;
}

void stall_gpu_close(struct stall_gpu *gpu)
{
	if (gpu->blas_lib)
		dlclose(gpu->blas_lib);
	if (gpu->hip_lib)
		dlclose(gpu->hip_lib);
	memset(gpu, 0, sizeof(*gpu));
}

/* Render nodes that tell their GTT are those of GPUs that can have a pool. */
static int describe_nodes(int root, struct stall_result *result, struct stall_err *err)
{
	struct hcs_drm_node node[HCS_DRM_MAX];
	int i, n = hcs_drm_nodes(root, node, HCS_DRM_MAX, hcs_deadline_ms(DEADLINE_MS));

	if (n < 0)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot read /sys/class/drm: %s",
				  strerror(-n));
	result->gpus = 0;
	for (i = 0; i < n; i++)
		if (node[i].has_gtt)
			result->gpu[result->gpus++] = node[i];
	if (!result->gpus)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED,
				  "no render node in /sys/class/drm has mem_info_gtt_total");
	snprintf(result->driver, sizeof(result->driver), "%s", result->gpu[0].driver);
	result->simulated = strcmp(result->driver, "amdgpu") != 0;
	return 0;
}

int stall_gpu_describe(struct stall_gpu *gpu, int root, struct stall_result *result,
		       struct stall_err *err)
{
	hipError_t hip =
		gpu->hip.hipDeviceGetName(result->device_name, sizeof(result->device_name), 0);

	if (stall_hip_check(gpu, hip, "hipDeviceGetName", err))
		return -1;
	if (stall_blas_check(
		    gpu->blas.rocblas_get_version_string(result->gemm, sizeof(result->gemm)),
		    "rocblas_get_version_string", err))
		return -1;
	return describe_nodes(root, result, err);
}
