#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Process 1 of the guest from the moment the host's root is in place: loads the modules, runs the job that run.sh
# left in OUT/.job, and switches the machine off through QEMU's debug exit.
set -euo pipefail

readonly OUT=$1 JOB=$1/.job
# Written to QEMU's debug exit, which makes it end with 2 * CODE + 1
readonly DONE=42   # the job has run; its exit code is in JOB/rc
readonly FAILED=43 # the guest could not be set up, and trying again would not help

log() {
	printf 'hcwatch-vm: %s (%s s)\n' "$*" "$(cut -d' ' -f1 /proc/uptime)"
}

switch_off() {
	sync
	# shellcheck disable=SC2059 # the byte is the format
	printf "\\$(printf %03o "$1")" | dd of=/dev/port bs=1 seek=$((0xf4)) count=1 status=none
	sleep 10
}

load_modules() {
	local file args
	while read -r file args; do
		# shellcheck disable=SC2086 # module parameters are words
		insmod "$file" $args
	done <"$JOB/modules"
	log 'modules loaded'
}

# A job's background processes may hold its pipes for ever; what it wrote itself is through within this time.
wait_for_writers() {
	local pid tries=20
	for pid; do
		while kill -0 "$pid" 2>/dev/null && ((tries-- > 0)); do
			sleep 0.1
		done
	done
}

# Pipes, so that a job which opens /dev/stdout anew behaves as anywhere else
run_job() {
	local rc=0 out err
	exec {out}> >(exec cat >>"$OUT/stdout")
	local out_pid=$!
	exec {err}> >(exec cat >>"$OUT/stderr")
	local err_pid=$!
	setsid /bin/bash "$JOB/command" </dev/null >&"$out" 2>&"$err" {out}>&- {err}>&- || rc=$?
	exec {out}>&- {err}>&-
	wait_for_writers "$out_pid" "$err_pid"
	printf '%s\n' "$rc" >"$JOB/rc"
	log "command ended with $rc"
}

main() {
	trap 'log "guest-run.sh failed"; switch_off "$FAILED"' EXIT
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	ulimit -n 65536
	load_modules
	# NUMA balancing evicts by itself and would blur every other test.
	echo 0 >/proc/sys/kernel/numa_balancing
	echo 0 >/proc/sys/kernel/kptr_restrict
	run_job
	trap - EXIT
	switch_off "$DONE"
}

main
