#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds what the demo left (lab.json, traces, the module's counters) against the truth."""
import json
import pathlib
import subprocess
import sys

JIFFY_MS = 4  # HZ=250 in Debian's kernels

results = {"passed": 0, "failed": 0}


def check(name, ok, detail=""):
    results["passed" if ok else "failed"] += 1
    print(f"{'PASS' if ok else 'FAIL'} {name}{'' if ok else ': ' + str(detail)}")


def counters(path):
    return {k: int(v) for k, v in (line.split() for line in path.read_text().splitlines())}


def check_registered(arm, module):
    trials = arm["trials"]
    check("registered: three trials", len(trials) == 3, len(trials))
    for n, t in enumerate(trials, 1):
        name = f"registered {n}: "
        check(name + "512 of 512 moved", (t["attempted"], t["moved"]) == (512, 512), t)
        check(name + "traced moves", t["traced_moved"] == 512, t["traced_moved"])
        check(name + "an episode", t["episodes"] >= 1 and not t["open"], t)
        check(name + "started by the moving thread", t["actor"] and t["actor"]["comm"] == "hcstall-mover"
              and t["actor"]["tid"] != t["actor"]["pid"], t["actor"])
        check(name + "worst iteration >= 10 x control median",
              t["max_iteration_ms"] >= 10 * arm["control_median_ms"],
              (t["max_iteration_ms"], arm["control_median_ms"]))
        # with several episodes in one trial no single iteration need see all of them
        if t["episodes"] == 1:
            slack = max(0.2 * t["episode_ms"], arm["control_max_ms"] + 15)
            # a busy machine can make another iteration longer still: then the stalled one, as traced, is held to it
            fits = [abs(ms - t["episode_ms"]) <= slack for ms in (t["max_iteration_ms"], t["stalled_iteration_ms"])]
            check(name + "worst iteration fits the traced episode", fits[0] or
                  (fits[1] and t["max_iteration_ms"] > t["stalled_iteration_ms"]),
                  (t["max_iteration_ms"], t["stalled_iteration_ms"], t["episode_ms"], slack))
        check(name + "evicted_ms of two GPUs", len(t["evicted_ms_delta"]) == 2, t["evicted_ms_delta"])
        for gpu, ms in t["evicted_ms_delta"].items():
            check(name + f"evicted_ms of {gpu} within a jiffy per episode",
                  abs(ms - t["episode_ms"]) <= JIFFY_MS * t["episodes"], (ms, t["episode_ms"]))
    check("registered: a trial of one episode, to compare its iteration with", any(t["episodes"] == 1 for t in trials),
          [t["episodes"] for t in trials])
    for figure, key in (("episodes", "evictions"), ("passes", "passes")):
        said = sum(t[figure] for t in trials)
        check(f"registered: {figure} equal the module's {key}", said == module[key], (said, module[key]))
    check("registered: exposed by trial", (arm["verdict"], arm["evidence"]) == ("exposed", "trial"), arm["reasons"])


def check_gtt(arm):
    check("gtt: three trials", len(arm["trials"]) == 3, len(arm["trials"]))
    for n, t in enumerate(arm["trials"], 1):
        check(f"gtt {n}: 512 x -EFAULT", (t["moved"], t["efault"], t["other"]) == (0, 512, 0), t)
        check(f"gtt {n}: no episode", (t["episodes"], t["episode_ms"], t["passes"]) == (0, 0, 0), t)
        check(f"gtt {n}: evicted_ms 0", set(t["evicted_ms_delta"].values()) == {0}, t["evicted_ms_delta"])
    check("gtt: immune by trial", (arm["verdict"], arm["evidence"]) == ("immune", "trial"), arm["reasons"])
    check("gtt: mapping of a render node", arm["mapping"].startswith("/dev/dri/renderD"), arm["mapping"])


def report_exit(hcwatch, trace):
    return subprocess.run([hcwatch, "report", trace], stdout=subprocess.PIPE, check=False)


def main(folder):
    lab = json.loads((folder / "lab.json").read_text())
    before, after = counters(folder / "counters.before"), counters(folder / "counters.after")
    module = {k: after[k] - before[k] for k in after}
    arms = {a["allocator"]: a for a in lab["arms"]}
    check("schema 1, simulated gpusim", (lab["schema"], lab["device"]["driver"], lab["device"]["simulated"])
          == (1, "gpusim", True), lab["device"])
    check("lost 0", lab["lost"] == 0, lab["lost"])
    check("every probe active", all(p["active"] for p in lab["probes"]),
          [p for p in lab["probes"] if not p["active"]])
    check("both arms", set(arms) == {"registered", "gtt"}, list(arms))
    check_registered(arms["registered"], module)
    check_gtt(arms["gtt"])
    left = [(folder / f"attached.{when}").read_text() for when in ("before", "after")]
    check("nothing stays attached", left[0] == left[1], left)
    hcwatch = folder.parent / "bin" / "hcwatch"
    r = report_exit(hcwatch, folder / "registered.hcw")
    check("report of registered.hcw is a finding", r.returncode == 1 and b"hcstall" in r.stdout, r)
    r = report_exit(hcwatch, folder / "gtt.hcw")
    check("report of gtt.hcw finds nothing", r.returncode == 0 and b"No episode" in r.stdout, r)
    print(f"{results['passed']} passed, {results['failed']} failed")
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
