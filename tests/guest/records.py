#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""records.py TRACE: a line for each record a container or a do-no-harm test asks about, from the trace as zstd reads it.

  move_pages TS COMM TARGET REQUESTED MOVED EFAULT     inval TS COMM VICTIM COUNT
  quiesce TS COMM VICTIM                               resume TS COMM
  pool TS PID                                          iteration TS PID
  filter JSON
COMM is that of the thread, as the trace tells it; blanks become underscores."""
import json
import struct
import subprocess
import sys

MOVE_PAGES, INVAL, QUIESCE, RESUME, ITER_END, POOL_ALLOC, TASK, HEADER = 1, 3, 4, 5, 10, 11, 13, 128


def records(path):
    # a trace that is being written ends in the middle of a frame
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=False).stdout
    at = 0
    while at + 16 <= len(data):
        ts, tid, kind, length = struct.unpack_from("<QIHH", data, at)
        yield ts, tid, kind, data[at + 16:at + 16 + length]
        at += 16 + length


def line(ts, who, kind, body):
    if kind == MOVE_PAGES:
        pid, requested, _read, moved, efault = struct.unpack_from("<iIIII", body, 24)
        return f"move_pages {ts} {who} {pid} {requested} {moved} {efault}"
    if kind == INVAL:
        count, _event, victim = struct.unpack_from("<III", body, 40)
        return f"inval {ts} {who} {victim} {count}"
    if kind == QUIESCE:
        return f"quiesce {ts} {who} {struct.unpack_from('<I', body, 52)[0]}"
    if kind == RESUME:
        return f"resume {ts} {who}"
    if kind == POOL_ALLOC:
        return f"pool {ts} {struct.unpack_from('<I', body, 20)[0]}"
    if kind == ITER_END:
        return f"iteration {ts} {struct.unpack_from('<I', body, 8)[0]}"
    if kind == HEADER:
        return "filter " + json.dumps(json.loads(body.rstrip(b"\0"))["filter"])
    return None


def main(path):
    comm = {}
    for ts, tid, kind, body in records(path):
        if kind == TASK:
            comm[struct.unpack_from("<I", body, 16)[0]] = body[24:40].split(b"\0")[0].decode("utf-8", "replace")
        text = line(ts, comm.get(tid, "?").replace(" ", "_") or "?", kind, body)
        if text:
            print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
