/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each setting, as it stands, does to a pool of user pages under a GPU. Nothing here asks
 * which kernel this is: what differs between kernels is said with the versions it was measured on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../out/fmt.h"
#include "doctor_internal.h"

static bool is(const struct doctor_setting *s, const char *word)
{
	return !strcmp(s->value, word);
}

static void effect(struct doctor_setting *s, enum doctor_effect shared,
		   enum doctor_effect private_effect, const char *code)
{
	s->shared = shared;
	s->private_ = private_effect;
	s->code = code;
}

static void nothing(struct doctor_setting *s, const char *means)
{
	effect(s, DOCTOR_NO, DOCTOR_NO, NULL);
	snprintf(s->means, sizeof(s->means), "%s", means);
}

/* The bits of the mask by name. */
static size_t numa_bits(char *out, size_t size, uint64_t mask)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} bits[] = {{HCS_NUMAB_NORMAL, "balancing"}, {HCS_NUMAB_TIERING, "tiering"}};
	size_t i, n = 0;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (mask & bits[i].bit)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " + " : "",
					      bits[i].name);
		mask &= ~bits[i].bit;
	}
	if (mask)
		n += (size_t)snprintf(out + n, size - n, "%sbits 0x%" PRIx64, n ? " + " : "", mask);
	return n;
}

static void numa_balancing(struct doctor_setting *s, const struct doctor_vm *vm)
{
	uint64_t mask = vm->value[HCS_VM_NUMA_BALANCING].number;
	size_t n;

	if (!mask) {
		nothing(s, "off");
		return;
	}
	n = numa_bits(s->means, sizeof(s->means), mask);
	if (vm->nodes == 0 || vm->nodes == 1 || vm->nodes == -ENOENT) {
		/* the kernel leaves it off then; who turns it on gets the scans all the same */
		effect(s, DOCTOR_UNMEASURED, DOCTOR_CAN_SOME, "HCW-401");
		snprintf(s->means + n, sizeof(s->means) - n,
			 "; one memory node: no page moves, but the scan stopped private pools on "
			 "6.1 and 6.12");
	} else if (vm->nodes < 0) {
		effect(s, DOCTOR_CANNOT_SAY, DOCTOR_CANNOT_SAY, NULL);
		snprintf(s->means + n, sizeof(s->means) - n, "; how many nodes is not known");
	} else {
		effect(s, DOCTOR_CAN_SOME, DOCTOR_CAN, "HCW-401");
		snprintf(s->means + n, sizeof(s->means) - n,
			 "; pools mapped MAP_SHARED were hit on 7.3, spared on 6.1 and 6.12");
	}
}

static void proactiveness(struct doctor_setting *s, const struct doctor_vm *vm)
{
	if (!vm->value[HCS_VM_PROACTIVENESS].number) {
		nothing(s, "off: memory is compacted on demand only");
		return;
	}
	effect(s, DOCTOR_CAN, DOCTOR_CAN, "HCW-402");
	snprintf(s->means, sizeof(s->means), "kcompactd compacts before anybody asks");
}

/* No finding of its own: it says whom the others spare. */
static void unevictable(struct doctor_setting *s, const struct doctor_vm *vm)
{
	if (!vm->value[HCS_VM_UNEVICTABLE].number) {
		nothing(s, "compaction spares locked pools; NUMA balancing and move_pages do not");
		return;
	}
	effect(s, DOCTOR_CAN, DOCTOR_CAN, NULL);
	snprintf(s->means, sizeof(s->means),
		 "compaction takes locked pages too: mlock protects no pool");
}

static void thp_enabled(struct doctor_setting *s, const struct doctor_vm *vm)
{
	(void)vm;
	if (is(s, "never")) {
		nothing(s, "no huge pages for private memory");
	} else if (is(s, "always")) {
		effect(s, DOCTOR_NO, DOCTOR_CAN, "HCW-403");
		snprintf(s->means, sizeof(s->means), "khugepaged collapses any private memory");
	} else {
		effect(s, DOCTOR_NO, DOCTOR_ON_REQUEST, NULL);
		snprintf(s->means, sizeof(s->means), "khugepaged collapses what asks for it");
	}
}

/* Where the setting is not known, huge pages may be on. */
static bool huge_pages_off(const struct doctor_vm *vm)
{
	return vm->error[HCS_VM_THP_ENABLED] == -ENOENT ||
	       (!vm->error[HCS_VM_THP_ENABLED] &&
		!strcmp(vm->value[HCS_VM_THP_ENABLED].text, "never"));
}

static void thp_defrag(struct doctor_setting *s, const struct doctor_vm *vm)
{
	if (huge_pages_off(vm) || is(s, "never")) {
		nothing(s, "huge page faults do not compact");
	} else if (is(s, "madvise")) {
		effect(s, DOCTOR_ON_REQUEST, DOCTOR_ON_REQUEST, NULL);
		snprintf(s->means, sizeof(s->means),
			 "faults compact only in programs that ask for huge pages");
	} else {
		effect(s, DOCTOR_CAN, DOCTOR_CAN, "HCW-404");
		snprintf(s->means, sizeof(s->means),
			 is(s, "always") ? "each huge page fault may compact memory"
					 : "each huge page fault may wake kcompactd");
	}
}

static void khugepaged_defrag(struct doctor_setting *s, const struct doctor_vm *vm)
{
	if (huge_pages_off(vm) || !vm->value[HCS_VM_KHUGEPAGED_DEFRAG].number) {
		nothing(s, "khugepaged does not compact");
	} else if (!vm->error[HCS_VM_THP_ENABLED] &&
		   strcmp(vm->value[HCS_VM_THP_ENABLED].text, "always")) {
		effect(s, DOCTOR_ON_REQUEST, DOCTOR_ON_REQUEST, NULL);
		snprintf(s->means, sizeof(s->means),
			 "khugepaged compacts for programs that ask for huge pages");
	} else {
		effect(s, DOCTOR_CAN, DOCTOR_CAN, "HCW-408");
		snprintf(s->means, sizeof(s->means), "khugepaged compacts memory");
	}
}

static void shmem_enabled(struct doctor_setting *s, const struct doctor_vm *vm)
{
	(void)vm;
	if (is(s, "never") || is(s, "deny")) {
		nothing(s, "no huge pages for shared memory");
	} else if (is(s, "advise")) {
		effect(s, DOCTOR_ON_REQUEST, DOCTOR_NO, NULL);
		snprintf(s->means, sizeof(s->means), "huge pages for shared memory that asks");
	} else {
		effect(s, DOCTOR_UNMEASURED, DOCTOR_NO, "HCW-405");
		snprintf(s->means, sizeof(s->means), "khugepaged may collapse shared memory");
	}
}

static void ksm_run(struct doctor_setting *s, const struct doctor_vm *vm)
{
	if (vm->value[HCS_VM_KSM_RUN].number != 1) {
		nothing(s, vm->value[HCS_VM_KSM_RUN].number ? "stopped, all pages taken apart"
							    : "stopped");
		return;
	}
	effect(s, DOCTOR_NO, DOCTOR_CAN, "HCW-406");
	snprintf(s->means, sizeof(s->means), "merges equal pages of memory marked mergeable");
}

static void swap_areas(struct doctor_setting *s, const struct doctor_vm *vm)
{
	char size[FMT_LEN];

	if (!vm->swap.areas) {
		snprintf(s->value, sizeof(s->value), "none");
		nothing(s, "reclaim has nowhere to put pages of pools");
		return;
	}
	snprintf(s->value, sizeof(s->value), "%s", fmt_bytes(size, vm->swap.total));
	effect(s, DOCTOR_UNMEASURED, DOCTOR_UNMEASURED, "HCW-407");
	snprintf(s->means, sizeof(s->means), "reclaim may swap out pools that are not locked");
}

/* Whether there is a value to judge; else the setting says why not. */
static bool found(struct doctor_setting *s, int error)
{
	if (!error)
		return true;
	if (error == -ENOENT) {
		s->known = DOCTOR_ABSENT;
		nothing(s, "");
	} else {
		s->known = DOCTOR_UNKNOWN;
		effect(s, DOCTOR_CANNOT_SAY, DOCTOR_CANNOT_SAY, NULL);
		snprintf(s->why, sizeof(s->why), "%s", doctor_why(error));
	}
	return false;
}

size_t doctor_settings(struct doctor_setting out[DOCTOR_MAX_SETTINGS], const struct doctor_vm *vm)
{
	static const struct {
		const char *name;
		void (*judge)(struct doctor_setting *s, const struct doctor_vm *vm);
	} rules[HCS_VM_COUNT] = {
		[HCS_VM_NUMA_BALANCING] = {"numa_balancing", numa_balancing},
		[HCS_VM_PROACTIVENESS] = {"compaction_proactiveness", proactiveness},
		[HCS_VM_UNEVICTABLE] = {"compact_unevictable_allowed", unevictable},
		[HCS_VM_THP_ENABLED] = {"thp_enabled", thp_enabled},
		[HCS_VM_THP_DEFRAG] = {"thp_defrag", thp_defrag},
		[HCS_VM_THP_SHMEM] = {"thp_shmem_enabled", shmem_enabled},
		[HCS_VM_KHUGEPAGED_DEFRAG] = {"khugepaged_defrag", khugepaged_defrag},
		[HCS_VM_KSM_RUN] = {"ksm_run", ksm_run},
	};
	size_t i;

	for (i = 0; i < HCS_VM_COUNT; i++) {
		out[i] = (struct doctor_setting){.name = rules[i].name};
		if (!found(&out[i], vm->error[i]))
			continue;
		snprintf(out[i].value, sizeof(out[i].value), "%s", vm->value[i].text);
		rules[i].judge(&out[i], vm);
	}
	out[i] = (struct doctor_setting){.name = "swap"};
	if (found(&out[i], vm->swap_error))
		swap_areas(&out[i], vm);
	return i + 1;
}
