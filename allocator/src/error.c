/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include "internal.h"

/* One a thread, as errno is: a context's would be overwritten by another thread before it is read.
 */
static _Thread_local struct hcpool_error last_error;

const struct hcpool_error *hcpool_last_error(void)
{
	return &last_error;
}

int error_set(int code, const char *fmt, ...)
{
	va_list ap;

	last_error.code = code;
	last_error.hip = 0;
	last_error.hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(last_error.what, sizeof(last_error.what), fmt, ap);
	va_end(ap);
	return code;
}

void error_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last_error.hint, sizeof(last_error.hint), fmt, ap);
	va_end(ap);
}

void error_hip(hipError_t hip)
{
	last_error.hip = (int)hip;
}
