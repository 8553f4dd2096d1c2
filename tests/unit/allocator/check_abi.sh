#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# check_abi.sh LIBRARY HEADER: exports exactly what the header declares, needs only glibc, and none newer than 2.34.
set -euo pipefail

library=$1 header=$2 failed=0

fail() {
	printf '%s\n' "$*" >&2
	failed=1
}

declared=$(grep '^HCPOOL_API' "$header" | grep -o 'hcpool_[a-z_]*(' | tr -d '(' | sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
[[ -n $declared ]] || fail "no declarations found in $header"
[[ $declared == "$exported" ]] ||
	fail "exported and declared differ:" "$(diff <(echo "$declared") <(echo "$exported"))"

needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(libc\.so\.6|ld-linux.*)$' || true)
[[ -z $needed ]] || fail "needs more than libc: $needed"

soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
[[ $soname == libhcpool.so.0 ]] || fail "SONAME is $soname"

newest=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
[[ $(printf '%s\n' GLIBC_2.34 "$newest" | sort -V | tail -n 1) == GLIBC_2.34 ]] || fail "needs $newest"

for mark in 'Provider: hcpool' 'Name: alloc' 'Name: free'; do
	readelf -n "$library" | grep -qF "$mark" || fail "no USDT mark with $mark"
done
exit "$failed"
