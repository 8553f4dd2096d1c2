#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# memory.sh HCWATCH: an idle recorder stays within --mem, and says so when that cannot be.
set -uo pipefail

readonly HCWATCH=$1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
failed=0

check() { # description, result
	if [ "$2" = 0 ]; then
		printf 'PASS %s\n' "$1"
	else
		printf 'FAIL %s\n' "$1"
		failed=1
	fi
}

# idle OPTIONS: the largest RSS of an idle recorder, in KiB
idle() {
	local pid i=0

	rm -f "$WORK/x.hcw"
	"$HCWATCH" record -o "$WORK/x.hcw" --ready-file "$WORK/ready" "$@" 2>"$WORK/err" &
	pid=$!
	while [ ! -e "$WORK/ready" ] && kill -0 "$pid" 2>/dev/null && [ "$i" -lt 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	sleep 1
	awk '/^VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
}

"$HCWATCH" record -o "$WORK/x.hcw" --mem 15M 2>"$WORK/err"
check "less than the program needs is refused (usage)" "$(($? != 2))"
grep -q -- "--mem takes a size from 16M to 8G" "$WORK/err"
check "and the range is told" $?

default=$(idle)
if [ -z "$default" ]; then
	echo "SKIP: no recorder here: $(head -n 1 "$WORK/err")"
	exit 77
fi
echo "idle: $default KiB"
check "by default an idle recorder takes at most 32 MiB ($default KiB)" "$((default > 32768))"
large=$(idle --mem 256M)
check "a larger --mem is a larger ring ($large KiB)" "$((large < default + 32768 || large > 262144))"
ring=$(idle --mem 256M --ring 64K)
check "--ring decides about the ring ($ring KiB)" "$((ring > default + 4096))"
exit "$failed"
