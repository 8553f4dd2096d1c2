#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""last_record.py TRACE UPTIME: fails unless the trace, as zstd reads it, reaches to a second before UPTIME (seconds)."""
import struct
import subprocess
import sys

SLACK = 1.4  # a second, and what the emulator may delay the recorder's clock by


def main(path, uptime):
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    at, last = 0, 0
    while at + 16 <= len(data):
        ts, _tid, _kind, length = struct.unpack_from("<QIHH", data, at)
        last = max(last, ts)
        at += 16 + length
    missing = float(uptime) - last / 1e9
    print(f"{path}: {len(data)} bytes, the last {missing:.2f} s are missing")
    return 0 if last and missing <= SLACK else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
