/* SPDX-License-Identifier: BSD-2-Clause */
/* hipGetErrorName and hipGetErrorString. */
#include "backend.h"

const char *hipGetErrorName(hipError_t error)
{
#define NAME(name, value) \
	case name:        \
		return #name;

	switch (error) {
		HIP_ERROR_VALUES(NAME)
	}
#undef NAME
	return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
	switch (error) {
	case hipSuccess:
		return "no error";
	case hipErrorInvalidValue:
		return "invalid argument";
	case hipErrorOutOfMemory:
		return "out of memory";
	case hipErrorNotInitialized:
		return "initialization error";
	case hipErrorNoDevice:
		return "no ROCm-capable device is detected";
	case hipErrorInvalidDevice:
		return "invalid device ordinal";
	case hipErrorInvalidHandle:
		return "invalid resource handle";
	case hipErrorHostMemoryAlreadyRegistered:
		return "part or all of the requested memory range is already mapped";
	case hipErrorHostMemoryNotRegistered:
		return "pointer does not correspond to a registered memory region";
	case hipErrorUnknown:
		break;
	}
	return "unknown error";
}
