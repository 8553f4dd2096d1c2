# SPDX-License-Identifier: BSD-2-Clause
"""What the benches share: one JSON object a line, and running programs to their end."""
import json
import statistics
import subprocess


class Unmeasurable(Exception):
    """Why a figure cannot be had here."""


def spread(values):
    """The middle half over the median: how far runs differ, without the odd one."""
    if len(values) < 2:
        return None
    low, _, high = statistics.quantiles(values, n=4)
    middle = statistics.median(values)
    return round((high - low) / middle, 4) if middle else None


def rounded(value):
    return None if value is None else float(f"{value:.5g}")


def tell(bench, figure, unit, aim, values=None, peer=None, why=None, note=None):
    """aim: ("<=", 150), or None; peer: (name, value), value None with the reason in the name."""
    out = {"bench": bench, "figure": figure, "value": None, "unit": unit, "n": 0, "spread": None,
           "peer": None, "peer_value": None}
    if values:
        out.update(value=rounded(statistics.median(values)), n=len(values), spread=spread(values))
    if peer:
        out.update(peer=peer[0], peer_value=rounded(peer[1]))
    if aim:
        out["aim"] = f"{aim[0]} {aim[1]}"
        if out["value"] is not None:
            out["met"] = out["value"] <= aim[1] if aim[0] == "<=" else out["value"] >= aim[1]
    if why:
        out["why"] = why
    if note:
        out["note"] = note
    print(json.dumps(out), flush=True)


def run(*command, timeout=300):
    """Its stdout; Unmeasurable with the last line it complained when it fails."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=timeout, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unmeasurable(f"{command[0]} failed ({done.returncode}): {said[-1] if said else ''}")
    return done.stdout


def samples(text):
    """Lines of "name number" as {name: [number, ...]}."""
    found = {}
    for line in text.splitlines():
        word = line.split()
        if len(word) == 2:
            found.setdefault(word[0], []).append(float(word[1]))
    return found
