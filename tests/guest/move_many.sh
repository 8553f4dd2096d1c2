#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is counted of move_pages() calls is what the kernel answered: of 100,003 pages of every kind in one call, and of
# calls whose arrays are absent, cut, too long or no call to move.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly TESTS=$HCW_BUILD/tests PAGES=100003
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# told_by LINE: the fields of a traced call that `wanted` has too, in its order
told_by() {
	local key
	for key in requested read moved efault enoent eacces other rc range; do
		grep -oE " $key=[^ ]+" <<<"$1"
	done | tr -d '\n'
}

rc=0
"$TESTS/probe_check" "$TESTS/move_many" "$PAGES" "$work/wanted" >"$work/records" || rc=$?
check 'every record came' "$rc" 0
check 'the kernel answered as planned' "$(tail -n 1 "$work/wanted")" planned
sed -i '/^planned$/d' "$work/wanted"
grep -E ' move_pages start=' "$work/records" >"$work/moves"
check 'all calls were made' "$(wc -l <"$work/wanted")" 9
check 'one record a call, none of the query' "$(wc -l <"$work/moves")" "$(wc -l <"$work/wanted")"
check 'the large call is that large' "$(grep -c "^large requested=$PAGES read=$PAGES " "$work/wanted")" 1

while read -r -u 3 name wanted && read -r -u 4 traced; do
	check "$name" "$(told_by " $traced")" " $wanted"
done 3<"$work/wanted" 4<"$work/moves"
summary
