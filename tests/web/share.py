"""Checks of what leaves the analysis: links, a game that is played on, the lines of hints, and pictures."""

import json

from browser import Fault
from layout import FAULTS, report

MOVES = "() => document.querySelectorAll('.branches .move').length"
HERE = "() => document.querySelector('.branches [aria-current]')?.textContent ?? ''"
NOTICE = "() => document.querySelector('#notice:not([hidden])')?.textContent ?? ''"
CLIPBOARD = """() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    document.execCommand = () => { window.copied = document.activeElement.value; return true; };
}"""
# The check number of a link, so that a forged one can have it.
CHECK = """async (fields) => {
    const { checkOf } = await import("./link.js");
    return new URLSearchParams({ ...fields, check: checkOf(fields) }).toString();
}"""
# Keeps the questions for hints.
SPY = """() => {
    const real = window.fetch;
    window.asked = [];
    window.fetch = (path, options) => {
        if (path === "/api/hints") window.asked.push(options.body);
        return real(path, options);
    };
}"""
LIMIT = "(limit) => { const select = [...document.querySelectorAll('.analyse .field')].find((field) => field.firstChild.textContent === 'Search').querySelector('select'); select.value = limit; select.dispatchEvent(new Event('change')); }"
FOLLOW = "(hash) => { document.querySelector('#notice').hidden = true; location.hash = hash; }"


def check(holds, what):
    if not holds:
        raise Fault(what)


class Share:
    """The checks, on an open page of any width."""

    def __init__(self, page, address, game):
        self.page, self.address, self.game = page, address, game

    def all(self):
        self.links()
        self.plays_on()
        self.shows_lines()
        self.has_limits()
        self.saves_values()
        check(not self.page.faults, "; ".join(self.page.faults))

    def opens(self, text):
        page = self.page
        page.push("Analyse")
        page.wait("the view", "() => document.querySelector('.analyse .board .square')")
        page.push("Paste or open")
        page.wait("the dialog", "() => document.querySelector('dialog[open]')")
        page.run("(text) => { document.querySelector('#paste-text').value = text; }", text)
        page.push("Read")

    def at(self, ply):
        self.page.run("(ply) => document.querySelectorAll('.branches .move')[ply - 1].click()", ply)

    def links(self):
        """A link opens the same position of the same game in another visit; a bad one has one message."""
        page = self.page
        page.go(f"http://{self.address}/#analyse", self.address)
        self.opens(self.game[:40])
        page.wait("the game", f"() => ({MOVES})() === 20")
        page.run("() => [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Stop')?.click()")
        self.at(7)
        here = page.run(HERE)
        page.run(CLIPBOARD)
        page.push("Copy link")
        link = page.wait("the link", "() => window.copied")
        check(link.startswith(f"http://{self.address}/#analyse?") and "token" not in link, f"the link is {link}")
        self.opens("f5")
        page.wait("another game", f"() => ({MOVES})() === 1")
        page.run(FOLLOW, link.split("#")[1])
        page.wait("the game of the link", f"(here) => ({MOVES})() === 20 && ({HERE})() === here", here)
        page.run("() => localStorage.clear()")
        page.go("about:blank", self.address)
        page.go(link, self.address)
        page.wait("the game in another visit", f"(here) => ({MOVES})() === 20 && ({HERE})() === here", here)
        self.links_with_a_start()
        self.bad_links(link.split("#")[1])

    def links_with_a_start(self):
        """A start of its own, another board and another goal are in the link too."""
        page = self.page
        start = "-" * 27 + "OX------XO" + "-" * 26 + "X X"
        forged = page.run(CHECK, {"board": "8x8", "goal": "fewest", "start": start, "moves": "f5", "ply": "1"})
        page.run(FOLLOW, f"analyse?{forged}")
        page.wait("the start", "() => document.querySelector('.analyse [data-square=h8]').ariaLabel.includes('black')")
        page.run(CLIPBOARD)
        page.push("Copy link")
        link = page.wait("the link", "() => window.copied")
        check("goal=fewest" in link and "start=" in link, f"the link is {link}")
        page.run(FOLLOW, "analyse?" + page.run(CHECK, {"board": "6x6", "goal": "most", "moves": "", "ply": "0"}))
        page.wait("a smaller board", "() => document.querySelectorAll('.analyse .square').length === 36")

    def bad_links(self, whole):
        page = self.page
        self.opens("f5d6")
        page.wait("a game", f"() => ({MOVES})() === 2")
        page.expects_failures = True
        game = {"board": "8x8", "goal": "most", "moves": "f5", "ply": "1"}
        forged = lambda **changed: "analyse?" + page.run(CHECK, {**game, **changed})
        cases = [(whole[:cut], "incomplete") for cut in (9, 40, len(whole) - 1)]
        cases += [(whole.replace("ply=7", "ply=6"), "incomplete"), (forged(ply="9"), "incomplete"),
                  (forged(board="<b>12x12</b>"), "<b>12x12</b>"), (forged(moves="a1"), "cannot be opened"),
                  (forged(goal="<img src=x>"), "cannot be opened"), (forged(start="XO"), "cannot be opened")]
        for hash, word in cases:
            page.run(FOLLOW, hash)
            page.wait(f"a message for {hash}", f"(word) => ({NOTICE})().includes(word)", word)
            check(page.run(MOVES) == 2, f"{hash} has changed the game")
            check(not page.run("() => document.querySelector('#notice *')"), f"{hash} became markup")
        page.expects_failures = False
        page.run("() => { document.querySelector('#notice').hidden = true; }")
        report(page.run(FAULTS, "body"), "after a bad link")

    def plays_on(self):
        """Any position can be played on against any level, with either colour."""
        page = self.page
        self.opens("f5d6c3d3c4f4")
        page.wait("the game", f"() => ({MOVES})() === 6")
        self.at(3)
        page.push("Play on")
        page.wait("the dialog", "() => document.querySelector('dialog[open]')")
        report(page.run(FAULTS, "dialog[open]"), "a game that is played on")
        shown = page.run("() => [...document.querySelectorAll('dialog[open] .field')].filter((field) => field.checkVisibility()).map((field) => field.textContent)")
        check(not any(text.startswith(("Board", "To win", "Opening")) for text in shown), f"the dialog asks for {shown}")
        check(page.run("() => document.querySelectorAll('dialog[open] select')[1].value") == "white", "the side to move is not offered first")
        levels = page.run("() => [...document.querySelector('dialog[open] select').options].map(({ value }) => value)")
        check(len(levels) > 5 and "random" in levels, f"the levels are {levels}")
        page.run("(value) => { document.querySelector('dialog[open] select').value = value; }", "random")
        page.push("Start")
        page.wait("the game in Play", "() => document.querySelectorAll('.play .sheet .move').length === 3 && document.querySelector('.play .board .can')")
        check("Your move" in page.run("() => document.querySelector('.play .status').textContent"), "it is not the user's turn")
        page.click(".play .board .can")
        page.wait("the answer", "() => document.querySelectorAll('.play .sheet .move').length === 5")

    def shows_lines(self):
        """The line of a hint is on the board while the hint is pointed at, or has the focus, in both views."""
        page = self.page
        numbers = "() => [...document.querySelectorAll('.board .line text')].map(({ textContent }) => textContent)"
        self.opens("f5d6c3")
        page.wait("hints", "() => document.querySelector('.opinion tbody button')")
        # One step focuses and looks: a newer hint replaces the table, and the focus is lost with it.
        sides = "[...document.querySelectorAll('.board .line g')].map((part) => part.getAttribute('class'))"
        page.wait("a line by the keyboard", f"""() => {{
            document.querySelector('.opinion tbody button')?.focus();
            const shown = [...({numbers})().slice(0, 2), ...{sides}.slice(0, 2)];
            return shown.join() === '1,2,white,black';
        }}""")
        first = page.run("() => document.querySelector('.opinion tbody tr').dataset.move")
        page.run("() => document.activeElement.blur()")
        page.wait("no line", f"() => !({numbers})().length")
        page.run("(square) => document.querySelector(`.analyse .board [data-square=${square}] .ground`).dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))", first)
        page.wait("a line by the pointer", f"() => ({numbers})().length >= 2")
        page.run("() => document.querySelector('.analyse .board').dispatchEvent(new PointerEvent('pointerleave'))")
        page.wait("no line", f"() => !({numbers})().length")
        page.push("Play")
        page.wait("the game", "() => document.querySelector('.play .board .can')")
        page.push("Hint")
        page.wait("hints of a game", "() => document.querySelector('.advice li')")
        page.wait("a line in a game", f"() => {{ document.querySelector('.advice li')?.focus(); return ({numbers})().length >= 1; }}")
        page.push("Hint")
        page.wait("no line", f"() => !({numbers})().length")

    def has_limits(self):
        """A time or a number of simulations is part of the request, and a position is asked about once."""
        page = self.page
        self.opens("f5d6")
        page.wait("a game", f"() => ({MOVES})() === 2")
        page.run(SPY)
        for limit, wanted in (("s5", {"endless": True, "seconds": 5}), ("n1000", {"simulations": 1000, "seconds": 300})):
            page.run("() => { window.asked = []; }")
            page.run(LIMIT, limit)
            body = json.loads(page.wait(f"a question with {limit}", "() => window.asked[0]"))
            check(all(body.get(field) == value for field, value in wanted.items()), f"{limit}: {body}")
        page.run(LIMIT, "own")
        page.run("() => { const select = document.querySelector('.opinion select'); select.value = 'own1'; select.dispatchEvent(new Event('change')); }")
        page.wait("values", "() => document.querySelector('.opinion').textContent.includes('searched in')")

    def saves_values(self):
        """A picture has the values that the board shows."""
        page = self.page
        page.wait("values", "() => document.querySelector('.analyse .board .hint:not(:empty)')")
        shown = page.run("() => [...document.querySelectorAll('.analyse .board .hint')].map(({ textContent }) => textContent).filter(Boolean)")
        page.run("""() => {
            window.written = [];
            const real = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.written.push(text); real.call(this, text, ...rest); };
            const url = URL.createObjectURL;
            URL.createObjectURL = (blob) => { window.picture = blob; return url(blob); };
        }""")
        page.push("Save")
        page.push("Save a picture with values (PNG)")
        size = page.wait("the picture", "() => window.picture?.type === 'image/png' && window.picture.size")
        written = page.run("() => window.written")
        check(size > 1000 and all(text in written for text in shown), f"the picture has {written}, not {shown}")
