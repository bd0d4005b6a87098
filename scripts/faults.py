#!/usr/bin/env python3
"""Kills and interrupts a training run at random instants, resumes it each time, and checks what is
left on the disk.

Usage: scripts/faults.py [--kills N] [--interrupts N] [--seed S] [--program FILE]

The run is a tiny one that writes a checkpoint and plays an evaluation each second, one of its
opponents being an outside engine. A third of the kills (SIGKILL) fall into the start, a third into
the writing of a checkpoint, the rest anywhere. An interrupt is SIGINT, and SIGINT or SIGTERM 0 to
20 ms later. At the end the run is left alone until it reaches a limit.

The seed decides the plan of all faults. What is happening in the program at such an instant also
depends on the machine, so a finding may take several tries to come again.

Exit codes: 0 nothing was found, 1 something was, 2 the script cannot work. It needs python3 alone.
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
# Seconds after which a program that should have done something counts as hanging.
PATIENCE = 120
# Seconds in which a start that trains already may still be clearing up.
CLEARING = 0.2
KILLS = ("at the start", "at any time", "while a checkpoint is written")
# How far the last start, which nothing disturbs, goes beyond what the run has.
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

    def start(self, *more):
        """Starts the run, or goes on with it where there is one."""
        arguments = [self.program, "train", self.config, "--run-dir", self.folder, "--quiet", *more]
        if (self.folder / "run.json").exists():
            arguments.append("--resume")
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=errors, env=self.environment
            )

    def starts(self):
        """How often the run has come so far that it trains."""
        try:
            return json.loads((self.folder / "run.json").read_text())["starts"]
        except FileNotFoundError:
            return 0

    def wait_until_it_trains(self, before):
        """Whether the run starts once more than before."""
        until = time.monotonic() + PATIENCE
        while self.starts() <= before:
            if self.process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def size_of_games(self):
        return sum(path.stat().st_size for path in self.folder.glob("games/*.ofg"))

    def wait_for_games(self, before):
        """Whether the run has come so far that it adds games to what it had before."""
        until = time.monotonic() + PATIENCE
        while self.size_of_games() <= before:
            if self.process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def wait_for_checkpoint(self):
        """Waits until a checkpoint is begun, for half a minute at most."""
        before = set(os.listdir(self.folder / "checkpoints"))
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            names = set(os.listdir(self.folder / "checkpoints"))
            if names - before:
                return

    def send(self, what):
        """Sends a signal; a process that has just ended needs none."""
        try:
            self.process.send_signal(what)
        except ProcessLookupError:
            pass

    def end(self):
        """The exit code, negative for a signal; None if it hangs."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def said(self):
        return self.errors.read_text(errors="replace")


def start_and_wait(run, checks, what):
    """Starts the run until it plays. What an earlier start has left must be gone when it trains."""
    left = half_done(run.folder)
    starts, games = run.starts(), run.size_of_games()
    run.start()
    trains = run.wait_until_it_trains(starts)
    if trains:
        until = time.monotonic() + CLEARING
        while time.monotonic() < until and left.items() & half_done(run.folder).items():
            time.sleep(0.002)
        checks.strays(left, half_done(run.folder), what)
    if not trains or not run.wait_for_games(games):
        checks.note("start", False, f"{what}: no game: exit code {run.end()}: {run.said()}")
        return False
    checks.note("start", True)
    return True


def kill(run, checks, chance, number):
    """One kill. Returns its kind."""
    kind = KILLS[number % len(KILLS)]
    what = f"kill {number + 1} {kind}"
    if kind == "at the start":
        run.start()
        time.sleep(chance.uniform(0, 0.6))
    elif start_and_wait(run, checks, what):
        if kind == "at any time":
            time.sleep(chance.uniform(0, 1.5))
        else:
            run.wait_for_checkpoint()
            # Mostly into the writing, sometimes into the removal of an older one that follows.
            time.sleep(0.2 * chance.random() ** 3)
    run.send(signal.SIGKILL)
    code = run.end()
    checks.note("exit code", code == -signal.SIGKILL, f"{what}: exit code {code}: {run.said()}")
    checks.stderr(run.said(), what)
    checks.disk(run, what, "killed")
    return kind


def interrupt(run, checks, chance, number):
    """An interrupt and a second one. Returns the exit code."""
    what = f"interrupt {number + 1}"
    pause, delay = chance.uniform(0, 1.0), chance.uniform(0, 0.020)
    second = chance.choice((signal.SIGINT, signal.SIGTERM))
    if start_and_wait(run, checks, what):
        time.sleep(pause)
    run.send(signal.SIGINT)
    time.sleep(delay)
    run.send(second)
    code = run.end()
    what = f"{what} ({second.name} after {1000 * delay:.1f} ms)"
    checks.note("exit code", code in (0, 130), f"{what}: exit code {code}: {run.said()}")
    checks.stderr(run.said(), what)
    # A run that has ended in order has said so; one that has not had the time looks killed.
    checks.disk(run, what, "stopped" if code == 0 else "killed")
    return code


def last_start(run, checks):
    """The run, left alone, reaches a limit, and its counters are those of its files."""
    what = "the last start"
    left = half_done(run.folder)
    run.start("--set", f"limits.games={len(checks.games) + LAST_GAMES}")
    code = run.end()
    checks.note("exit code", code == 0, f"{what}: exit code {code}: {run.said()}")
    checks.strays(left, half_done(run.folder), what)
    checks.stderr(run.said(), what)
    checks.disk(run, what, "finished")
    checks.everything_again(run, what)


def count(text):
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kills", type=count, default=30, help="30 by default")
    parser.add_argument("--interrupts", type=count, default=20, help="20 by default")
    parser.add_argument("--seed", type=count, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/outflank")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"{arguments.program} is no program; `cargo build --release` makes one")
    arguments.program = arguments.program.resolve()
    return arguments


def main():
    arguments = read_arguments()
    chance = random.Random(arguments.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="outflank-faults-"))
    run = Run(arguments.program, folder, arguments.seed)
    checks = Checks()
    kinds, codes, unfinished = [], [], 0
    began = time.monotonic()
    try:
        for number in range(arguments.kills):
            kinds.append(kill(run, checks, chance, number))
            unfinished += bool(half_done(run.folder))
        for number in range(arguments.interrupts):
            codes.append(interrupt(run, checks, chance, number))
        last_start(run, checks)
    finally:
        if run.process is not None and run.process.poll() is None:
            run.process.kill()
            run.process.wait()
    kills = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KILLS)
    print(f"kills: {len(kinds)} ({kills}); {unfinished} left something half done")
    print(
        f"interrupts: {len(codes)} ({codes.count(130)} ended at once with 130, "
        f"{codes.count(0)} in order with 0)"
    )
    print(f"games in the end: {len(checks.games)}; seconds: {time.monotonic() - began:.0f}\n")
    print(checks.table())
    if not checks.findings:
        shutil.rmtree(folder)
        return 0
    print(f"\nthe run is kept in {folder}")
    print(
        f"again: scripts/faults.py --kills {arguments.kills} --interrupts {arguments.interrupts} "
        f"--seed {arguments.seed} --program {arguments.program}"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
