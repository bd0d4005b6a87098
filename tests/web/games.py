"""Checks of games: what endings say, files of an archive, and games with a wrong move."""

import pathlib
import struct
import tempfile

from browser import Fault
from layout import FAULTS, report

CHOICE = "(selector, value) => { const select = document.querySelector(selector); select.value = value; select.dispatchEvent(new Event('change')); }"
MOVES = "() => document.querySelectorAll('.branches .move').length"
# The values on the squares that can be played; `null` where there is none.
VALUES = """() => [...document.querySelectorAll('.analyse .board .can')].map((square) => [
    square.querySelector('.hint').textContent, square.querySelector('.note').textContent])"""

# Drops files at the status line.
DROP = """(files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, bytes] of files) dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
    document.querySelector(".bar").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""
FILL = "(word, value) => { const input = [...document.querySelectorAll('dialog[open] label')].find((label) => label.textContent.startsWith(word)).querySelector('input, select'); input.value = value; input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input')); }"
ROWS = "() => [...document.querySelectorAll('dialog[open] .found button')].map((row) => row.textContent)"
COUNT = "() => document.querySelector('dialog[open] .gamelist [role=status]')?.textContent"
# Games of a file. The first moves of every third one are f5d6, f5f4, and d3c5, which is f5d6 turned.
GAMES = 5_575
OPENINGS = ((56, 64), (56, 46), (34, 53))


def names(words, length):
    """A list of names in WTHOR."""
    return struct.pack("<4xIHHI", 0, len(words), 0, 0) + b"".join(word.encode("latin-1").ljust(length, b"\0") for word in words)


def wthor(year, count):
    """A file of games in WTHOR: black is player 1 or 2, white player 0."""
    games = (struct.pack("<HHHBB60s", n % 2, 1 + n % 2, 0, 32 + n % 20, 0, bytes(OPENINGS[n % 3])) for n in range(count))
    return struct.pack("<4xIHHI", count, 0, year, 0) + b"".join(games)


PLAYERS = names(["Nobody", "Andr\xe9 Tastet", "Bo Lee"], 20)
EVENTS = names(["Paris Open", "Rome"], 26)


def check(holds, what):
    if not holds:
        raise Fault(what)


class Games:
    """The checks, on an open page of any width."""

    def __init__(self, page, game):
        self.page, self.game = page, game

    def all(self):
        self.offers_the_right_part()
        self.proves_endings()
        self.opens_an_archive()
        check(not self.page.faults, "; ".join(self.page.faults))

    def text(self, selector):
        return self.page.run("(selector) => document.querySelector(selector)?.textContent ?? ''", selector)

    def pastes(self, text):
        self.page.push("Paste or open")
        self.page.run("(text) => { document.querySelector('#paste-text').value = text; }", text)
        self.page.push("Read")

    def at(self, ply):
        """Goes to a ply of the game."""
        self.page.run("(ply) => document.querySelectorAll('.branches .move')[ply - 1].click()", ply)

    def proves_endings(self):
        """After a review, which proves only the best moves, every move of an ending has an exact value. A solver
        says from when on it answers."""
        page = self.page
        page.push("Analyse")
        page.wait("the opinions", "() => document.querySelector('.opinion select')")
        page.run(CHOICE, ".opinion select", "own1")
        self.pastes(self.game)
        page.wait("the review", "() => document.querySelector('.totals div') && ![...document.querySelectorAll('button')].some((button) => button.textContent === 'Stop')", seconds=240)
        for ply in (50, 52):
            self.at(ply)
            legal = page.run("() => document.querySelectorAll('.analyse .board .can').length")
            check(legal > 1, f"ply {ply} has {legal} moves")
            page.wait(f"proven values at ply {ply}", f"() => ({VALUES})().every(([value, note]) => /^[+−]?\\d+$/.test(value) && note === 'proven')", seconds=60)
            rows = page.run("() => document.querySelector('.opinion tbody').children.length")
            check(rows == legal, f"{rows} of {legal} moves of an ending are listed")
        page.run(CHOICE, ".opinion select", "solver")
        page.wait("the solver", f"() => ({VALUES})().every(([, note]) => note === 'proven')", seconds=60)
        self.at(10)
        page.wait("that it is too early", "() => document.querySelector('.opinion').textContent.includes('answers from 22 empty squares on')")
        check(page.run(f"() => ({VALUES})().every(([value]) => !value)"), "the solver guesses")

    def offers_the_right_part(self):
        """A game whose move 21 is wrong is opened up to move 20."""
        page = self.page
        page.push("Analyse")
        page.wait("the view", "() => document.querySelector('.analyse .board')")
        page.expects_failures = True
        self.pastes(self.game[:40] + "a1" + self.game[42:])
        page.wait("the error", "() => document.querySelector('dialog[open] [role=alert]').textContent.includes('move 21, `a1`, is not legal')")
        report(page.run(FAULTS, "dialog[open]"), "a wrong move")
        page.expects_failures = False
        page.push("Open the first 20 moves")
        page.wait("the first 20 moves", f"() => !document.querySelector('dialog[open]') && ({MOVES})() === 20")

    def opens_an_archive(self):
        """All games of WTHOR's files are listed with their names; they can be sorted and searched."""
        page = self.page
        page.run(CHOICE, ".opinion select", "own1")
        page.run(DROP, [["WTH_2001.wtb", list(wthor(2001, GAMES))]])
        page.wait("the games", f"() => ({COUNT})() === '1–50 of {GAMES} games'")
        check("WTHOR.JOU and WTHOR.TRN" in self.text("dialog[open]"), "nobody asks for the names")
        check(page.run(ROWS)[0].startswith("1. Game"), f"the first game is {page.run(ROWS)[0]}")
        page.push("Close")
        # The names alone are for the games that are there.
        page.run(DROP, [["WTHOR.JOU", list(PLAYERS)], ["WTHOR.TRN", list(EVENTS)]])
        page.wait("the names", f"() => ({ROWS})()[0]?.startsWith('1. André Tastet – Nobody')")
        check("WTHOR.JOU" not in self.text("dialog[open]"), "the names are asked for again")
        report(page.run(FAULTS, "dialog[open]"), "a list of games")
        page.push("Next")
        page.wait("the next games", f"() => ({COUNT})() === '51–100 of {GAMES} games'")
        self.searches()
        page.run("() => document.querySelector('dialog[open] .found button').click()")
        page.wait("a game of the list", f"() => ({MOVES})() === 2")
        check("Bo Lee" in self.text(".named.black") and "Rome" in self.text(".named-row"), "the game has lost its names")
        page.push("Paste or open")
        check(page.run(ROWS), "the list is gone")
        page.push("Close")
        self.drops_a_folder()

    def searches(self):
        page = self.page
        third = GAMES // 3
        for field, value, count in (("Player", "andre", GAMES // 2 + 1), ("Player", "lee rome 2001", GAMES // 2), ("Player", "2002", 0), ("Player", "", GAMES),
                                    ("First moves", "f5 F4", third), ("First moves", "f5d6c", GAMES - third), ("First moves", "d3c5", GAMES - third), ("First moves", "a1", 0)):
            page.run(FILL, field, value)
            word = page.run(COUNT)
            check(str(count) in word, f"{field} `{value}`: {word}, not {count}")
        page.run(FILL, "First moves", "")
        page.run(FILL, "Order", "event")
        check("Paris" in page.run(ROWS)[0], "the events are not in their order")
        page.run(FILL, "Order", "result")
        check("+38" in page.run(ROWS)[0], f"the first result is {page.run(ROWS)[0]}")
        page.run(FILL, "Player", "lee")

    def drops_a_folder(self):
        """A folder with two years, its lists and other files; a damaged one has one message."""
        page = self.page
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder) / "wthor"
            folder.mkdir()
            files = {"WTH_2001.wtb": wthor(2001, 60), "WTH_2002.WTB": wthor(2002, 70), "WTHOR.JOU": PLAYERS, "WTHOR.TRN": EVENTS[:30],
                     "readme.pdf": b"nothing", "WTH_2003.wtb": wthor(2003, 9)[:100]}
            for name, content in files.items():
                (folder / name).write_bytes(content)
            page.expects_failures = True
            page.drop(".analyse .bar", [str(folder)])
            page.wait("both years", f"() => document.querySelector('dialog[open]') && ({COUNT})() === '1–50 of 130 games'")
            page.expects_failures = False
        error = self.text("dialog[open] [role=alert]")
        check("WTHOR.TRN: " in error and "1 more" in error, f"the error is {error}")
        page.run(FILL, "Order", "newest")
        check("2002" in page.run(ROWS)[0] and "Tastet" in page.run(ROWS)[0], f"the newest game is {page.run(ROWS)[0]}")
        page.push("Close")
