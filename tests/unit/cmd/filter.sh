#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pid namespaces on this very kernel: a process that marks iterations, which needs uprobes only, in a container. Skipped
# where BPF or namespaces are not permitted.
set -uo pipefail

readonly HCWATCH=$1 MARKS=$2 INNER=3999983 # a number nobody has on the host
work=$(mktemp -d)
cd "$work" || exit 1
failed=0

# unshare keeps SIGTERM to itself
trap 'kill -KILL "${holder[@]}" 2>/dev/null; cd / && rm -rf "$work"' EXIT
declare -A holder server ns

check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s\n' "$1"
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		failed=1
	fi
}

skip() {
	printf 'SKIP cmd_filter: %s\n' "$1"
	exit 77
}

# find_server NAME: the process INNER of the namespace that NAME's holder made
find_server() {
	local init number
	init=$(tr -d ' ' <"/proc/${holder[$1]}/task/${holder[$1]}/children")
	[[ -n $init ]] || return 1
	ns[$1]=$(readlink "/proc/$init/ns/pid" | tr -dc 0-9)
	while read -r number; do
		server[$1]=$number
		[[ $(readlink "/proc/$number/ns/pid" | tr -dc 0-9) == "${ns[$1]}" ]] && return 0
	done < <(grep -lsE "^NSpid:[[:space:]]+[0-9]+[[:space:]]$INNER\$" /proc/[0-9]*/status | cut -d/ -f3)
	return 1
}

# contain NAME [PROGRAM]: `marks` as process INNER of a new pid namespace, with its own /proc
contain() {
	local tries=100
	# shellcheck disable=SC2016 # the inner shell's own
	unshare --pid --fork --kill-child --mount-proc bash -c 'echo "$1" >/proc/sys/kernel/ns_last_pid && "$2" 60 & wait $!' \
		bash "$((INNER - 1))" "${2:-$MARKS}" 2>"$1.err" &
	holder[$1]=$!
	until find_server "$1"; do
		((tries-- > 0)) || skip "no pid namespace with a number of our choice: $(cat "$1.err")"
		sleep 0.1
	done
}

# record NAME OPTION...: until three seconds after it is attached; its exit code. The report's JSON in NAME.json
record() {
	local name=$1 rc=0 recorder tries=600
	shift
	"$HCWATCH" record -o "$name.hcw" --ready-file "$name.ready" "$@" 2>"$name.err" &
	recorder=$!
	until [[ -e $name.ready ]] || ! kill -0 "$recorder" 2>/dev/null || ((tries-- == 0)); do
		sleep 0.1
	done
	sleep 3
	kill -INT "$recorder" 2>/dev/null
	wait "$recorder" || rc=$?
	"$HCWATCH" report --json "$name.hcw" >"$name.json" 2>/dev/null
	echo "$rc"
}

# pids NAME: whose iterations were seen
pids() {
	python3 -c 'import json, sys
print(*sorted(i["pid"] for i in json.load(open(sys.argv[1]))["iterations"]))' "$1.json"
}

"$HCWATCH" record -o probe.hcw -- true 2>err
grep -qE 'not permitted|CAP_BPF|lockdown' err && skip 'BPF is not permitted here'
unshare --pid --fork --mount-proc true 2>/dev/null || skip 'no namespaces here'

contain a
contain b
record two -p "$INNER" >rc
check 'two of one number: a usage error that lists both' \
	"$(cat rc) $(grep -cE "process (${server[a]}|${server[b]}), marks, in pid namespace (${ns[a]}|${ns[b]})" two.err)" '2 2'
record one -p "$INNER@${ns[a]}" >rc
check 'by namespace: both numbers are said' \
	"$(grep -cE "$INNER is process ${server[a]} |$INNER in pid namespace ${ns[a]}" one.err)" 2
check 'by namespace: that one, and no other' "$(pids one)" "${server[a]}"
record both -p "${server[a]}" -p "$INNER@${ns[b]}" >rc
check 'several: a union' "$(pids both)" "$(printf '%s\n' "${server[@]}" | sort -n | paste -sd ' ')"

record waits --comm marks >rc
check 'by name, and nobody at KFD: it waits, and says so' "$(grep -c 'nobody uses KFD yet' waits.err)" 1
check 'by name: who is not at KFD is not taken' "$(pids waits)" ''

# a name that would write to the terminal
hostile=$work/$'m\e]0;x\a'
cp "$MARKS" "$hostile"
contain c "$hostile"
record hostile -p "$INNER@${ns[c]}" >rc
check 'a hostile name: escaped' \
	"$(grep -c 'of this host, m\\x1[bB]' hostile.err) $(grep -c $'[\e\a]' hostile.err)" '1 0'

# the reader of the end of a process
"$HCWATCH" record -o end.hcw --ready-file end.ready -p "${server[a]}" 2>end.err &
recorder=$!
for _ in $(seq 600); do
	[[ -e end.ready ]] && break
	sleep 0.1
done
kill "${server[a]}"
wait "$recorder"
check 'ends with the process' "$(($? == 0 || $? == 5))" 1

# inside_namespace NAME OPTION...: what hcwatch says there
inside_namespace() {
	local name=$1 rc=0
	shift
	unshare --pid --fork --mount-proc "$HCWATCH" record -o "$name.hcw" "$@" 2>"$name.err" || rc=$?
	echo "$rc"
}
check 'inside: -p cannot be translated' "$(inside_namespace in1 -p 1) $(grep -c 'other pids on the host' in1.err)" '3 1'
check 'inside: nor a command' "$(inside_namespace in2 -- true) $(grep -c -- '--pid=host' in2.err)" '3 1'
check 'inside: no file is left' "$(find . -name 'in*.hcw' | wc -l)" 0
rc=0
unshare --pid --fork "$HCWATCH" record -o hostproc.hcw -- "$MARKS" 0.5 2>hostproc.err || rc=$?
"$HCWATCH" report --json hostproc.hcw >hostproc.json
check "inside, with the host's /proc: the command is found" "$((rc == 0 || rc == 5)) $(pids hostproc | wc -w)" '1 1'
rc=0
# shellcheck disable=SC2016 # the inner shell's own
unshare --mount --propagation private bash -c '
	unshare --pid --fork --kill-child bash -c "mount -t proc proc /proc; exec sleep 60" & sleep 1
	"$@"; rc=$?; kill -KILL $!; exit $rc' bash "$HCWATCH" record -o foreign.hcw -p 1 2>foreign.err || rc=$?
# a sanitizer build looks for leaks by a /proc of its own, and ends with its own code without one
grep -q LeakSanitizer foreign.err && rc=3
check "a foreign /proc: it says so" "$rc $(grep -c 'shows another pid namespace' foreign.err)" '3 1'

exit "$failed"
