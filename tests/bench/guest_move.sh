#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# guest_move.sh BUILD: in the guest, what one move of 2 MiB costs with and without a tracer. Prints "untraced NS",
# "traced NS" and, where it is installed, "bpftrace NS" for each round: the least of MOVES moves, since what else runs
# on the machine only adds. "bpftrace_seen SHARE" is what bpftrace told of all hits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
source ../guest/lib.sh

readonly BUILD=$1 ROUNDS=3 MOVES=25
ask='' answer='' # to and from the mover
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What hcwatch has of each event, as text: the peer's usual form.
readonly SCRIPT='
kprobe:kernel_move_pages { @start[tid] = nsecs; @pages[tid] = arg1; }
kretprobe:kernel_move_pages { printf("%llu move_pages %d %s %d %d\n", nsecs, tid, comm, @pages[tid], retval); }
tracepoint:migrate:mm_migrate_pages_start { printf("%llu start %d %d %d\n", nsecs, tid, args->mode, args->reason); }
tracepoint:migrate:mm_migrate_pages { printf("%llu end %d %d %d\n", nsecs, tid, args->succeeded, args->failed); }
kprobe:__mmu_notifier_invalidate_range_start { printf("%llu inval %d %s %lx\n", nsecs, tid, comm, arg0); }
kprobe:gpusim_invalidate_range { printf("%llu callback %d %lx\n", nsecs, tid, arg0); }
kretprobe:gpusim_invalidate_range { @done[tid] = nsecs; }
'

# move: prints the ns of one
move() {
	local ns
	echo >&"$ask"
	read -r ns <&"$answer"
	printf '%s\n' "$ns"
}

# measure NAME
measure() {
	local i
	for ((i = 0; i < MOVES; i++)); do
		move
	done | sort -n | awk -v name="$1" 'NR == 1 {print name, $1}'
}

traced() {
	rm -f "$work"/ready "$work"/trace.hcw
	"$BUILD/bin/hcwatch" record --ready-file "$work/ready" -o "$work/trace.hcw" -p "$1" 2>"$work/said" &
	local recorder=$!
	wait_until 60 test -e "$work/ready" || { echo 'guest_move.sh: hcwatch is not ready' >&2; exit 1; }
	sleep 1
	measure traced
	kill -INT "$recorder"
	wait "$recorder" || true
	# it must have seen the moves, or its cost is that of something else
	grep -qE 'hcwatch: [0-9]{2,} records' "$work/said" || { cat "$work/said" >&2; exit 1; }
}

bpftraced() {
	BPFTRACE_PERF_RB_PAGES=1024 bpftrace -e "$SCRIPT" >"$work/text" 2>"$work/said" &
	local tracer=$!
	wait_until 120 grep -q Attaching "$work/text" || { cat "$work/said" >&2; exit 1; }
	# "Attaching" comes before the probes are there
	local moves=0 seen
	until grep -q inval "$work/text" || ((moves == 100)); do
		move >/dev/null
		moves=$((moves + 1))
		sleep 0.2
	done
	measure bpftrace
	kill -INT "$tracer"
	wait "$tracer" || true
	# what it loses it does not pay for either: the share is told
	seen=$(grep -c inval "$work/text" || true)
	awk -v seen="$seen" -v all="$(((MOVES + moves) * 512))" 'BEGIN {print "bpftrace_seen", seen / all}'
	((seen > MOVES * 51)) ||
		{ printf 'guest_move.sh: bpftrace saw %d hits only\n' "$seen" >&2; cat "$work/said" >&2; exit 1; }
}

main() {
	local round pid
	# the callback runs, and no restore gets in the way
	set_gpusim evict N
	coproc MOVER { "$BUILD/tests/bench_move"; }
	# those of a coprocess are closed in subshells
	exec {ask}>&"${MOVER[1]}" {answer}<&"${MOVER[0]}"
	read -r pid <&"$answer"
	measure warm >/dev/null
	for ((round = 0; round < ROUNDS; round++)); do
		measure untraced
		traced "$pid"
		if command -v bpftrace >/dev/null; then
			bpftraced
		fi
	done
}

main
