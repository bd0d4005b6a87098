"""The checks of `faults.py` after each fault. The file formats are those of docs/files.md."""

import collections
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import zlib

# A variable in the environment of the program, and so of the engines that it starts.
ENGINE_MARK = "OUTFLANK_FAULTS"
# Seconds in which an engine must end after the program at the other end of its pipes.
ENGINE_PATIENCE = 10
# The most characters shown of a failure; the backtrace of a panic is long.
MOST_SHOWN = 1000

CHECKS = {
    "start": "each start resumes the run and plays",
    "exit code": "by SIGKILL; 130, or 0 if it ended normally, after interrupts; 0 at the end",
    "stderr": "only expected lines, so no panic",
    "games": "no game is lost, changed or doubled; at most one is torn",
    "checkpoint": "the newest is complete and no older than before",
    "counters": "no counter falls or exceeds the files",
    "state": "`outflank runs` lists the run with its state",
    "lines": "each line of the ladder and of the curves is complete",
    "leftovers": "the next start removes half-done files",
    "engines": "no engine runs longer than its run",
}

# Lines that a correct run may print on standard error with --quiet, as regular expressions.
EXPECTED = [
    r"run directory: ",
    r"curves: tensorboard ",
    r"stopping; a second Ctrl-C ends at once$",
    r"(limits\.\w+ = [\d.]+ is reached; evaluate the net|evaluate its newest model) with: ",
    r"continue with( a higher limit)?: ",
    # About its ratings.
    r" ?INFO the last net is being rated; Ctrl-C stops the rating$",
    r" ?INFO the last net is not rated; `train --resume` continues the rating$",
    r" ?INFO the last net is not rated: (the run stopped before a limit|Ctrl-C stopped the run)$",
    # After a kill.
    r" ?WARN removed an incomplete game of \d+ bytes from the end of the games$",
    # On a busy machine.
    r" ?INFO an evaluation is skipped: the two before it are not finished$",
]

# The header of a stored game: magic, length, CRC-32, id, positions.
FRAME = struct.Struct("<4sIIQI")


def half_done(folder):
    """Files and folders that are still under a temporary name or half removed: path -> inode."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            if not name.startswith(".") and not (name.startswith("step-") and half_removed(path)):
                continue
            try:
                found[os.path.relpath(path, folder)] = os.stat(path).st_ino
            except FileNotFoundError:
                # It was renamed or removed in the meantime.
                continue
    return found


def half_removed(checkpoint):
    """Whether a checkpoint lacks a file that its state.json names."""
    try:
        with open(os.path.join(checkpoint, "state.json"), encoding="utf-8") as file:
            names = json.load(file)["files"]
    except (OSError, ValueError, KeyError):
        return True
    return not set(names) <= set(os.listdir(checkpoint))


def frames(data, offset):
    """Yields (id, positions, end) of each complete game record from an offset on."""
    while True:
        head = data[offset : offset + FRAME.size]
        if len(head) < FRAME.size:
            return
        magic, length, checksum, game, positions = FRAME.unpack(head)
        end = offset + FRAME.size + length
        if magic != b"OFG1" or end > len(data) or zlib.crc32(data[offset + 12 : end]) != checksum:
            return
        yield game, positions, end
        offset = end


class Checks:
    """The checks of one run: what they have seen of it, and which of them failed."""

    def __init__(self):
        self.counts = collections.Counter()
        self.findings = []
        # All games seen: id -> number of positions.
        self.games = {}
        # Segment name -> bytes of complete records, and the CRC-32 of these bytes.
        self.segments = {}
        # Leftovers that were reported already.
        self.leftovers_known = set()
        # The newest checkpoint seen, and the counters of the last `outflank runs`.
        self.step = -1
        self.counters = {}

    def record(self, check, holds, finding=""):
        assert check in CHECKS, check
        self.counts[check] += 1
        if not holds:
            if len(finding) > MOST_SHOWN:
                finding = finding[:MOST_SHOWN] + " ..."
            self.findings.append((check, finding))
            print(f"failed ({check}): {finding}", flush=True)

    def table(self):
        failed = collections.Counter(check for check, _ in self.findings)
        rows = [("check", "times", "failed", "what must hold")]
        rows += [(check, self.counts[check], failed[check], CHECKS[check]) for check in CHECKS]
        return "\n".join(f"{a:<11}{b:>6}{c:>8}  {d}" for a, b, c, d in rows)

    def stderr(self, text, fault):
        lines = [
            line
            for line in text.splitlines()
            if not any(re.match(expected, line) for expected in EXPECTED)
        ]
        self.record("stderr", not lines, f"{fault}: {lines}")

    def leftovers(self, left, now, fault):
        """Checks that the half-done files `left` by an earlier start are not there `now`."""
        still = left.items() & now.items()
        names = sorted(name for name, _ in still - self.leftovers_known)
        self.leftovers_known |= still
        self.record("leftovers", not names, f"{fault}: {names}")

    def disk(self, run, fault, *states):
        """Checks all files of a run that has just ended in one of the given states."""
        self.engines(run, fault)
        if not (run.folder / "run.json").exists():
            # Killed before the run was created.
            self.record("state", not self.games, f"{fault}: run.json is gone")
            return
        self.stored_games(run, fault)
        saved = self.newest_checkpoint(run, fault)
        self.run_counters(run, fault, states, saved)
        for name in ("ladder.jsonl", "metrics.jsonl"):
            self.whole_lines(run.folder / name, fault)

    def stored_games(self, run, fault):
        """Checks that the games seen before are unchanged, and adds the new ones."""
        paths = sorted((run.folder / "games").glob("games-*.ofg"))
        wrong = [f"{name} is gone" for name in self.segments if run.folder / "games" / name not in paths]
        for path in paths:
            data = path.read_bytes()
            end, checksum = self.segments.get(path.name, (0, 0))
            if zlib.crc32(data[:end]) != checksum:
                wrong.append(f"the first {end} bytes of {path.name} have changed")
            for game, positions, after in frames(data, end):
                if game in self.games:
                    wrong.append(f"game {game} is stored twice")
                self.games[game] = positions
                checksum = zlib.crc32(data[end:after], checksum)
                end = after
            self.segments[path.name] = (end, checksum)
            if data.find(b"OFG1", end + 1) >= 0:
                wrong.append(f"{path.name} is damaged at byte {end}")
            elif end < len(data) and path != paths[-1]:
                wrong.append(f"{path.name} is torn at byte {end}, and not the newest")
        self.record("games", not wrong, f"{fault}: {'; '.join(wrong)}")

    def newest_checkpoint(self, run, fault):
        """Checks the newest checkpoint. Returns its counters, or None without a checkpoint."""
        found = [path for path in (run.folder / "checkpoints").glob("step-*")]
        newest = max(found, key=lambda path: int(path.name[5:]), default=None)
        step = -1 if newest is None else int(newest.name[5:])
        wrong = [f"the newest was of step {self.step} and is now of step {step}"] if step < self.step else []
        self.step = max(step, self.step)
        state = None
        if newest is not None:
            try:
                saved = json.loads((newest / "state.json").read_text())
                state = saved["state"]
                for name, stamp in saved["files"].items():
                    data = (newest / name).read_bytes()
                    if (len(data), zlib.crc32(data)) != (stamp["bytes"], stamp["crc32"]):
                        wrong.append(f"{newest.name}/{name} is damaged")
            except (OSError, ValueError, KeyError) as error:
                wrong.append(f"{newest.name} cannot be read: {error!r}")
        self.record("checkpoint", not wrong, f"{fault}: {'; '.join(wrong)}")
        return state

    def run_counters(self, run, fault, states, saved):
        """Compares `outflank runs` with the files of the run and with its earlier counters."""
        listed = subprocess.run(
            [run.program, "runs", "--json", run.folder], capture_output=True, text=True
        )
        try:
            listed = json.loads(listed.stdout)
        except ValueError:
            self.record("state", False, f"{fault}: `outflank runs` printed {listed}")
            return
        state = listed["state"]
        self.record("state", state in states, f"{fault}: {state}, not {' or '.join(states)}")
        files = {"games": len(self.games), "positions": sum(self.games.values())}
        wrong = []
        for name in ("games", "positions", "steps", "starts"):
            before, now = self.counters.get(name, 0), listed[name]
            if now < before:
                wrong.append(f"{name} fell from {before} to {now}")
            self.counters[name] = now
        for name, count in files.items():
            if listed[name] > count or saved is not None and saved[name] > count:
                wrong.append(f"{count} {name} in the files, {listed[name]} listed")
            if state != "killed" and listed[name] != count:
                wrong.append(f"{listed[name]} {name} are listed, {count} are there")
        if saved is not None and listed["steps"] > saved["steps"]:
            wrong.append(f"{listed['steps']} steps are listed, {saved['steps']} are saved")
        if state != "killed" and (saved is None or saved["steps"] != listed["steps"]):
            wrong.append(f"the last checkpoint is not of step {listed['steps']}")
        self.record("counters", not wrong, f"{fault}: {'; '.join(wrong)}")

    def whole_lines(self, path, fault):
        """Checks that each line but the last is JSON."""
        if not path.exists():
            return
        bad = []
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            # A kill may tear the last line. The next start ends the line, so an empty one follows.
            try:
                json.loads(line or b"{}")
            except ValueError:
                bad.append(number)
        bad = [number for number in bad if number < len(lines)]
        self.record("lines", not bad, f"{fault}: {path.name}: lines {bad} cannot be read")

    def engines(self, run, fault):
        """Checks that no engine still runs. Only Linux shows the environment of a process."""
        if not sys.platform.startswith("linux"):
            return
        mark = f"{ENGINE_MARK}={run.environment[ENGINE_MARK]}".encode()
        until = time.monotonic() + ENGINE_PATIENCE
        while (left := marked_processes(mark)) and time.monotonic() < until:
            time.sleep(0.01)
        self.record("engines", not left, f"{fault}: {left}")

    def read_again(self, run, fault):
        """Reads all games again: they must be the games seen before. Nothing may be half done."""
        again = Checks()
        again.stored_games(run, fault)
        same = again.games == self.games and not again.findings
        self.record("games", same, f"{fault}: the games differ from those seen before")
        left = half_done(run.folder)
        self.leftovers(left, left, fault)


def marked_processes(mark):
    """The commands of all processes that have the mark in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, UnicodeDecodeError):
            # The process has just ended, or belongs to another user.
            continue
    return found
