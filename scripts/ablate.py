#!/usr/bin/env python3
"""The work behind scripts/ablate.sh: training runs and matches over shares of the cores.

A task is done when its files say so, so that a second call goes on wherever the first ended. Runs
are `outflank train` with the row's keys, matches `outflank arena` with a ladder of their own.
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import ablate_report as report
from ablate_queue import Queue

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ROWS = HERE / "ablations.txt"
BASELINE = "baseline"
DEFAULTS = {
    "minutes": "60", "seeds": "1", "rows": None, "games": "200", "simulations": "100",
    "base": str(ROOT / "configs" / "cpu.toml"), "jobs": None, "out": "runs/ablate",
}
# Random plies that each pair of games starts with.
OPENINGS = {"8x8": 8, "6x6": 4}


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def read_rows():
    """The rows by name: what each asks, and its changes."""
    rows = {}
    for number, line in enumerate(ROWS.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or parts[0] in rows or parts[0].startswith(BASELINE):
            fail(f"{ROWS}, line {number}: not `name | question | changes` with a name of its own")
        rows[parts[0]] = (parts[1], shlex.split(parts[2]))
    return rows


def whole(name, text, low, high):
    if not text.isdecimal() or not low <= int(text) <= high:
        fail(f"--{name} `{text}`: allowed is a whole number, {low} to {high}")
    return int(text)


def parse(arguments):
    """The options as a dictionary of checked values."""
    given, changes, paired, arguments = dict(DEFAULTS), [], False, list(arguments)
    rows = read_rows()
    while arguments:
        argument = arguments.pop(0)
        if argument == "--list":
            for name, (question, keys) in rows.items():
                print(f"{name:<15} {question:<58} {' '.join(keys)}")
            sys.exit(0)
        if argument == "--paired":
            paired = True
            continue
        name, equals, value = argument.partition("=")
        name = name.removeprefix("--") if argument.startswith("--") else ""
        if name not in given and name != "set":
            fail(f"unknown argument `{argument}`; see scripts/ablate.sh --help")
        if not equals:
            if not arguments:
                fail(f"--{name} needs a value")
            value = arguments.pop(0)
        if name == "set":
            changes.append(value)
        else:
            given[name] = value

    try:
        minutes = float(given["minutes"])
    except ValueError:
        minutes = 0.0
    if not 0.0 < minutes <= 1e6:
        fail(f"--minutes `{given['minutes']}`: allowed is a number above 0, to 1000000")
    names = list(rows) if given["rows"] is None else given["rows"].split(",")
    for name in names:
        if name not in rows:
            fail(f"unknown row `{name}`; rows: {', '.join(rows)}")
    seeds = [whole("seeds", seed, 0, 10**9) for seed in given["seeds"].split(",")]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    most = len(cores) or os.cpu_count() or 1
    if paired and given["jobs"] is not None:
        fail("--paired: there are two runs at a time, so --jobs is not allowed")
    if paired and most < 2:
        fail("--paired: two cores are needed, and there is one")
    jobs = 2 if paired else whole("jobs", "1" if given["jobs"] is None else given["jobs"], 1, most)
    if not pathlib.Path(given["base"]).is_file():
        fail(f"there is no config `{given['base']}`; see {ROOT / 'configs'}")
    out = pathlib.Path(given["out"]).resolve()
    if any(letter in str(out) for letter in '",#'):
        fail(f"--out `{out}`: a path without commas, quotes and # is needed")
    return {
        "minutes": minutes,
        "seeds": list(dict.fromkeys(seeds)),
        "rows": {name: rows[name] for name in dict.fromkeys(names)},
        "games": whole("games", given["games"], 2, 1_000_000),
        "simulations": whole("simulations", given["simulations"], 1, 100_000_000),
        "base": pathlib.Path(given["base"]).resolve(),
        "set": changes,
        "jobs": jobs,
        "paired": paired,
        "shares": [cores[job * (len(cores) // jobs):][: len(cores) // jobs] for job in range(jobs)],
        "out": out,
    }


def find_program():
    program = pathlib.Path(os.environ.get("OUTFLANK") or ROOT / "target" / "release" / "outflank")
    if not os.access(program, os.X_OK) or program.is_dir():
        fail(
            f"there is no program {program}; fix: scripts/setup.sh && cargo build --release --locked,"
            " or OUTFLANK=PATH"
        )
    return program.resolve()


def write(path, text):
    """Writes a file so that it is there whole or not at all."""
    aside = path.with_name(path.name + ".part")
    aside.write_text(text)
    aside.replace(path)


def read_json(path):
    """What a file of JSON holds; nothing if it is not there or cut off."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


class Ablation:
    """One call: the options, the program and the folder."""

    def __init__(self, options):
        self.options, self.out, self.program = options, options["out"], find_program()
        self.board, self.goal = self.check_configs()
        for folder in ["runs", "matches", "logs"]:
            (self.out / folder).mkdir(parents=True, exist_ok=True)
        self.check_plan()

    def settings(self, row, seed):
        """The keys of a run; the last of several that are the same counts."""
        options = self.options
        minutes = options["minutes"]
        common = [
            f"seed={seed}",
            f"limits.minutes={minutes}",
            "limits.games=0",
            "limits.positions=0",
            "limits.steps=0",
            # Matches against fixed opponents would take time from the training.
            "evaluation.every_minutes=0",
            f"checkpoint.every_minutes={min(5.0, max(0.01, minutes / 10)):.4f}",
        ]
        return common + options["set"] + (options["rows"][row][1] if row in options["rows"] else [])

    def train_arguments(self, row, seed):
        changes = [part for key in self.settings(row, seed) for part in ("--set", key)]
        return [str(self.options["base"]), *changes]

    def check_configs(self):
        """Lets the program check each row's config before anything starts."""
        board, goal = "8x8", "most"
        for row in [BASELINE, *self.options["rows"]]:
            command = [self.program, "config", *self.train_arguments(row, self.options["seeds"][0])]
            found = subprocess.run(command, capture_output=True, text=True)
            if found.returncode != 0:
                fail(f"row {row}: {found.stderr.strip()}")
            for line in found.stdout.splitlines() if row == BASELINE else []:
                key, _, value = line.partition(" = ")
                board = value.strip('"') if key == "board" else board
                goal = value.strip('"') if key == "goal" else goal
        return board, goal

    def check_plan(self):
        """Keeps runs of other conditions out of the same folder."""
        path, options = self.out / "plan.json", self.options
        mine = {
            "minutes": options["minutes"],
            "paired": options["paired"],
            "jobs": options["jobs"],
            "base": options["base"].read_text(),
            "set": options["set"],
        }
        found = read_json(path)
        if found is None:
            found = {"version": 1, **mine, "rows": {}}
        found.setdefault("paired", False)
        for key, value in mine.items():
            if found.get(key) != value:
                told = {
                    "base": "--base another text",
                    "paired": f"{'' if found['paired'] else 'no '}--paired",
                }.get(key, f"--{key} {found.get(key)}, not {value}")
                fail(f"{self.out} holds runs with {told}; fix: the same again, or --out")
        for name, (_, keys) in options["rows"].items():
            if found["rows"].setdefault(name, keys) != keys:
                fail(f"{self.out} holds row {name} with {' '.join(found['rows'][name])}; fix: --out")
        write(path, json.dumps(found, indent=1) + "\n")

    def run_dir(self, row, seed):
        return self.out / "runs" / f"{row}-s{seed}"

    def match_path(self, row, seed):
        return self.out / "matches" / f"{row}-s{seed}.json"

    def baseline(self, row):
        """The name of the runs that a row's are compared with."""
        return f"{BASELINE}-{row}" if self.options["paired"] else BASELINE

    def pairs(self):
        """For each row and seed in its turn the arm, a baseline of its own, and their match."""
        pairs = [(row, seed) for row in self.options["rows"] for seed in self.options["seeds"]]
        for turn, (row, seed) in enumerate(pairs):
            yield Train(self, row, seed, turn)
            yield Train(self, self.baseline(row), seed, turn)
            yield Match(self, row, seed, turn)

    def tasks(self):
        """All tasks in order: the baselines, then each row's arms and matches; or the pairs."""
        seeds = self.options["seeds"]
        if self.options["paired"]:
            return list(self.pairs())
        tasks = [Train(self, BASELINE, seed) for seed in seeds]
        for row in self.options["rows"]:
            tasks += [Train(self, row, seed) for seed in seeds]
            tasks += [Match(self, row, seed) for seed in seeds]
        return tasks

    def summary(self, row, seed):
        return (read_json(self.run_dir(row, seed) / "run.json") or {}).get("summary", {})

    def seeds_played(self, row):
        """The seeds of a row that have a match."""
        names = [path.stem for path in (self.out / "matches").glob(f"{row}-s*.json")]
        seeds = [name.removeprefix(f"{row}-s") for name in names]
        return sorted(int(seed) for seed in seeds if seed.isdecimal())

    def write_report(self):
        """Tables and the picture of the matches that there are, those of earlier calls as well.
        Returns the table."""
        results, known = [], read_rows()
        for row, keys in read_json(self.out / "plan.json")["rows"].items():
            for seed in self.seeds_played(row):
                if Match(self, row, seed).done():
                    found = dict(read_json(self.match_path(row, seed)))
                    question = known[row][0] if row in known else row
                    found.update(row=row, seed=seed, question=question, changes=keys)
                    found["arm"] = self.summary(row, seed)
                    found["baseline"] = self.summary(self.baseline(row), seed)
                    results.append(found)
        means = report.means(results)
        lines = [json.dumps(line) for line in [*results, *means]]
        write(self.out / "results.jsonl", "".join(line + "\n" for line in lines))
        table = report.table(results, means, self.options)
        write(self.out / "results.md", table)
        write(self.out / "results.svg", report.picture(results, means, self.options))
        return table


class Train:
    """A training run."""

    everywhere = False

    def __init__(self, ablation, row, seed, turn=0):
        self.ablation, self.row, self.seed, self.turn = ablation, row, seed, turn
        self.dir = ablation.run_dir(row, seed)
        self.name = f"train {row} seed {seed}"
        self.log = ablation.out / "logs" / f"{row}-s{seed}.train.log"

    def ready(self):
        return True

    def done(self):
        return (read_json(self.dir / "run.json") or {}).get("state") == "finished"

    def command(self, _cores):
        train = [self.ablation.program, "train"]
        arguments = self.ablation.train_arguments(self.row, self.seed)
        resume = ["--resume"] if (self.dir / "run.json").is_file() else []
        return [*train, *arguments, "--run-dir", self.dir, *resume, "--quiet"]

    def conclude(self, _stdout):
        return self.done()


class Match:
    """The match of an arm against the baseline of its seed."""

    def __init__(self, ablation, row, seed, turn=0):
        self.ablation, self.row, self.seed, self.turn = ablation, row, seed, turn
        # A pair's match has nothing beside it.
        self.everywhere = ablation.options["paired"]
        self.name = f"match {row} seed {seed}"
        self.path = ablation.match_path(row, seed)
        self.ladder = self.path.with_suffix(".ladder.jsonl")
        self.log = ablation.out / "logs" / f"{row}-s{seed}.match.log"
        self.asked = {key: ablation.options[key] for key in ["games", "simulations"]}

    def ready(self):
        arms = [self.ablation.baseline(self.row), self.row]
        return all(Train(self.ablation, arm, self.seed).done() for arm in arms)

    def done(self):
        found = read_json(self.path)
        return found is not None and found.get("asked") == self.asked

    def command(self, cores):
        ablation = self.ablation
        nets = [ablation.run_dir(arm, self.seed) for arm in [self.row, ablation.baseline(self.row)]]
        players = [f"net:{net},simulations={self.asked['simulations']}" for net in nets]
        plies = OPENINGS.get(ablation.board, 8)
        # Without a match to go on with, --resume begins one.
        again = ["--resume"] if self.ladder.is_file() else ["--seed", str(self.seed)]
        return [
            ablation.program, "arena", *players, "--games", str(self.asked["games"]), "--json",
            "--openings", f"random:{plies}", "--shape", ablation.board, "--goal", ablation.goal,
            "--ladder", self.ladder, "--threads", str(max(1, len(cores))), *again,
        ]

    def conclude(self, stdout):
        objects = [json.loads(line) for line in stdout.splitlines()]
        played = [found for found in objects if found.get("kind") == "match"]
        if len(played) != 1 or played[0]["stopped"]:
            return False
        write(self.path, json.dumps({**played[0], "asked": self.asked}) + "\n")
        print(self.ablation.write_report(), file=sys.stderr)
        return True


def main():
    options = parse(sys.argv[1:])
    ablation = Ablation(options)
    tasks = ablation.tasks()
    queue = Queue(tasks, options["shares"])
    queue.work()
    table = ablation.write_report()
    if queue.interrupts:
        print("interrupted; the same command goes on", file=sys.stderr)
        sys.exit(130)
    print(table, end="")
    sys.exit(1 if queue.failed or queue.waiting else 0)


if __name__ == "__main__":
    # A reader that has gone, as in `| head`, ends the program without a word.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main()
    except KeyboardInterrupt:
        # Nothing has been started yet: later the queue hears of it.
        sys.exit(130)
