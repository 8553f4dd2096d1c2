# SPDX-License-Identifier: BSD-2-Clause
"""Bench `probes`: what it costs to be traced, and to trace. Started by run.sh."""
import argparse
import contextlib
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from report import Unmeasurable, run, samples, tell

ROOT = pathlib.Path(__file__).resolve().parents[2]
RING_MIB = 64
RECORDS = 600000  # a record takes 88 bytes of the ring
ROUNDS = 9
RATES = [0.25e6, 0.5e6, 1e6, 1.5e6, 2e6, 3e6, 4e6]
RATE_SECONDS = 3
IDLE_SECONDS = 10
GETPPID_CALLS = 20000  # 2 ms: short enough that some run undisturbed


class Bench:
    def __init__(self, build):
        self.build = pathlib.Path(build)
        self.hcwatch = self.build / "bin/hcwatch"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="hcwatch-bench."))

    def program(self, name):
        return self.build / "tests" / f"bench_{name}"

    @contextlib.contextmanager
    def recorder(self, *options):
        """A running `hcwatch record`, ready; yields (process, seconds until ready)."""
        ready, trace = self.work / "ready", self.work / "trace.hcw"
        trace.unlink(missing_ok=True)
        start = time.monotonic()
        process = subprocess.Popen([self.hcwatch, "record", "--ready-file", ready, "-o", trace, *options],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            while not ready.exists():
                if process.poll() is not None:
                    raise Unmeasurable("hcwatch record: " + process.stderr.read().strip().split("\n")[0])
                time.sleep(0.002)
            yield process, time.monotonic() - start
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.said = process.communicate(timeout=60)[1]

    @contextlib.contextmanager
    def victim(self):
        process = subprocess.Popen(["sleep", "3600"])
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def recorded(process):
    """Records in the trace, by the recorder's last words: it must have written what was measured."""
    for line in process.said.splitlines():
        word = line.split()
        if " records in " in line and word[0] == "hcwatch:":
            return int(word[1])
    raise Unmeasurable("the recorder did not say what it wrote: " + process.said.strip()[-120:])


def host_ns_per_record(b):
    with b.victim() as victim:
        with b.recorder("--ring", f"{RING_MIB}M", "-p", str(victim.pid)) as (recorder, _):
            got = samples(run(b.program("ring"), "drain", recorder.pid, victim.pid, RECORDS, ROUNDS))
        if recorded(recorder) < RECORDS * ROUNDS:
            raise Unmeasurable("the trace has fewer records than were written into the ring")
    plain = samples(run(b.program("ring"), "plain", RECORDS, ROUNDS))
    peer = ("libbpf and write(2), uncompressed", statistics.median(plain["wall"]))
    tell("probes", "host_ns_per_record", "ns", ("<=", 150), got["wall"], peer)
    tell("probes", "host_cpu_ns_per_record", "ns", None, got["cpu"], note="CPU time of the recorder alone")
    tell("probes", "host_emit_ns_per_record", "ns", None, got["emit"], note="in the traced thread")


def lossless(b, rate):
    """Whether nothing is lost at so many records a second."""
    with b.victim() as victim:
        with b.recorder("-p", str(victim.pid)) as (recorder, _):
            got = samples(run(b.program("ring"), "rate", recorder.pid, victim.pid, int(rate), RATE_SECONDS))
        late = got["seconds"][0] > RATE_SECONDS * 1.05
        whole = got["lost"][0] == 0 and recorded(recorder) >= got["emitted"][0]
    return whole and not late, late


def host_lossless_mrec_s(b):
    best, late = 0.0, False
    for rate in RATES:
        whole, late = lossless(b, rate)
        if not whole:
            break
        best = rate / 1e6
    emit = samples(run(b.program("ring"), "plain", RECORDS, 3))["emit"]
    tell("probes", "host_lossless_mrec_s", "million records/s", (">=", 1.0), [best],
         ("one CPU that does nothing but emit", 1e3 / statistics.median(emit)),
         note="the source could not go faster" if late else f"steps tried: {[r / 1e6 for r in RATES]}")


@contextlib.contextmanager
def asked(command):
    """A program that answers each line with one."""
    process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())
    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait(timeout=30)


def cost(ask, times=150):
    """The least of many: what else runs on the machine only adds."""
    return min(ask() for _ in range(times))


def getppid_ratio(b):
    ratios = []
    with asked([b.program("getppid"), GETPPID_CALLS]) as ask:
        ask()
        for _ in range(2 * ROUNDS):
            before = cost(ask)
            with b.recorder() as _:
                during = cost(ask)
            ratios.append(2 * during / (before + cost(ask)))
    tell("probes", "getppid_ratio", "ratio", ("<=", 1.01), ratios,
         note="CPU time of the calling thread; each the least of many short runs")


def cpu_ns(pid):
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def vm_hwm_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise Unmeasurable("no VmHWM in /proc")


def idle(b):
    percent = []
    with b.recorder() as (recorder, _):
        for _ in range(3):
            start, used = time.monotonic(), cpu_ns(recorder.pid)
            time.sleep(IDLE_SECONDS)
            percent.append((cpu_ns(recorder.pid) - used) / (time.monotonic() - start) / 1e7)
        mib = vm_hwm_mib(recorder.pid)
    tell("probes", "idle_core_percent", "% of a core", ("<=", 0.2), percent)
    tell("probes", "rss_mib", "MiB", ("<=", 32), [mib], note="VmHWM after 30 s")


def ready_s(b):
    seconds = []
    with b.victim() as victim:
        for _ in range(ROUNDS):
            with b.recorder("-p", str(victim.pid)) as (_, took):
                seconds.append(took)
    tell("probes", "ready_s", "s", ("<=", 0.5), seconds)


def unwatched_hit_ns(b):
    got = samples(run(b.program("hit"), 21))
    limit = ("the empty loop", statistics.median(got["empty"]))
    tell("probes", "unwatched_hit_ns", "ns", ("<=", 100), got["hit"], limit,
         note="the program alone; the kernel's way to it comes on top")
    tell("probes", "unwatched_hit_all_ns", "ns", ("<=", 100), got["hit_all"], limit,
         note="while everybody at KFD is watched and this process is not there")


def in_guest(b, *command):
    module = b.work / "gpusim"
    run(ROOT / "tools/gpusim/build-module.sh", "--kernel", "6.1", "--out", module, timeout=900)
    return run(ROOT / "tools/vm/run.sh", "--kernel", "6.1", "--timeout", "900", "--mem", "1024",
               "--out", b.work / "guest", "--visible", b.build, "--visible", module,
               "--module", module / "gpusim.ko", "--", *command, timeout=2000)


def guest_move_ratio(b):
    got = samples(in_guest(b, "tests/bench/guest_move.sh", b.build))
    ratios = [t / u for t, u in zip(got["traced"], got["untraced"])]
    peers = [p / u for p, u in zip(got.get("bpftrace", []), got["untraced"])]
    peer = ("bpftrace on the same points", statistics.median(peers)) if peers else (
        "bpftrace is not installed: tools/deps.sh bench", None)
    note = "under emulation: a guard against regressions"
    if peers:
        note += f"; bpftrace told {statistics.median(got['bpftrace_seen']):.0%} of the hits"
    tell("probes", "guest_move_ratio", "ratio", ("<=", 1.05), ratios, peer, note=note)


# The functions, and the figures each tells with their units.
FIGURES = [
    (host_ns_per_record, {"host_ns_per_record": "ns", "host_cpu_ns_per_record": "ns",
                          "host_emit_ns_per_record": "ns"}),
    (host_lossless_mrec_s, {"host_lossless_mrec_s": "million records/s"}),
    (getppid_ratio, {"getppid_ratio": "ratio"}),
    (idle, {"idle_core_percent": "% of a core", "rss_mib": "MiB"}),
    (ready_s, {"ready_s": "s"}),
    (unwatched_hit_ns, {"unwatched_hit_ns": "ns", "unwatched_hit_all_ns": "ns"}),
    (guest_move_ratio, {"guest_move_ratio": "ratio"}),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--no-guest", action="store_true")
    args = parser.parse_args()
    unknown = set(args.only) - {f for _, figures in FIGURES for f in figures}
    if unknown:
        sys.exit(f"probes: no such figure: {', '.join(sorted(unknown))}")
    b = Bench(args.build)
    try:
        for measure, figures in FIGURES:
            if args.only and not set(args.only) & set(figures):
                continue
            if measure is guest_move_ratio and args.no_guest:
                continue
            try:
                measure(b)
            except (Unmeasurable, OSError, subprocess.TimeoutExpired, KeyError) as error:
                for figure, unit in figures.items():
                    tell("probes", figure, unit, None, why=str(error) or repr(error))
    finally:
        shutil.rmtree(b.work, ignore_errors=True)


main()
