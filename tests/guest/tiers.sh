#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same stall, told by each tier: forced by --probe, or left over because the kernel has no trampolines or the driver
# no BTF. What the module counted and what is reported must be the same each time.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 SHIM=$HCW_BUILD/tests/libno_trampoline.so
readonly FUNCTIONS=(move_pages notifier kfd_open quiesce resume evict restore restore_fault numa_scan request)
# in the test GPU, too, which on some kernels is built without BTF
readonly DRIVERS=(hsa_callback restore_pass)
readonly TRACEPOINTS=(migrate task_fork task_exit)
work=$(mktemp -d)

# force TIER POINT...: options
force() {
	local point
	for point in "${@:2}"; do
		printf -- '--probe\n%s=%s\n' "$point" "$1"
	done
}

# lab NAME COMMAND...: the counters of the module around a lab
lab() {
	local name=$1
	shift
	rc=0
	mkdir "$work/$name"
	cp "$GPUSIM_COUNTERS" "$work/$name/before"
	"$@" lab -a registered --pool-mib 16 --trials 1 --iterations 30 --output "$work/$name/lab.json" \
		--traces "$work/$name" "${options[@]}" >"$work/$name/table" 2>"$work/$name/err" || rc=$?
	cp "$GPUSIM_COUNTERS" "$work/$name/after"
	"$HCWATCH" report --json "$work/$name/registered.hcw" >"$work/$name/report.json" || true
	"$HCWATCH" report "$work/$name/registered.hcw" >"$work/$name/report" || true
}

# module NAME COUNTER: how far a counter of the module went
module() {
	echo $(($(field "$work/$1/after" "$2") - $(field "$work/$1/before" "$2")))
}

# said NAME EXPRESSION: of the report as `o` and of the only trial as `t`
said() {
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1] + "/report.json"))
lab = json.load(open(sys.argv[1] + "/lab.json"))
arm = lab["arms"][0]
t = arm["trials"][0]
tier = {p["point"]: p["tier"] for p in lab["probes"]}
print(eval(sys.argv[2]))' "$work/$1" "$2"
}

# tiers NAME TIER POINT...: all these points are told by that tier
tiers() {
	check "$1: $2" "$(said "$1" "{tier[p] for p in '${*:3}'.split()}")" "{'$2'}"
}

# same NAME: figures by the module's counters, words as in the run without force
same() {
	check "$1: lab exits 0" "$rc" 0
	check "$1: moved, and traced" "$(said "$1" '(t["moved"], t["traced_moved"])')" '(512, 512)'
	check "$1: episodes" "$(said "$1" 't["episodes"]')" "$(module "$1" evictions)"
	check "$1: passes" "$(said "$1" 't["passes"]')" "$(module "$1" passes)"
	check "$1: verdict, actor, causes, ranges" "$(words "$1")" "$(words plain)"
	check "$1: nothing lost" "$(said "$1" 'arm["lost"]')" 0
}

words() {
	said "$1" '(arm["verdict"], arm["evidence"], arm["reasons"],
		sorted({(e["cause"], e["started_by"]["comm"], e["pool"] is not None) for e in o["episodes"]}))'
}

# expect NAME POINT ACTIVE TEXT: what the plan says of a point
expect() {
	check "$1: $2" "$(said "$1" "[(p['active'], '''$4''' in p['reason']) for p in lab['probes'] if p['point'] == '$2'][0]")" \
		"($3, True)"
}

options=()
lab plain "$HCWATCH"
same plain
cat "$work/plain/table" >&2

mapfile -t options < <(force fentry "${FUNCTIONS[@]}"; force tp_btf "${TRACEPOINTS[@]}")
lab fentry "$HCWATCH"
same fentry
tiers fentry fentry "${FUNCTIONS[@]}"
tiers fentry tp_btf "${TRACEPOINTS[@]}"

mapfile -t options < <(force kprobe "${FUNCTIONS[@]}" "${DRIVERS[@]}"; force raw_tp "${TRACEPOINTS[@]}")
lab kprobe "$HCWATCH"
same kprobe
tiers kprobe kprobe "${FUNCTIONS[@]}" "${DRIVERS[@]}"
tiers kprobe raw_tp "${TRACEPOINTS[@]}"

options=()
lab no-trampoline env LD_PRELOAD="$SHIM" "$HCWATCH"
same no-trampoline
tiers no-trampoline kprobe "${FUNCTIONS[@]}" "${DRIVERS[@]}"
expect no-trampoline quiesce True 'fentry not supported by this kernel (ENOTSUPP)'
check 'no-trampoline: no number' "$(cat "$work/no-trampoline/err" "$work/no-trampoline/report" | grep -c 524)" 0

# a driver from outside the kernel: only vmlinux has BTF
# shellcheck disable=SC2016 # the inner shell's
lab no-module-btf unshare -m bash -c 'cp /sys/kernel/btf/vmlinux /tmp/vmlinux.btf &&
	mount -t tmpfs tmpfs /sys/kernel/btf && cp /tmp/vmlinux.btf /sys/kernel/btf/vmlinux && exec "$@"' - "$HCWATCH"
same no-module-btf
tiers no-module-btf kprobe quiesce resume
expect no-module-btf evict False 'module amdgpu has no BTF'

check 'forced: the trace says which' \
	"$(tests/guest/plan.py "$work/kprobe/registered.hcw" | awk '$4 == "chosen" { print $1 }' | xargs)" 'iteration pool'
check 'chosen: the trace says so' \
	"$(tests/guest/plan.py "$work/plain/registered.hcw" | awk '$4 == "forced" { print $1 }' | xargs)" ''

mapfile -t options < <(force off evict restore kfd_open numa_scan request restore_fault)
lab off "$HCWATCH"
check 'off: moved, and traced' "$(said off '(t["moved"], t["traced_moved"])')" '(512, 512)'
check 'off: episodes all the same' "$(said off 't["episodes"]')" "$(module off evictions)"
tiers off off evict restore kfd_open numa_scan request restore_fault
expect off evict False 'turned off by --probe'

# without a point that a verdict needs
options=(--probe quiesce=off --probe evict=off)
lab blind "$HCWATCH"
check 'blind: no episode is made up' "$(said blind 'len(o["episodes"])')" 0
check 'blind: report is incomplete' "$("$HCWATCH" report "$work/blind/registered.hcw" >/dev/null; echo $?)" 5

# a forced tier that cannot be had is not replaced: fentry would hold the driver
rc=0
"$HCWATCH" record --probe quiesce=fentry -o "$work/held.hcw" -- true 2>"$work/held.err" || rc=$?
check 'held: incomplete, and why' "$rc $(grep -c 'quiesce is not traced: fentry: would hold module amdgpu' "$work/held.err")" '5 1'

rm -rf "$work"
summary
