#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# test_run.sh BUILD: run.sh itself: its options, and that a line is what it says it is. One quick figure is measured.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

readonly BUILD=$1
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s\n' "$1"
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		failed=1
	fi
}

# code COMMAND...: its exit code, with its output in $work/{out,err}
code() {
	local rc=0
	"$@" >"$work/out" 2>"$work/err" || rc=$?
	echo "$rc"
}

check 'help' "$(code ./run.sh --help) $(grep -c '^Usage:' "$work/out") $(wc -c <"$work/err")" '0 1 0'
check 'help names every bench' "$(grep -cE '^  probes ' "$work/out")" 1
check 'an unknown bench' "$(code ./run.sh nonsense) $(wc -c <"$work/out")" '2 0'
check 'an unknown option' "$(code ./run.sh --nonsense)" 2
check 'nothing is built' "$(code ./run.sh --build "$work" probes) $(grep -c 'nothing is built' "$work/err")" '3 1'
check 'an unknown figure' \
	"$(code ./run.sh --build "$BUILD" --only nonsense probes) $(grep -c 'no such figure' "$work/err")" '1 1'

check 'one figure' "$(code ./run.sh --build "$BUILD" --only unwatched_hit_ns probes)" 0
check 'its lines' "$(python3 - "$work/out" <<'EOT'
import json
import sys
for line in open(sys.argv[1]):
    o = json.loads(line)
    if o["value"] is None:
        print(o["figure"], bool(o["why"]), end="; ")
        continue
    lines = o["n"] > 1 and o["value"] > o["peer_value"] > 0 and 0 <= o["spread"]
    print(o["figure"], lines and o["met"] == (o["value"] <= 100) and o["bench"] == "probes", end="; ")
EOT
)" 'unwatched_hit_ns True; unwatched_hit_all_ns True; '
exit "$failed"
