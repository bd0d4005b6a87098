#!/usr/bin/env python3
"""Reads a run's TensorBoard events back with the real TensorBoard package and compares them
with metrics.jsonl: every curve must hold the same points in both.

Usage: scripts/check_tensorboard.py RUN_DIR

The package goes into a virtual environment under target/, made on the first call.
Exit codes: 0 they agree, 1 they differ, 2 something cannot be read.
"""

import collections
import json
import math
import os
import pathlib
import struct
import subprocess
import sys

PACKAGES = ["tensorboard==2.20.0", "setuptools==80.9.0"]
ENVIRONMENT = pathlib.Path(__file__).resolve().parent.parent / "target" / "tensorboard-venv"
MOST_SHOWN = 10


def fail(message):
    print(f"check_tensorboard: {message}", file=sys.stderr)
    sys.exit(2)


def enter_environment():
    """Goes on in the virtual environment, making it first if need be."""
    python = ENVIRONMENT / "bin" / "python"
    if pathlib.Path(sys.prefix) == ENVIRONMENT:
        return
    ready = ENVIRONMENT / "ready"
    if not ready.exists() or ready.read_text() != "\n".join(PACKAGES):
        print(f"making {ENVIRONMENT} with {', '.join(PACKAGES)}", file=sys.stderr)
        commands = [
            [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES],
        ]
        for command in commands:
            if subprocess.run(command, stdout=sys.stderr).returncode != 0:
                fail(f"`{' '.join(command)}` failed: python3 with venv and a package index are needed")
        ready.write_text("\n".join(PACKAGES))
    os.execv(python, [str(python), *sys.argv])


def single(value):
    """The value in single precision, as TensorBoard keeps it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def read_metrics(path):
    """The points of each curve, as a count of (positions, value), and how many lines are torn."""
    curves, torn = collections.defaultdict(collections.Counter), 0
    for line in path.read_text(errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            # A process that was killed while it wrote leaves half a line.
            torn += 1
            continue
        if entry["version"] != 1:
            fail(f"{path} has version {entry['version']}, this script reads version 1")
        for name, value in entry["values"].items():
            curves[name][(entry["positions"], shown(value))] += 1
    return curves, torn


def shown(value):
    """A value that equals itself, also where it is no number (null in JSON)."""
    return "nan" if value is None or math.isnan(value) else single(value)


def read_events(folder):
    """The points of each curve over all starts, the number of distributions, and of starts."""
    from tensorboard.backend.event_processing import event_accumulator as events

    everything = {events.SCALARS: 0, events.HISTOGRAMS: 0, events.TENSORS: 0}
    curves, histograms = collections.defaultdict(collections.Counter), 0
    starts = sorted(path for path in folder.iterdir() if path.is_dir())
    for start in starts:
        accumulator = events.EventAccumulator(str(start), size_guidance=everything)
        accumulator.Reload()
        for name in accumulator.Tags()[events.SCALARS]:
            for point in accumulator.Scalars(name):
                curves[name][(point.step, shown(point.value))] += 1
        for name in accumulator.Tags()[events.HISTOGRAMS]:
            histograms += len(accumulator.Histograms(name))
    return curves, histograms, len(starts)


def main():
    if len(sys.argv) != 2:
        fail("usage: scripts/check_tensorboard.py RUN_DIR")
    run = pathlib.Path(sys.argv[1])
    metrics, folder = run / "metrics.jsonl", run / "tensorboard"
    if not metrics.is_file() or not folder.is_dir():
        fail(f"{run} is no run directory with metrics.jsonl and tensorboard/")
    enter_environment()

    wanted, torn = read_metrics(metrics)
    found, histograms, starts = read_events(folder)
    problems = []
    for name in sorted(wanted.keys() | found.keys()):
        for kind, points in [
            ("only in metrics.jsonl", wanted[name] - found[name]),
            ("only in TensorBoard", found[name] - wanted[name]),
        ]:
            problems += [f"{name} at {step} = {value}: {kind}" for step, value in points.elements()]
    points = sum(sum(curve.values()) for curve in found.values())
    print(
        f"{run}: {len(found)} curves, {points} points, {histograms} histograms, {starts} starts,"
        f" {torn} torn lines: {'agree' if not problems else f'{len(problems)} points differ'}"
    )
    for problem in problems[:MOST_SHOWN]:
        print(f"  {problem}")
    if points == 0:
        fail("there is not a single point to compare")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
