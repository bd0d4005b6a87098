#!/usr/bin/env python3
"""Tries a package as a new user does, from an empty folder with an empty environment.

Usage: scripts/package/trial.py archive FILE.tar.gz
       scripts/package/trial.py wheel FILE.whl

An archive is unpacked; a wheel is installed into a new virtual environment. Then the program plays a
move, solves an ending, analyses a position, serves its page, and, if it has libtorch, trains. It prints
the seconds from the unpacked package to the first move. Exit codes: 0 all is well, 1 something is not.
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

# An ending with its exact score (examples/positions.obf).
ENDING = "--OOO-*--*OOO*-O-**O*OOO****OOOO***O**OO**OO*OOO-OOOO*---OOO***- *"
SCORE = "+12"
FIRST_MOVE_SECONDS = 10
PATIENCE = 120


class Fault(Exception):
    """What is not as it should be."""


def check(holds, what):
    if not holds:
        raise Fault(what)


class Trial:
    """A program in an empty folder."""

    def __init__(self, program, package, folder):
        self.program, self.package, self.folder = [str(part) for part in program], package, folder
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}

    def run(self, *arguments, said=""):
        done = subprocess.run(
            self.program + list(arguments), input=said, cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )
        check(done.returncode == 0, f"{' '.join(arguments)}: exit code {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout

    def all(self):
        begun = time.monotonic()
        game = self.run("play", said="go\nquit\n")
        seconds = time.monotonic() - begun
        check("black plays " in game, f"no move: {game!r}")
        move = self.run("gtp", said="genmove black\nquit\n")
        check(re.match(r"= [a-h][1-8]\b", move, re.IGNORECASE), f"no move: {move!r}")
        report = json.loads(self.run("doctor", "--json"))
        # A build for tests is slower, and others run beside it.
        if report["outflank"]["optimised_for_speed"]:
            check(seconds < FIRST_MOVE_SECONDS, f"the first move took {seconds:.1f} s")
        models = pathlib.Path(report["models"])
        check(models.is_relative_to(self.package), f"the models are those of {models}")
        check(SCORE in self.run("solve", "--", ENDING), "the ending has another score")
        answer = json.loads(self.run("analyse", "--json", said='{"id":"a","moves":"f5d6","player":"alphabeta:depth=6"}\n'))
        check(len(answer["moves"]) == 5, f"no analysis: {answer}")
        self.page()
        has_torch = report["libtorch"]["path"] is not None
        check(has_torch == (self.package / "libtorch").is_dir(), f"libtorch: {report['libtorch']}")
        if has_torch:
            check(report["libtorch"]["version"] is not None, "the version of libtorch is unknown")
            config = models.parent / "configs" / "smoke.toml"
            self.run("train", str(config), "--set", "limits.minutes=0.1", "--run-dir", "run")
            check(any((self.folder / "run" / "checkpoints").iterdir()), "training left no net")
        print(f"{self.program[-1]}: first move after {seconds:.1f} s; libtorch: {has_torch}")

    def page(self):
        server = subprocess.Popen(
            self.program + ["web", "--port", "0", "--no-open"], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, text=True,
        )
        try:
            address = server.stdout.readline().strip()
            with urllib.request.urlopen(address, timeout=PATIENCE) as page:
                check(b"<html" in page.read(), "the page is empty")
        finally:
            server.terminate()
            server.wait(PATIENCE)


def try_archive(file, folder):
    with tarfile.open(file) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (package,) = (folder / "unpacked").iterdir()
    Trial([package / "outflank"], package, folder).all()


def try_wheel(file, folder):
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", file], check=True)
    Trial([folder / "venv" / "bin" / "outflank"], folder / "venv", folder).all()
    tests = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests" / "tests.py"
    subprocess.run([python, tests, "-v"], cwd=folder, check=True)


def main():
    kinds = {"archive": try_archive, "wheel": try_wheel}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    file = pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        try:
            kinds[sys.argv[1]](file, pathlib.Path(folder).resolve())
        except Fault as fault:
            sys.exit(f"error: {file.name}: {fault}")


if __name__ == "__main__":
    main()
