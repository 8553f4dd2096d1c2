#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Do no harm: attaching in the middle of a stall delays nobody who maps memory, and neither smaps nor a uprobe touches a
# process that is evicted, or was within the last second; not even one that is not watched but maps the same file.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 TESTS=$HCW_BUILD/tests
readonly TRACING=/sys/kernel/tracing MIB=64 # 16384 pages
readonly LONG=20000 # ms: a recorder needs some seconds to attach in an emulated machine
here=$(dirname "${BASH_SOURCE[0]}")
work=$(mktemp -d)
cost=$(cat "$GPUSIM_PARAMETERS/page_cost_ns")

restore_settings() {
	set_gpusim page_cost_ns "$cost"
	echo 0 >"$TRACING/events/hcw/enable" 2>/dev/null || true
	echo >"$TRACING/kprobe_events" || true
	echo local >"$TRACING/trace_clock"
}
trap restore_settings EXIT

# Who writes a breakpoint into a process, who reads its smaps or numa_maps, and when queues run again.
watch_touches() {
	local function
	[[ -e $TRACING/kprobe_events ]] || mount -t tracefs none "$TRACING"
	echo boot >"$TRACING/trace_clock"
	echo 'p:hcw/resumed kgd2kfd_resume_mm' >>"$TRACING/kprobe_events"
	for function in uprobe_write_opcode uprobe_write install_breakpoint show_smap show_numa_map; do
		grep -q " $function\$" /proc/kallsyms || continue
		echo "p:hcw/touch_$function $function" >>"$TRACING/kprobe_events" || true
	done
	echo 1 >"$TRACING/events/hcw/enable"
}

# events PATTERN: the times in milliseconds, since the trace was emptied
events() {
	sed -nE "s/^.* ([0-9]+)\.([0-9]{3})[0-9]*: ($1): .*/\1\2/p" "$TRACING/trace"
}

# touches EXPRESSION: how many of hcwatch's there were at times `t` for which it is true (awk)
touches() {
	grep -E '^ *hcwatch-' "$TRACING/trace" |
		sed -nE 's/^.* ([0-9]+)\.([0-9]{3})[0-9]*: touch_.*/\1\2/p' |
		awk '{ t = $1 } '"$1"' { n++ } END { print n + 0 }'
}

is_ready() {
	grep -q '^ready' "$work/$1.out" 2>/dev/null
}

has_evicted() {
	(($(counter evictions) > evictions))
}

# start_victim NAME MS
start_victim() {
	"$TESTS/churn" shared "$MIB" "$2" >"$work/$1.out" &
	victim=$!
	wait_until 60 is_ready "$1" || check "$1: the victim runs" no yes
}

# stall MS: a restore pass of the victim takes so long from now on, and one begins
stall() {
	evictions=$(counter evictions)
	set_gpusim page_cost_ns "$(($1 * 1000000 / (MIB * 256)))"
	"$TESTS/mover" starter "$victim" 16 1 0 >/dev/null
	wait_until 20 has_evicted || check 'the victim is evicted' no yes
	echo >"$TRACING/trace"
}

# share NAME: how much of its time the loop was delayed, per mille
share() {
	echo $(($(field "$work/$1.out" slow_us) * 1000 / $(field "$work/$1.out" total_us)))
}

restored() {
	[[ -n $(events resumed) ]]
}

watch_touches

# the loop of a stalled process, alone
start_victim alone 600000
stall "$LONG"
wait_until 120 restored || check 'alone: the stall ends' no yes
sleep 3
kill "$victim"
wait "$victim"
cat "$work/alone.out"

# the same, and somebody attaches when the stall is under way
start_victim traced 600000
stall "$LONG"
sleep 1
"$HCWATCH" record --ready-file "$work/ready" -o "$work/traced.hcw" -p "$victim" &
recorder=$!
# on a slow machine that takes longer than a stall: it is made longer
until [[ -e $work/ready ]] || ((SECONDS > 300)); do
	sleep 5
	[[ -e $work/ready ]] || "$TESTS/mover" starter "$victim" 16 1 0 >/dev/null
done
check 'attach: before the stall is over' "$(events resumed | wc -l)" 0
wait_until 120 restored || check 'attach: the stall ends' no yes
resumed=$(events resumed | tail -n 1)
sleep 6
kill "$victim"
wait "$victim"
wait "$recorder" || check 'attach: record ends well' "$?" 0
cat "$work/traced.out"
check 'attach: nothing touches the process while it is evicted, nor a second after' "$(touches "t <= $resumed + 1000")" 0
check_that 'attach: its marks are planted later' "$(touches "t > $resumed + 1000") > 0"
"$here/records.py" "$work/traced.hcw" >"$work/traced.txt"
check_that 'attach: and seen' "$(grep -c "^iteration [0-9]* $victim\$" "$work/traced.txt") > 0"
# The emulator runs one CPU at a time, 100 ms each: that much, and as much again, is its own. A lock held through the
# stall would show as many seconds.
alone=$(field "$work/alone.out" worst_us) traced=$(field "$work/traced.out" worst_us)
check_that 'attach: worst delay of the mmap loop, us' "$traced <= 2 * $alone + 300000"
alone=$(share alone) traced=$(share traced)
check_that 'attach: delays of the mmap loop, per mille of its time' "$traced <= 2 * $alone + 200"

# a command whose program a stalled stranger runs, too: it starts when that one is quiet
start_victim stranger 600000
stall 5000
"$HCWATCH" record --ready-file "$work/ready" -o "$work/command.hcw" -- "$TESTS/churn" shared 4 2000 2>"$work/command.err" \
	>"$work/command.out" &
recorder=$!
wait_until 60 restored || check 'command: the stall ends' no yes
resumed=$(events resumed | head -n 1)
wait "$recorder" || check 'command: record ends well' "$?" 0
cat "$work/command.err"
check 'command: the stranger is not touched before it is quiet' "$(touches "t <= $resumed + 1000")" 0
check_that 'command: its marks are planted then' "$(touches "t > $resumed + 1000") > 0"
check 'command: it was said why it waits' "$(grep -c 'starts when they are quiet' "$work/command.err")" 1
command=$(field "$work/command.out" ready)
"$here/records.py" "$work/command.hcw" >"$work/command.txt"
check 'command: its pool is seen, so it was marked from its start' "$(grep -c "^pool [0-9]* $command\$" "$work/command.txt")" 1

# ...but not for ever
stall 60000
"$HCWATCH" record --ready-file "$work/ready" -o "$work/late.hcw" -- sh -c 'echo started' 2>"$work/late.err" >"$work/late.out"
check 'bounded: the command runs while the stall goes on' "$(cat "$work/late.out") $(events resumed | wc -l)" 'started 0'
check 'bounded: and nobody was touched' "$(touches 't > 0')" 0
check 'bounded: it is said' "$(grep -c 'not seen until' "$work/late.err")" 1
set_gpusim page_cost_ns "$cost"
kill -KILL "$victim"
wait "$victim" || true

check 'no kernel warning' "$(kernel_warnings)" ''
rm -rf "$work"
summary
