"""Checks of the page by keys alone: every view can be reached and used, and one sees where one is."""

from browser import Fault
from lessons import COUNT

# The focused element: its words, and whether it can be seen.
FOCUS = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const box = one.getBoundingClientRect();
    const label = one.labels?.[0]?.textContent ?? "";
    const words = [one.getAttribute("aria-label") ?? "", one.textContent, label].map((text) => text.trim());
    return { words, tag: one.tagName, marked: one.matches(":focus-visible"), seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth };
}"""
# More presses of Tab than any view has places.
MOST = 400


def check(holds, what):
    if not holds:
        raise Fault(what)


def play_by_keys(page, board):
    """Plays the first legal move on a board that has the focus, by arrows and Enter."""
    legal = page.run("(board) => document.querySelector(board).querySelector('.can').dataset.square", board)
    here = page.run("(board) => document.getElementById(document.querySelector(board).getAttribute('aria-activedescendant')).dataset.square", board)
    steps = [(ord(legal[0]) - ord(here[0]), "ArrowRight", "ArrowLeft"), (int(legal[1:]) - int(here[1:]), "ArrowDown", "ArrowUp")]
    for distance, forward, back in steps:
        for _ in range(abs(distance)):
            page.press(forward if distance > 0 else back)
    page.press("Enter")


class Keyboard:
    """The checks, on an open page of any width, after the checks of lessons."""

    def __init__(self, page):
        self.page = page

    def all(self):
        self.plays()
        self.analyses()
        self.searches()
        self.learns()
        self.watches()
        self.sets()
        check(not self.page.faults, "; ".join(self.page.faults))

    def reach(self, what, fits):
        """Presses Tab until the focus is where it is wanted. It must be seen there."""
        page = self.page
        for _ in range(MOST):
            found = page.run(FOCUS)
            if found and fits(found):
                check(found["marked"] and found["seen"], f"the focus on {what} is not seen: {found}")
                return
            page.press("Tab")
        raise Fault(f"Tab does not reach {what}")

    def push(self, word):
        """Reaches a button, link or summary by its words, and presses Enter."""
        self.page.wait(f"`{word}`", "(word) => [...document.querySelectorAll('button, a, summary')].some((one) => one.checkVisibility() && !one.disabled && one.textContent.trim() === word)", word)
        self.reach(word, lambda found: found["tag"] in ("BUTTON", "A", "SUMMARY") and word in found["words"])
        self.page.press("Enter")

    def write(self, label, text):
        """Reaches a field by its label, and writes into it."""
        self.reach(label, lambda found: found["tag"] in ("INPUT", "TEXTAREA") and any(words.startswith(label) for words in found["words"]))
        self.page.call("Input.insertText", {"text": text})

    def move(self, view):
        """Plays a move on a view's board."""
        page = self.page
        page.wait("a turn", f"() => document.querySelector('.{view} .board .can')")
        self.reach("the board", lambda found: any(words.startswith("Board") for words in found["words"]))
        page.press("ArrowRight")
        play_by_keys(page, f".{view} .board")

    def plays(self):
        page = self.page
        self.push("Play")
        page.wait("the view", "() => document.querySelector('.play .board')")
        self.push("New game")
        page.wait("the dialog", "() => document.querySelector('dialog[open]')")
        page.run("() => { document.getElementById('live').textContent = ''; }")
        self.push("Start")
        page.wait("a new game", "() => document.getElementById('live').textContent && !document.querySelector('dialog[open]')")
        self.move("play")
        page.wait("an answer", "() => document.querySelectorAll('.play .sheet .move').length >= 2", seconds=60)

    def analyses(self):
        page = self.page
        self.push("Analyse")
        self.push("Paste or open")
        page.run("() => { document.querySelector('#paste-text').value = ''; }")
        self.write("Game or position", "f5d6c3d3")
        self.push("Read")
        page.wait("the line", "() => document.querySelectorAll('.branches .move').length === 4")
        if not page.run("() => document.querySelector('.explorer').open"):
            self.push("Explorer: what was played here")
        page.wait("its moves", "() => document.querySelector('.explored button b')?.textContent === 'c4'")
        self.reach("the explorer", lambda found: any(words.startswith("c4:") for words in found["words"]))
        page.press("Enter")
        page.wait("the move", "() => document.querySelectorAll('.branches .move').length === 5")
        self.move("analyse")
        page.wait("another move", "() => document.querySelectorAll('.branches .move').length === 6")

    def searches(self):
        page = self.page
        self.push("Library")
        page.wait("the games", f"() => /^[0-9]+ game/.test(({COUNT})())", seconds=30)
        self.write("Opening", "tiger")
        page.wait("two games", f"() => ({COUNT})() === '2 games'")
        self.reach("a game", lambda found: found["tag"] == "BUTTON" and any("Tiger" in words for words in found["words"]))
        page.press("Enter")
        page.wait("the game", "() => document.querySelector('.analyse .branches .move')")

    def learns(self):
        page = self.page
        moves = "f5f6e6f4" if page.is_phone else "f5f4"
        lesson = {"kind": "mistake", "board": "8x8", "goal": "most", "moves": moves, "played": "c3" if page.is_phone else "e3", "source": "keys",
                  "values": [{"move": "e3", "score": 2.5, "exact": False}, {"move": "c3", "score": -1, "exact": False}]}
        page.run("""async (lesson) => { await fetch("/api/lessons", { method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ lessons: [lesson] }) }); }""", lesson)
        self.push("Lessons")
        page.wait("the state", "() => /^1 to do/.test(document.querySelector('.lessons [role=status]').textContent)")
        self.push("Next lesson")
        page.wait("the task", "() => document.querySelector('.lessons .status').textContent.includes('keys')")
        self.move("lessons")
        page.wait("the reason", "() => document.querySelectorAll('.lessons .values p').length >= 2")

    def watches(self):
        page = self.page
        self.push("Watch")
        page.wait("the runs", "() => document.querySelectorAll('.run .open').length >= 1")
        self.reach("a run", lambda found: found["tag"] == "BUTTON" and found["words"][1] == page.run("() => document.querySelector('.run .open').textContent"))
        page.press("Enter")
        page.wait("its state", "() => document.querySelector('.watch .state')?.textContent")

    def sets(self):
        page = self.page
        self.push("⚙")
        page.wait("the dialog", "() => document.querySelector('dialog[open]')")
        page.press("Escape")
        page.wait("no dialog", "() => !document.querySelector('dialog[open]')")
