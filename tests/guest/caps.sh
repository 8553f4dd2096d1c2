#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `doctor` on a host with GPUs, and what each capability buys: CAP_BPF and CAP_PERFMON are enough for the core.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2
work=$(mktemp -d)
chmod 777 "$work"
export HSA_USERPTR_FOR_PAGED_MEM=0

sysctl_set() {
	printf '%s\n' "$2" >"/proc/sys/$1"
}

# Later tests find the host as it was.
saved=()
for name in kernel/numa_balancing kernel/perf_event_paranoid kernel/kptr_restrict; do
	saved+=("$name=$(<"/proc/sys/$name")")
done

restore() {
	local setting
	for setting in "${saved[@]}"; do
		sysctl_set "${setting%%=*}" "${setting#*=}"
	done
	rm -rf "$work"
}
trap restore EXIT

# with CAPABILITIES: the array `rights`, in front of a command that shall run as uid 1000 with these (like +bpf,+perfmon)
# and no others
with() {
	local caps=-all${1:+,$1}
	rights=(setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps "$caps" --ambient-caps "$caps" --bounding-set "$caps")
}

# as CAPABILITIES COMMAND...
as() {
	with "$1"
	shift
	"${rights[@]}" "$@"
}

# json FILE EXPRESSION: a Python expression over the document d
json() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# host NAME CAPABILITIES|root: `doctor --json` into NAME.json, its exit code on stdout
host() {
	local rc=0
	if [[ $2 == root ]]; then
		"$HCWATCH" doctor --json >"$work/$1.json" || rc=$?
	else
		as "$2" "$HCWATCH" doctor --json >"$work/$1.json" || rc=$?
	fi
	echo "$rc"
}

# probes NAME CAPABILITIES|root [OPTION...]: `doctor --probes --json`, the same way
probes() {
	local rc=0 name=$1 caps=$2
	shift 2
	if [[ $caps == root ]]; then
		"$HCWATCH" doctor --probes --json "$@" >"$work/$name.json" || rc=$?
	else
		as "$caps" "$HCWATCH" doctor --probes --json "$@" >"$work/$name.json" || rc=$?
	fi
	echo "$rc"
}

# point NAME POINT: tier of a point in a plan, "off" when it is not active
point() {
	json "$work/$1.json" "[p['tier'] for p in d['probes'] if p['point'] == '$2'][0]"
}

# active NAME: the points that are, one a line
active() {
	json "$work/$1.json" "'\n'.join(sorted(p['point'] for p in d['probes'] if p['active']))"
}

# lost NAME: the points that root's plan has and this one has not
lost() {
	comm -13 <(active "$1") <(active full) | tr '\n' ' '
}

# bearing NAME CHECK: its state and code
bearing() {
	json "$work/$1.json" "[c['state'] + ' ' + str(c['code']) for c in d['checks'] if c['name'] == '$2'][0]"
}

# setting NAME SETTING: its value, what it does to shared and private pools, its code
setting() {
	json "$work/$1.json" "[' / '.join([s['value'], s['stops_shared_pools'], s['stops_private_pools'], str(s['code'])])
		for s in d['settings'] if s['name'] == '$2'][0]"
}

# record NAME CAPABILITIES: by uid 1000, over a stall that root's hcstall makes; its report into NAME.txt
record() {
	local rc=0
	rm -f "$work/ready"
	with "$2"
	"${rights[@]}" "$HCWATCH" record --ready-file "$work/ready" -o "$work/$1.hcw" 2>"$work/$1.err" &
	recorder=$!
	wait_until 120 test -e "$work/ready" || { cat "$work/$1.err"; return; }
	"$HCSTALL" --allocator registered --pool-mib 16 --trials 1 --iterations 40 --json >/dev/null || rc=$?
	check "$1: hcstall ended well" "$rc" 0
	kill -INT "$recorder"
	wait "$recorder" || true
	"$HCWATCH" report "$work/$1.hcw" >"$work/$1.txt" || true
	"$HCWATCH" report --json "$work/$1.hcw" >"$work/$1.json" || true
	sed "s/^/$1: /" "$work/$1.txt" >&2
}

# ---- the host ----

sysctl_set kernel/numa_balancing 1
check 'host: root finds something' "$(host root root)" 1
check 'host: anybody finds the same' "$(host anybody '') $(cmp -s "$work/root.json" "$work/anybody.json" && echo same)" '1 same'
check 'host: NUMA balancing on two nodes' "$(setting root numa_balancing)" '1 / some kernels / yes / HCW-401'
check 'host: its nodes' "$(json "$work/root.json" "d['memory_nodes']")" '[0, 1]'
check 'host: its GPUs' "$(json "$work/root.json" "[(g['driver'], g['simulated'], g['gtt_total'] > 0) for g in d['gpus']][0]")" \
	"('gpusim', True, True)"
check 'host: its driver' "$(json "$work/root.json" "[(m['name'], m['state'], m['btf']) for m in d['modules']][0]")" \
	"('amdgpu', 'loaded', True)"
sysctl_set kernel/numa_balancing 2
check 'host: tiering' "$(host tiering '') $(setting tiering numa_balancing)" '1 2 / some kernels / yes / HCW-401'
sysctl_set kernel/numa_balancing 0
check 'host: balancing off' "$(host off '') $(setting off numa_balancing)" '1 0 / no / no / None'

# ---- the plan ----

sysctl_set kernel/perf_event_paranoid 2
check 'plan: root traces all that is needed' "$(probes full root)" 0
check 'plan: nothing stays attached' "$({ bpftool link show | grep -vE 'bpftool|pid_iter|^[[:space:]]'; } || true)" ''
check 'plan: CAP_BPF and CAP_PERFMON trace all that is needed' "$(probes core +bpf,+perfmon)" 0
check 'plan: of the driver by kprobes' "$(point core quiesce) $(point core resume)" 'kprobe kprobe'
check 'plan: what is lost are the types of the driver' "$(lost core)" 'evict restore '
check 'plan: but not uprobes' "$(bearing core uprobes)" 'limits HCW-510'
check 'plan: nothing without a right, and the table all the same' \
	"$(probes none '') $(json "$work/none.json" "d['denied'], len(d['probes']) > 10")" '4 (True, True)'
check 'plan: it says which' "$(bearing none capabilities)" 'blocks HCW-502'

# Debian's own level: fentry works, what is attached by perf events does not
sysctl_set kernel/perf_event_paranoid 3
check 'paranoid 3: not all' "$(probes paranoid +bpf,+perfmon)" 5
check 'paranoid 3: fentry works' "$(point paranoid move_pages) $(point paranoid notifier)" 'fentry fentry'
check 'paranoid 3: kprobes do not' "$(point paranoid quiesce)" off
check 'paranoid 3: and why' "$(bearing paranoid perf_event_paranoid)" 'limits HCW-503'
sysctl_set kernel/perf_event_paranoid 2

# addresses hidden from root too: names are enough; and tiers can be forced
sysctl_set kernel/kptr_restrict 2
check 'kptr_restrict 2: all is traced' "$(probes hidden root --probe notifier=kprobe --probe evict=off)" 0
check 'kptr_restrict 2: and what it costs' "$(bearing hidden kallsyms)" 'limits HCW-505'
check 'forced: the tier asked for' "$(point hidden notifier) $(point hidden evict)" 'kprobe off'
sysctl_set kernel/kptr_restrict 0

# ---- the chain, with two capabilities and with each further one ----

record core +bpf,+perfmon
check_that 'core: episodes are seen' "$(json "$work/core.json" "len(d['episodes'])") > 0"
check_that 'core: with who asked' "$(grep -c 'move_pages by hcstall-mover' "$work/core.txt") > 0"
check 'core: stacks have no names' "$(grep -c kgd2kfd_quiesce_mm "$work/core.txt" || true)" 0
check 'core: iterations are not seen' "$(grep -c '^No iteration was marked' "$work/core.txt")" 1

# at Debian's own level again: it does not bind CAP_SYS_ADMIN
sysctl_set kernel/perf_event_paranoid 3
record admin +bpf,+perfmon,+sys_admin,+syslog
check_that 'CAP_SYS_ADMIN: episodes at paranoid 3' "$(json "$work/admin.json" "len(d['episodes'])") > 0"
check_that 'CAP_SYSLOG: stacks have names' "$(grep -c 'kgd2kfd_quiesce_mm' "$work/admin.txt") > 0"
sysctl_set kernel/perf_event_paranoid 2

record ptrace +bpf,+perfmon,+sys_admin,+sys_ptrace
check 'CAP_SYS_ADMIN alone: marks of a known library are seen' "$(grep -c '^#1 .*registered' "$work/admin.txt")" 1
check 'CAP_SYS_ADMIN alone: not those of a program of others' "$(grep -c '^No iteration was marked' "$work/admin.txt")" 1
check_that 'CAP_SYS_ADMIN, CAP_SYS_PTRACE: iterations are seen' "$(grep -c '^iterations of' "$work/ptrace.txt") > 0"
check 'CAP_SYS_ADMIN, CAP_SYS_PTRACE: the pool is judged' "$(grep -c 'registered .* exposed, by trial' "$work/ptrace.txt")" 1

summary
