#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `live` during a stall of several seconds, beside a recorder of the same time; and a recorder killed at 20 moments
# (or HCW_TEST_KILLS).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1 HCSTALL=$2
work=$(mktemp -d)
export HSA_USERPTR_FOR_PAGED_MEM=0
cost=$(cat "$GPUSIM_PARAMETERS/page_cost_ns")

said() {
	grep -q "$1" "$work/live.txt"
}

has_restored() {
	grep -q 'RESTORED' "$work/live.txt"
}

# value FILE EXPRESSION: of a JSON file, as `o`
value() {
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# the last object of NDJSON
last() {
	tail -n 1 "$1"
}

"$HCWATCH" live --ready-file "$work/live.ready" >"$work/live.txt" &
live=$!
"$HCWATCH" live --json --ready-file "$work/json.ready" >"$work/live.json" &
json=$!
"$HCWATCH" record --ready-file "$work/record.ready" -o "$work/all.hcw" &
record=$!
wait_until 120 test -e "$work/live.ready"
wait_until 120 test -e "$work/json.ready"
wait_until 120 test -e "$work/record.ready"

set_gpusim page_cost_ns 1000000 # 4096 pages: a pass of 4 s
"$HCSTALL" --allocator registered --pool-mib 16 --trials 1 --iterations 20 --json >"$work/stall.json" &
stall=$!
if wait_until 60 said 'so far' && ! has_restored; then seen=1; else seen=0; fi
check 'live: "so far" is said during the stall' "$seen" 1
check_that 'live: with the actor' "$(grep -c 'EVICTED .* s so far .*move_pages by hcstall-mover' "$work/live.txt") > 0"
wait "$stall"
set_gpusim page_cost_ns "$cost"
sleep 1
kill -INT "$live" "$json" "$record"
rc=0
wait "$live" || rc=$?
check 'live: exit 1, a finding' "$rc" 1
wait "$json" || true
wait "$record" || true
cat "$work/live.txt"
check_that 'live: the stall lasted 3 s at least' \
	"$(value "$work/stall.json" 'int(max(t["max_iteration_ms"] for t in o["trials"]))') >= 3000"
check_that 'live: once a second' "$(grep -c 's so far' "$work/live.txt") >= 3"

"$HCWATCH" report --json "$work/all.hcw" >"$work/report.json" || true
last "$work/live.json" >"$work/totals.json"
check 'live and report: episodes' "$(value "$work/totals.json" 'o["episodes"]')" \
	"$(value "$work/report.json" 'len(o["episodes"])')"
check "live's text and its JSON agree" "$(grep -oE '^total: [0-9]+ episode' "$work/live.txt" | grep -oE '[0-9]+')" \
	"$(value "$work/totals.json" 'o["episodes"]')"
live_ms=$(value "$work/totals.json" 'int(o["evicted_ms"])')
report_ms=$(value "$work/report.json" 'int(sum((e["end_ns"] - e["start_ns"]) / 1e6 for e in o["episodes"]))')
# two recorders time the same calls, each with its own probe in the way
check_that 'live and report: evicted time' "$live_ms - $report_ms <= 20 && $report_ms - $live_ms <= 20"
check 'live: nothing lost' "$(value "$work/totals.json" 'o["lost"]')" 0

# a server that is restarted: its successor, same program and command line, is watched
serve() {
	exec "$HCSTALL" --allocator registered --pool-mib 16 --trials 2 --iterations 100 --json
}

serve >/dev/null &
first=$!
sleep 1
"$HCWATCH" live --ready-file "$work/live.ready" -p "$first" >"$work/live.txt" &
live=$!
wait_until 120 test -e "$work/live.ready"
kill -9 "$first"
wait "$first" 2>/dev/null || true
sleep 2
serve >/dev/null &
second=$!
wait "$second" || check 'restart: hcstall ended well' "$?" 0
sleep 2
kill -INT "$live"
wait "$live" || true
cat "$work/live.txt"
check_that 'restart: the successor is watched' "$(grep -A 1 '^hcwatch live' "$work/live.txt" | grep -c "($second)") > 0"
check_that 'restart: and its stalls are told' "$(grep -c "EVICTED hcstall ($second)" "$work/live.txt") > 0"

# a server whose ranks were there before the wish to watch them
(
	"$HCSTALL" --allocator registered --pool-mib 16 --trials 6 --iterations 150 --json >/dev/null
	true
) &
parent=$!
sleep 2
"$HCWATCH" record -o "$work/family.hcw" -p "$parent" &
record=$!
wait "$parent" || true
wait "$record" || true
"$HCWATCH" report --json "$work/family.hcw" >"$work/family.json" || true
check 'children: those that were there already are watched' \
	"$(value "$work/family.json" 'len(o["episodes"]) > 0 and o["episodes"][0]["victim"]["pid"] != '"$parent")" True

# killed at a random moment: everything older than a second is there
"$HCSTALL" --allocator registered --pool-mib 16 --trials 100 --iterations 200 --json >/dev/null 2>&1 &
stall=$!
sleep 2
# kill_at_random NAME: one recorder and its end
kill_at_random() {
	local recorder now
	"$HCWATCH" record --ready-file "$work/$1.ready" -o "$work/$1.hcw" -p "$stall" 2>/dev/null &
	recorder=$!
	wait_until 120 test -e "$work/$1.ready"
	sleep "1.$((RANDOM % 1000))"
	now=$(cut -d' ' -f1 /proc/uptime)
	kill -9 "$recorder"
	wait "$recorder" 2>/dev/null || true
	python3 "$(dirname "${BASH_SOURCE[0]}")/last_record.py" "$work/$1.hcw" "$now" && : >"$work/$1.good"
}

kills=${HCW_TEST_KILLS:-20}
# An emulated guest can stand still for seconds, and its recorder with it: a kill in such a moment is tried once more.
readable=0
for i in $(seq "$kills"); do
	kill_at_random "killed$i" || kill_at_random "killed$i.again" || true
	if [[ -e $work/killed$i.good || -e $work/killed$i.again.good ]]; then
		readable=$((readable + 1))
	fi
done
kill "$stall"
wait "$stall" 2>/dev/null || true
check "killed $kills times: all older than a second is readable" "$readable" "$kills"

rm -rf "$work"
summary
