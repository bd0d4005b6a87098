"""Checks of matches that are watched, and of nets of runs as opponents."""

from browser import Fault
from clocks import FILL
from layout import FAULTS, report


def check(holds, what):
    if not holds:
        raise Fault(what)


class Matches:
    """The checks, on an open page of any width. A run of the page has no checkpoint."""

    def __init__(self, page):
        self.page = page

    def all(self):
        self.plays_a_match()
        self.asks_for_a_net()
        check(not self.page.faults, "; ".join(self.page.faults))

    def plays_a_match(self):
        """Two players play a pair of games with both colours; nobody's games are not kept."""
        page = self.page
        page.push("Play")
        page.wait("the view", "() => document.querySelector('.play .board .square')")
        page.push("New game")
        page.run(FILL, {"You play": "none"})
        page.run(FILL, {"Board": "6x6", "Opponent": "random", "Second player": "greedy", "Games of the match": "2", "Clock": "0"})
        report(page.run(FAULTS, "dialog[open]"), "a match")
        page.push("Start")
        names = "() => ['black', 'white'].map((side) => document.querySelector(`.player.${side} .who`).textContent).join()"
        page.wait("the players", f"() => ({names})() === 'First day,Disc grabber'")
        page.wait("the second game", f"() => ({names})() === 'Disc grabber,First day'", seconds=60)
        page.wait("the result", "() => /2 of 2 games/.test(document.querySelector('.play .side').textContent)", seconds=60)

    def asks_for_a_net(self):
        """A run without a checkpoint says so."""
        page = self.page
        page.push("Watch")
        page.wait("a run", "() => [...document.querySelectorAll('.watch button')].some((one) => one.textContent === 'Play this net' && one.checkVisibility())")
        page.push("Play this net")
        page.wait("a message", "() => /no checkpoint yet/.test(document.getElementById('notice').textContent)")
        page.run("() => { document.getElementById('notice').hidden = true; }")
