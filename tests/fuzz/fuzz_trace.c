/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace reader: the input as a file, and as the content of a frame whose checksum is right. */
#include <string.h>
#include <zstd.h>
#include "fuzz.h"
#include "../../user/trace/format.h"

#define MAX_RECORDS 10000000u /* more cannot come out of an input of libFuzzer's size */

static void read_all(const char *path)
{
	const struct hcw_rec *rec;
	struct hcw_reader *r;
	struct hcw_err err;
	volatile uint32_t sum = 0;
	uint32_t n = 0;
	int ret;

	err.what[0] = '\0';
	ret = hcw_reader_open(&r, path, &err);
	FUZZ_CHECK(ret <= 0);
	if (ret) {
		FUZZ_CHECK(err.what[0] && err.code == HCW_EXIT_TRACE);
		return;
	}
	while ((ret = hcw_reader_next(r, &rec, &err)) == 1) {
		const uint8_t *body = (const uint8_t *)(rec + 1);

		FUZZ_CHECK(rec->len % 8 == 0 && (uintptr_t)rec % 8 == 0 && ++n < MAX_RECORDS);
		for (unsigned int i = 0; i < rec->len; i++) /* for the address sanitizer */
			sum = sum + body[i];
	}
	FUZZ_CHECK(!ret && !hcw_reader_next(r, &rec, &err));
	hcw_reader_close(r);
}

static void read_as_frame(const uint8_t *data, size_t size)
{
	struct hcw_frame_head head = {
		.skippable = HCW_FRAME_SKIPPABLE,
		.size = sizeof(head.index),
		.index = {.magic = HCW_FRAME_MAGIC, .records = 1},
	};
	size_t room = ZSTD_compressBound(size);
	uint8_t *file = malloc(sizeof(head) + room);
	size_t n;

	FUZZ_CHECK(file);
	memcpy(file, &head, sizeof(head));
	n = ZSTD_compress(file + sizeof(head), room, data, size, 1);
	FUZZ_CHECK(!ZSTD_isError(n));
	read_all(fuzz_file(file, sizeof(head) + n));
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_all(fuzz_file(data, size));
	read_as_frame(data, size);
	return 0;
}
