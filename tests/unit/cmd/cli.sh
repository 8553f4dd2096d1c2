#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Bad input of every command: the exit code, a message that says why, nothing on stdout, and no file left behind.
set -uo pipefail

readonly HCWATCH=$1
work=$(mktemp -d)
cd "$work" || exit 1
failed=0

# bad CODE TEXT ARGUMENT...: ends with CODE, TEXT on stderr, stdout empty
bad() {
	local code=$1 text=$2 rc=0
	shift 2
	"$HCWATCH" "$@" >out 2>err || rc=$?
	if ((rc != code)) || [[ -s out ]] || ! grep -qF -- "$text" err; then
		printf 'FAIL hcwatch %s: exit %s (want %s), stderr:\n' "$*" "$rc" "$code"
		cat err
		failed=1
	fi
}

# good TEXT ARGUMENT...: ends with 0, TEXT on stdout
good() {
	local text=$1 rc=0
	shift
	"$HCWATCH" "$@" >out 2>err || rc=$?
	if ((rc)) || ! grep -qF -- "$text" out; then
		printf 'FAIL hcwatch %s: exit %s, stdout:\n' "$*" "$rc"
		cat out
		failed=1
	fi
}

good 'Usage: hcwatch COMMAND' --help
good 'hcwatch 0.' --version
good 'Usage: hcwatch lab' lab --help
good 'Usage: hcwatch record' record --help
good 'Usage: hcwatch report' report --help
good 'Usage: hcwatch live' live --help
good 'Usage: hcwatch doctor' doctor --help
good 'Usage: hcwatch COMMAND' -h
good 'Usage: hcwatch lab' help lab

bad 2 'Usage: hcwatch COMMAND'
bad 2 'no such command: frobnicate' frobnicate

bad 2 'no such arm: gtx' lab -a gtx
bad 2 'no such arm: gtx' lab --require-immune gtx
bad 2 '--trials takes a number from 1 to 100' lab --trials 0
bad 2 '--trials takes a number from 1 to 100' lab --trials 101
bad 2 '--trials takes a number from 1 to 100' lab --trials 3x
bad 2 '--iterations takes a number' lab --iterations -5
bad 2 '--pool-gb takes a number of GB' lab --pool-gb ''
bad 2 '--pool-gb takes a number of GB' lab --pool-gb 1e3
bad 2 '--pool-mib takes a number' lab --pool-mib ' 64'
bad 2 'one pool size, please' lab --pool-mib 64 --pool-gb 1
bad 2 'lab takes no argument' lab surplus
bad 2 'unrecognized option' lab --frobnicate
bad 2 'gtt is asked for twice' lab -a gtt -a gtt
bad 2 'gtt is required to be immune but not measured' lab -a registered --require-immune gtt
bad 2 '--traces needs a folder' lab --traces ''
bad 2 'cannot write traces into ./nowhere' lab --traces ./nowhere
bad 2 'cannot write ./nowhere/lab.json' lab -o ./nowhere/lab.json
mkdir old && : >old/gtt.hcw
bad 2 'old/gtt.hcw exists already' lab --traces old
bad 2 'not a pid: 0' live -p 0
bad 2 'cannot go together' live -p 1 -- true
bad 2 'cannot go together' live --comm x -- true
bad 2 'cannot go together' live --all -- true
bad 2 'cannot go together' live --all -p 1
bad 2 'no process 4194303' live -p 4194303
bad 2 'no such program: no-such-program' live -- no-such-program
bad 2 'unrecognized option' live --frobnicate

bad 2 'unrecognized option' doctor --frobnicate
bad 2 'doctor takes no argument' doctor surplus
bad 2 '--probe needs --probes' doctor --probe migrate=off
bad 2 'notifier' doctor --probes --probe nowhere=off

bad 2 '-o FILE is missing' record
bad 2 'not a pid: 0' record -o t.hcw -p 0
bad 2 'not a pid: 12abc' record -o t.hcw -p 12abc
bad 2 'not a pid: -1' record -o t.hcw -p -1
bad 2 'no such probe point: notifer; there are' record -o t.hcw --probe notifer=off
bad 2 'no such probe tier: kprob; there are off, fentry' record -o t.hcw --probe notifier=kprob
bad 2 'this probe point has no tier tp_btf' live --probe notifier=tp_btf
bad 2 'POINT=off or POINT=TIER' lab --probe notifier
bad 2 '--ring takes a size' record -o t.hcw --ring 12abc
bad 2 'cannot go together' record -o t.hcw -p 1 -- true
bad 2 'cannot go together' record -o t.hcw --cgroup / -- true
bad 2 'cannot go together' record -o t.hcw --all --comm x
bad 2 'not a pid namespace' record -o t.hcw -p 97@
bad 2 'not a pid: @97' record -o t.hcw -p @97
bad 2 '15 bytes at most' record -o t.hcw --comm 0123456789abcdef
bad 2 '--comm: no name' record -o t.hcw --comm ''
bad 2 'not a path' record -o t.hcw --cgroup kubepods
bad 2 'no process 4194303' record -o t.hcw -p 4194303
bad 2 'no process 1 in pid namespace 7' record -o t.hcw -p 1@7
bad 2 'no process is named no such name' record -o t.hcw --comm 'no such name'
bad 2 'no process is named no-such-*' record -o t.hcw -p $$ --comm 'no-such-*'
bad 2 'no process is in cgroup /no/such' record -o t.hcw --cgroup /no/such
bad 2 'no such program: no-such-program' record -o t.hcw -- no-such-program

bad 2 'which trace?' report
bad 2 'one trace at a time' report a b
bad 6 'no-such-file' report no-such-file
: >empty
bad 6 'empty' report empty
head -c 4096 /dev/urandom >noise
bad 6 'noise' report noise
mkdir folder
bad 6 'folder' report folder
printf '\033]0;owned\007' >text
bad 6 'text' report text

rm -r old
left=$(find . -name '*.hcw')
[[ -z $left ]] || { printf 'FAIL left behind: %s\n' "$left"; failed=1; }
cd / && rm -rf "$work"
exit "$failed"
