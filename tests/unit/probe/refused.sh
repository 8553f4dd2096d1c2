#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# refused.sh HCWATCH DENY_BPF: what hcwatch says where BPF cannot be used, on this very kernel: without BTF, with a bad
# one, without capabilities, under seccomp, with little lockable memory. Skipped where BPF is not permitted anyway.
set -uo pipefail

readonly HCWATCH=$1 DENY_BPF=$2
readonly MEMLOCK=65536 NOBODY=1000
work=$(mktemp -d)
chmod 777 "$work"
cd "$work" || exit 1
passed=0 failed=0

trap 'cd / && rm -rf "$work"' EXIT

check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s (%s)\n' "$1" "$2"
		passed=$((passed + 1))
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		sed 's/^/    /' err
		failed=$((failed + 1))
	fi
}

# run COMMAND...: its exit code in rc, what it said in err
run() {
	rc=0
	rm -f trace.hcw
	"$@" >out 2>err || rc=$?
}

# says TEXT...: how many of them stand in err
says() {
	local text n=0
	for text; do
		! grep -qF -- "$text" err || n=$((n + 1))
	done
	echo "$n"
}

# common NAME: what holds for every refusal
common() {
	check "$1: no bare errno text" "$(says 'No such process' 'Operation not permitted' 'Invalid argument')" 0
	check "$1: no wide line" "$(awk 'length($0) > 80' err | wc -l)" 0
	check "$1: no trace is left" "$(ls trace.hcw 2>/dev/null)" ''
}

# Each in a mount namespace of its own.
without_btf() {
	# shellcheck disable=SC2016 # the inner shell's
	run unshare -m bash -c 'mount -t tmpfs tmpfs /sys/kernel/btf && exec "$@"' - "$HCWATCH" record -o trace.hcw -- true
	if (($(says 'mount:' 'unshare:'))); then
		printf 'SKIP no BTF: no mount namespace here: %s\n' "$(head -1 err)"
		return
	fi
	check 'no BTF: unsupported' "$rc" 3
	check 'no BTF: why' "$(says 'this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)')" 1
	check 'no BTF: what is left' "$(says 'hcwatch report' 'evicted_ms')" 2
	check 'no BTF: it is not called damaged' "$(says 'not readable')" 0
	common 'no BTF'
}

# cut_btf BYTES: the kernel's BTF cut to that length
cut_btf() {
	head -c "$1" /sys/kernel/btf/vmlinux >"$work/cut"
	# shellcheck disable=SC2016 # the inner shell's
	run unshare -m bash -c 'mount --bind "$1" /sys/kernel/btf/vmlinux && shift && exec "$@"' - "$work/cut" \
		"$HCWATCH" record -o trace.hcw -- true
	check "BTF cut to $1: unsupported" "$rc" 3
	check "BTF cut to $1: why" "$(says 'BTF present but not readable')" 1
	check "BTF cut to $1: it is not called missing" "$(says 'no BTF')" 0
	check "BTF cut to $1: what is left" "$(says 'hcwatch report' 'evicted_ms')" 2
	common "BTF cut to $1"
}

little_memlock() {
	run setpriv --bounding-set -sys_resource --inh-caps -sys_resource prlimit --memlock=$MEMLOCK:$MEMLOCK \
		"$HCWATCH" record -o trace.hcw -- true
	check 'memlock 64 KiB without CAP_SYS_RESOURCE: as ever' "$rc" "$usual"
	check 'memlock: not a word of it' "$(grep -ci 'memlock\|ulimit' err)" 0
}

without_caps() {
	run setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --inh-caps -all --bounding-set -all \
		"$HCWATCH" record -o trace.hcw -- true
	check 'no capabilities: permission' "$rc" 4
	check 'no capabilities: both are named' "$(says 'CAP_BPF and CAP_PERFMON are missing')" 1
	check 'no capabilities: not seccomp, not memlock' "$(says seccomp MEMLOCK ulimit)" 0
	common 'no capabilities'
	run setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --inh-caps -all,+bpf --ambient-caps -all,+bpf \
		"$HCWATCH" record -o trace.hcw -- true
	check 'CAP_BPF alone: permission' "$rc" 4
	check 'CAP_BPF alone: the other one is missing' "$(says 'CAP_PERFMON is missing')" 1
	common 'CAP_BPF alone'
}

# denied NAME ERRNO
denied() {
	run "$DENY_BPF" "$2" "$HCWATCH" record -o trace.hcw -- true
	check "seccomp, $1: permission" "$rc" 4
	check "seccomp, $1: why and where" "$(says 'a seccomp filter refuses bpf(2)' container)" 2
	check "seccomp, $1: not capabilities, not memlock" "$(says CAP_BPF MEMLOCK ulimit)" 0
	common "seccomp, $1"
}

own_user_ns() {
	run unshare -Ur "$HCWATCH" record -o trace.hcw -- true
	if (($(says 'unshare:'))); then
		printf 'SKIP user namespace: %s\n' "$(head -1 err)"
		return
	fi
	check 'user namespace: permission' "$rc" 4
	check 'user namespace: why' "$(says 'a user namespace of its own')" 1
	common 'user namespace'
}

# What needs no probe works without any right.
still_works() {
	run setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --inh-caps -all --bounding-set -all \
		"$DENY_BPF" 1 "$HCWATCH" report usual.hcw
	check 'report needs no right' "$rc" 5
}

main() {
	run "$HCWATCH" record -o trace.hcw -- true
	usual=$rc
	if ((usual == 4)); then
		printf 'SKIP probe_refused: BPF is not permitted here\n'
		exit 77
	fi
	mv trace.hcw usual.hcw
	chmod 644 usual.hcw
	without_btf
	cut_btf 4096
	cut_btf 10
	cut_btf 0
	little_memlock
	without_caps
	denied EPERM 1
	denied EACCES 13
	denied ENOSYS 38
	own_user_ns
	still_works
	printf '%d passed, %d failed\n' "$passed" "$failed"
	((failed == 0))
}

main
