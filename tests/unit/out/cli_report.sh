#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# hcwatch report and explain as a user types them: exit codes, where what is printed, bad input. Usage: cli_report.sh
# HCWATCH TRACES
set -euo pipefail

readonly HCWATCH=$1 TRACES=$2
export TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# run CODE STREAM TEXT ARGUMENT...: ends with CODE, TEXT on STREAM (out or err), nothing on the other
run() {
	local code=$1 stream=$2 text=$3 rc=0 other=err
	shift 3
	[[ $stream == out ]] || other=out
	"$HCWATCH" "$@" >"$work/out" 2>"$work/err" || rc=$?
	if ((rc != code)) || [[ -s $work/$other ]] || ! grep -qF -- "$text" "$work/$stream"; then
		printf 'FAIL hcwatch %s: exit %s (want %s)\n' "$*" "$rc" "$code"
		cat "$work/out" "$work/err"
		failed=1
	fi
}

# same FILE: what was printed last is this file
same() {
	diff -u "$1" "$work/out" || { echo "FAIL: $1 differs"; failed=1; }
}

cd "$TRACES"
for name in registered:1 gtt:0 prolonged:1 incomplete:5 killed:1 clean:0; do
	run "${name#*:}" out 'Next:' report "${name%:*}.hcw"
	same "${name%:*}.txt"
	run "${name#*:}" out '"schema": 1' report --json "${name%:*}.hcw"
	same "${name%:*}.json"
done
head -c 1000 registered.hcw >"$work/cut.hcw"
run 6 err 'ends early' report "$work/cut.hcw"
head -c -1 registered.hcw >"$work/cut.hcw"
run 5 out 'the file ends early at byte' report "$work/cut.hcw"
run 5 out '"closed": false' report --json "$work/cut.hcw"
run 2 err 'which trace?' report --json
run 2 err 'one trace at a time' report clean.hcw gtt.hcw
run 6 err 'no-such.hcw' report --json no-such.hcw
run 2 err 'unrecognized option' report --frobnicate clean.hcw

# no escape sequence in a pipe or file; a full disk is no success
if grep -q $'\033' "$work/out"; then
	echo 'FAIL: escape sequences in a file'
	failed=1
fi
for command in 'report clean.hcw' 'report --json clean.hcw' 'explain' 'explain HCW-101' 'explain --json'; do
	rc=0
	# shellcheck disable=SC2086 # words
	"$HCWATCH" $command >/dev/full 2>"$work/err" || rc=$?
	if ((rc != 5)) || ! grep -q 'cannot write' "$work/err"; then
		echo "FAIL: hcwatch $command to a full disk: exit $rc"
		failed=1
	fi
done

run 0 out 'HCW-201' explain
run 0 out 'HSA_USERPTR_FOR_PAGED_MEM=0' explain HCW-101
run 0 out 'HCW-101  page migration' explain hcw-101
run 0 out '"sources"' explain --json HCW-103
run 0 out '"HCW-104"' explain --json
run 2 err 'HCW-106' explain HCW-999
run 2 err 'no such code: \x1b[2J' explain $'\033[2J'
run 2 err 'no such code' explain ''
run 2 err 'one code at a time' explain HCW-101 HCW-102
run 2 err 'unrecognized option' explain --frobnicate

exit "$failed"
