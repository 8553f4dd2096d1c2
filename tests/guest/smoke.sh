#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In the guest: is the test GPU what the tests of everything else believe it is?
# HCW_BUILD names the build folder (default: build in the checkout); gpusim.ko must be loaded and idle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source lib.sh

readonly CLIENT=${HCW_BUILD:-../../build}/tests/gpusim_client
readonly MIB=1048576
readonly JIFFY_MS=4 # CONFIG_HZ=250, Debian
work=$(mktemp -d)
[[ -x $CLIENT ]] || { printf "smoke.sh: no %s: build gpusim_client first\n" "$CLIENT" >&2; exit 3; }

# run NAME MIB: the client's lines to $work/NAME, the counters before and after it beside them
run() {
	cp "$GPUSIM_COUNTERS" "$work/$1.before"
	"$CLIENT" "$1" "$2" >"$work/$1" || check "client $1" "$?" 0
	cp "$GPUSIM_COUNTERS" "$work/$1.after"
}

said() {
	field "$work/$1" "$2"
}

# grew NAME COUNTER
grew() {
	echo $(($(field "$work/$1.after" "$2") - $(field "$work/$1.before" "$2")))
}

test_stall() {
	local cost=$1 evictions passes thrown ms gpu off
	set_gpusim page_cost_ns "$cost"
	run stall 64
	evictions=$(grew stall evictions) passes=$(grew stall passes) thrown=$(grew stall passes_thrown)
	ms=$(($(grew stall evicted_ns) / 1000000))
	check "stall, cost $cost: pages moved" "$(said stall moved)" 512
	check "stall, cost $cost: data intact" "$(said stall intact)" 1
	check_that "stall, cost $cost: evictions" "$evictions >= 1"
	check_that "stall, cost $cost: invalidations" "$(grew stall invalidations) >= 512"
	check_that "stall, cost $cost: every eviction ends with one good pass" "$passes - $thrown == $evictions"
	check "stall, cost $cost: passes of the process" "$(said stall passes)" "$passes"
	for gpu in 0 1; do
		off=$(($(said stall evicted_ms_$gpu) - ms))
		check_that "stall, cost $cost: evicted_ms of GPU $gpu, off by at most a jiffy per eviction" \
			"${off#-} <= $JIFFY_MS * $evictions"
	done
	check_that "stall, cost $cost: a submission waited, none longer than evicted" \
		"$(said stall waited_ns) > 0 && $(said stall waited_ns) <= $(grew stall evicted_ns)"
	check_that "stall, cost $cost: evicted at least one pass over all pages" \
		"$(grew stall evicted_ns) >= $cost * 64 * 256"
	check "stall, cost $cost: KFD took part" "$(grew stall quiesce_errors) $(grew stall resume_errors)" "0 0"
	check "stall, cost $cost: unregister" "$(said stall unregister)" 0
}

test_no_evict() {
	set_gpusim evict N
	run stall 64
	set_gpusim evict Y
	check "evict=N: pages moved" "$(said stall moved)" 512
	check_that "evict=N: invalidations are counted" "$(grew stall invalidations) >= 512"
	check "evict=N: no eviction, no pass" "$(grew stall evictions) $(grew stall passes)" "0 0"
	check "evict=N: evicted_ms, waited" \
		"$(said stall evicted_ms_0) $(said stall evicted_ms_1) $(said stall waited_ns)" "0 0 0"
}

test_gtt() {
	set_gpusim gtt_total_mib 64
	run gtt 64
	check "gtt: mmap of exactly the limit" "$(said gtt mmap)" 0
	check_that "gtt: every page from the caller's node" "$(said gtt node1_pages) >= 64 * 256"
	check "gtt: zeroed" "$(said gtt zeroed)" 1
	check "gtt: refused, page by page" "$(said gtt moved) $(said gtt efault)" "0 512"
	check "gtt: no eviction" "$(grew gtt evictions) $(said gtt evicted_ms_0)" "0 0"
	check "gtt: VmFlags" "$(sed -n 's/^flags *//p' "$work/gtt" | grep -owE 'pf|io|de|dd|dc' | sort | xargs)" \
		"dc dd de io pf"
	check "gtt: cannot be registered" "$(said gtt register)" -14
	check "gtt: used" "$(said gtt used_mapped)" $((64 * MIB))
	check "gtt: used while a part is mapped" "$(said gtt used_split)" $((64 * MIB))
	check "gtt: the rest of a split mapping keeps its pages" "$(said gtt kept)" 1
	check "gtt: used after the last munmap" "$(said gtt used_unmapped)" 0
	set_gpusim gtt_total_mib 63
	run gtt 64
	check "gtt: above the limit" "$(said gtt mmap) $(said gtt used_mapped)" "-12 0"
	set_gpusim gtt_total_mib 0
}

test_errors() {
	run errors 4
	check "errors: stats without KFD" "$(said errors stats_before_kfd)" -1
	check "errors: stats once KFD is open" "$(said errors stats_after_register)" 0
	check "errors: registered twice" "$(said errors register_twice)" -17
	check "errors: unaligned" "$(said errors register_unaligned)" -22
	check "errors: empty" "$(said errors register_empty)" -22
	check "errors: not mapped" "$(said errors register_unmapped)" -14
	check "errors: unregister with another length" "$(said errors unregister_other_length)" -2
	check "errors: unregister on the other GPU" "$(said errors unregister_other_gpu)" 0
	check "errors: unregistered twice" "$(said errors unregister_twice)" -2
	check "errors: a signal ends a submission" "$(said errors submit_signal)" -4
	check_that "errors: and leaves the rest of the work" \
		"$(said errors left_ms) > 500 && $(said errors left_ms) <= 900"
	check "errors: a child cannot use its parent's file" "$(said errors submit_inherited)" -9
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# run.sh --strip-btf took it away from both, as drivers from outside the kernel have none. Headers of 6.1 give gpusim none.
test_btf() {
	local amdgpu=absent gpusim=absent
	[[ ! -e /sys/kernel/btf/amdgpu ]] || amdgpu=present
	[[ ! -e /sys/kernel/btf/gpusim ]] || gpusim=present
	if [[ -n ${HCW_VM_STRIPPED:-} ]]; then
		check "BTF of amdgpu and gpusim" "$amdgpu $gpusim" "absent absent"
	elif [[ $(uname -r) == 6.1.* ]]; then
		check "BTF of amdgpu and gpusim" "$amdgpu $gpusim" "present absent"
	else
		check "BTF of amdgpu and gpusim" "$amdgpu $gpusim" "present present"
	fi
}

test_kill() {
	local pid before=$EPOCHREALTIME abandoned
	abandoned=$(counter abandoned)
	set_gpusim page_cost_ns 1000000 # 16 s a pass
	"$CLIENT" hang 64 >"$work/hang" &
	pid=$!
	wait_until 20 grep -q 'hanging 1' "$work/hang" || check "kill: the client hangs" no yes
	before=${EPOCHREALTIME/./}
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
	check_that "kill: gone at once" "${EPOCHREALTIME/./} - $before < 2000000"
	check "kill: it was in the stall" "$(field "$work/hang" hanging)" 1
	check "kill: process" "$(gone "$pid" && echo gone)" gone
	wait_until 5 check_abandoned $((abandoned + 1)) || true
	check "kill: abandoned" "$(counter abandoned)" $((abandoned + 1))
}

check_abandoned() {
	(($(counter abandoned) == $1))
}

test_close() {
	set_gpusim page_cost_ns 1000000
	run close 16
	check "close while evicted: abandoned, resumed" "$(grew close abandoned) $(grew close resume_errors)" "1 0"
	check "close while evicted: stats go" "$(said close stats_after_close)" -1
	check "close while evicted: opened anew, queues run" "$(said close submit_reopened)" 0
}

test_unload() {
	local rc=0
	rmmod gpusim || rc=$?
	check "rmmod" "$rc" 0
	check "no node left" "$(compgen -G '/dev/dri/renderD*')" ""
	check "no kernel warning" "$(kernel_warnings)" ""
}

test_btf
test_stall 1460
test_stall 0
test_stall 14600
test_no_evict
test_gtt
test_errors
test_kill
test_close
test_unload
summary
