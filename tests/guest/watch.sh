#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `record` on a server that already runs (-p), and on whoever comes (no filter).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2
work=$(mktemp -d)
export HSA_USERPTR_FOR_PAGED_MEM=0

# stall TRIALS ITERATIONS
stall() {
	exec "$HCSTALL" --allocator registered --pool-mib 16 --trials "$1" --iterations "$2" --json >"$work/stall.json"
}

# evicted_again COUNT: whether the module has seen so many evictions since $evictions
evicted_again() {
	(($(counter evictions) >= evictions + $1))
}

# attached FILE: waits until a recorder has written its header, which it does when everything is attached
attached() {
	wait_until 120 test -s "$1"
}

# report NAME: its text into NAME.txt, its exit code on stdout
report() {
	local rc=0
	"$HCWATCH" report "$work/$1.hcw" >"$work/$1.txt" || rc=$?
	cat "$work/$1.txt" >&2
	echo "$rc"
}

# Marks are only planted after a quiet second: the pauses between its evictions are longer. It goes on until enough of
# it was seen, however long the recorder takes to attach.
stall 100 300 &
victim=$!
sleep 3
"$HCWATCH" record -o "$work/pid.hcw" -p "$victim" &
recorder=$!
attached "$work/pid.hcw"
evictions=$(counter evictions)
wait_until 60 evicted_again 3 || check 'pid: the victim goes on' no yes
kill -INT "$victim"
wait "$victim" || true
rc=0
wait "$recorder" || rc=$?
check 'pid: record ends with the process' "$rc" 0
check 'pid: report is a finding' "$(report pid)" 1
check_that 'pid: it says who' "$(grep -c 'move_pages by hcstall-mover' "$work/pid.txt") > 0"
check 'pid: iterations of a running process are seen' "$(grep -c "^iterations of $victim" "$work/pid.txt")" 1

"$HCWATCH" record --ready-file "$work/ready" -o "$work/all.hcw" &
recorder=$!
wait_until 120 test -e "$work/ready"
stall 3 100 &
victim=$!
wait "$victim" || check 'all: hcstall ended well' "$?" 0
kill -INT "$recorder"
rc=0
wait "$recorder" || rc=$?
check 'all: record ends with 0' "$rc" 0
check 'all: report is a finding' "$(report all)" 1
check 'all: the pool is exposed' "$(grep -c 'registered .* exposed, by trial' "$work/all.txt")" 1
check "all: iterations are seen" "$(grep -c "^iterations of $victim" "$work/all.txt")" 1

# the usual case: the server froze, so somebody starts a recording, in the middle of the stall
evictions=$(counter evictions)
set_gpusim page_cost_ns 4000000 # 4096 pages: a pass of 16 s
stall 1 100 &
victim=$!
wait_until 60 evicted_again 1
"$HCWATCH" record --ready-file "$work/ready" -o "$work/before.hcw" -p "$victim" &
recorder=$!
wait_until 120 test -e "$work/ready"
wait "$victim" || check 'before: hcstall ended well' "$?" 0
set_gpusim page_cost_ns 1460
wait "$recorder" || true
report before >/dev/null
check 'before: the episode that was under way is told' "$(grep -q 'began before' "$work/before.txt" && echo yes)" yes
check 'before: and it is no all-clear' "$(grep -c 'No episode' "$work/before.txt")" 0

rc=0
"$HCWATCH" record -o "$work/gone.hcw" -p "$victim" 2>"$work/err" || rc=$?
check 'gone: no such process is a usage error' "$rc $(grep -c "no process $victim" "$work/err")" '2 1'
rc=0
"$HCWATCH" record -o "$work/all.hcw" -- true 2>"$work/err" || rc=$?
check 'exists: a trace is never overwritten' "$rc $(grep -c 'all.hcw' "$work/err")" '2 1'

rm -rf "$work"
summary
