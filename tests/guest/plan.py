#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""plan.py TRACE [N]: the probe plan of the last (or N-th, from 0) header of a trace, a point a line:
POINT TIER active|inactive forced|chosen REASON"""
import json
import struct
import subprocess
import sys

HEADER = 128


def headers(path):
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    at = 0
    while at + 16 <= len(data):
        _ts, _tid, kind, length = struct.unpack_from("<QIHH", data, at)
        if kind == HEADER:
            yield json.loads(data[at + 16:at + 16 + length].rstrip(b"\0"))
        at += 16 + length


def main(path, number=-1):
    for p in list(headers(path))[int(number)]["probes"]:
        print(p["point"], p["tier"], "active" if p["active"] else "inactive",
              "forced" if p["forced"] else "chosen", p["reason"])


if __name__ == "__main__":
    main(*sys.argv[1:])
