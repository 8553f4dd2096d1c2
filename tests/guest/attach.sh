#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The probe plan of this kernel: is every point attached, and by which tier?
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly HCWATCH=$1
work=$(mktemp -d)

# said EXPRESSION: of the list of probes `p`
said() {
	python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))["probes"]
print(eval(sys.argv[2]))' "$work/plan.json" "$1"
}

rc=0
"$HCWATCH" doctor --probes --json >"$work/plan.json" || rc=$?
"$HCWATCH" doctor --probes || true
# Without types of the driver's own, quiesce and resume carry the episode.
without_types=''
[[ -z ${HCW_VM_STRIPPED:-} ]] || without_types='evict restore'
check 'attach: every point that is needed' "$rc" 0
check 'attach: points that are off' \
	"$(said '" ".join(x["point"] for x in p if not x["active"] and x["point"] not in ("iteration", "pool"))')" "$without_types"
check 'attach: a tier for each' "$(said 'all(x["tier"] != "off" for x in p if x["active"])')" True
check 'attach: no kernel warning' "$(kernel_warnings)" ''
rm -rf "$work"
summary
