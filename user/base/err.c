/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "err.h"
#include "escape.h"

int hcw_err_set(struct hcw_err *err, int ret, enum hcw_exit code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return ret;
	err->code = (int)code;
	err->hint[0] = '\0';
	va_start(args, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, args);
	va_end(args);
	return ret;
}

void hcw_err_hint(struct hcw_err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
}

enum hcw_exit hcw_err_exit_of(int err)
{
	switch (abs(err)) {
	case EPERM:
	case EACCES:
		return HCW_EXIT_PERMISSION;
	case EINVAL:
	case ENOENT:
	case EEXIST:
	case EISDIR:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ESRCH:
		return HCW_EXIT_USAGE;
	default:
		return HCW_EXIT_UNSUPPORTED;
	}
}

int hcw_err_print(FILE *f, const char *program, const struct hcw_err *err)
{
	char line[4 * sizeof(err->what)]; /* every byte may become \xNN */
	const char *p = err->hint;

	fprintf(f, "%s: %s\n", program, hcw_escape(line, sizeof(line), err->what, SIZE_MAX));
	while (*p) {
		size_t len = strcspn(p, "\n");

		fprintf(f, "  %s\n", hcw_escape(line, sizeof(line), p, len));
		p += len + (p[len] == '\n');
	}
	return err->code;
}
