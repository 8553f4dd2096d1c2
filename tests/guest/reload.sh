#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The driver is unloaded and loaded again under `record` and `live`: that is not held up, everything is traced again
# afterwards, the hole has its times, and what fell into it clears nobody. And one that is not there at the start.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1
readonly CLIENT=$HCW_BUILD/tests/gpusim_client ABSENT=$HCW_BUILD/tests/absent
# what the guest loaded at its start, "FILE [PARAMETER]..." a line
readonly MODULES=$HCW_VM_OUT/.job/modules
work=$(mktemp -d)
declare -A recorder

# CLOCK_BOOTTIME, ms
now_ms() {
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# insmod_again MODULE
insmod_again() {
	local file args
	read -r file args < <(grep -E "/$1\.ko(\.xz)?( |$)" "$MODULES")
	# shellcheck disable=SC2086 # module parameters are words
	insmod "$file" $args
}

said() {
	grep -qF -- "$2" "$work/$1.err"
}

# start NAME COMMAND [OPTION]...
start() {
	local name=$1 command=$2
	shift 2
	"$HCWATCH" "$command" --ready-file "$work/$name.ready" "$@" >"$work/$name.out" 2>"$work/$name.err" &
	recorder[$name]=$!
}

attached() {
	wait_until 120 test -e "$work/$1.ready" || check "$1: attached" no yes
}

# stop NAME WANTED: ends it, by its exit code
stop() {
	local rc=0
	kill -INT "${recorder[$1]}"
	wait "${recorder[$1]}" || rc=$?
	check "$1: exit $2" "$rc" "$2"
}

# stall: how often the test GPU evicted, and in how many passes, added up over the loads of the module
stall() {
	local evicted passes
	evicted=$(counter evictions) passes=$(counter passes)
	"$CLIENT" stall 16 >"$work/stall"
	check 'a stall moved its pages' "$(field "$work/stall" moved)" 512
	evictions=$((evictions + $(counter evictions) - evicted))
	all_passes=$((all_passes + $(counter passes) - passes))
}

# value NAME EXPRESSION: of the report of a recording, as `o`
value() {
	[[ -e $work/$1.json ]] || "$HCWATCH" report --json "$work/$1.hcw" >"$work/$1.json" || true
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
kfd = [h for h in o["holes"] if h["source"] == "quiesce" and h["to_ns"] - h["from_ns"] > 1e9]
print(eval(sys.argv[2]))' "$work/$1.json" "$2"
}

# hole NAME EXPRESSION: of the first long hole of quiesces, which is amdgpu's, in ms as a and b
hole() {
	value "$1" "(lambda a, b: $2)(kfd[0]['from_ns'] / 1e6, kfd[0]['to_ns'] / 1e6) if kfd else None"
}

# unload: how long amdgpu took to go, in `gone_ms`
unload() {
	local begin
	removed_from=$(now_ms)
	rmmod gpusim
	begin=$(now_ms)
	rmmod amdgpu
	removed_to=$(now_ms)
	gone_ms=$((removed_to - begin))
}

# load_again: how long amdgpu took to come, in `came_ms`
load_again() {
	loaded_from=$(now_ms)
	insmod_again amdgpu
	came_ms=$(($(now_ms) - loaded_from))
	insmod_again gpusim
}

evictions=0 all_passes=0
start all record -o "$work/all.hcw"
start live live
attached all
attached live
start pools record -o "$work/pools.hcw" -- "$ABSENT" "$work/go" "$work/end"
wait_until 120 grep -q '^first' "$work/pools.out" || check 'pools: the first one' no yes
stall

unload
wait_until 30 said all 'module amdgpu was unloaded' || check 'record says that it is gone' no yes
wait_until 30 said live 'module amdgpu was unloaded' || check 'live says that it is gone' no yes
touch "$work/go"
wait_until 30 grep -q '^second' "$work/pools.out" || check 'pools: the second one' no yes

rc=0
"$HCWATCH" record --no-wait -o "$work/none.hcw" 2>"$work/none.err" || rc=$?
check '--no-wait: unsupported' "$rc" 3
check '--no-wait: why' "$(grep -c 'cannot trace KFD evictions: module amdgpu is not loaded' "$work/none.err")" 1
check '--no-wait: no trace is left' "$(ls "$work/none.hcw" 2>/dev/null || true)" ''
rc=0
"$HCWATCH" lab --pool-mib 16 >"$work/lab.out" 2>"$work/lab.err" || rc=$?
check 'lab does not wait' "$rc $(grep -c 'module amdgpu is not loaded' "$work/lab.err")" '3 1'
start late record -o "$work/late.hcw"
start never record -o "$work/never.hcw"
attached late
attached never
check 'absent at the start: it is said' \
	"$(grep -c 'is not loaded\|waiting for it\|(--no-wait to exit)' "$work/late.err")" 3
stop never 5 # absent to the end

load_again
# The kernel takes each probed function's probe away, which an emulated machine that others use, too, does slowly.
# Loading takes 4.3 s on an idle one (6.1): a quarter of it stands for a second.
check_that 'rmmod amdgpu was not held up' "$gone_ms < 1000 || ($gone_ms < $came_ms / 4 && $gone_ms < 3000)"
for name in all live late; do
	wait_until 60 said "$name" 'module amdgpu is loaded, KFD evictions are traced' ||
		check "$name says that it is back" no yes
	wait_until 60 said "$name" 'module gpusim is loaded' || check "$name has the test GPU" no yes
done
loaded_to=$(now_ms)
stall

# between two looks: only the inode tells
rmmod gpusim
insmod_again gpusim
again() {
	(($(grep -c 'module gpusim is loaded' "$work/$1.err") == 2))
}
wait_until 60 again all || check 'a reload between two looks is noticed' no yes
stall
touch "$work/end"
rc=0
wait "${recorder[pools]}" || rc=$?
check 'pools: exit 5' "$rc" 5
stop all 5
stop late 5
stop live 5
cat "$work/all.err" "$work/live.out" >&2

check 'all: every eviction is an episode' "$(value all 'len(o["episodes"])')" "$evictions"
check 'all: every pass is told' "$(value all 'sum(e["passes"] for e in o["episodes"])')" "$all_passes"
check 'all: no episode is open' "$(value all 'sum(not e["end_ns"] for e in o["episodes"])')" 0
# plan NAME N: tiers of the points in the driver, as the N-th plan has them
plan() {
	tests/guest/plan.py "$work/$1.hcw" "$2" | awk '$1 ~ /^(quiesce|resume|evict|restore)$/ { print $2 }' | xargs
}
check 'all: kprobes in the driver at the end' "$(plan all -1)" 'kprobe kprobe kprobe kprobe'
check 'all: a plan in between says that it is gone' \
	"$(for n in 1 2 3 4; do plan all "$n"; done | grep -c 'off off off off' | sed 's/[1-9].*/some/')" some
check 'never: the plan says so' "$(plan never -1)" 'off off off off'
check 'all: the hole begins with the driver at its end' \
	"$(hole all "$removed_from - 3000 <= a <= $removed_to")" True
check 'all: and ends when it is probed again' "$(hole all "$loaded_from <= b <= $loaded_to")" True
check 'all: of every source of the driver' \
	"$(value all 'sorted({h["source"] for h in o["holes"] if h["to_ns"] - h["from_ns"] > 1e9})')" \
	"['evict', 'quiesce', 'restore', 'restore pass', 'resume', 'task']"
check 'all: nothing else is missing' "$(value all '{h["cause"] for h in o["holes"]}')" "{'driver-absent'}"
rc=0
"$HCWATCH" report "$work/all.hcw" >"$work/all.txt" || rc=$?
check 'all: report exits 5' "$rc" 5
check_that 'all: report says why' "$(grep -c 'the driver was not loaded' "$work/all.txt") >= 1"

check 'pools: both were refused' "$(awk '{ print $1, $3 }' "$work/pools.out" | xargs)" 'first -14 second -14'
check 'pools: one tried before the hole is cleared' \
	"$(value pools '[(p["verdict"], p["evidence"], "loss" in p["reasons"]) for p in o["pools"]][0]')" \
	"('immune', 'trial', False)"
check 'pools: one tried in the hole is not' \
	"$(value pools '[(p["evidence"] != "trial", "loss" in p["reasons"]) for p in o["pools"]][1]')" '(True, True)'

check 'late: the hole begins with the recording' "$(hole late "a <= $loaded_from")" True
check 'late: and ends when it is probed' "$(hole late "$loaded_from <= b <= $loaded_to")" True
check_that 'late: what came then is traced' "$(value late 'len(o["episodes"])') >= 2"
check 'never: the hole is the whole recording' "$(hole never "b - a > 100 and b <= $loaded_from + 100")" True
check 'never: it is no all-clear' "$(value never 'o["verdict"]')" cannot-tell
check_that 'live: episodes before and after' "$(grep -c RESTORED "$work/live.out") >= 3"
check 'no kernel warning' "$(kernel_warnings)" ''

rm -rf "$work"
summary
