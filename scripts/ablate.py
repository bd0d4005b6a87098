#!/usr/bin/env python3
"""The program behind scripts/ablate.sh: runs and matches, each on a share of the cores.

The files of a task show whether it is done, so a second call continues where the first one ended.
Runs are `outflank train` with the row's keys. Matches are `outflank arena`.
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
# Random plies at the start of each pair of games.
OPENINGS = {"8x8": 8, "6x6": 4}


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def read_rows():
    """The rows: name -> (question, changed keys)."""
    rows = {}
    for number, line in enumerate(ROWS.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or parts[0] in rows or parts[0].startswith(BASELINE):
            fail(f"{ROWS}, line {number}: not `name | question | changed keys` with a new, allowed name")
        rows[parts[0]] = (parts[1], shlex.split(parts[2]))
    return rows


def whole_number(name, text, low, high):
    if not text.isdecimal() or not low <= int(text) <= high:
        fail(f"--{name} `{text}`: allowed: a whole number, {low} to {high}")
    return int(text)


def parse(arguments):
    """Returns the options as a dictionary of checked values."""
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
        fail(f"--minutes `{given['minutes']}`: allowed: a number above 0, to 1000000")
    names = list(rows) if given["rows"] is None else given["rows"].split(",")
    for name in names:
        if name not in rows:
            fail(f"unknown row `{name}`; rows: {', '.join(rows)}")
    seeds = [whole_number("seeds", seed, 0, 10**9) for seed in given["seeds"].split(",")]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    core_count = len(cores) or os.cpu_count() or 1
    if paired and given["jobs"] is not None:
        fail("--paired trains two runs at a time, so --jobs is not allowed")
    if paired and core_count < 2:
        fail("--paired needs two cores; this machine has one")
    jobs_text = "1" if given["jobs"] is None else given["jobs"]
    jobs = 2 if paired else whole_number("jobs", jobs_text, 1, core_count)
    if not pathlib.Path(given["base"]).is_file():
        fail(f"there is no config `{given['base']}`; configs are in {ROOT / 'configs'}")
    out = pathlib.Path(given["out"]).resolve()
    if any(letter in str(out) for letter in '",#'):
        fail(f"--out `{out}`: use a path without commas, double quotes and #")
    return {
        "minutes": minutes,
        "seeds": list(dict.fromkeys(seeds)),
        "rows": {name: rows[name] for name in dict.fromkeys(names)},
        "games": whole_number("games", given["games"], 2, 1_000_000),
        "simulations": whole_number("simulations", given["simulations"], 1, 100_000_000),
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
            " or set OUTFLANK to its path"
        )
    return program.resolve()


def write(path, text):
    """Writes a file whole or not at all: under another name first, then renamed."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def read_json(path):
    """Reads a JSON file; None if it does not exist or is not valid."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


class Ablation:
    """One call of the script: its options, the program and the output folder."""

    def __init__(self, options):
        self.options, self.out, self.program = options, options["out"], find_program()
        self.board, self.goal = self.check_configs()
        for folder in ["runs", "matches", "logs"]:
            (self.out / folder).mkdir(parents=True, exist_ok=True)
        self.check_plan()

    def changed_keys(self, row, seed):
        """The changed keys of a run as `key=value`. Of equal keys the last one counts."""
        options = self.options
        minutes = options["minutes"]
        common = [
            f"seed={seed}",
            f"limits.minutes={minutes}",
            "limits.games=0",
            "limits.positions=0",
            "limits.steps=0",
            # Evaluation matches would take time from the training.
            "evaluation.every_minutes=0",
            f"checkpoint.every_minutes={min(5.0, max(0.01, minutes / 10)):.4f}",
        ]
        return common + options["set"] + (options["rows"][row][1] if row in options["rows"] else [])

    def train_arguments(self, row, seed):
        changes = [part for key in self.changed_keys(row, seed) for part in ("--set", key)]
        return [str(self.options["base"]), *changes]

    def check_configs(self):
        """Checks the config of each row before any run starts. Returns board and goal."""
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
        """Fails if the output folder holds runs with other options. Writes plan.json."""
        path, options = self.out / "plan.json", self.options
        current = {
            "minutes": options["minutes"],
            "paired": options["paired"],
            "jobs": options["jobs"],
            "base": options["base"].read_text(),
            "set": options["set"],
        }
        found = read_json(path)
        if found is None:
            found = {"version": 1, **current, "rows": {}}
        found.setdefault("paired", False)
        for key, value in current.items():
            if found.get(key) != value:
                difference = {
                    "base": "with another text of the --base config",
                    "paired": "with --paired" if found["paired"] else "without --paired",
                }.get(key, f"with --{key} {found.get(key)}, not {value}")
                fix = "fix: use the same options, or another --out"
                fail(f"{self.out} holds runs {difference}; {fix}")
        for name, (_, keys) in options["rows"].items():
            if found["rows"].setdefault(name, keys) != keys:
                other = " ".join(found["rows"][name])
                fail(f"{self.out} holds row {name} with the keys {other}; fix: use another --out")
        write(path, json.dumps(found, indent=1) + "\n")

    def run_dir(self, row, seed):
        return self.out / "runs" / f"{row}-s{seed}"

    def match_path(self, row, seed):
        return self.out / "matches" / f"{row}-s{seed}.json"

    def baseline(self, row):
        """The name of the baseline that a row is compared with."""
        return f"{BASELINE}-{row}" if self.options["paired"] else BASELINE

    def pairs(self):
        """Yields the row's run, its baseline's run and their match, for each row and seed."""
        pairs = [(row, seed) for row in self.options["rows"] for seed in self.options["seeds"]]
        for turn, (row, seed) in enumerate(pairs):
            yield Train(self, row, seed, turn)
            yield Train(self, self.baseline(row), seed, turn)
            yield Match(self, row, seed, turn)

    def tasks(self):
        """All tasks in order: the pairs, or the baselines and then each row's runs and matches."""
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
        """The seeds of a row for which a match was played."""
        names = [path.stem for path in (self.out / "matches").glob(f"{row}-s*.json")]
        seeds = [name.removeprefix(f"{row}-s") for name in names]
        return sorted(int(seed) for seed in seeds if seed.isdecimal())

    def write_report(self):
        """Writes tables and picture of all matches, also of earlier calls. Returns the table."""
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

    all_cores = False

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
    """The match between the run of a row and its baseline, both with the same seed."""

    def __init__(self, ablation, row, seed, turn=0):
        self.ablation, self.row, self.seed, self.turn = ablation, row, seed, turn
        # No other task runs at the same time as the match of a pair.
        self.all_cores = ablation.options["paired"]
        self.name = f"match {row} seed {seed}"
        self.path = ablation.match_path(row, seed)
        self.ladder = self.path.with_suffix(".ladder.jsonl")
        self.log = ablation.out / "logs" / f"{row}-s{seed}.match.log"
        self.settings = {key: ablation.options[key] for key in ["games", "simulations"]}

    def ready(self):
        rows = [self.ablation.baseline(self.row), self.row]
        return all(Train(self.ablation, row, self.seed).done() for row in rows)

    def done(self):
        found = read_json(self.path)
        return found is not None and found.get("asked") == self.settings

    def command(self, cores):
        ablation = self.ablation
        nets = [ablation.run_dir(row, self.seed) for row in [self.row, ablation.baseline(self.row)]]
        players = [f"net:{net},simulations={self.settings['simulations']}" for net in nets]
        plies = OPENINGS.get(ablation.board, 8)
        # If the ladder holds no match to resume, --resume begins a new one.
        resume = ["--resume"] if self.ladder.is_file() else ["--seed", str(self.seed)]
        return [
            ablation.program, "arena", *players, "--games", str(self.settings["games"]), "--json",
            "--openings", f"random:{plies}", "--shape", ablation.board, "--goal", ablation.goal,
            "--ladder", self.ladder, "--threads", str(max(1, len(cores))), *resume,
        ]

    def conclude(self, stdout):
        objects = [json.loads(line) for line in stdout.splitlines()]
        played = [found for found in objects if found.get("kind") == "match"]
        if len(played) != 1 or played[0]["stopped"]:
            return False
        write(self.path, json.dumps({**played[0], "asked": self.settings}) + "\n")
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
        print("interrupted; the same command continues", file=sys.stderr)
        sys.exit(130)
    print(table, end="")
    sys.exit(1 if queue.failed or queue.waiting else 0)


if __name__ == "__main__":
    # If the reader of a pipe ends, as in `| head`, the program ends without an error message.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main()
    except KeyboardInterrupt:
        # No task has been started yet: after that, the queue handles the signal.
        sys.exit(130)
