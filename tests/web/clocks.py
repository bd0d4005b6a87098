"""Checks of clocks: increments, and times of their own for the user and the opponent."""

from browser import Fault
from layout import FAULTS, report

CLOCKS = "() => ['black', 'white'].map((side) => document.querySelector(`.player.${side} .clock:not([hidden])`)?.textContent ?? '')"
FILL = """(values) => {
    for (const [word, value] of Object.entries(values)) {
        const field = [...document.querySelectorAll("dialog[open] .field")].find((field) => field.firstChild.textContent === word && field.checkVisibility());
        const input = field.querySelector("select, input");
        input.value = value;
        input.dispatchEvent(new Event("change"));
    }
}"""


def check(holds, what):
    if not holds:
        raise Fault(what)


class Clocks:
    """The checks, on an open page of any width."""

    def __init__(self, page, address):
        self.page, self.address = page, address

    def all(self):
        self.adds_time()
        self.has_unequal_times()
        check(not self.page.faults, "; ".join(self.page.faults))

    def begins(self, *steps):
        page = self.page
        page.push("Play")
        page.wait("the view", "() => document.querySelector('.play .board .square')")
        page.push("New game")
        for values in steps:
            page.run(FILL, values)
        report(page.run(FAULTS, "dialog[open]"), "a game with a clock")
        page.push("Start")

    def moves(self, count):
        self.page.wait("a turn", "() => document.querySelector('.play .board .can')")
        self.page.click(".play .board .can")
        self.page.wait(f"{count} moves", "(count) => document.querySelectorAll('.play .sheet .move').length >= count", count)

    def adds_time(self):
        """Each move after the first adds its seconds."""
        page = self.page
        self.begins({"Opponent": "random", "You play": "black", "Clock": "3+2"})
        page.wait("both clocks", f"() => ({CLOCKS})().join() === '3:00,3:00'")
        self.moves(2)
        page.wait("the increment", f"() => /^3:0[12]$/.test(({CLOCKS})()[1])")
        self.moves(4)
        check(page.run(CLOCKS)[0].startswith("3:0"), f"black has {page.run(CLOCKS)}")

    def has_unequal_times(self):
        """The user's and the opponent's times may differ; 0 minutes are unlimited; a reload keeps both."""
        page = self.page
        own = {"Your minutes": "0.5", "Your seconds for each move": "10", "Minutes of the opponent": "0"}
        self.begins({"Opponent": "random", "You play": "white", "Clock": "own"}, own)
        page.wait("one clock", f"() => /^0:(30|29|28)$/.test(({CLOCKS})()[1]) && ({CLOCKS})()[0] === ''")
        self.moves(3)
        page.wait("the increment", f"() => /^0:(3[0-9]|40)$/.test(({CLOCKS})()[1])")
        page.call("Page.reload")
        page.wait("the kept clock", f"() => document.readyState === 'complete' && /^0:(2[0-9]|3[0-9]|40)$/.test(({CLOCKS})()[1]) && ({CLOCKS})()[0] === ''")
        self.begins({"You play": "both"})
        page.wait("black's time", f"() => ({CLOCKS})().join() === '0:30,'")
        self.begins({"Clock": "0"})
        page.wait("no clock", f"() => ({CLOCKS})().join() === ','")
