#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An episode that one started and another made longer: are both named, and charged as the test GPU counted? And one
# whose victim is killed in the middle of it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 TESTS=$HCW_BUILD/tests
readonly OVERTAKERS=/sys/bus/platform/drivers/gpusim/overtakers
readonly BALANCING=/proc/sys/kernel/numa_balancing SCAN=/sys/kernel/debug/sched/numa_balancing
readonly KNOBS=(scan_delay_ms scan_period_min_ms scan_period_max_ms)
readonly MIB=32 SLOW_NS=183000 # 1.5 s a pass: the second actor must come while the first one's episode lasts

work=$(mktemp -d)
cost=$(cat "$GPUSIM_PARAMETERS/page_cost_ns")
balancing=$(cat "$BALANCING")
declare -A knob

restore_settings() {
	set_gpusim page_cost_ns "$cost"
	echo "$balancing" >"$BALANCING"
	local name
	for name in "${!knob[@]}"; do
		echo "${knob[$name]}" >"$SCAN/$name"
	done
}
trap restore_settings EXIT

# Quick scans of memory that has only just come to be.
scan_often() {
	[[ -d $SCAN ]] || mount -t debugfs none /sys/kernel/debug
	local name
	for name in "${KNOBS[@]}"; do
		knob[$name]=$(cat "$SCAN/$name")
	done
	echo 10 >"$SCAN/scan_delay_ms"
	echo 100 >"$SCAN/scan_period_min_ms"
	echo 200 >"$SCAN/scan_period_max_ms"
}

is_ready() {
	grep -q '^ready' "$work/$1.out"
}

# record_victim NAME KIND MS: a victim under a recorder; $victim is its process id
record_victim() {
	: >"$work/$1.out"
	cp "$GPUSIM_COUNTERS" "$work/$1.before"
	evictions=$(counter evictions)
	echo >"$OVERTAKERS"
	"$HCWATCH" record -o "$work/$1.hcw" -- "$TESTS/victim" "$2" "$MIB" "$3" >"$work/$1.out" &
	recorder=$!
	wait_until 60 is_ready "$1" || check "$1: the victim runs" no yes
	victim=$(field "$work/$1.out" ready)
}

# after_eviction COMMAND...: as soon as there was one; without a process of its own until then, each takes its time here
after_eviction() {
	local name count=0 end=$((SECONDS + 30))
	until ((count > evictions || SECONDS > end)); do
		while read -r name count && [[ $name != evictions ]]; do
			:
		done <"$GPUSIM_COUNTERS"
	done
	"$@"
}

# move NAME CALLS PERIOD_MS: as a process called NAME. On the CPU where the pool is, so that the restore worker, which
# the invalidation starts there, gives NUMA balancing no reason to move pages to it.
move() {
	taskset -c 0 "$TESTS/mover" "$1" "$victim" 64 "$2" "$3" >"$work/$1"
}

# episode COMMAND...: started by a single call of `starter`; COMMAND comes while it lasts
episode() {
	after_eviction "$@" &
	local second=$!
	move starter 1 0
	wait "$second"
}

scan() {
	echo 1 >"$BALANCING"
	sleep 4
	echo 0 >"$BALANCING"
}

kill_victim() {
	sleep 1
	kill -9 "$victim"
}

# finish NAME: the report as NAME.json, the module's own account beside it
finish() {
	local rc=0
	wait "$recorder" || rc=$?
	check "$1: record exits 0" "$rc" 0
	wait
	cp "$OVERTAKERS" "$work/$1.overtakers"
	cp "$GPUSIM_COUNTERS" "$work/$1.after"
	rc=0
	"$HCWATCH" report --json "$work/$1.hcw" >"$work/$1.json" || rc=$?
	check "$1: the report is a finding" "$rc" 1
	"$HCWATCH" report "$work/$1.hcw" || true
}

grew() {
	echo $(($(field "$work/$1.after" "$2") - $(field "$work/$1.before" "$2")))
}

# said NAME EXPRESSION: of the report `r` and its episodes `e`
said() {
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
e = r["episodes"]
print(eval(sys.argv[2]))' "$work/$1.json" "$2"
}

charged_as_counted() {
	check "$1: passes thrown away" "$(said "$1" 'sum(x["passes_thrown"] for x in e)')" "$(grew "$1" passes_thrown)"
	check_that "$1: there were some" "$(grew "$1" passes_thrown) >= 2"
	"$(dirname "${BASH_SOURCE[0]}")/check_prolong.py" "$work/$1.json" "$work/$1.overtakers" | tee "$work/$1.shares"
	check "$1: charged as the module counted" "$(tail -n 1 "$work/$1.shares")" agree
	check "$1: nothing lost" "$(said "$1" 'r["lost"]')" 0
}

two_movers() {
	set_gpusim page_cost_ns "$SLOW_NS"
	record_victim movers shared 14000
	episode move prolonger 10 500
	finish movers
	check 'movers: started by' "$(said movers '(e[0]["started_by"]["comm"], e[0]["started_by"]["pid"], e[0]["cause"])')" \
		"('starter', $(field "$work/starter" tid), 'move_pages')"
	check 'movers: the victim is another process' "$(said movers '{x["victim"]["pid"] for x in e}')" "{$victim}"
	check 'movers: prolonged by, most of all' \
		"$(said movers '[(p["actor"]["comm"], p["actor"]["pid"], p["cause"]) for p in e[0]["prolonged_by"]][0]')" \
		"('prolonger', $(field "$work/prolonger" tid), 'move_pages')"
	check 'movers: pages moved' "$(field "$work/starter" moved) $(field "$work/prolonger" moved)" '64 640'
	charged_as_counted movers
}

numa_scanning() {
	scan_often
	set_gpusim page_cost_ns "$SLOW_NS"
	record_victim numa private 12000
	episode scan
	finish numa
	check 'numa: started by' "$(said numa '(e[0]["started_by"]["comm"], e[0]["cause"])')" "('starter', 'move_pages')"
	check 'numa: scanning prolonged it, in the victim itself' \
		"$(said numa '{p["actor"]["pid"] for p in e[0]["prolonged_by"] if p["cause"] == "NUMA scanning"}')" "{$victim}"
	charged_as_counted numa
}

killed_in_the_stall() {
	set_gpusim page_cost_ns $((SLOW_NS * 10))
	record_victim killed shared 60000
	episode kill_victim
	finish killed
	check 'killed: one episode, closed as killed' "$(said killed '[(x["killed"], x["open"], x["victim"]["pid"]) for x in e]')" \
		"[(True, False, $victim)]"
	check 'killed: started by the other process' "$(said killed '(e[0]["started_by"]["comm"], e[0]["started_by"]["pid"])')" \
		"('starter', $(field "$work/starter" tid))"
	check_that 'killed: it lasted until then' "$(said killed 'int(e[0]["ms"])') >= 1000 && $(said killed 'int(e[0]["ms"])') < 10000"
	check 'killed: the module saw it abandoned' "$(grew killed abandoned)" 1
}

two_movers
numa_scanning
killed_in_the_stall
rm -rf "$work"
summary
