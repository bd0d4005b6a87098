"""Checks of single behaviours, each of which was wrong once: what a reload keeps, what is saved, which
curves are drawn, what a stopped review says, and how buttons wait."""

import json
import re

from browser import Fault

# Names of curves by method, as the learners write them, and a method that the page does not know.
CURVES = {
    "stages": ("stage/discs", "stage/sigma", "stage/right", "stage/rounds", "stage/seconds"),
    "td": ("stage/discs", "stage/error", "stage/seconds"),
    "endgame": ("stage/round", "pattern_error/training", "pattern_error/10_empties", "pattern_error/20_empties"),
    "ntuple": ("stage/round", "ntuple_error/training", "ntuple_error/10_empties", "ntuple_error/20_empties"),
    "novel": ("novel/thing", "another"),
    "cluster": ("workers/count",),
}
# Curves that have no chart: the table of workers has them.
TABLED = {"cluster": ("workers/one/games_per_second", "workers/one/games")}
# A game in GGF with the names of its players.
GGF = "(;GM[Othello]PC[x]PB[Ada]PW[Bo]RE[?]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[D6];)"
# A run of its own state, without a process: the list of runs is answered by the page itself.
RUN_STUB = """(id) => {
    const real = window.fetch;
    window.stub = { state: "running", posts: [], restore: () => { window.fetch = real; } };
    window.fetch = async (path, options) => {
        if (path.startsWith("/api/training/") && options?.method === "POST") {
            window.stub.posts.push(path);
            return Response.json({ run: id });
        }
        const answer = await real(path, options);
        if (path !== "/api/runs") return answer;
        const { runs } = await answer.json();
        const { state } = window.stub;
        for (const run of runs) if (run.id === id) Object.assign(run, { state, controlled: state === "running" });
        return Response.json({ runs });
    };
}"""
# Keeps the requests to some addresses with their signals.
SPY = """() => {
    const real = window.fetch;
    window.spied = [];
    window.fetch = (path, options) => {
        window.spied.push({ path, signal: options?.signal, body: options?.body });
        return real(path, options);
    };
}"""
MOVES = "() => document.querySelectorAll('.branches .move').length"
CHOICE = "(selector, value) => { const select = document.querySelector(selector); select.value = value; select.dispatchEvent(new Event('change')); }"


def check(holds, what):
    if not holds:
        raise Fault(what)


def write_runs(folder):
    """Runs of methods without a net, as their curves alone."""
    for run, names in CURVES.items():
        (folder / run).mkdir()
        # Curves may be copied alone.
        if run != "novel":
            (folder / run / "config.toml").write_text('board = "8x8"\ngoal = "most"\n')
        names = (*names, *TABLED.get(run, ()), "speed/positions_per_second")
        lines = [{"positions": 1000 * n, "time": 1_795_000_000 + 10 * n, "version": 1,
                  "values": {name: 10.0 / n for name in names}} for n in range(1, 6)]
        (folder / run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


class Details:
    """The checks, on a page of a desk's width that offers training."""

    def __init__(self, page, address, game):
        self.page, self.address, self.game = page, address, game

    def all(self):
        self.page.go(f"http://{self.address}/", self.address)
        self.page.wait("the board", "() => document.querySelector('.board .can')")
        self.keeps_a_decided_game()
        self.reads_a_dropped_file()
        self.orders_hints()
        self.tries_during_a_review()
        self.pauses_while_one_plays()
        self.says_how_much_was_reviewed()
        self.saves_the_whole_game()
        self.keeps_branches()
        self.paints()
        self.draws_every_curve()
        self.compares_workers()
        self.waits_for_a_stop()
        check(not self.page.faults, "; ".join(self.page.faults))

    def reload(self, view):
        self.page.call("Page.reload")
        self.page.wait("the reloaded page", "(view) => document.readyState === 'complete' && document.querySelector(view)", view)

    def text(self, selector):
        return self.page.run("(selector) => document.querySelector(selector)?.textContent ?? ''", selector)

    def keeps_a_decided_game(self):
        """A reload keeps the clock, and a resignation."""
        page = self.page
        page.push("New game")
        check("Elo" in self.text("dialog[open]"), "the ratings of the levels are not explained")
        page.run(CHOICE, "dialog[open] label:nth-of-type(1) select", "random")
        page.run(CHOICE, "dialog[open] label:nth-of-type(8) select", "5")
        page.push("Start")
        page.wait("a new game", "() => document.querySelector('.player.black .clock').textContent === '5:00'")
        page.click(".play .board .can")
        page.wait("a running clock", "() => document.querySelectorAll('.sheet .move').length === 2 && document.querySelector('.player.black .clock').textContent === '4:59'")
        page.push("Resign")
        self.reload(".play .sheet .move")
        page.wait("the resignation", "() => document.querySelector('.status').textContent.includes('resigns')")
        check(self.text(".player.black .clock") == "4:59", "a reload has changed the clock")

    def reads_a_dropped_file(self):
        """A file may be dropped anywhere, and a game pasted; the names of the players are shown."""
        self.page.run("""(text) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "game.ggf"));
            const event = (kind) => new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
            if (document.querySelector(".status").dispatchEvent(event("dragover"))) throw new Error("the page takes no files");
            document.querySelector(".status").dispatchEvent(event("drop"));
        }""", GGF)
        self.page.wait("the dropped game", f"() => ({MOVES})() === 2")
        check("Ada" in self.text(".named.black") and "Bo" in self.text(".named.white"), "the players have no names")
        self.page.push("Play")
        self.page.run("""() => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "f5d6c3");
            document.querySelector(".status").dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""")
        self.page.wait("the pasted game", f"() => ({MOVES})() === 3")

    def orders_hints(self):
        """Marked is the first move; a value that few visits carry is in brackets."""
        words = self.page.run("""async () => {
            const { ranked, squareHints, ruleWord } = await import("./words.js");
            const hint = (move, score, visits) => ({ move, score, visits, win: null, bound: "estimated", source: "net" });
            const { hints } = ranked({ hints: [hint("a4", 12.5, 90), hint("f2", 15.3, 3), hint("c1", 2, 60)] });
            const shown = squareHints(hints, "white");
            return [hints.map(({ move }) => move).join(" "), shown.get("f2").text, shown.get("a4").text, ruleWord(hints)];
        }""")
        order, thin, best, rule = words
        check(order == "a4 c1 f2", f"the hints are in the order {order}")
        check(thin == "(−15)" and best == "−12.5", f"the values are {best} and {thin}")
        check("searched most" in rule and "brackets" in rule, f"the rule is {rule}")

    def opens(self, player):
        """Opens the game for analysis by a player."""
        page = self.page
        page.push("Analyse")
        page.wait("the opinions", "() => document.querySelector('.opinion select')")
        page.run(CHOICE, ".opinion select", player)
        page.push("Paste or open")
        page.run("(text) => { document.querySelector('#paste-text').value = text; }", self.game)
        page.push("Read")
        page.wait("the game", f"() => ({MOVES})() === 60")

    def button(self, word):
        return self.page.run("(word) => [...document.querySelectorAll('button')].some((button) => button.textContent === word && button.checkVisibility())", word)

    def tries_during_a_review(self):
        """Trying a move asks the server, which must not end the review. A fast net would end it first."""
        page = self.page
        page.run(SPY)
        self.opens("net1600")
        page.wait("a move whose value must be asked for", """async () => {
            const hints = () => window.spied.filter(({ path }) => path === "/api/hints").length;
            const before = hints();
            for (const mistake of [...document.querySelectorAll(".mistakes button")]) {
                mistake.click();
                for (const square of [...document.querySelectorAll(".analyse .board .can")]) {
                    square.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                    await new Promise((done) => setTimeout(done, 100));
                    if (hints() > before) return true;
                }
            }
            return false;
        }""", seconds=60)
        before = page.run("() => document.querySelector('progress').value")
        page.wait("more of the review", "(before) => document.querySelector('progress').value > before", before, seconds=60)
        page.push("Leave")

    def pauses_while_one_plays(self):
        """In a game the review waits, and it goes on afterwards."""
        page = self.page
        reviews = "() => window.spied.filter(({ path }) => path === '/api/review').map(({ signal }) => signal.aborted)"
        check(page.run(reviews) == [False], "the review does not go on")
        page.push("Play")
        page.wait("no review", f"() => ({reviews})().every(Boolean)")
        page.push("Watch")
        page.wait("the review again", f"() => ({reviews})().join() === 'true,false'")
        page.push("Play")
        page.wait("no review", f"() => ({reviews})().every(Boolean)")
        page.push("Analyse")
        page.wait("the review again", f"() => ({reviews})().join() === 'true,true,false'")
        self.reload(".analyse .totals div")
        check(self.button("Stop"), "a reload has ended the review")
        page.run(SPY)

    def says_how_much_was_reviewed(self):
        """A stopped review says how many moves it has seen, and the graph has gaps."""
        page = self.page
        page.push("Stop")
        looked = re.search(r"(\d+) of 60 moves", self.text(".analyse .right"))
        check(looked and 0 < int(looked[1]) < 60, "the page does not say how many moves were looked at")
        check(self.button("Continue"), "a stopped review cannot go on")
        page.run("() => document.querySelectorAll('.branches .move')[4].click()")
        page.wait("a gap in the graph", "() => document.querySelector('.graph .value').getAttribute('d').split('M').length >= 3", seconds=60)
        page.wait("one view of values", """() => {
            const caption = /for black: (\\S+)\\.$/.exec(document.querySelector(".analyse .status").textContent)?.[1];
            const first = document.querySelector(".opinion tbody td:nth-child(2)")?.textContent;
            const best = document.querySelector(".analyse .board .best .hint")?.textContent;
            return caption && caption === first && first === best;
        }""")

    def saves_the_whole_game(self):
        """At move 31 of 60 the whole game comes first, also without a clipboard, and GGF gets the values."""
        page = self.page
        page.run("() => document.querySelectorAll('.branches .move')[30].click()")
        page.run("""() => {
            Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
            document.execCommand = () => { window.copied = document.activeElement.value; return true; };
        }""")
        for which, moves in (("the whole game (60 moves)", 60), ("up to here (31 moves)", 31)):
            page.push("Save")
            page.wait("the menu", "() => document.querySelector('.menu button')")
            page.push(f"Copy {which}")
            page.wait(f"{moves} moves", "(length) => window.copied?.length === length", 2 * moves)
        page.push("Save")
        page.push("Save the whole game (60 moves) as GGF")
        body = page.wait("the export", "() => JSON.parse(window.spied.findLast(({ path }) => path === '/api/export').body).format === 'ggf' && window.spied.at(-1).body")
        values = json.loads(body)["values"]
        check(len(values) == 60 and values[-1] is not None and None in values, f"the values are {values}")

    def keeps_branches(self):
        """A reload inside a branch keeps the game, what is known of it, and the opinions."""
        page = self.page
        page.run(CHOICE, ".opinion select", "own1")
        page.push("Another opinion")
        shown = page.run("() => document.querySelector('.branches [aria-current]').textContent")
        page.run("""() => {
            const next = document.querySelector(".branches [aria-current]").nextElementSibling.textContent.slice(-2);
            [...document.querySelectorAll(".analyse .board .can")].find((square) => square.dataset.square !== next)
                .dispatchEvent(new MouseEvent("click", { bubbles: true }));
        }""")
        page.wait("a branch", f"(shown) => ({MOVES})() === 61 && document.querySelector('.branches [aria-current]').textContent !== shown", shown)
        before = page.run("() => [document.querySelector('.branches').textContent, document.querySelector('.branches [aria-current]').textContent]")
        page.wait("two opinions", "() => [...document.querySelectorAll('.opinion tbody')].filter((body) => body.children.length).length === 2", seconds=60)
        players = page.run("() => [...document.querySelectorAll('.opinion select')].map((select) => select.value)")
        self.reload(".analyse .branches .move")
        page.wait("the branch", "(before) => document.querySelector('.branches [aria-current]')?.textContent === before", before[1])
        check(self.text(".branches") == before[0], "a reload has changed the moves")
        check(page.run("() => [...document.querySelectorAll('.opinion select')].map((select) => select.value)") == players, "a reload has lost an opinion")
        # The net's review was kept as well.
        page.run(CHOICE, ".opinion select", "net1600")
        page.run("() => document.querySelector('.branches .move').click()")
        page.wait("the kept review", "() => document.querySelector('.totals div')")
        passes = page.run("async (moves) => { const { plies, over } = await (await fetch('/api/line', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ moves }) })).json(); return plies.filter((ply) => ply.passed).length; }", self.game)
        check(page.run("() => document.querySelectorAll('.branches > div .pass').length") == passes, f"the list does not have the {passes} passes")

    def paints(self):
        """The editor's brush draws over squares."""
        page = self.page
        page.push("Edit board")
        page.push("White")
        page.run("() => document.querySelector('.analyse .board').scrollIntoView({ block: 'center' })")
        centre = "(square) => { const { x, y, width, height } = document.querySelector(`.analyse .board [data-square=${square}] .ground`).getBoundingClientRect(); return [x + width / 2, y + height / 2]; }"
        page.drag(*(page.run(centre, square) for square in ("a1", "b1", "c1", "d1")))
        drawn = page.run("() => ['a1', 'b1', 'c1', 'd1'].map((square) => document.querySelector(`.analyse .board [data-square=${square}]`).getAttribute('aria-label'))")
        check(all("white" in label for label in drawn), f"the brush has drawn {drawn}")
        page.push("Cancel")

    def draws_every_curve(self):
        """Every curve that a run writes has a chart with a sentence, whether the page knows it or not."""
        page = self.page
        page.push("Watch")
        for run, names in CURVES.items():
            page.wait(run, "(run) => [...document.querySelectorAll('.run .open')].find((button) => button.textContent === run)", run)
            page.run("(run) => [...document.querySelectorAll('.run .open')].find((button) => button.textContent === run).click()", run)
            page.wait(f"the curves of {run}", "(run, count) => document.querySelector('.watch .right h2').textContent === run && document.querySelectorAll('.chart path.curve').length === count", run, len(names) + 1)
            silent = page.run("() => [...document.querySelectorAll('.chart')].filter((chart) => !chart.querySelector('p').textContent).map((chart) => chart.querySelector('h3').textContent)")
            check(not silent, f"{run}: charts without a sentence: {silent}")
            check("No game" in self.text(".watch .right"), f"{run}: nothing is said about its games")
            config = "This run has none." if run == "novel" else 'board = "8x8"'
            page.wait(f"the configuration of {run}", "(text) => document.querySelector('.watch pre').textContent.includes(text)", config)
            self.counts_stages(run, "stage/seconds" in names)

    def counts_stages(self, run, has_stages):
        """The axes say what a run counts: stages, steps, or only its reports."""
        axes = self.page.run("() => [...document.querySelector('.watch .right select').options].map(({ textContent }) => textContent)")
        check(axes == ["Minutes", "Positions"] + ["Stages"] * has_stages, f"{run}: the axes are {axes}")
        if not has_stages:
            return
        self.page.run(CHOICE, ".watch .right select", "steps")
        label = self.page.run("() => document.querySelector('.chart svg').ariaLabel ?? document.querySelector('.chart svg').getAttribute('aria-label')")
        check("by stages" in label and "Stages5" in self.text(".facts"), f"{run}: {label}, {self.text('.facts')}")

    def compares_workers(self):
        """The workers of a run stay when another run is in front of it."""
        page = self.page
        page.run("() => [...document.querySelectorAll('.run .open')].find((button) => button.textContent === 'novel').click()")
        page.wait("another run", "() => document.querySelector('.watch .right h2').textContent === 'novel' && !document.querySelector('.workers')")
        page.run("() => document.querySelector('.run input[aria-label=\"Draw cluster too\"]').click()")
        page.wait("its workers", "() => document.querySelector('.workers h2')?.textContent.startsWith('Workers of cluster')")

    def waits_for_a_stop(self):
        """Stop is one request; a finished run is not resumed, a killed one is."""
        page = self.page
        page.run(RUN_STUB, "novel")
        stop = "() => [...document.querySelectorAll('.watch header button')].find((button) => button.textContent.startsWith('Stop'))"
        page.wait("the button", stop)
        page.run(f"() => {{ const button = ({stop})(); button.click(); button.click(); }}")
        page.wait("the waiting button", f"() => ({stop})()?.textContent === 'Stopping …' && ({stop})().disabled")
        check(page.run("() => window.stub.posts.join()") == "/api/training/stop", "Stop was sent more than once")
        page.run("() => { window.stub.state = 'finished'; }")
        page.wait("the end", f"() => document.querySelector('.watch .state').textContent === 'finished' && !({stop})()")
        check(not self.button("Resume"), "a finished run can be resumed")
        page.run("() => { window.stub.state = 'killed'; }")
        page.wait("a killed run", "() => document.querySelector('.watch .state').textContent === 'killed'")
        page.push("Resume")
        page.wait("what came of it", "() => document.querySelector('#notice:not([hidden])')?.textContent.includes('did not go on')")
        page.run("() => window.stub.restore()")
