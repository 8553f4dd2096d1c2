#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_prolong.py REPORT.json OVERTAKERS: whom does the report charge with restore passes thrown away, and whom the
test GPU? Prints both for each thread, and as the last line `agree`, or what is off by more than 10 % of all of them."""
import collections
import json
import sys


def reported(path):
    passes, names = collections.Counter(), {}
    with open(path, encoding="utf-8") as file:
        for episode in json.load(file)["episodes"]:
            for p in episode["prolonged_by"]:
                passes[p["actor"]["tid"]] += p["passes"]
                names[p["actor"]["tid"]] = p["actor"]["comm"]
    return passes, names


def counted(path):
    passes, names = collections.Counter(), {}
    with open(path, encoding="ascii") as file:
        for line in file:
            tid, comm, _, thousandths = line.split()
            if int(thousandths):
                passes[int(tid)] += int(thousandths) / 1000
                names[int(tid)] = comm
    return passes, names


def main():
    report, report_names = reported(sys.argv[1])
    module, module_names = counted(sys.argv[2])
    allowed = 0.1 * sum(module.values())
    off = []
    for tid in sorted(report.keys() | module.keys()):
        name = module_names.get(tid, report_names.get(tid))
        print(f"{name} ({tid}): reported {report[tid]:.3f}, counted {module[tid]:.3f}")
        if abs(report[tid] - module[tid]) > allowed + 0.001:
            off.append(f"{name} off by {report[tid] - module[tid]:+.3f}")
        if module[tid] >= 0.5 and report_names.get(tid) != name:
            off.append(f"{name} is called {report_names.get(tid)}")
    print(", ".join(off) or "agree")


main()
