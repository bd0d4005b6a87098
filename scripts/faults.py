#!/usr/bin/env python3
"""Kills and interrupts a training run at random times, resumes it and checks its files.

Usage: scripts/faults.py [--kills N] [--interrupts N] [--seed S] [--program FILE]

The run is tiny. It writes a checkpoint and plays evaluation matches every second, and one of its
opponents is an external engine. A third of the kills (SIGKILL) happen while the program starts, a
third while it writes a checkpoint, and the others at any time. An interrupt is SIGINT, followed by
SIGINT or SIGTERM 0 to 20 ms later. At the end the run trains undisturbed until it reaches a limit.

The seed determines the time of each fault. What the program does at that time also depends on the
machine, so it may take several attempts to reproduce a failure.

Exit codes: 0 no check failed, 1 a check failed, 2 the script cannot run. It needs only python3.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from faults_checks import ENGINE_MARK, Checks, half_done

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Seconds to wait for the program before it counts as hanging.
PATIENCE = 120
# Seconds that the removal of half-done files may take after training has begun.
CLEANUP = 0.2
KILLS = ("at the start", "at any time", "while a checkpoint is written")
# Games that the last, undisturbed start adds to the run.
LAST_GAMES = 200

CONFIG = """
board = "6x6"
seed = {seed}
device = "cpu"
[limits]
minutes = 0
[net]
blocks = 1
channels = 8
[search]
simulations = 8
solve_empties = 8
[selfplay]
games_per_actor = 16
[replay]
min_positions = 300
max_positions = 5000
growth_start = 1000
[learner]
batch = 64
steps_per_publish = 4
[checkpoint]
every_minutes = 0.0167
keep_last = 2
[evaluation]
every_minutes = 0.0167
games = 2
simulations = 8
opponents = ["random", '''external:protocol=gtp,command="{program} gtp greedy --shape 6x6"''']
"""


class Run:
    """One run directory, and the process that trains in it."""

    def __init__(self, program, folder, seed):
        self.program = program
        self.folder = folder / "run"
        self.config = folder / "faults.toml"
        self.config.write_text(CONFIG.format(program=shlex.quote(str(program)), seed=seed))
        self.errors = folder / "stderr"
        self.environment = {**os.environ, ENGINE_MARK: str(folder)}
        self.environment.pop("OUTFLANK_LOG", None)
        self.process = None

    def start(self, *extra):
        """Starts the run, or resumes it if it exists."""
        arguments = [self.program, "train", self.config, "--run-dir", self.folder, "--quiet", *extra]
        if (self.folder / "run.json").exists():
            arguments.append("--resume")
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=errors, env=self.environment
            )

    def starts(self):
        """The number of times that the run has begun to train."""
        try:
            return json.loads((self.folder / "run.json").read_text())["starts"]
        except FileNotFoundError:
            return 0

    def wait_until_it_trains(self, before):
        """Waits for a new start of the run. Returns False if the program ends or hangs."""
        until = time.monotonic() + PATIENCE
        while self.starts() <= before:
            if self.process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def size_of_games(self):
        return sum(path.stat().st_size for path in self.folder.glob("games/*.ofg"))

    def wait_for_games(self, before):
        """Waits for a new game of the run. Returns False if the program ends or hangs."""
        until = time.monotonic() + PATIENCE
        while self.size_of_games() <= before:
            if self.process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def wait_for_checkpoint(self):
        """Waits until a new checkpoint is begun, at most half a minute."""
        before = set(os.listdir(self.folder / "checkpoints"))
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            names = set(os.listdir(self.folder / "checkpoints"))
            if names - before:
                return

    def send(self, number):
        """Sends a signal, unless the process has just ended."""
        try:
            self.process.send_signal(number)
        except ProcessLookupError:
            pass

    def end(self):
        """Waits for the end. Returns the exit code, negative for a signal, or None if it hangs."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def stderr(self):
        return self.errors.read_text(errors="replace")


def start_and_wait(run, checks, fault):
    """Starts the run and waits for a game. Checks that half-done files of earlier starts are gone."""
    left = half_done(run.folder)
    starts, games = run.starts(), run.size_of_games()
    run.start()
    trains = run.wait_until_it_trains(starts)
    if trains:
        until = time.monotonic() + CLEANUP
        while time.monotonic() < until and left.items() & half_done(run.folder).items():
            time.sleep(0.002)
        checks.leftovers(left, half_done(run.folder), fault)
    if not trains or not run.wait_for_games(games):
        checks.record("start", False, f"{fault}: no game: exit code {run.end()}: {run.stderr()}")
        return False
    checks.record("start", True)
    return True


def kill(run, checks, rng, number):
    """Starts and kills the run once. Returns the kind of the kill."""
    kind = KILLS[number % len(KILLS)]
    fault = f"kill {number + 1} {kind}"
    if kind == "at the start":
        run.start()
        time.sleep(rng.uniform(0, 0.6))
    elif start_and_wait(run, checks, fault):
        if kind == "at any time":
            time.sleep(rng.uniform(0, 1.5))
        else:
            run.wait_for_checkpoint()
            # Mostly while it is written, sometimes later, while an older one is removed.
            time.sleep(0.2 * rng.random() ** 3)
    run.send(signal.SIGKILL)
    code = run.end()
    checks.record("exit code", code == -signal.SIGKILL, f"{fault}: exit code {code}: {run.stderr()}")
    checks.stderr(run.stderr(), fault)
    checks.disk(run, fault, "killed")
    return kind


def interrupt(run, checks, rng, number):
    """Starts the run and interrupts it twice. Returns the exit code."""
    fault = f"interrupt {number + 1}"
    pause, delay = rng.uniform(0, 1.0), rng.uniform(0, 0.020)
    second = rng.choice((signal.SIGINT, signal.SIGTERM))
    if start_and_wait(run, checks, fault):
        time.sleep(pause)
    run.send(signal.SIGINT)
    time.sleep(delay)
    run.send(second)
    code = run.end()
    fault = f"{fault} ({second.name} after {1000 * delay:.1f} ms)"
    checks.record("exit code", code in (0, 130), f"{fault}: exit code {code}: {run.stderr()}")
    checks.stderr(run.stderr(), fault)
    # A run that had no time to say that it stopped looks killed. The second signal may also come
    # after that, just before the normal end.
    checks.disk(run, fault, *(("stopped",) if code == 0 else ("killed", "stopped")))
    return code


def last_start(run, checks):
    """Lets the run train undisturbed to a limit. Then its counters must agree with its files."""
    fault = "the last start"
    left = half_done(run.folder)
    run.start("--set", f"limits.games={len(checks.games) + LAST_GAMES}")
    code = run.end()
    checks.record("exit code", code == 0, f"{fault}: exit code {code}: {run.stderr()}")
    checks.leftovers(left, half_done(run.folder), fault)
    checks.stderr(run.stderr(), fault)
    checks.disk(run, fault, "finished")
    checks.read_again(run, fault)


def count(text):
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    seed, program = random.SystemRandom().randrange(1 << 32), ROOT / "target/release/outflank"
    for name, kind, default, text in (
        ("--kills", count, 30, "number of kills, 30 by default"),
        ("--interrupts", count, 20, "number of double interrupts, 20 by default"),
        ("--seed", count, seed, "seed of the faults, random by default"),
        ("--program", pathlib.Path, program, "target/release/outflank by default"),
    ):
        parser.add_argument(name, type=kind, default=default, help=text)
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"{arguments.program} is not a program; `cargo build --release` builds it")
    arguments.program = arguments.program.resolve()
    return arguments


def main():
    arguments = read_arguments()
    rng = random.Random(arguments.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="outflank-faults-"))
    run = Run(arguments.program, folder, arguments.seed)
    checks = Checks()
    kinds, codes, incomplete = [], [], 0
    began = time.monotonic()
    try:
        for number in range(arguments.kills):
            kinds.append(kill(run, checks, rng, number))
            incomplete += bool(half_done(run.folder))
        for number in range(arguments.interrupts):
            codes.append(interrupt(run, checks, rng, number))
        last_start(run, checks)
    finally:
        if run.process is not None and run.process.poll() is None:
            run.process.kill()
            run.process.wait()
    kills = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KILLS)
    print(f"kills: {len(kinds)} ({kills}); {incomplete} left half-done files")
    print(
        f"interrupts: {len(codes)} ({codes.count(130)} ended at once with 130, "
        f"{codes.count(0)} normally with 0)"
    )
    print(f"games at the end: {len(checks.games)}; seconds: {time.monotonic() - began:.0f}\n")
    print(checks.table())
    if not checks.findings:
        shutil.rmtree(folder)
        return 0
    print(f"\nthe run is in {folder}")
    print(
        f"to repeat: scripts/faults.py --kills {arguments.kills} --interrupts {arguments.interrupts} "
        f"--seed {arguments.seed} --program {arguments.program}"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
