#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `hcwatch doctor` on this very host: for anybody, read-only, exit codes, JSON, a closed output; and with --probes what each
# capability changes. What needs root to give rights away is left out for others. Usage: doctor.sh HCWATCH DENY_BPF
set -uo pipefail

readonly HCWATCH=$1 DENY_BPF=$2
work=$(mktemp -d)
cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
failed=0

check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s\n' "$1"
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		failed=1
	fi
}

# run COMMAND...: output to out and err, the exit code on stdout
run() {
	local rc=0
	"$@" >out 2>err || rc=$?
	echo "$rc"
}

# one_of CODE CODES: the word "yes" when it is among them
one_of() {
	[[ " $2 " == *" $1 "* ]] && echo yes
}

# json EXPRESSION: of the document d in out
json() {
	python3 -c 'import json; d = json.load(open("out")); print(eval(__import__("sys").argv[1]))' "$1"
}

# narrow: the widest line of out in columns is at most 80
narrow() {
	python3 -c 'print("yes" if max(len(l.rstrip("\n")) for l in open("out", encoding="utf-8")) <= 80 else "no")'
}

code=$(run "$HCWATCH" doctor)
check "host: an exit code of its own ($code)" "$(one_of "$code" '0 1 5')" yes
check 'host: at most 80 columns' "$(narrow)" yes
check 'host: nothing on stderr' "$(cat err)" ''
check 'host: no escape sequences into a file' "$(grep -c $'\033' out)" 0
check 'host: JSON and text agree' "$(run "$HCWATCH" doctor --json)" "$code"
check 'host: the value is the one of the kernel' \
	"$(json "[s['value'] for s in d['settings'] if s['name'] == 'ksm_run'][0]")" \
	"$(cat /sys/kernel/mm/ksm/run 2>/dev/null || echo None)"
check 'host: every finding can be explained' "$(for c in $(json "' '.join(f['code'] for f in d['findings'])"); do
	"$HCWATCH" explain "$c" >/dev/null || echo "$c"; done)" ''
check 'host: a full disk is told' "$("$HCWATCH" doctor >/dev/full 2>err; echo "$? $(grep -c 'cannot write' err)")" '5 1'

# an empty /proc and /sys say nothing about this kernel
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's own argument
	check 'no sysfs: not everything could be read' \
		"$(run unshare -m sh -c 'mount -t tmpfs none /sys && exec "$0" doctor --json' "$HCWATCH")" 5
	check 'no sysfs: unknown is null' "$(json "[d['gpus'], d['kfd'], d['memory_nodes']]")" '[None, None, None]'
	# shellcheck disable=SC2016
	check 'hidden BTF: told as such' \
		"$(run unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" doctor --json' "$HCWATCH"; json "d['kernel_btf']")" \
		"$code"$'\nFalse'
fi

probes=$(run "$HCWATCH" doctor --probes)
check "probes: an exit code of its own ($probes)" "$(one_of "$probes" '0 4 5')" yes
check 'probes: at most 80 columns' "$(narrow)" yes
check 'probes: JSON and text agree' "$(run "$HCWATCH" doctor --probes --json)" "$probes"
check 'probes: a point has what it should' "$(json "sorted(d['probes'][0].keys() & {'point', 'tier', 'active', 'reason'})")" \
	"['active', 'point', 'reason', 'tier']"
check 'probes: a forced choice is passed on' "$(run "$HCWATCH" doctor --probes --json --probe migrate=off >/dev/null
	json "[p['active'] for p in d['probes'] if p['point'] == 'migrate'][0]")" False

# as CAPABILITIES COMMAND...
as() {
	local caps=-all${1:+,$1}
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$caps" --ambient-caps "$caps" --bounding-set "$caps" "$@"
}

# active: the points that are, of a plan in out
active() {
	json "' '.join(p['point'] for p in d['probes'] if p['active'])"
}

if [[ $EUID -eq 0 && $probes != 4 ]] && as '' true 2>/dev/null && as '' test -x "$HCWATCH"; then
	run "$HCWATCH" doctor --probes --json >/dev/null
	all=$(active)
	check 'rights: none' "$(run as '' "$HCWATCH" doctor --probes --json)" 4
	check 'rights: none: which are missing' "$(json "[c['means'] for c in d['checks'] if c['name'] == 'capabilities'][0]")" \
		'missing: CAP_BPF and CAP_PERFMON'
	check 'rights: CAP_BPF alone' "$(run as +bpf "$HCWATCH" doctor --probes --json)" 4
	check 'rights: CAP_BPF alone: what is missing' "$(json "[c['means'] for c in d['checks'] if c['name'] == 'capabilities'][0]")" \
		'missing: CAP_PERFMON'
	check 'rights: CAP_BPF and CAP_PERFMON' "$(run as +bpf,+perfmon "$HCWATCH" doctor --probes --json)" "$probes"
	check 'rights: all points that root has' "$(active)" "$all"
	check 'rights: seccomp' "$(run "$DENY_BPF" 1 "$HCWATCH" doctor --probes --json)" 4
	check 'rights: seccomp is told from capabilities' \
		"$(json "[(c['state'], c['code']) for c in d['checks'] if c['name'] in ('capabilities', 'seccomp')]")" \
		"[('ok', None), ('blocks', 'HCW-504')]"
	check 'rights: the host needs none' "$(run as '' "$HCWATCH" doctor)" "$code"
else
	echo 'SKIP rights: only root can give them away'
fi
exit "$failed"
