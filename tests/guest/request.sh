#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who asks for migrations that others carry out: told for writes to cpuset.mems and compact_memory, and for nothing else.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly CHECK=$HCW_BUILD/tests/probe_check GROUP=/sys/fs/cgroup/hcwatch-request
work=$(mktemp -d)

# requests NAME SCRIPT: runs SCRIPT under probe_check; kinds of the requests it made, in order
requests() {
	local rc=0
	"$CHECK" bash -c "$2" >"$work/$1" || rc=$?
	check "$1: emitted == received" "$rc" 0
	kinds=$(awk '$3 == "request" { print $4 }' "$work/$1" | xargs)
}

# nobody is in it: to move the code of running programs takes an emulator minutes
mkdir -p "$GROUP"
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
echo 0-1 >"$GROUP/cpuset.mems"

requests mems "echo 0 >$GROUP/cpuset.mems; echo 1 >$GROUP/cpuset.mems"
check 'mems: each write' "$kinds" 'kind=1 kind=1'
check 'mems: the writer is named' "$(grep -c 'task .* comm=bash' "$work/mems")" 1
requests cpus "echo 0 >$GROUP/cpuset.cpus; echo 0-1 >$GROUP/cpuset.cpus; cat $GROUP/cpuset.mems >/dev/null"
check 'cpus: none' "$kinds" ''
requests compact 'echo 1 >/proc/sys/vm/compact_memory; echo 1 >/sys/devices/system/node/node1/compact'
check 'compact: all nodes and one' "$kinds" 'kind=2 kind=2'

rmdir "$GROUP"
echo -cpuset >/sys/fs/cgroup/cgroup.subtree_control
rm -rf "$work"
summary
