/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../../user/cmd/load.h"
#include "golden.h"

char *golden_report(const char *path, int json, int *exit_code)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct hcw_err err = {0};
	struct hcw_loaded l;
	char *text = NULL;
	size_t size;
	FILE *f;

	setenv("TZ", "UTC", 1);
	tzset();
	if (load_trace(path, &l, &err)) {
		if (exit_code)
			*exit_code = err.code;
		return NULL;
	}
	f = open_memstream(&text, &size);
	if (f && json)
		report_json(f, name, &l.info, l.chain);
	else if (f)
		report_text(f, name, &l.info, l.chain, false);
	if (f)
		fclose(f);
	if (exit_code)
		*exit_code = report_exit(&l.info, hcw_chain_model(l.chain));
	hcw_chain_free(l.chain);
	return text;
}

char *golden_read(const char *path)
{
	char *text = NULL, buf[4096];
	FILE *f = fopen(path, "r"), *out;
	size_t size, n;

	if (!f)
		return NULL;
	out = open_memstream(&text, &size);
	while (out && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		fwrite(buf, 1, n, out);
	fclose(f);
	if (out)
		fclose(out);
	return text;
}
