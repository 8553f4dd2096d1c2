/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings, swaps, lockdown, capabilities, modules and BTF headers, all from the same bytes. */
#include <errno.h>
#include <string.h>
#include "fuzz.h"
#include "../../user/sys/module.h"
#include "../../user/sys/rights.h"
#include "../../user/sys/vm.h"

static int known_error(int ret)
{
	return ret == -EBADMSG || ret == -E2BIG;
}

static void check_vm(const uint8_t *data, size_t size)
{
	struct hcs_vm_value v;
	struct hcs_swap swap;
	int which, ret;

	for (which = 0; which < HCS_VM_COUNT; which++) {
		ret = hcs_vm_read(fuzz_root(hcs_vm_path(which), data, size), which, &v, 0);
		FUZZ_CHECK(!ret || known_error(ret));
		FUZZ_CHECK(ret || memchr(v.text, '\0', sizeof(v.text)));
	}
	ret = hcs_swap_read(fuzz_root("proc/swaps", data, size), &swap, 0);
	FUZZ_CHECK(!ret || known_error(ret));
}

static void check_rights(const uint8_t *data, size_t size)
{
	enum hcs_lockdown level = HCS_LOCKDOWN_NONE;
	struct hcs_rights r;
	int ret = hcs_rights_read(fuzz_root("proc/9/status", data, size), 9, &r, 0);

	FUZZ_CHECK(!ret || known_error(ret));
	FUZZ_CHECK(ret || (r.seccomp >= -1 && r.no_new_privs >= -1));
	ret = hcs_first_user_ns(fuzz_root("proc/9/uid_map", data, size), 9, 0);
	FUZZ_CHECK(ret == 0 || ret == 1);
	ret = hcs_lockdown_read(fuzz_root("sys/kernel/security/lockdown", data, size), &level, 0);
	FUZZ_CHECK(!ret || known_error(ret));
	FUZZ_CHECK(level <= HCS_LOCKDOWN_CONFIDENTIALITY);
}

static void check_module(const uint8_t *data, size_t size)
{
	struct hcs_module m;
	uint64_t bytes = 0;
	int ret;

	fuzz_root("sys/module/m/version", data, size);
	fuzz_root("sys/module/m/taint", data, size);
	ret = hcs_module_read(fuzz_root("sys/module/m/initstate", data, size), "m", &m, 0);
	FUZZ_CHECK(!ret || known_error(ret));
	FUZZ_CHECK(ret || memchr(m.version, '\0', sizeof(m.version)));
	ret = hcs_btf_check(fuzz_root("sys/kernel/btf/m", data, size), "m", &bytes, 0);
	FUZZ_CHECK(!ret || known_error(ret));
	FUZZ_CHECK(ret || bytes == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_vm(data, size);
	check_rights(data, size);
	check_module(data, size);
	return 0;
}
