"""What `faults.py` checks after each fault, by the formats that docs/files.md describes."""

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

# In the environment of the program and so of the engines that it starts.
ENGINE_MARK = "OUTFLANK_FAULTS"
# Seconds that an engine may take to see that the other end of its pipes is gone.
ENGINE_PATIENCE = 10
# Characters of a finding: a panic's backtrace is long.
MOST_SHOWN = 1000

CHECKS = {
    "start": "each start goes on with the run and plays",
    "exit code": "SIGKILL; 130, or 0 in order, after interrupts; 0 at the end",
    "stderr": "no line that is not documented, so no panic",
    "games": "no game is lost, changed or doubled; at most one is torn",
    "checkpoint": "the newest is whole and no older than before",
    "counters": "none falls, or counts a game that is not there",
    "state": "`outflank runs` lists the run with its state",
    "lines": "each line of the ladder and of the curves is whole",
    "strays": "what a start leaves half done is gone in the next",
    "engines": "no engine outlives its run",
}

# What an undisturbed run may say on standard error with --quiet.
DOCUMENTED = [
    r"run directory: ",
    r"curves: tensorboard ",
    r"stopping; once more ends at once$",
    r"(limits\.\w+ = [\d.]+ is reached; )?play and evaluate with: ",
    r"go on with( a higher limit)?: ",
    # Of its ratings.
    r" ?INFO the last net is being rated; Ctrl-C ends that$",
    r" ?INFO the last net is not rated; `train --resume` goes on with that$",
    r" ?INFO the last net is not rated: (the run stops before a limit|Ctrl-C came first)$",
    # After a kill.
    r" ?WARN the \d+ bytes of a game that was not written whole are cut off$",
    # On a busy machine.
    r" ?INFO an evaluation is skipped: two before it are not done yet$",
]

FRAME = struct.Struct("<4sIIQI")


def half_done(folder):
    """Files and folders that are not in place yet or half removed, each with its inode."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            if not name.startswith(".") and not (name.startswith("step-") and half_removed(path)):
                continue
            try:
                found[os.path.relpath(path, folder)] = os.stat(path).st_ino
            except FileNotFoundError:
                # It was put in place or removed meanwhile.
                continue
    return found


def half_removed(checkpoint):
    try:
        with open(os.path.join(checkpoint, "state.json"), encoding="utf-8") as file:
            wanted = json.load(file)["files"]
    except (OSError, ValueError, KeyError):
        return True
    return not set(wanted) <= set(os.listdir(checkpoint))


def frames(data, offset):
    """The whole frames from an offset on, as (id, positions, end)."""
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
    """What was seen of a run so far, and what was wrong with it."""

    def __init__(self):
        self.made = collections.Counter()
        self.findings = []
        # Ids of all games seen, with their positions.
        self.games = {}
        # Of each segment, how many bytes are whole frames, and their checksum.
        self.segments = {}
        # What a start should have cleared away and has not, so that it is found once.
        self.strays_known = set()
        self.step = -1
        self.counters = {}

    def note(self, check, holds, finding=""):
        assert check in CHECKS, check
        self.made[check] += 1
        if not holds:
            if len(finding) > MOST_SHOWN:
                finding = finding[:MOST_SHOWN] + " ..."
            self.findings.append((check, finding))
            print(f"found ({check}): {finding}", flush=True)

    def table(self):
        failed = collections.Counter(check for check, _ in self.findings)
        rows = [("check", "made", "failed", "what must hold")]
        rows += [(check, self.made[check], failed[check], CHECKS[check]) for check in CHECKS]
        return "\n".join(f"{a:<11}{b:>6}{c:>8}  {d}" for a, b, c, d in rows)

    def stderr(self, said, what):
        lines = [
            line
            for line in said.splitlines()
            if not any(re.match(known, line) for known in DOCUMENTED)
        ]
        self.note("stderr", not lines, f"{what}: {lines}")

    def strays(self, left, now, what):
        """Nothing of what an earlier start has left half done is there any more."""
        still = left.items() & now.items()
        names = sorted(name for name, _ in still - self.strays_known)
        self.strays_known |= still
        self.note("strays", not names, f"{what}: {names}")

    def disk(self, run, what, state):
        """All that a run that has just ended must have left."""
        self.engines(run, what)
        if not (run.folder / "run.json").exists():
            # Killed before there was a run.
            self.note("state", not self.games, f"{what}: run.json is gone")
            return
        self.stored_games(run, what)
        saved = self.newest_checkpoint(run, what)
        self.run_counters(run, what, state, saved)
        for name in ("ladder.jsonl", "metrics.jsonl"):
            self.whole_lines(run.folder / name, what)

    def stored_games(self, run, what):
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
        self.note("games", not wrong, f"{what}: {'; '.join(wrong)}")

    def newest_checkpoint(self, run, what):
        """The counters of the newest checkpoint; None without one."""
        found = [path for path in (run.folder / "checkpoints").glob("step-*")]
        newest = max(found, key=lambda path: int(path.name[5:]), default=None)
        step = -1 if newest is None else int(newest.name[5:])
        wrong = [f"the newest was of step {self.step}, is of {step}"] if step < self.step else []
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
        self.note("checkpoint", not wrong, f"{what}: {'; '.join(wrong)}")
        return state

    def run_counters(self, run, what, state, saved):
        """What `outflank runs` says of the run against its files and what it said before."""
        listed = subprocess.run(
            [run.program, "runs", "--json", run.folder], capture_output=True, text=True
        )
        try:
            listed = json.loads(listed.stdout)
        except ValueError:
            self.note("state", False, f"{what}: `outflank runs` says {listed}")
            return
        self.note("state", listed["state"] == state, f"{what}: {listed['state']}, not {state}")
        files = {"games": len(self.games), "positions": sum(self.games.values())}
        wrong = []
        for name in ("games", "positions", "steps", "starts"):
            before, now = self.counters.get(name, 0), listed[name]
            if now < before:
                wrong.append(f"{name} were {before}, are {now}")
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
        self.note("counters", not wrong, f"{what}: {'; '.join(wrong)}")

    def whole_lines(self, path, what):
        if not path.exists():
            return
        bad = []
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            # The last one may be torn by a kill. The next start ends it, so an empty line follows.
            try:
                json.loads(line or b"{}")
            except ValueError:
                bad.append(number)
        bad = [number for number in bad if number < len(lines)]
        self.note("lines", not bad, f"{what}: {path.name}: lines {bad} cannot be read")

    def engines(self, run, what):
        """Linux alone tells what a process has in its environment."""
        if not sys.platform.startswith("linux"):
            return
        mark = f"{ENGINE_MARK}={run.environment[ENGINE_MARK]}".encode()
        until = time.monotonic() + ENGINE_PATIENCE
        while (left := marked_processes(mark)) and time.monotonic() < until:
            time.sleep(0.01)
        self.note("engines", not left, f"{what}: {left}")

    def everything_again(self, run, what):
        """The files are read afresh, and nothing half done is there."""
        afresh = Checks()
        afresh.stored_games(run, what)
        same = afresh.games == self.games and not afresh.findings
        self.note("games", same, f"{what}: other games than were seen as they came")
        left = half_done(run.folder)
        self.strays(left, left, what)


def marked_processes(mark):
    """The commands of all processes that have the mark in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, UnicodeDecodeError):
            # It has just ended, or is another user's.
            continue
    return found
