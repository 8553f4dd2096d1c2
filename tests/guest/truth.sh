#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Do the numbers follow the truth? The test GPU is made faster, slower, or told not to evict; what the lab reports must
# equal what the module counted each time.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1
work=$(mktemp -d)

# lab_with NAME [OPTION]...: one registered arm of 64 MiB, its JSON and the module's counters around it
lab_with() {
	local name=$1
	shift
	rc=0
	mkdir "$work/$name"
	cp "$GPUSIM_COUNTERS" "$work/$name/before"
	"$HCWATCH" lab -a registered --pool-mib 64 --iterations 100 --output "$work/$name/lab.json" \
		--traces "$work/$name" "$@" >"$work/$name/table" || rc=$?
	cp "$GPUSIM_COUNTERS" "$work/$name/after"
	cat "$work/$name/table"
}

# said NAME EXPRESSION: a figure of the lab's JSON, e.g. 'sum(t["passes"] for t in trials)'
said() {
	python3 -c 'import json, sys
arm = json.load(open(sys.argv[1]))["arms"][0]
trials = arm["trials"]
print(eval(sys.argv[2]))' "$work/$1/lab.json" "$2"
}

# module NAME COUNTER: how far a counter of the module went
module() {
	echo $(($(field "$work/$1/after" "$2") - $(field "$work/$1/before" "$2")))
}

follows_module() {
	check "$1: 512 moved in each trial" "$(said "$1" '[t["moved"] for t in trials]')" '[512, 512, 512]'
	check "$1: traced moves" "$(said "$1" '[t["traced_moved"] for t in trials]')" '[512, 512, 512]'
	check "$1: episodes" "$(said "$1" 'sum(t["episodes"] for t in trials)')" "$(module "$1" evictions)"
	check "$1: passes" "$(said "$1" 'sum(t["passes"] for t in trials)')" "$(module "$1" passes)"
	check "$1: nothing lost" "$(said "$1" 'arm["lost"]')" 0
}

cost=$(cat "$GPUSIM_PARAMETERS/page_cost_ns")

set_gpusim page_cost_ns 0
lab_with free
check 'free: lab exits 0' "$rc" 0
follows_module free
check 'free: an episode at least' "$(said free 'min(t["episodes"] for t in trials) >= 1')" True

set_gpusim page_cost_ns $((cost * 10))
lab_with dear --require-immune registered
check 'dear: an arm that is required to be immune and is not: exit 1' "$rc" 1
follows_module dear
check 'dear: an episode lasts a pass at least' \
	"$(said dear 'min(t["episode_ms"] for t in trials) >= 16384 * 10 * 1e-6 * '"$cost")" True

set_gpusim page_cost_ns "$cost"
set_gpusim evict N
lab_with no-evict
check 'no-evict: lab exits 0' "$rc" 0
set_gpusim evict Y
follows_module no-evict
check 'no-evict: no episode' "$(said no-evict '[t["episodes"] for t in trials]')" '[0, 0, 0]'
check 'no-evict: evicted_ms 0' "$(said no-evict '[set(t["evicted_ms_delta"].values()) for t in trials]')" '[{0}, {0}, {0}]'
check 'no-evict: exposed because pages moved' "$(said no-evict '(arm["verdict"], "moved" in arm["reasons"], "episode" in arm["reasons"])')" \
	"('exposed', True, False)"
rc=0
report=$("$HCWATCH" report "$work/no-evict/registered.hcw") || rc=$?
check 'no-evict: report finds no episode' "$(grep -c 'No episode' <<<"$report")" 1
check 'no-evict: report exits 1, for the exposed pool' "$rc" 1

rm -rf "$work"
summary
