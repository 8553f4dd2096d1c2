#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Servers in their own pid and mount namespaces, two with the same number: -p by it, by namespace, --comm, --cgroup;
# and move_pages() calls that name a target by an inner number. Marks in a container are for tests/unit/cmd/filter.sh:
# the guest's own root is a chroot, which other mount namespaces do not see the paths of.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2 TESTS=$HCW_BUILD/tests
readonly INNER=7003 MIB=16 # a number nobody has on the host, which has just been booted
here=$(dirname "${BASH_SOURCE[0]}")
work=$(mktemp -d)
export HSA_USERPTR_FOR_PAGED_MEM=0
declare -A recorder
declare -A holder pid ns # of a container: the one who made it, its server on the host, its namespace

# what comes next makes no sense without it
give_up() {
	check "$1" no yes
	summary || exit 1
}

# contain NAME COMMAND...: COMMAND as process INNER of a new container; output in NAME.out
contain() {
	local name=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's own
	unshare --pid --fork --kill-child --mount-proc bash -c '
		echo "$1" >/proc/sys/kernel/ns_last_pid
		"${@:3}" >"$2" &
		wait $!' bash "$((INNER - 1))" "$work/$name.out" "$@" &
	holder[$name]=$!
	wait_until 20 find_server "$name" || give_up "$name: the server is there"
}

# child_of PID: its only child
child_of() {
	local child
	child=$(tr -d ' ' <"/proc/$1/task/$1/children") && [[ -n $child ]] && echo "$child"
}

# find_server NAME: the process with the number INNER below the container's maker
find_server() {
	local init number
	init=$(child_of "${holder[$1]}") || return 1
	ns[$1]=$(readlink "/proc/$init/ns/pid" | tr -dc 0-9)
	while read -r number; do
		pid[$1]=$number
		[[ $(readlink "/proc/$number/ns/pid" | tr -dc 0-9) == "${ns[$1]}" ]] && return 0
	done < <(grep -lsE "^NSpid:[[:space:]]+[0-9]+[[:space:]]$INNER\$" /proc/[0-9]*/status | cut -d/ -f3)
	return 1
}

# ready NAME: its server has its pool
ready() {
	grep -q '^ready' "$work/$1.out" 2>/dev/null
}

# record NAME OPTION...: in the background
record() {
	local name=$1
	shift
	"$HCWATCH" record --ready-file "$work/$name.ready" -o "$work/$name.hcw" "$@" 2>"$work/$name.err" &
	recorder[$name]=$!
}

# attached NAME...: they have everything attached
attached() {
	local name
	for name; do
		wait_until 120 test -e "$work/$name.ready" || give_up "$name: the recorder is ready"
	done
}

# recorded NAME...: ends them, lists their records
recorded() {
	local name
	for name; do
		kill -INT "${recorder[$name]}"
	done
	for name; do
		wait "${recorder[$name]}" || check "$name: record ends with 0" "$?" 0
		cat "$work/$name.err"
		"$here/records.py" "$work/$name.hcw" >"$work/$name.txt"
	done
}

# count NAME PATTERN
count() {
	grep -cE "$2" "$work/$1.txt" || true
}

# refused OPTION...: the exit code; what it said in err
refused() {
	local rc=0
	"$HCWATCH" record -o "$work/refused.hcw" "$@" 2>"$work/err" || rc=$?
	cat "$work/err" >&2
	echo "$rc"
}

# move NAME PID: 5 calls on a server's pool, by a task called NAME on the host
move() {
	"$TESTS/mover" "$1" "$2" 64 5 50 >/dev/null
}

# move_inside CONTAINER NAME: the same, by its number, from inside
move_inside() {
	nsenter -t "${pid[$1]}" -p -m -r "$TESTS/mover" "$2" "$INNER" 64 5 50 >/dev/null
}

# only_a NAME: what was traced is A's and not B's
only_a() {
	check_that "$1: the server is the victim" "$(count "$1" "^quiesce [0-9]+ mover-of-a ${pid[a]}\$") > 0"
	check "$1: the other is not" "$(count "$1" "^(quiesce|inval) [0-9]+ [^ ]+ ${pid[b]}( |\$)")" 0
	check "$1: nor is its mover anybody's actor" "$(count "$1" ' mover-of-b ')" 0
	check "$1: the calls were on the server" "$(count "$1" "^move_pages [0-9]+ mover-of-a ${pid[a]} 64 ")" 5
}

for name in a b; do
	cp "$TESTS/victim" "$work/server-$name"
	contain "$name" "$work/server-$name" shared "$MIB" 600000
	wait_until 20 ready "$name" || give_up "$name: has its pool"
done
check 'two servers of one number' "$(awk '/^NSpid/ { print $3 }' "/proc/${pid[a]}/status" "/proc/${pid[b]}/status" |
	sort -u)" "$INNER"

check 'ambiguous: a usage error' "$(refused -p "$INNER")" 2
check 'ambiguous: both are listed' "$(grep -cE "process (${pid[a]}, server-a|${pid[b]}, server-b), in pid" "$work/err")" 2
check 'ambiguous: with their namespaces' "$(grep -cE "namespace (${ns[a]}|${ns[b]})\$" "$work/err")" 2

# version 2, wherever it is mounted
group=/sys/fs/cgroup
[[ -e $group/cgroup.procs ]] || group=/sys/fs/cgroup/unified
if [[ ! -e $group/cgroup.procs ]]; then
	mkdir -p "$work/cgroup"
	mount -t cgroup2 none "$work/cgroup"
	group=$work/cgroup
fi
mkdir -p "$group/hcw/a" "$group/hcw/ab"
echo "${pid[a]}" >"$group/hcw/a/cgroup.procs"
echo "${pid[b]}" >"$group/hcw/ab/cgroup.procs"

record ns -p "$INNER@${ns[a]}"
record comm --comm server-a
record cgroup --cgroup /hcw/a
attached ns comm cgroup
move mover-of-a "${pid[a]}"
move mover-of-b "${pid[b]}"
sleep 0.3
recorded ns comm cgroup
for name in ns comm cgroup; do
	only_a "$name"
done
check 'ns: both numbers are said' \
	"$(grep -cE "$INNER is process ${pid[a]} |$INNER in pid namespace ${ns[a]}" "$work/ns.err")" 2
check 'ns: and stand in the trace' \
	"$(grep -m 1 '^filter' "$work/ns.txt" | grep -oE '"(asked|pid|inner|namespace)": [0-9]+' | tr -dc '0-9\n' | paste -sd ' ')" \
	"$INNER ${pid[a]} $INNER ${ns[a]}"
check 'ns: nobody has it there' "$(refused -p "1234@${ns[a]}")" 2
check 'cgroup: nobody is in it' "$(refused --cgroup /hcw/none)" 2

# who comes later is taken, when it opens KFD and when it takes the name afterwards; a stranger is not
record later --comm 'server-[axz]' # A is there already
attached later
"$TESTS/churn" shared "$MIB" 600000 server-z >"$work/stranger.out" &
stranger=$!
cp "$TESTS/victim" "$work/server-x"
contain x "$work/server-x" shared "$MIB" 600000
wait_until 20 ready x
wait_until 20 ready stranger
move mover-of-x "${pid[x]}"
move mover-of-s "$stranger"
check 'later: the stranger has no name yet' "$(cat "/proc/$stranger/comm")" churn
kill -USR1 "$stranger"
sleep 2.5
move mover-of-z "$stranger"
sleep 0.3
recorded later
check_that 'later: one that came is taken' "$(count later "^quiesce [0-9]+ mover-of-x ${pid[x]}\$") > 0"
check 'later: a stranger is not' "$(count later ' mover-of-s ')" 0
check 'later: nor its pool' "$(count later "^pool [0-9]+ $stranger\$")" 0
check_that 'later: a name given later counts' "$(count later "^quiesce [0-9]+ mover-of-z $stranger\$") > 0"
kill "$stranger" "${pid[x]}"
wait "$stranger" || true

# what moves nothing hits no notifier: only its target tells that it was about a server of ours
kill "${pid[a]}"
wait "${holder[a]}" || true
cp "$TESTS/churn" "$work/gtt-a"
contain a "$work/gtt-a" gtt "$MIB" 600000
wait_until 20 ready a
record gtt -p "$INNER@${ns[a]}"
record all --all
attached gtt all
move_inside a inside-a
move_inside b inside-b
move host-b "${pid[b]}"
sleep 0.3
recorded gtt all
check 'gtt: calls from its own container are seen' "$(count gtt "^move_pages [0-9]+ inside-a ${pid[a]} 64 0 64\$")" 5
check 'gtt: those of the other container are not' "$(count gtt ' (inside-b|host-b) ')" 0
# a recorder of everybody sees each on its own server
check 'all: each call is on its own server' \
	"$(count all "^move_pages [0-9]+ (inside-a ${pid[a]}|(inside-b|host-b) ${pid[b]}) ")" 15
check 'all: and there is no other' "$(count all '^move_pages [0-9]+ (inside-[ab]|host-b) ')" 15

# one server left: its number alone says which
kill "${pid[b]}"
wait "${holder[b]}" || true
record inner -p "$INNER"
attached inner
kill "${pid[a]}"
rc=0
wait "${recorder[inner]}" || rc=$?
check 'inner: record ends with the server' "$rc" 0
check 'inner: both numbers are said' "$(grep -cE "is process ${pid[a]} |$INNER in pid namespace ${ns[a]}" \
	"$work/inner.err")" 2

# hcstall in a container, which is told its number on the host
mkfifo "$work/host_pid"
# shellcheck disable=SC2016 # the inner shell's own
unshare --pid --fork --kill-child --mount-proc bash -c '
	read -r host <"$2"
	exec "$1" --allocator registered --pool-mib 16 --trials 2 --iterations 100 --kfd-pid "$host" --json' \
	bash "$HCSTALL" "$work/host_pid" >"$work/stall.json" &
outer=$!
wait_until 20 child_of "$outer" >/dev/null
server=$(child_of "$outer")
record hcstall -p "$server"
attached hcstall
echo "$server" >"$work/host_pid"
rc=0
wait "$outer" || rc=$?
check 'hcstall: measured, in a container' "$rc" 0
wait "${recorder[hcstall]}" || true
"$here/records.py" "$work/hcstall.hcw" >"$work/hcstall.txt"
check_that 'hcstall: actor and victim' "$(count hcstall "^quiesce [0-9]+ hcstall-mover $server\$") > 0"

# from inside a container nothing is recorded silently
inside() {
	unshare --pid --fork --mount-proc "$HCWATCH" record -o "$work/inside.hcw" "$@" 2>"$work/err"
}
rc=0
inside -p 1 || rc=$?
check 'inside: -p is refused' "$rc $(grep -c 'other pids on the host' "$work/err")" '3 1'
rc=0
inside -- true || rc=$?
check 'inside: a command is refused' "$rc $(grep -c 'pid=host' "$work/err")" '3 1'
rc=0
unshare --pid --fork "$HCWATCH" record -o "$work/hostproc.hcw" -- true 2>"$work/err" || rc=$?
check "inside, with the host's /proc: works" "$rc" 0
# the mount of a namespace that is another's
rc=0
# shellcheck disable=SC2016 # the inner shell's own
unshare --mount --propagation private bash -c '
	unshare --pid --fork bash -c "mount -t proc proc /proc; sleep 60" & sleep 1
	"$@"; rc=$?; kill $!; exit $rc' bash "$HCWATCH" record -o "$work/foreign.hcw" -p 1 2>"$work/err" || rc=$?
check "a foreign /proc: it says so" "$rc $(grep -c 'another pid namespace' "$work/err")" '3 1'

check 'no kernel warning' "$(kernel_warnings)" ''
rmdir "$group/hcw/a" "$group/hcw/ab" "$group/hcw" 2>/dev/null || true
rm -rf "$work"
summary
