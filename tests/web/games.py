"""Checks of games: what endings say."""

from browser import Fault

CHOICE = "(selector, value) => { const select = document.querySelector(selector); select.value = value; select.dispatchEvent(new Event('change')); }"
MOVES = "() => document.querySelectorAll('.branches .move').length"
# The values on the squares that can be played; `null` where there is none.
VALUES = """() => [...document.querySelectorAll('.analyse .board .can')].map((square) => [
    square.querySelector('.hint').textContent, square.querySelector('.note').textContent])"""


def check(holds, what):
    if not holds:
        raise Fault(what)


class Games:
    """The checks, on a page of any width."""

    def __init__(self, page, address, game):
        self.page, self.address, self.game = page, address, game

    def all(self):
        self.page.go(f"http://{self.address}/", self.address)
        self.page.wait("the board", "() => document.querySelector('.board .can')")
        self.proves_endings()
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
            rows = page.run("() => document.querySelectorAll('.opinion tbody tr').length")
            check(rows == legal, f"{rows} of {legal} moves of an ending are listed")
        page.run(CHOICE, ".opinion select", "solver")
        page.wait("the solver", f"() => ({VALUES})().every(([, note]) => note === 'proven')", seconds=60)
        self.at(10)
        page.wait("that it is too early", "() => document.querySelector('.opinion').textContent.includes('answers from 22 empty squares on')")
        check(page.run(f"() => ({VALUES})().every(([value]) => !value)"), "the solver guesses")
