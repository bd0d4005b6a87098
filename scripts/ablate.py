#!/usr/bin/env python3
"""The work behind scripts/ablate.sh: a queue of training runs and matches over shares of the cores.

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
import time

import ablate_report as report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ROWS = HERE / "ablations.txt"
BASELINE = "baseline"
DEFAULTS = {
    "minutes": "60", "seeds": "1", "rows": None, "games": "200", "simulations": "100",
    "base": str(ROOT / "configs" / "cpu.toml"), "jobs": "1", "out": "runs/ablate",
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
        if len(parts) != 3 or parts[0] in rows or parts[0] == BASELINE:
            fail(f"{ROWS}, line {number}: not `name | question | changes` with a name of its own")
        rows[parts[0]] = (parts[1], shlex.split(parts[2]))
    return rows


def whole(name, text, low, high):
    if not text.isdecimal() or not low <= int(text) <= high:
        fail(f"--{name} `{text}`: allowed is a whole number, {low} to {high}")
    return int(text)


def parse(arguments):
    """The options as a dictionary of checked values."""
    given, changes, arguments = dict(DEFAULTS), [], list(arguments)
    rows = read_rows()
    while arguments:
        argument = arguments.pop(0)
        if argument == "--list":
            for name, (question, keys) in rows.items():
                print(f"{name:<15} {question:<58} {' '.join(keys)}")
            sys.exit(0)
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
    jobs = whole("jobs", given["jobs"], 1, len(cores) or os.cpu_count() or 1)
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
        return common + options["set"] + ([] if row == BASELINE else options["rows"][row][1])

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
            "jobs": options["jobs"],
            "base": options["base"].read_text(),
            "set": options["set"],
        }
        found = read_json(path)
        if found is None:
            found = {"version": 1, **mine, "rows": {}}
        for key, value in mine.items():
            if found.get(key) != value:
                told = "another text" if key == "base" else f"{found.get(key)}, not {value}"
                fail(f"{self.out} holds runs with --{key} {told}; fix: the same again, or --out")
        for name, (_, keys) in options["rows"].items():
            if found["rows"].setdefault(name, keys) != keys:
                fail(f"{self.out} holds row {name} with {' '.join(found['rows'][name])}; fix: --out")
        write(path, json.dumps(found, indent=1) + "\n")

    def run_dir(self, row, seed):
        return self.out / "runs" / f"{row}-s{seed}"

    def match_path(self, row, seed):
        return self.out / "matches" / f"{row}-s{seed}.json"

    def tasks(self):
        """All tasks in order: the baselines, then each row's arms and matches."""
        seeds = self.options["seeds"]
        tasks = [Train(self, BASELINE, seed) for seed in seeds]
        for row in self.options["rows"]:
            tasks += [Train(self, row, seed) for seed in seeds]
            tasks += [Match(self, row, seed) for seed in seeds]
        return tasks

    def summary(self, row, seed):
        return (read_json(self.run_dir(row, seed) / "run.json") or {}).get("summary", {})

    def write_report(self):
        """Tables and the picture of the matches that there are. Returns the table."""
        results = []
        for row, (question, keys) in self.options["rows"].items():
            for seed in self.options["seeds"]:
                match = Match(self, row, seed)
                if match.done():
                    found = dict(read_json(self.match_path(row, seed)))
                    found.update(row=row, seed=seed, question=question, changes=keys)
                    found["arm"] = self.summary(row, seed)
                    found["baseline"] = self.summary(BASELINE, seed)
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

    def __init__(self, ablation, row, seed):
        self.ablation, self.row, self.seed = ablation, row, seed
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

    def __init__(self, ablation, row, seed):
        self.ablation, self.row, self.seed = ablation, row, seed
        self.name = f"match {row} seed {seed}"
        self.path = ablation.match_path(row, seed)
        self.ladder = self.path.with_suffix(".ladder.jsonl")
        self.log = ablation.out / "logs" / f"{row}-s{seed}.match.log"
        self.asked = {key: ablation.options[key] for key in ["games", "simulations"]}

    def ready(self):
        arms = [BASELINE, self.row]
        return all(Train(self.ablation, arm, self.seed).done() for arm in arms)

    def done(self):
        found = read_json(self.path)
        return found is not None and found.get("asked") == self.asked

    def command(self, cores):
        ablation = self.ablation
        nets = [ablation.run_dir(arm, self.seed) for arm in [self.row, BASELINE]]
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


class Queue:
    """Gives tasks to shares of the cores until all are done, or somebody interrupts."""

    def __init__(self, tasks, shares):
        self.waiting = [task for task in tasks if not task.done()]
        self.free, self.running = list(shares), []
        self.failed, self.interrupts = [], 0
        for number in [signal.SIGINT, signal.SIGTERM]:
            signal.signal(number, self.interrupt)

    def interrupt(self, _number, _frame):
        # Each child has a session of its own, so it hears of a Ctrl-C from here alone: the first
        # ends it in order, the second at once.
        self.interrupts += 1
        for _, child, _, _ in self.running:
            child.send_signal(signal.SIGINT)

    def start(self, task, cores):
        def own_cores():
            if cores:
                os.sched_setaffinity(0, cores)

        print(f"{task.name}: starts{f' on cores {cores}' if cores else ''}", file=sys.stderr)
        output = task.log.with_suffix(".out")
        with open(task.log, "a") as log, open(output, "w") as out:
            child = subprocess.Popen(
                task.command(cores), stdout=out, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True, preexec_fn=own_cores,
            )
        self.running.append((task, child, cores, output))
        if self.interrupts:
            child.send_signal(signal.SIGINT)

    def finish(self, entry):
        task, child, cores, output = entry
        self.running.remove(entry)
        self.free.append(cores)
        if child.returncode == 0 and task.conclude(output.read_text()):
            print(f"{task.name}: done", file=sys.stderr)
        elif not self.interrupts:
            last = task.log.read_text(errors="replace").strip().splitlines()[-1:]
            told = "stopped from outside" if child.returncode == 0 else "failed"
            print(f"{task.name}: {told}: {' '.join(last)} (see {task.log})", file=sys.stderr)
            self.failed.append(task)

    def work(self):
        while self.running or (self.waiting and not self.interrupts):
            for entry in [entry for entry in self.running if entry[1].poll() is not None]:
                self.finish(entry)
            ready = [task for task in self.waiting if task.ready()]
            while ready and self.free and not self.interrupts:
                task = ready.pop(0)
                self.waiting.remove(task)
                self.start(task, self.free.pop(0))
            if self.waiting and not self.running and not ready and not self.interrupts:
                # What is left waits for runs that failed.
                break
            time.sleep(0.1)


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
