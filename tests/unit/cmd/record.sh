#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The recorder against full disks, closed pipes and signals, on this very kernel: a process marks iterations, which needs
# uprobes only. Skipped where BPF is not permitted.
set -uo pipefail

readonly HCWATCH=$1 MARKS=$2
work=$(mktemp -d)
cd "$work" || exit 1
failed=0

trap 'umount "$work/small" 2>/dev/null; cd / && rm -rf "$work"' EXIT

check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s\n' "$1"
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		failed=1
	fi
}

# readable FILE: the report's exit code, with its text in FILE.txt
readable() {
	local rc=0
	"$HCWATCH" report "$1" >"$1.txt" 2>"$1.err" || rc=$?
	echo "$rc"
}

# whole FILE: the trace can be read and has its end, complete or not
whole() {
	local rc
	rc=$(readable "$1")
	if [[ $rc == [015] ]] && ! grep -qE 'has no end|ends early' "$1.txt"; then
		echo yes
	fi
}

# wait_for FILE
wait_for() {
	local tries=200
	until [[ -e $1 ]] || ((tries-- == 0)); do sleep 0.05; done
}

rc=0
"$HCWATCH" record -o plain.hcw -- "$MARKS" 0.5 2>err || rc=$?
if grep -qE 'not permitted|CAP_BPF|lockdown' err; then
	echo 'SKIP cmd_record: BPF is not permitted here'
	exit 77
fi
expected=$rc # 0, or 5 where this kernel lacks probes
check 'plain: a whole trace' "$(whole plain.hcw)" yes
check 'plain: mode 0600' "$(stat -c %a plain.hcw)" 600
check 'plain: iterations are in it' "$(grep -qi 'iterations' plain.hcw.txt && echo yes)" yes

rc=0
"$HCWATCH" record -o plain.hcw -- true 2>err || rc=$?
check 'exists: usage error, file untouched' "$rc $(whole plain.hcw)" '2 yes'

# the files of a child, born while we watch, are searched for marks, too
# shellcheck disable=SC2016 # the inner shell's own
"$HCWATCH" record -o child.hcw -- bash -c '"$1" 8; true' bash "$MARKS" 2>err
"$HCWATCH" report --json child.hcw >child.json
check "child: its iterations are in it" "$(python3 - <<'EOT'
import json
print(sum(i["count"] for i in json.load(open("child.json"))["iterations"]) > 100)
EOT
)" True

# signals
for sig in INT TERM HUP; do
	"$HCWATCH" record --ready-file ready -o "$sig.hcw" -- "$MARKS" 60 2>err &
	pid=$!
	wait_for ready
	sleep 0.3
	start=$(date +%s%N)
	kill -"$sig" "$pid"
	rc=0
	wait "$pid" || rc=$?
	check "$sig: exit as for a whole trace" "$rc" "$expected"
	check "$sig: gone within 2 s" "$((($(date +%s%N) - start) / 1000000 < 2000))" 1
	check "$sig: a whole trace" "$(whole "$sig.hcw")" yes
	check "$sig: the command ended too" "$(pgrep -f "$MARKS 60" | wc -l)" 0
	check "$sig: the ready file is gone" "$([[ -e ready ]] || echo gone)" gone
done

# twice: at once, also when the command takes its time
"$HCWATCH" record --ready-file ready -o twice.hcw -- sh -c 'trap "" INT; sleep 5' 2>err &
pid=$!
wait_for ready
sleep 1.2
kill -INT "$pid"
sleep 0.2
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
check 'twice: 130' "$rc" 130
check 'twice: what was flushed is readable' "$(readable twice.hcw)" 5

# a ring that is too small: what is lost is said, in the file and by the exit code
rc=0
"$HCWATCH" record --ring 4K -o lossy.hcw -- "$MARKS" 1 0 2>err || rc=$?
check 'lossy: exit 5' "$rc" 5
check 'lossy: it says so' "$(grep -oE 'lost [0-9]+' err | awk '{print ($2 > 0)}')" 1
"$HCWATCH" report --json lossy.hcw >lossy.json
check 'lossy: holes are in the file, and their counts add up to what was lost' "$(python3 - <<'EOT'
import json
o = json.load(open("lossy.json"))
print(o["complete"], o["lost"] > 0, len(o["holes"]) > 0, sum(h["count"] for h in o["holes"]) == o["lost"])
EOT
)" 'False True True True'

# on a terminal a recording of somebody else says that it goes on; a command has the terminal for itself
"$MARKS" 4 &
TERM=xterm script -qec "'$HCWATCH' record -o tty.hcw -p $!" tty.txt >/dev/null
check 'terminal: progress' "$(grep -qa 'recording: [0-9]* records' tty.txt && echo yes)" yes
TERM=xterm script -qec "'$HCWATCH' record -o tty2.hcw -- '$MARKS' 2.5" tty2.txt >/dev/null
check 'terminal: none beside a command' "$(grep -qa 'recording: ' tty2.txt || echo none)" none

# a full disk
mkdir small
if mount -t tmpfs -o size=16k none small 2>/dev/null; then
	rc=0
	timeout 30 "$HCWATCH" record -o small/full.hcw -- "$MARKS" 20 1 2>err || rc=$?
	check 'full disk: exit 5' "$rc" 5
	check 'full disk: it says so, and how much is missing' \
		"$(grep -c 'No space left' err) $(grep -c 'not written [1-9]' err)" '1 1'
	cp small/full.hcw full.hcw
	check 'full disk: what fits is readable' "$(readable full.hcw)" 5
else
	echo 'SKIP cmd_record full disk: cannot mount a tmpfs'
fi

rc=0
"$HCWATCH" record -o /dev/full -- "$MARKS" 3 2>err || rc=$?
check '/dev/full: an error that says so' "$((rc != 0)) $(grep -q /dev/full err && echo yes)" '1 yes'

# a pipe
"$HCWATCH" record -o - -- "$MARKS" 0.5 2>err | cat >pipe.hcw
check 'pipe: a whole trace' "$(whole pipe.hcw)" yes
rc=0
{ "$HCWATCH" record -o - -- "$MARKS" 4 2>err; echo "$?" >rc; } | head -c 64 >/dev/null
# what is said at the start, where there is no driver, is not about the end
check 'closed pipe: a quiet end' \
	"$(cat rc) $(grep -vcE 'module amdgpu is not loaded|^  waiting for it;|^  \(--no-wait to exit\)' err)" '0 0'

# a reader that does not read: the first signal still ends it, and the command gets it too
mkfifo stuck
{ sleep 20; cat; } <stuck >/dev/null &
reader=$!
"$HCWATCH" record --ready-file ready -o - -- "$MARKS" 30 0 2>err >stuck &
pid=$!
wait_for ready
sleep 2
start=$(date +%s%N)
kill -TERM "$pid"
wait "$pid"
check 'stuck reader: gone within 4 s' "$((($(date +%s%N) - start) / 1000000 < 4000))" 1
sleep 0.2
check 'stuck reader: the command got the signal' "$(pgrep -f "$MARKS 30" | wc -l)" 0
kill "$reader"

exit "$failed"
