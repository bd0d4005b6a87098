"""Plays the matches of scripts/ladder.sh, and prints the tables."""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
OUTFLANK = Path(os.environ["OUTFLANK"]).resolve()
POSITIONAL = "positional"


def alphabeta(evaluator):
    """Alpha-beta with an evaluator, as a specification without its time."""
    return f"alphabeta:movetime={{time}},threads=1,eval={evaluator}"


def searched(model):
    """Tree search with a net or an evaluator."""
    return f"net:checkpoints/{model},movetime={{time}},threads=1"


def evaluator(model):
    return alphabeta(f"checkpoints/{model}")


# The systems of each board, by the names that the tables have.
BOARDS = {
    "8x8": {
        "net over patterns": evaluator("patternnet-8x8"),
        "patterns": evaluator("patterns-8x8"),
        "net": searched("8x8"),
        "net of an hour": searched("8x8-hour"),
        "small net": searched("8x8-small"),
        "one-hot net, 512 inputs": evaluator("onehot512-8x8"),
        "one-hot net, 384 inputs": evaluator("onehot384-8x8"),
        "n-tuples": evaluator("ntuple-8x8"),
        "stage model": evaluator("stages-8x8"),
        POSITIONAL: alphabeta("positional"),
        "800 random games a move": "rollouts:simulations=800",
        "greedy": "greedy",
    },
    "octagon88": {
        "net": searched("octagon88"),
        "stage model": evaluator("stages-octagon88"),
        POSITIONAL: alphabeta("positional"),
        "greedy": "greedy",
    },
    "cross92": {
        "net": searched("cross92"),
        "Perversi": evaluator("perversi"),
        POSITIONAL: alphabeta("positional"),
        "greedy": "greedy",
    },
}
for board in ("6x6", "7x7", "8x8-fewest"):
    BOARDS[board] = {
        "patterns": evaluator(f"patterns-{board}"),
        "net": searched(board),
        POSITIONAL: alphabeta("positional"),
        "greedy": "greedy",
    }


def run(*arguments):
    """Runs the program in the checkout, so that no ladder has a path of this machine. Returns its
    standard output."""
    command = [OUTFLANK, *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE)
    if result.returncode != 0:
        sys.exit(result.returncode)
    return result.stdout


def rate(board, time, games, folder):
    """Plays all pairs at a time a move. Returns rating and half of its interval by system."""
    ladder = folder / f"{board}-{time}.jsonl"
    shape, _, goal = board.partition("-")
    of_board = ["--shape", shape, "--goal", goal or "most", "--ladder", ladder]
    players = [f'{spec.format(time=time)}{"," if ":" in spec else ":"}name="{name}"'
               for name, spec in BOARDS[board].items()]
    again = ["--resume"] if ladder.exists() else ["--seed", 1]
    run("arena", *players, "--games", games, "--openings", "random:8", "--threads", 2, *of_board, *again)
    picture = folder / f"{board}-{time}.svg"
    lines = run("arena", *of_board, "--anchor", POSITIONAL, "--json", "--svg", picture).splitlines()
    ratings = [line for line in map(json.loads, lines) if line["kind"] == "rating"]
    return {line["label"]: (line["rating"], 1.96 * line["error"]) for line in ratings}


def table(board, times, found):
    """The table of a board as lines of Markdown."""
    yield f"| {board} | " + " | ".join(f"{time} a move" for time in times) + " |"
    yield "|---" * (1 + len(times)) + "|"
    best_first = sorted(BOARDS[board], key=lambda name: -found[times[-1]][name][0])
    for name in best_first:
        cells = (found[time][name] for time in times)
        yield f"| {name} | " + " | ".join(f"{rating:.0f} +- {error:.0f}" for rating, error in cells) + " |"


def names(text, is_allowed, allowed):
    """The names of a list with commas."""
    found = text.split(",")
    for name in found:
        if not is_allowed(name):
            raise argparse.ArgumentTypeError(f"'{name}'; allowed: {allowed}")
    return found


def times(text):
    is_time = lambda name: re.fullmatch(r"[1-9][0-9]{0,5}(ms|s)", name)
    return names(text, is_time, "times such as 10ms,1s")


def boards(text):
    return names(text, BOARDS.get, ", ".join(BOARDS))


def even(text):
    number = int(text)
    if not 2 <= number <= 1_000_000 or number % 2:
        raise argparse.ArgumentTypeError("allowed: an even number from 2 to 1000000")
    return number


def main():
    parser = argparse.ArgumentParser(prog="scripts/ladder.sh")
    parser.add_argument("--times", type=times, default=["10ms", "100ms"])
    parser.add_argument("--games", type=even, default=20)
    parser.add_argument("--boards", type=boards, default=["8x8"])
    parser.add_argument("--dir", type=Path, default=HERE / "runs/ladder")
    options = parser.parse_args()
    options.dir = options.dir.resolve()
    options.dir.mkdir(parents=True, exist_ok=True)
    for board in options.boards:
        found = {time: rate(board, time, options.games, options.dir) for time in options.times}
        text = "\n".join(table(board, options.times, found))
        (options.dir / f"{board}.md").write_text(text + "\n")
        print(text + "\n", flush=True)


if __name__ == "__main__":
    main()
