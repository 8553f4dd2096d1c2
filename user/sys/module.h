/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules and type information of the kernel: /sys/module, /sys/kernel/btf. */
#ifndef HCS_MODULE_H
#define HCS_MODULE_H

#include "sys.h"

enum hcs_module_state {
	HCS_MODULE_ABSENT, /* not loaded (one that is built in and has no parameters shows nowhere)
			    */
	HCS_MODULE_BUILT_IN, /* has a folder, but no initstate */
	HCS_MODULE_LIVE,
	HCS_MODULE_CHANGING, /* coming or going */
};

struct hcs_module {
	enum hcs_module_state state;
	char version[64];    /* MODULE_VERSION; "" when it has none, as in-tree amdgpu */
	char srcversion[32]; /* "" when not built with CONFIG_MODULE_SRCVERSION_ALL */
	int out_of_tree;     /* taint O: DKMS and the like */
};

/* -ENODEV without /sys/module, -EINVAL for a name with a slash. A file that is missing or cannot
 * be read leaves its field empty. */
int hcs_module_read(int root, const char *name, struct hcs_module *out, uint64_t deadline);

/*
 * Tells one load of a module from the next: the inode of /sys/module/<name>, which is new each time
 * it is loaded. Cheap: one look at sysfs. -ENOENT while it is not loaded.
 */
int hcs_module_id(int root, const char *name, uint64_t *id, uint64_t deadline);

/* /sys/module/<name>/parameters/<parameter>, a decimal number. -ENOENT without one. */
int hcs_module_param(int root, const char *name, const char *parameter, uint64_t *value,
		     uint64_t deadline);

/*
 * /sys/kernel/btf/<name> ("vmlinux" or a module): 0 and its size in bytes, -ENOENT: there is none
 * (CONFIG_DEBUG_INFO_BTF, CONFIG_DEBUG_INFO_BTF_MODULES, or a module built without), -ENODEV
 * without /sys/kernel, -EBADMSG: it is there, but cut or in a byte order or version we cannot use.
 * Header: include/uapi/linux/btf.h struct btf_header.
 */
int hcs_btf_check(int root, const char *name, uint64_t *bytes, uint64_t deadline);

#endif
