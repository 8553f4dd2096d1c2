#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The demo's part inside the guest: the lab, then what the module itself counted and what is still attached.
set -euo pipefail

readonly HCWATCH=$1 OUT=$2
readonly COUNTERS=/sys/bus/platform/drivers/gpusim/counters

# bpftool's own iterator, which it loads to list the others, is not ours
attached() {
	{ bpftool prog show; bpftool link show; } | grep -vE 'bpftool|pid_iter|^[[:space:]]' || true
}

rc=0
cp "$COUNTERS" "$OUT/counters.before"
attached >"$OUT/attached.before"
"$HCWATCH" lab --pool-mib 512 --iterations 300 --trials 3 --traces "$OUT" --output "$OUT/lab.json" || rc=$?
cp "$COUNTERS" "$OUT/counters.after"
attached >"$OUT/attached.after"
exit "$rc"
