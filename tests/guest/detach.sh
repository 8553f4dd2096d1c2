#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Nothing stays attached, whether the recorder ends by itself, by a signal, or is killed; and what it wrote is readable.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2
work=$(mktemp -d)
export HSA_USERPTR_FOR_PAGED_MEM=0

# bpftool's own iterator, which it loads to list the others, is not ours
attached() {
	{ bpftool prog show; bpftool link show; } | grep -vE 'bpftool|pid_iter|^[[:space:]]' || true
}

# start NAME: a recorder over a server that works for longer than the test needs
start() {
	"$HCWATCH" record -o "$work/$1.hcw" -- "$HCSTALL" --allocator registered --pool-mib 16 --trials 20 \
		--iterations 200 --json >"$work/$1.out" 2>"$work/$1.err" &
	recorder=$!
	local tries=300
	until [[ $(attached | wc -l) -gt $(wc -l <<<"$before") || $tries -eq 0 ]]; do
		sleep 0.1
		((tries--)) || true
	done
	check "$1: something is attached while it runs" "$((tries > 0))" 1
	sleep 3
}

settled() {
	sleep 1
	check "$1: nothing stays attached" "$(attached)" "$before"
}

before=$(attached)

start killed
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
settled killed
pkill -x hcstall || true
rc=0
"$HCWATCH" report "$work/killed.hcw" >"$work/killed.txt" || rc=$?
check 'killed: the trace is readable and says it was cut' "$rc $(grep -c 'has no end' "$work/killed.txt")" '5 1'

start terminated
kill -TERM "$recorder"
rc=0
wait "$recorder" || rc=$?
check 'terminated: exit 0' "$rc" 0
settled terminated
check 'terminated: the command ended too' "$(pgrep -xc hcstall || true)" 0
rc=0
"$HCWATCH" report "$work/terminated.hcw" >"$work/terminated.txt" || rc=$?
head -n 12 "$work/terminated.txt"
check_that 'terminated: the trace can be read' "$rc == 0 || $rc == 1 || $rc == 5"
check 'terminated: the trace is whole' "$(grep -c '^complete' "$work/terminated.txt")" 1

# lab: a signal ends it at once, also with arms to go; and its hcstall dies with it
lab() {
	"$HCWATCH" lab --pool-mib 16 --trials 100 --iterations 200 --traces "$work" >"$work/lab.out" 2>"$work/lab.err" &
	recorder=$!
	wait_until 60 pgrep -x hcstall >/dev/null
	sleep 5
}

lab
start=$(date +%s%N)
kill -TERM "$recorder"
rc=0
wait "$recorder" || rc=$?
# an emulated machine takes seconds to detach
check_that 'lab, terminated: gone within 10 s' "$(date +%s%N) - $start < 10000000000"
check 'lab, terminated: exit 5, and why' "$rc $(grep -q 'hcwatch: stopped by a signal' "$work/lab.err" && echo why)" '5 why'
check 'lab, terminated: no further arm' "$(grep -c 'measuring gtt' "$work/lab.err")" 0
check 'lab, terminated: hcstall is gone' "$(pgrep -xc hcstall || true)" 0
settled lab
rm -f "$work"/*.hcw

lab
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
sleep 1
check 'lab, killed: hcstall died with it' "$(pgrep -xc hcstall || true)" 0
settled lab

rm -rf "$work"
summary
