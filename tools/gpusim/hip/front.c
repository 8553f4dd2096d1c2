/* SPDX-License-Identifier: BSD-2-Clause */
/* The stand-in's HIP entry points that are about the runtime, devices and streams. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "front.h"

/* Written once, under pthread_once. */
static struct front {
	pthread_once_t once;
	const struct backend *backend;
	hipError_t state;
} front = {.once = PTHREAD_ONCE_INIT};

/* HIP keeps one a thread. */
static _Thread_local hipError_t last_error;

static void start_backend(void)
{
	front.backend = &device_backend;
	front.state = front.backend->init();
}

hipError_t front_ready(void)
{
	pthread_once(&front.once, start_backend);
	return front.state;
}

const struct backend *front_backend(void)
{
	return front.backend;
}

hipError_t front_result(hipError_t error)
{
	if (error != hipSuccess)
		last_error = error;
	return error;
}

hipError_t gpusim_spend(uint64_t ns)
{
	hipError_t ret = front_ready();

	return ret == hipSuccess ? front.backend->spend(ns) : ret;
}

hipError_t hipGetLastError(void)
{
	hipError_t error = last_error;

	last_error = hipSuccess;
	return error;
}

hipError_t hipInit(unsigned int flags)
{
	return front_result(flags ? hipErrorInvalidValue : front_ready());
}

hipError_t hipGetDeviceCount(int *count)
{
	hipError_t ret = front_ready();

	if (!count)
		return front_result(hipErrorInvalidValue);
	*count = ret == hipSuccess ? front.backend->device_count() : 0;
	return front_result(ret);
}

/* hipSuccess when the runtime is up and has the device. */
static hipError_t check_device(int device)
{
	hipError_t ret = front_ready();

	if (ret != hipSuccess)
		return ret;
	if (device < 0 || device >= front.backend->device_count())
		return hipErrorInvalidDevice;
	return hipSuccess;
}

/* All devices are one process's queues here, so which one is current makes no difference. */
hipError_t hipSetDevice(int device)
{
	return front_result(check_device(device));
}

hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device)
{
	hipError_t ret = check_device(device);

	if (ret == hipSuccess && (!name || len <= 0))
		ret = hipErrorInvalidValue;
	if (ret == hipSuccess)
		snprintf(name, (size_t)len, "simulated test GPU");
	return front_result(ret);
}

hipError_t hipDeviceGetPCIBusId(char *id, int len, int device)
{
	hipError_t ret = check_device(device);

	if (ret == hipSuccess && (!id || len <= 0))
		ret = hipErrorInvalidValue;
	if (ret == hipSuccess)
		front.backend->bus_id(device, id, (size_t)len);
	return front_result(ret);
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
	hipError_t ret = front_ready();

	if (ret == hipSuccess && !stream)
		ret = hipErrorInvalidValue;
	if (ret == hipSuccess) {
		/* Work is done when it is submitted: a stream is an address and nothing more. */
		*stream = calloc(1, 1);
		if (!*stream)
			ret = hipErrorOutOfMemory;
	}
	return front_result(ret);
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	if (!stream)
		return front_result(hipErrorInvalidHandle);
	free(stream);
	return hipSuccess;
}

/* Work was done at submission; what is left is a queue that is stopped right now. */
hipError_t hipStreamSynchronize(hipStream_t stream)
{
	(void)stream;
	return front_result(gpusim_spend(0));
}

hipError_t hipDeviceSynchronize(void)
{
	return front_result(gpusim_spend(0));
}
