#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# hcstall on two real nodes: every trigger on every kind of pool, huge pages, windows, ranks, and every refusal.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2
readonly USERPTR=HSA_USERPTR_FOR_PAGED_MEM THP=/sys/kernel/mm/transparent_hugepage
readonly SMALL=(--pool-mib 16 --trials 2 --iterations 30 --gemm-n 64 --copy-mib 1)
work=$(mktemp -d)
export "$USERPTR=0"

# stall NAME [OPTION]...: hcstall's JSON, stderr and exit code, and how far the module's evictions went
stall() {
	local name=$1 before
	shift
	before=$(counter evictions)
	rc=0
	timeout 120 "$HCSTALL" --json "${SMALL[@]}" "$@" >"$work/$name" 2>"$work/$name.err" || rc=$?
	evictions=$(($(counter evictions) - before))
}

# said NAME EXPRESSION: of the JSON r and its trials
said() {
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
trials = r["trials"]
print(eval(sys.argv[2]))' "$work/$1" "$2"
}

told() {
	grep -c -- "$2" "$work/$1.err" || true
}

# with_env KIND COMMAND...: the variable as the kind of pool needs it
with_env() {
	if [[ $1 == userptr ]]; then
		unset "$USERPTR"
	fi
	"${@:2}"
	export "$USERPTR=0"
}

# fires TRIGGER KIND OUTCOME EVICTS
fires() {
	with_env "$2" stall "$1-$2" --allocator "$2" --trigger "$1"
	check "$1 on $2: exit code" "$rc" 0
	check "$1 on $2: outcome" "$(said "$1-$2" '{t["outcome"] for t in trials}')" "{'$3'}"
	check "$1 on $2: copies" "$(said "$1-$2" 'all(t["copy_ok"] for t in trials)')" True
	check "$1 on $2: evicts" "$((evictions > 0))" "$4"
}

# The causes of the measured table, per kind of memory: shared (registered), private (userptr), the driver's (gtt)
test_table() {
	local trigger
	for trigger in move_pages move_pages-other migrate_pages mbind; do
		fires "$trigger" registered moved 1
		fires "$trigger" userptr moved 1
		fires "$trigger" gtt refused 0
	done
	for trigger in mprotect soft-dirty; do
		fires "$trigger" registered 'done' 1
		fires "$trigger" userptr 'done' 1
		fires "$trigger" gtt 'done' 0
	done
	fires fork registered 'done' 0
	fires fork userptr 'done' 1
	fires fork gtt 'done' 0
	fires madvise-dontneed registered 'done' 1
	fires madvise-dontneed userptr 'done' 1
	fires madvise-dontneed gtt refused 0
	fires madvise-pageout registered 'done' 1
	fires madvise-pageout userptr 'done' 0
	fires madvise-pageout gtt refused 0
	fires madvise-free userptr 'done' 1
	stall free --allocator registered --trigger madvise-free
	check 'madvise-free on registered: not possible' "$rc $(told free 'refuses madvise-free')" '3 1'
	check 'move_pages-other: by another process' \
		"$(said move_pages-other-registered '[t["mover_pid"] == r["pid"] for t in trials]')" '[False, False]'
}

# Windows of three sizes, one on a huge page, one partly without pages: counts are what a query of each page says
test_windows() {
	local name want
	"$HCW_BUILD/tests/window_check" 1 >"$work/windows"
	while read -r name want; do
		check "window $name: moved, no page, re-queried, shared, by query" \
			"$(sed -n "s/^$name //p" "$work/windows")" "$want"
	done <<-'EOT'
		1mib 256 0 0 0 256
		2mib 512 0 0 0 512
		8mib 2048 0 0 0 2048
		thp 512 0 1 0 512
		holes 171 341 0 0 171
		shared 0 0 0 8 0
	EOT
	stall window --allocator registered --window-mib 8
	check 'window of 8 MiB in a pool' "$(said window '[(t["attempted"], t["moved"]) for t in trials]')" \
		'[(2048, 2048), (2048, 2048)]'
}

test_huge() {
	stall no-huge --allocator registered --huge
	check 'huge: none reserved' "$rc $(told no-huge '8 huge pages of 2 MiB are needed, 0 are free')" '3 1'
	stall no-thp --allocator registered --thp
	check 'thp: not allowed for shared memory' "$rc $(told no-thp 'no transparent huge page')" '3 1'

	echo advise >"$THP/shmem_enabled"
	stall thp --allocator registered --thp
	check 'thp: one -EBUSY in a perfect move is a perfect move' \
		"$rc $(said thp '[(t["moved"], t["ebusy"], t["requeried"]) for t in trials]')" '0 [(512, 0, 1), (512, 0, 1)]'
	check 'thp: of huge pages' "$(said thp 'r["huge_bytes"]')" $((16 << 20))
	echo never >"$THP/shmem_enabled"

	for node in 0 1; do
		echo 16 >"/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages"
	done
	stall huge --allocator registered --huge
	check 'huge: of huge pages' "$(said huge 'r["huge_bytes"]')" $((16 << 20))
	# A CPU that touches the page while it is unmapped makes the kernel give up, and this test GPU copies by the
	# CPU: either the whole page moved, or none of it and hcstall says so.
	check 'huge: all or nothing' "$(said huge '{(t["moved"], t["requeried"], t["outcome"]) for t in trials}.issubset(
		{(512, 1, "moved"), (0, 0, "part")})')" True
	check 'huge: exit code and text of what did not move' "$rc $(told huge 'huge pages that did not move')" \
		"$(said huge '"0 0" if all(t["moved"] for t in trials) else "5 " + str(sum(not t["moved"] for t in trials))')"
	check_that 'huge: evicts' "$evictions >= 1"
	"$HCW_BUILD/tests/window_check" 1 >"$work/windows"
	check 'huge: all addresses of a page that nobody touches' "$(sed -n 's/^hugetlb //p' "$work/windows")" \
		'512 0 1 0 512'
	echo 0 >/proc/sys/vm/nr_hugepages
}

# long_run NAME: three ranks at work; rank 0 is $leader
long_run() {
	"$HCSTALL" "${SMALL[@]}" --trials 1000 --iterations 1000 --allocator registered --ranks 3 >/dev/null \
		2>"$work/$1.err" &
	leader=$!
	wait_until 30 pgrep -P "$leader" >/dev/null
	wait_until 30 test -d "/sys/class/kfd/kfd/proc/$leader"
	sleep 3
}

test_ranks() {
	stall ranks --allocator registered --ranks 3
	check 'ranks: exit code' "$rc" 0
	check 'ranks: three processes' "$(said ranks 'len({k["pid"] for k in r["ranks"]})')" 3
	check 'ranks: all wait for the one whose pool is moved' \
		"$(said ranks '[all(k["trials"][i]["max_iteration_ms"] > 0.5 * trials[i]["max_iteration_ms"]
			for k in r["ranks"]) for i in (0, 1)]')" '[True, True]'
	check 'ranks: only rank 0 is evicted' \
		"$(said ranks '[sum(sum(t["evicted_ms_delta"].values()) for t in k["trials"]) > 0 for k in r["ranks"]]')" \
		'[True, False, False]'

	local rank
	long_run dead
	rank=$(pgrep -P "$leader" | tail -n 1)
	kill -9 "$rank"
	rc=0
	wait "$leader" || rc=$?
	check 'ranks: one that is killed ends the run' "$rc $(told dead "process $rank) was killed by signal 9")" '5 1'
	check 'ranks: and leaves nobody behind' "$(pgrep -xc hcstall || true)" 0

	long_run stopped
	kill -TERM "$leader"
	rc=0
	wait "$leader" || rc=$?
	check 'ranks: rank 0 is asked to end' "$rc $(told stopped 'stopped by a signal')" '5 1'
	check 'ranks: and all have ended' "$(pgrep -xc hcstall || true)" 0

	long_run orphaned
	kill -9 "$leader"
	wait "$leader" 2>/dev/null || true
	check 'ranks: nobody outlives rank 0' "$(wait_until 10 nobody && echo ended)" ended
}

nobody() {
	! pgrep -x hcstall >/dev/null
}

# A filter as container runtimes install it, then the command
with_seccomp() {
	python3 - "$@" <<-'EOT'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		MOVE_PAGES, EPERM = 279, 1
		code = b"".join(struct.pack("<HBBI", *i) for i in (
		    (0x20, 0, 0, 0), (0x15, 0, 1, MOVE_PAGES), (6, 0, 0, 0x00050000 | EPERM), (6, 0, 0, 0x7fff0000)))
		text = ctypes.create_string_buffer(code)
		prog = struct.pack("<HxxxxxxQ", 4, ctypes.addressof(text))
		assert libc.prctl(38, 1, 0, 0, 0) == 0
		assert libc.prctl(22, 2, prog) == 0
		os.execv(sys.argv[1], sys.argv[1:])
	EOT
}

test_refusals() {
	local cgroup=/sys/fs/cgroup/one-node pid
	rc=0
	with_seccomp "$HCSTALL" --allocator gtt "${SMALL[@]}" 2>"$work/seccomp.err" >"$work/seccomp" || rc=$?
	check 'seccomp: EPERM is no refusal of the pool' \
		"$rc $(told seccomp 'move_pages is blocked here (EPERM)') $(wc -c <"$work/seccomp")" '4 1 0'

	echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
	mkdir "$cgroup"
	echo 0 >"$cgroup/cpuset.mems"
	rc=0
	(echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$HCSTALL" --allocator gtt "${SMALL[@]}") \
		2>"$work/cpuset.err" || rc=$?
	check 'cpuset: one node from the start' "$rc $(told cpuset 'needs two NUMA nodes')" '3 1'
	# into the cpuset when the checks are behind it
	"$HCSTALL" --allocator registered "${SMALL[@]}" --iterations 2000 >/dev/null 2>"$work/late.err" &
	pid=$!
	wait_until 30 test -d "/sys/class/kfd/kfd/proc/$pid"
	echo "$pid" >"$cgroup/cgroup.procs"
	rc=0
	wait "$pid" || rc=$?
	check 'cpuset: EACCES' "$rc $(told late "node 1 is outside this task's cpuset (Mems_allowed_list: 0)")" '4 1'
	rmdir "$cgroup"

	rc=0
	env -u "$USERPTR" "$HCSTALL" --allocator gtt "${SMALL[@]}" 2>"$work/unset.err" || rc=$?
	check 'gtt without the variable' "$rc $(told unset 'must be 0 for gtt, it is not set')" '2 1'
	stall userptr-0 --allocator userptr
	check 'userptr with the variable' "$rc $(told userptr-0 'must not be 0 for userptr')" '2 1'
}

# wrong_pid NAME PID TEXT
wrong_pid() {
	stall "pid-$1" --allocator gtt --kfd-pid "$2"
	check "kfd-pid: $1" "$rc $(told "pid-$1" "$3")" '2 1'
}

test_kfd_pid() {
	local zombie outer inner
	# a parent that never waits
	bash -c 'sleep 0.1 & echo $!; exec sleep 100' >"$work/zombie" &
	outer=$!
	wait_until 10 test -s "$work/zombie"
	zombie=$(<"$work/zombie")
	wait_until 10 grep -q '^State:.Z' "/proc/$zombie/status"
	wrong_pid zombie "$zombie" 'has exited (zombie)'
	kill "$outer"
	wrong_pid 'kernel thread' 2 'process 2 is a kernel thread'
	wrong_pid gone 4194303 'no such process: 4194303'
	wrong_pid other 1 'process 1 is another one'

	# in a pid namespace, as in a container: told from outside which number it has there
	mkfifo "$work/number"
	# shellcheck disable=SC2016 # the inner shell's own
	unshare --pid --fork --mount-proc bash -c 'read -r pid <"$1"; exec "${@:2}" --kfd-pid "$pid"' inner \
		"$work/number" "$HCSTALL" --json "${SMALL[@]}" --allocator registered >"$work/inner" 2>"$work/inner.err" &
	outer=$!
	wait_until 10 pgrep -P "$outer" >/dev/null
	inner=$(pgrep -P "$outer")
	echo "$inner" >"$work/number"
	rc=0
	wait "$outer" || rc=$?
	check 'kfd-pid: evicted_ms from inside' \
		"$rc $(said inner 'min(max(t["evicted_ms_delta"].values()) for t in trials) > 0')" '0 True'
	check 'kfd-pid: inside it has another number' "$(said inner 'r["pid"]')" 1
	rc=0
	unshare --pid --fork --mount-proc "$HCSTALL" "${SMALL[@]}" --allocator gtt --kfd-pid 4194303 \
		2>"$work/stale.err" || rc=$?
	check 'kfd-pid: stale, from inside' "$rc $(told stale 'KFD knows no process 4194303')" '2 1'
}

# lab_with TRIGGER ARM...
lab_with() {
	local trigger=$1 arms=()
	shift
	for arm; do
		arms+=(-a "$arm")
	done
	rc=0
	"$HCWATCH" lab "${arms[@]}" --pool-mib 16 --iterations 50 --trials 2 --trigger "$trigger" --json >"$work/lab" || rc=$?
}

# The lab's own list of triggers is hcstall's.
test_lab_names() {
	local name unknown=''
	while read -r name _; do
		"$HCWATCH" lab --trigger "$name" --help >/dev/null 2>&1 || unknown+=" $name"
	done < <("$HCSTALL" --trigger list | tail -n +2)
	check 'lab: knows every trigger of hcstall' "$unknown" ''
}

test_lab() {
	test_lab_names
	lab_with move_pages-other registered userptr
	check 'lab: another process moves: exit code' "$rc" 0
	check 'lab: exposed by trial' "$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["trigger"], [(a["allocator"], a["verdict"], a["evidence"], [t["traced_moved"] for t in a["trials"]])
                     for a in r["arms"]])' "$work/lab")" \
		"move_pages-other [('registered', 'exposed', 'trial', [512, 512]), ('userptr', 'exposed', 'trial', [512, 512])]"
	# fork moves no page: nothing was tried that could clear gtt
	lab_with fork gtt
	check 'lab: fork clears nobody' "$rc $(python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))["arms"][0]
print(a["verdict"], a["trials"][0]["outcome"])' "$work/lab")" '5 inconclusive done'
}

thp_before=$(sed 's/.*\[\(.*\)\].*/\1/' "$THP/enabled")
# Private pools of 4 KiB pages: a huge page that is split is an invalidation of its own.
echo madvise >"$THP/enabled"
test_table
test_windows
test_huge
test_ranks
test_refusals
test_kfd_pid
test_lab
echo "$thp_before" >"$THP/enabled"
check 'no kernel warning' "$(kernel_warnings)" ''
rm -rf "$work"
summary
