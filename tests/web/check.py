#!/usr/bin/env python3
"""Uses the page of `outflank web` in a real Chromium, as people do, at a desk's and a phone's width.

Usage: tests/web/check.py [--program FILE] [--shots FOLDER]

It plays a game, undoes and redoes, asks for hints, pastes good and bad games, reads the graph,
finds the mistakes, tries one again, edits a position, and watches runs, one of which grows meanwhile.
Then it checks single behaviours (details.py), games (games.py), what leaves the analysis (share.py), how
the page looks (appearance.py) and clocks (clocks.py), and measures every view at several sizes (layout.py).
First it checks the texts of all languages, which needs no browser (texts.py).
Any error in the console, any exception and any request to another host fails the check. It prints
what it measured: the time until the page can be used, of a move, and of the first hint.

Without a Chromium it says so and ends with 3. Other exit codes: 0 no check failed, 1 a check failed,
2 it cannot run. It needs only python3.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from appearance import Appearance
from browser import Browser, Ended, Fault, installed
from clocks import Clocks
from details import Details, write_runs
from games import Games
from keyboard import Keyboard, play_by_keys
from layout import measure
from lessons import Lessons
from matches import Matches
from share import Share
import texts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = ((1280, 800), (390, 844))
# Seconds. Slower than the targets (1, 1 and 0.2), since the gate's machine may be busy.
LIMITS = {"usable": 3.0, "move": 3.0, "first hint": 2.0}
# Rows of metrics that a growing run begins with.
FIRST_ROWS = 40
REVIEW_SECONDS = 240
PHONE_MOVES = 10

PLAYED = "() => document.querySelectorAll('.sheet .move').length"
STATUS = "() => document.querySelector('.status')?.textContent ?? ''"
BOARD = "() => [...document.querySelectorAll('.board .square')].map((square) => square.ariaLabel).join('; ')"


def check(holds, what):
    """Fails unless it holds."""
    if not holds:
        raise Fault(what)


class Walk:
    """One walk through the page."""

    def __init__(self, page, address, runs, shots):
        self.page, self.address, self.runs, self.shots = page, address, runs, shots
        self.measured = {}

    def shot(self, name, whole=False):
        if self.shots:
            self.page.shot(self.shots / f"{name}-{self.page.width}.png", whole)

    def quiet(self, where):
        """Nothing has gone wrong so far, and nothing is wider than the page."""
        wide = self.page.run("() => document.documentElement.scrollWidth")
        check(wide <= self.page.width, f"{where}: the page is {wide} pixels wide")
        check(not self.page.faults, f"{where}: " + "; ".join(self.page.faults))

    def choose(self, selector, value):
        """Chooses an option, once it is there."""
        self.page.wait(f"{selector} {value}", "(selector, value) => [...(document.querySelector(selector)?.options ?? [])].some((option) => option.value === value)", selector, value)
        self.page.run("""(selector, value) => {
            const select = document.querySelector(selector);
            select.value = value;
            select.dispatchEvent(new Event("change"));
        }""", selector, value)

    def opens(self, begun):
        self.page.go(f"http://{self.address}/", self.address)
        self.page.wait("the board", "() => document.querySelector('.board .can')")
        self.measured["usable"] = time.monotonic() - begun
        self.shot("start")

    def plays(self):
        """Plays a game against the default level, with every kind of command on the way. The whole game is
        played at the desk only, since the opponent pauses before each of its moves."""
        page = self.page
        moves = 0
        while not self.over() and not (page.is_phone and moves == PHONE_MOVES):
            before = page.run(PLAYED)
            square = page.run("() => document.querySelector('.board .can')?.dataset.square")
            if square is None:
                page.wait("a turn or the end", "() => document.querySelector('.board .can') || /wins|draw/.test(document.querySelector('.status').textContent)")
                continue
            page.click(f".board [data-square={square}]")
            page.wait(f"the answer to {square}", f"(before) => ({PLAYED})() > before && (document.querySelector('.board .can') || /wins|draw/.test(document.querySelector('.status').textContent))", before)
            moves += 1
            if moves == 4:
                self.undoes()
            if moves == 6:
                self.hints()
        check(page.run(PLAYED) >= 9, f"the game has {page.run(PLAYED)} moves")
        self.shot("played")
        slowest = page.run("() => Math.max(...performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/move')).map(({ duration }) => duration)) / 1000")
        self.measured["move"] = slowest
        self.quiet("play")

    def over(self):
        return any(word in self.page.run(STATUS) for word in ("wins", "draw"))

    def undoes(self):
        page = self.page
        board, count = page.run(BOARD), page.run("() => document.querySelector('.sheet [aria-current]').textContent")
        page.push("Undo")
        page.wait("the undone move", f"(board) => ({BOARD})() !== board", board)
        page.push("Redo")
        page.wait("the redone move", "(count) => document.querySelector('.sheet [aria-current]')?.textContent === count", count)
        check(page.run(BOARD) == board, "undo and redo lead to another position")
        page.press("u")
        page.wait("undo by its key", f"(board) => ({BOARD})() !== board", board)
        page.press("r")
        page.wait("redo by its key", f"(board) => ({BOARD})() === board", board)

    def hints(self):
        page = self.page
        self.measured["first hint"] = page.run("""async () => {
            const begun = performance.now();
            [...document.querySelectorAll("button")].find((button) => button.textContent === "Hint").click();
            while (!document.querySelector(".board .hint:not(:empty)")) {
                if (performance.now() - begun > 20_000) break;
                await new Promise(requestAnimationFrame);
            }
            return (performance.now() - begun) / 1000;
        }""")
        page.wait("hints in a list", "() => document.querySelectorAll('.advice li').length")
        self.shot("play")
        page.press("h")
        page.wait("no hints", "() => !document.querySelector('.board .hint:not(:empty)')")

    def keys(self):
        """A new game, and a move by keys alone."""
        page = self.page
        page.press("n")
        page.wait("the dialog", "() => document.querySelector('dialog[open]')")
        self.shot("new")
        page.push("Start")
        page.wait("a new game", f"() => ({PLAYED})() === 0")
        page.run("() => document.querySelector('.board').focus()")
        for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
            page.press(key)
        play_by_keys(page, ".board")
        page.wait("a move by keys", f"() => ({PLAYED})() >= 1")
        self.quiet("keys")

    def analyses(self, game):
        page = self.page
        page.push("Analyse")
        page.wait("the view", "() => document.querySelector('.analyse .board')")
        # A fast player reviews the game; the details have a net for it.
        self.choose(".opinion select", "own1")
        self.pastes("f5d6c3d9", game)
        begun = time.monotonic()
        page.wait("the whole review", "() => document.querySelector('.totals div') && ![...document.querySelectorAll('button')].some((button) => button.textContent === 'Stop')", seconds=REVIEW_SECONDS)
        self.measured["review"] = time.monotonic() - begun
        self.graph()
        self.mistakes()
        self.overlays()
        page.push("Another opinion")
        page.run("() => document.querySelector('.branches .move:nth-of-type(20)').click()")
        page.wait("two opinions", "() => [...document.querySelectorAll('.opinion tbody')].filter((body) => body.children.length).length === 2", seconds=60)
        page.run("() => scrollTo(0, 0)")
        self.shot("analyse")
        self.edits()
        self.quiet("analyse")

    def pastes(self, bad, good):
        page = self.page
        fill = "(text) => { document.querySelector('#paste-text').value = text; }"
        page.expects_failures = True
        page.push("Paste or open")
        page.run(fill, bad)
        page.push("Read")
        error = page.wait("an error", "() => document.querySelector('dialog [role=alert]').textContent")
        check("d9" in error or "character" in error, f"the error names no place: {error}")
        page.expects_failures = False
        page.run(fill, good)
        page.push("Read")
        page.wait("the game", "() => document.querySelectorAll('.branches .move').length === 60")

    def graph(self):
        page = self.page
        proven, mistakes, value = (page.run(f"() => document.querySelectorAll('.graph .{name}').length") for name in ("proven", "mistake", "value"))
        check(proven >= 5, f"the graph has {proven} proven values")
        check(value == 1 and mistakes >= 1, f"the graph has {mistakes} mistakes")
        box = page.run("() => { const b = document.querySelector('.graph'); b.scrollIntoView({ block: 'center' }); const { x, y, width, height } = b.getBoundingClientRect(); return { x, y, width, height }; }")
        before = page.run("() => document.querySelector('.graph').ariaValueNow ?? document.querySelector('.graph').getAttribute('aria-valuenow')")
        middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 60}
        for kind, shift in (("mousePressed", 0), ("mouseMoved", 30), ("mouseMoved", -40), ("mouseReleased", -40)):
            page.call("Input.dispatchMouseEvent", {"type": kind, "button": "left", "buttons": 1, "clickCount": 1, "x": middle["x"] + shift, "y": middle["y"]})
        after = page.wait("the dragged graph", "(before) => { const now = document.querySelector('.graph').getAttribute('aria-valuenow'); return now !== before && now; }", before)
        check(0 < int(after) < 60, f"the graph was dragged to ply {after}")

    def mistakes(self):
        page = self.page
        count = page.run("() => document.querySelectorAll('.mistakes button').length")
        check(count >= 1, "no mistakes were found")
        page.push("Next mistake")
        task = page.wait("the task", "() => document.querySelector('.puzzle:not([hidden]) p')?.textContent")
        check("Find a better move" in task, task)
        check(page.run("() => !document.querySelector('.board .hint:not(:empty)')"), "the answer is shown before the try")
        self.shot("puzzle")
        square = page.run("() => document.querySelector('.analyse .board .can').dataset.square")
        page.click(f".analyse .board [data-square={square}]")
        page.wait("a judgement", "(task) => document.querySelector('.puzzle p').textContent !== task", task, seconds=60)
        page.push("Show answer")
        page.wait("the answer", "() => document.querySelector('.puzzle p').textContent.includes('line')")
        page.push("Leave")

    def overlays(self):
        page = self.page
        page.run("() => document.querySelector('.branches .move').click()")
        self.choose(".opinion select", "net100")
        for name in ("visits", "values") if page.is_phone else ("visits", "policy", "owner", "values"):
            self.choose(".bar select", name)
            if name != "values":
                # Who will own a square is found by many games of the net.
                page.wait(f"the overlay {name}", "() => [...document.querySelectorAll('.analyse .shade')].some((shade) => Number(shade.style.opacity) > 0.05)", seconds=120)

    def edits(self):
        page = self.page
        page.push("Edit board")
        page.click(".analyse .board [data-square=a1]")
        page.push("Use this position")
        page.wait("the edited position", "() => document.querySelectorAll('.branches .move').length === 0 && document.querySelector('.analyse .board [data-square=a1]').ariaLabel.match(/black|white/)")

    def watches(self, grow):
        page = self.page
        page.push("Watch")
        page.wait("the runs", "() => document.querySelectorAll('.run').length >= 2")
        page.run("() => [...document.querySelectorAll('.run .open')].find((button) => button.textContent === 'growing').click()")
        page.wait("its curves", "() => document.querySelector('h2') && document.querySelectorAll('.chart path.curve').length >= 6")
        read = "() => [...document.querySelectorAll('.chart')].find((chart) => chart.textContent.includes('held-out')).querySelector('path.curve').getAttribute('d').length"
        before = page.run(read)
        grow()
        page.wait("the growing curve", f"(before) => ({read})() > before", before)
        page.run("() => { const box = [...document.querySelectorAll('.run input')].find((box) => !box.disabled); box.click(); }")
        page.wait("two runs in a chart", "() => [...document.querySelectorAll('.chart .key')].some((key) => key.querySelectorAll('svg').length >= 2 && key.textContent.includes('growing'))")
        for axis in ("positions", "steps", "minutes"):
            self.choose(".watch .right select", axis)
        check(page.run("() => document.querySelectorAll('.chart path.band').length") >= 1, "the rating has no band")
        self.counts_workers()
        page.run("() => scrollTo(0, 0)")
        self.shot("watch", whole=True)
        self.quiet("watch")

    def counts_workers(self):
        """The table of workers has a row for each, and scrolls where the page is narrow."""
        rows, wide = self.page.run("""async () => {
            const { workersTable } = await import("./workers.js");
            const columns = ["games_per_second", "games", "rejected", "net_version", "nets_behind", "lag_seconds", "unconfirmed"];
            const curves = ["worker-1", "worker-2"].flatMap((name) => columns.map((column) => [`workers/${name}/${column}`, [12345.6]]));
            const table = workersTable(Object.fromEntries(curves), "Workers");
            document.querySelector(".watch .right > div").replaceChildren(table);
            return [table.querySelectorAll("tbody tr").length, document.documentElement.scrollWidth];
        }""")
        check(rows == 2, f"two workers have {rows} rows")
        check(wide <= self.page.width, f"with workers the page is {wide} pixels wide")

    def darkens(self):
        page = self.page
        page.push("Play")
        page.push("⚙")
        for colours in ("dark", "auto"):
            page.run("(value) => { const select = document.querySelectorAll('dialog[open] select')[1]; select.value = value; select.dispatchEvent(new Event('change')); }", colours)
            check(page.run("() => document.documentElement.dataset.theme") == ("dark" if colours == "dark" else "light"), f"the colours are not {colours}")
            if colours == "dark":
                self.shot("dark")
        page.push("Close")
        self.quiet("colours")


class Server:
    """The program, which serves a page at a free port."""

    def __init__(self, program, runs):
        self.begun = time.monotonic()
        self._folder = tempfile.TemporaryDirectory()
        self.library = pathlib.Path(self._folder.name) / "library"
        book = str(pathlib.Path(self._folder.name) / "tiny.book")
        subprocess.run([program, "book", "build", book, "--positions", "12", "--player", "alphabeta:depth=2"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        command = [program, "web", "--port", "0", "--no-open", "--runs", str(runs), "--library", str(self.library), "--book", book,
                   "--allow-training", "--player", "alphabeta:depth=6,eval=positional,name=Quick"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self._process.stdout.readline().strip().removeprefix("http://").strip("/")
        if not self.address:
            raise Fault("the server does not start")

    def close(self):
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()


def growing(folder):
    """Copies a stored run without most of its rows. The result adds the others."""
    shutil.copytree(ROOT / "docs/runs/hour", folder / "hour")
    shutil.copytree(ROOT / "docs/runs/quick", folder / "growing")
    metrics = folder / "growing/metrics.jsonl"
    rows = metrics.read_text().splitlines(keepends=True)
    metrics.write_text("".join(rows[:FIRST_ROWS]))

    def grow():
        with metrics.open("a") as file:
            file.writelines(rows[FIRST_ROWS:])

    return grow


# A game of random moves: it has mistakes of both sides, and ends with a full board.
GAME = "c4e3f2c5d6e2f3g1d1g3e6c3b6e1b2a7g4f4h2f7d2h3b4c1g8e7f8a5a4b3c2d3h4d7c7e8f5a2b5d8c6h8g2g5h1b7h5a3c8g7a1f6h7h6a8b1a6b8g6f1"


def walk(browser, size, program, shots):
    """One walk with a server and runs of its own."""
    with tempfile.TemporaryDirectory() as folder:
        runs = pathlib.Path(folder)
        grow = growing(runs)
        page = browser.page(*size)
        server = Server(program, runs)
        try:
            tour = Walk(page, server.address, runs, shots)
            tour.opens(server.begun)
            tour.plays()
            tour.keys()
            tour.analyses(GAME)
            tour.watches(grow)
            tour.darkens()
        finally:
            server.close()
        page.close()
    for what, limit in LIMITS.items():
        check(tour.measured[what] < limit, f"{what}: {tour.measured[what]:.2f} s, allowed {limit} s")
    measured = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in tour.measured.items())
    print(f"{size[0]} pixels: passed; {measured}", flush=True)


def details(browser, program):
    """Single behaviours, and the layout of every view."""
    with tempfile.TemporaryDirectory() as folder:
        runs = pathlib.Path(folder)
        write_runs(runs)
        page = browser.page(*SIZES[0])
        server = Server(program, runs)
        try:
            Details(page, server.address, GAME).all()
            Games(page, GAME).all()
            Share(page, server.address, GAME).all()
            Appearance(page, server.address).all()
            Clocks(page, server.address).all()
            Lessons(page, server.library, GAME).all()
            for size in reversed(SIZES):
                page.resize(*size)
                Keyboard(page).all()
            Matches(page).all()
            measure(page)
        finally:
            server.close()
        page.close()
    print("details, and the layout at all sizes: passed", flush=True)


def with_browser(chromium, look):
    """Looks at the page in a browser of its own, and once more if that one ends by itself."""
    for is_last in (False, True):
        browser = Browser(chromium)
        try:
            return look(browser)
        except Ended as fault:
            if is_last:
                raise
            print(f"once more: {fault}", flush=True)
        finally:
            browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "target/debug/outflank"))
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for pictures of the page")
    args = parser.parse_args()
    if not texts.main():
        return 1
    chromium = installed()
    if chromium is None:
        print("SKIPPED: no Chromium is installed, so the page was not looked at")
        return 3
    try:
        with_browser(chromium, lambda browser: browser.call("Browser.getVersion"))
    except Fault as fault:
        print(f"SKIPPED: {chromium} does not start here, so the page was not looked at: {fault}")
        return 3
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    try:
        for size in SIZES:
            with_browser(chromium, lambda browser: walk(browser, size, args.program, args.shots))
        with_browser(chromium, lambda browser: details(browser, args.program))
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
