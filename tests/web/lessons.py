"""Checks of the library, the explorer and lessons: games that are played are kept, found, explored and learnt from."""

import shutil
import time

from browser import PATIENCE, Fault
from clocks import FILL
from layout import FAULTS, report

SETS = """(selector, value) => {
    const field = document.querySelector(selector);
    field.value = value;
    field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
}"""
ROWS = "() => [...document.querySelectorAll('.library .found button')].map((row) => row.textContent)"
COUNT = "() => document.querySelector('.library .row [role=status]').textContent"
# Files of the library: transcripts that begin alike, under a symmetry.
FILE = "f5d6c3d3c4f4\nc4e3f6e6f5c5\nf5f6e6f4e3\n"


def check(holds, what):
    if not holds:
        raise Fault(what)


class Lessons:
    """The checks, on an open page of any width. The server's library is a folder."""

    def __init__(self, page, library, game):
        self.page, self.library, self.game = page, library, game
        self.played = library / "played"

    def all(self):
        self.library.mkdir(parents=True, exist_ok=True)
        (self.library / "some.txt").write_text(FILE)
        # A name is shown as text, whatever it is.
        (self.library / "name.ggf").write_text("(;GM[Othello]PC[<b>Club</b>]DT[2019]PB[<img src=x onerror=alert(1)>]PW[Ben]RE[?]TI[15:00]TY[8]"
                                               "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[F5]W[D6];)")
        # Other checks have played too.
        shutil.rmtree(self.played, ignore_errors=True)
        self.keeps_a_game()
        self.finds_games()
        self.explores()
        self.learns()
        check(not self.page.faults, "; ".join(self.page.faults))

    def keeps_a_game(self):
        """A game that a person has given up is in the library."""
        page = self.page
        page.push("Play")
        page.wait("the view", "() => document.querySelector('.play .board .square')")
        page.push("New game")
        page.run(FILL, {"Opponent": "random", "You play": "black", "Board": "8x8", "Clock": "0"})
        page.run("() => { document.getElementById('live').textContent = ''; }")
        page.push("Start")
        # The board of the game before can be clicked until the new one is there.
        page.wait("a new game", "() => document.getElementById('live').textContent && document.querySelector('.play .board .can')")
        page.click(".play .board .can")
        page.wait("an answer", "() => document.querySelectorAll('.play .sheet .move').length >= 2", seconds=30)
        page.push("Resign")
        end = time.monotonic() + PATIENCE
        while not list(self.played.glob("*.ggf")):
            check(time.monotonic() < end, "the game was not kept")
            time.sleep(0.1)

    def finds_games(self):
        """Searches by name and opening; own games can be deleted, which asks first."""
        page = self.page
        page.push("Library")
        page.wait("the games", f"() => ({COUNT})().startsWith('5 games')", seconds=30)
        check(any(row.startswith("<img src=x") for row in page.run(ROWS)), f"no name as text: {page.run(ROWS)}")
        report(page.run(FAULTS, ".library"), "the library")
        page.run(SETS, ".library .filters label:nth-child(4) input", "tiger")
        page.wait("two games", f"() => ({COUNT})() === '2 games'")
        page.run(SETS, ".library .filters label:nth-child(4) input", "")
        page.run("() => document.querySelector('.library .check input').click()")
        page.wait("one game", f"() => ({COUNT})() === '1 games' || ({COUNT})() === '1 game'")
        page.run("() => { window.confirm = () => false; }")
        page.push("Delete")
        check(page.run(ROWS), "a game was deleted without a yes")
        page.run("() => { window.confirm = () => true; }")
        page.push("Delete")
        page.wait("no game", f"() => ({COUNT})().startsWith('0')")
        page.run("() => document.querySelector('.library .check input').click()")
        page.wait("four games", f"() => ({COUNT})().startsWith('4 games')")
        page.run("() => document.querySelector('.library .found button').click()")
        page.wait("the game", "() => document.querySelector('.analyse .branches .move')")

    def reads(self, moves):
        """Opens a line in the analysis."""
        self.page.push("Paste or open")
        self.page.run("(moves) => { document.querySelector('#paste-text').value = moves; }", moves)
        self.page.push("Read")
        self.page.wait("the line", "(count) => document.querySelectorAll('.branches .move').length === count", len(moves) // 2)

    def explores(self):
        """The explorer counts what was played, plays it, and shows what the book says."""
        page = self.page
        self.reads("f5")
        page.run("() => { document.querySelector('.explorer').open = true; }")
        page.wait("the book", "() => /^[+-]?[0-9.]+$/.test(document.querySelector('.explored .book')?.textContent)")
        report(page.run(FAULTS, ".explorer"), "the explorer with a book")
        self.reads("f5d6c3d3")
        page.run("() => { document.querySelector('.explorer').open = true; }")
        page.wait("its moves", "() => document.querySelector('.explored button b')?.textContent === 'c4'")
        report(page.run(FAULTS, ".explorer"), "the explorer")
        page.wait("the opening", "() => document.querySelector('.explored button').textContent.includes('Tiger')")
        page.run("() => document.querySelector('.explored button').click()")
        page.wait("the move", "() => document.querySelectorAll('.branches .move').length === 5")
        page.push("Show these games")
        page.wait("two games", f"() => ({COUNT})() === '2 games'")
        page.push("Show all")
        page.wait("all games", f"() => ({COUNT})().startsWith('4 games')")

    def learns(self):
        """A mistake is asked, and is learnt from."""
        page = self.page
        lesson = {"kind": "mistake", "board": "8x8", "goal": "most", "moves": "f5d6", "played": "c5", "source": "<i>You</i> – Club",
                  "values": [{"move": "c3", "score": 2.5, "exact": False}, {"move": "c5", "score": -1, "exact": False}]}
        page.run("""async (lesson) => { await fetch("/api/lessons", { method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ lessons: [lesson] }) }); }""", lesson)
        page.push("Lessons")
        page.wait("the state", "() => /^1 to do/.test(document.querySelector('.lessons [role=status]').textContent)")
        page.push("Next lesson")
        page.wait("the task", "() => document.querySelector('.lessons .status').textContent.includes('<i>You</i>')")
        report(page.run(FAULTS, ".lessons"), "a lesson")
        page.click(".lessons [data-square=c3]")
        page.wait("the reason", "() => document.querySelectorAll('.lessons .values p').length === 3")
        page.wait("the new state", "() => /^0 to do/.test(document.querySelector('.lessons [role=status]').textContent)")
        page.push("Collect mistakes")
        page.wait("an answer", "() => document.querySelectorAll('.lessons .card [role=status]')[1].textContent.startsWith('There are no')")
        page.push("New puzzle")
        page.wait("a message", "() => /no finished game/.test(document.getElementById('notice').textContent)")
        page.run("() => { document.getElementById('notice').hidden = true; }")
        page.faults[:] = [fault for fault in page.faults if "404" not in fault]
