/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "fuzz.h"
#include "../../user/sys/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addrs[] = {0, 1, 0xffffffff81000000, UINT64_MAX};
	struct hcs_kallsyms *k;
	int ret = hcs_kallsyms_load(&k, fuzz_root("proc/kallsyms", data, size), 0);

	FUZZ_CHECK(!ret || ret == -EBADMSG);
	if (ret)
		return 0;
	for (size_t i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++) {
		char buf[64];

		ret = hcs_kallsyms_name(k, addrs[i], buf, sizeof(buf));
		FUZZ_CHECK(!ret || ret == -ENOENT || ret == -E2BIG);
		FUZZ_CHECK(ret == -ENOENT || memchr(buf, '\0', sizeof(buf)));
	}
	FUZZ_CHECK(hcs_kallsyms_count(k, "", "*") == 0);
	hcs_kallsyms_count(k, "kgd2kfd_quiesce_mm", "amdgpu");
	{
		struct hcs_symbol s[2];
		size_t n = hcs_kallsyms_find(k, "kgd2kfd_quiesce_mm", "*", s, 2);

		for (size_t i = 0; i < n && i < 2; i++)
			FUZZ_CHECK(!strncmp(s[i].name, "kgd2kfd_quiesce_mm", 18) && s[i].module);
	}
	hcs_kallsyms_free(k);
	return 0;
}
