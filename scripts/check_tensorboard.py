#!/usr/bin/env python3
"""Reads the TensorBoard files of a run with the TensorBoard package and compares them with
metrics.jsonl. Every curve must have the same points in both. Each curve must have a description
with its name in metrics.jsonl, and each start of the run must have stored the configuration.

Usage: scripts/check_tensorboard.py RUN_DIR

The first call installs the package into a virtual environment under target/.
Exit codes: 0 they agree, 1 they differ, 2 something cannot be read.
"""

import collections
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

PACKAGES = ["tensorboard==2.20.0", "setuptools==80.9.0"]
ENVIRONMENT = pathlib.Path(__file__).resolve().parent.parent / "target" / "tensorboard-venv"
MOST_SHOWN = 10
# The end of a curve's description.
ORIGIN = re.compile(r"In metrics\.jsonl: `([^`]+)`\.$")
CONFIG = "config.toml"


def fail(message):
    print(f"check_tensorboard: {message}", file=sys.stderr)
    sys.exit(2)


def enter_environment():
    """Restarts this script in the virtual environment, which is created first if needed."""
    python = ENVIRONMENT / "bin" / "python"
    if pathlib.Path(sys.prefix) == ENVIRONMENT:
        return
    ready = ENVIRONMENT / "ready"
    if not ready.exists() or ready.read_text() != "\n".join(PACKAGES):
        print(f"creating {ENVIRONMENT} with {', '.join(PACKAGES)}", file=sys.stderr)
        commands = [
            [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES],
        ]
        for command in commands:
            if subprocess.run(command, stdout=sys.stderr).returncode != 0:
                fail(f"`{' '.join(command)}` failed; it needs python3 with venv, and a package index")
        ready.write_text("\n".join(PACKAGES))
    os.execv(python, [str(python), *sys.argv])


def single(value):
    """The value in single precision, as TensorBoard stores it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def read_metrics(path):
    """Returns the points of each curve, as a count of (positions, value), and the number of torn
    lines."""
    curves, torn = collections.defaultdict(collections.Counter), 0
    for line in path.read_text(errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            # A process that is killed while it writes leaves half a line.
            torn += 1
            continue
        if entry["version"] != 1:
            fail(f"{path} has version {entry['version']}; this script reads version 1")
        for name, value in entry["values"].items():
            curves[name][(entry["positions"], comparable(value))] += 1
    return curves, torn


def comparable(value):
    """The value in single precision; "nan" for NaN (null in JSON), which does not equal itself."""
    return "nan" if value is None or math.isnan(value) else single(value)


def read_events(folder):
    """Returns the points of each curve over all starts, the number of starts, and the problems found."""
    from tensorboard.backend.event_processing import event_accumulator as events

    # 0: keep every point.
    everything = {events.SCALARS: 0, events.TENSORS: 0}
    curves, problems = collections.defaultdict(collections.Counter), []
    starts = sorted({path.parent for path in folder.rglob("*tfevents*")})
    for start in starts:
        start_name = start.relative_to(folder)
        accumulator = events.EventAccumulator(str(start), size_guidance=everything)
        accumulator.Reload()
        for tag in accumulator.Tags()[events.SCALARS]:
            metadata = accumulator.summary_metadata.get(tag)
            origin = ORIGIN.search(metadata.summary_description) if metadata else None
            if origin is None:
                problems.append(f"{start_name}: {tag} has no description with its name in metrics.jsonl")
            name = origin.group(1) if origin else tag
            for point in accumulator.Scalars(tag):
                curves[name][(point.step, comparable(point.value))] += 1
        if CONFIG not in accumulator.Tags()[events.TENSORS]:
            problems.append(f"{start_name}: the configuration is missing")
        elif not accumulator.Tensors(CONFIG)[0].tensor_proto.string_val[0].startswith(b"```toml\n"):
            problems.append(f"{start_name}: the configuration is not stored as TOML text")
    return curves, len(starts), problems


def main():
    if len(sys.argv) != 2:
        fail("usage: scripts/check_tensorboard.py RUN_DIR")
    run = pathlib.Path(sys.argv[1])
    metrics, folder = run / "metrics.jsonl", run / "tensorboard"
    if not metrics.is_file() or not folder.is_dir():
        fail(f"{run} is not a run directory with metrics.jsonl and tensorboard/")
    enter_environment()

    expected, torn = read_metrics(metrics)
    found, starts, problems = read_events(folder)
    for name in sorted(expected.keys() | found.keys()):
        for kind, points in [
            ("only in metrics.jsonl", expected[name] - found[name]),
            ("only in TensorBoard", found[name] - expected[name]),
        ]:
            problems += [f"{name} at {step} = {value}: {kind}" for step, value in points.elements()]
    points = sum(sum(curve.values()) for curve in found.values())
    print(
        f"{run}: {len(found)} curves, {points} points, {starts} starts,"
        f" {torn} torn lines: {f'{len(problems)} problems' if problems else 'all points agree'}"
    )
    for problem in problems[:MOST_SHOWN]:
        print(f"  {problem}")
    if points == 0:
        fail("there are no points to compare")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
