"""Checks of how the page looks and sounds, by its settings, and of what a phone needs to install it."""

import json

from browser import Fault
from layout import FAULTS, report

SET = """(name, value) => {
    const select = [...document.querySelectorAll("dialog[open] .field")].find((field) => field.firstChild.textContent === name).querySelector("select");
    select.value = value;
    select.dispatchEvent(new Event("change"));
}"""
FELT = "() => getComputedStyle(document.querySelector('.board .ground')).fill"
# English in the page: buttons, headings and sentences with two words or more.
ENGLISH = """() => [...document.querySelectorAll("button, h2, h3, p, label > span, summary, th, option")]
    .filter((part) => part.checkVisibility() && !part.closest("form.card") && !part.dataset.run)
    .map(({ textContent }) => textContent).filter((text) => /[A-Za-z]{3,} [a-z]{2,}/.test(text))"""
# Counts the sounds, and makes none.
SILENT = """() => {
    window.clicks = 0;
    const parameter = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
    const part = { frequency: parameter, gain: parameter, connect: (next) => next, start() { window.clicks += 1; }, stop() {} };
    window.AudioContext = class { currentTime = 0; createOscillator() { return part; } createGain() { return part; } };
}"""
# A browser that keeps nothing, from its start on.
DENIED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });"


def check(holds, what):
    if not holds:
        raise Fault(what)


class Appearance:
    """The checks, on an open page of any width."""

    def __init__(self, page, address):
        self.page, self.address = page, address

    def all(self):
        self.can_be_installed()
        self.has_settings()
        self.clicks()
        self.needs_no_storage()
        self.speaks_japanese()
        check(not self.page.faults, "; ".join(self.page.faults))

    def starts(self):
        self.page.go("about:blank", self.address)
        self.page.go(f"http://{self.address}/#play", self.address)
        self.page.wait("the board", "() => document.querySelector('.play .board .square')")

    def can_be_installed(self):
        """The browser takes the manifest, and every icon of it is a picture of its size."""
        found = self.page.call("Page.getAppManifest")
        check(not found["errors"] and found["url"].endswith("manifest.webmanifest"), f"the manifest: {found}")
        faults = [error["errorId"] for error in self.page.call("Page.getInstallabilityErrors")["installabilityErrors"]]
        check(set(faults) <= {"in-incognito"}, f"the page cannot be installed: {faults}")
        for icon in json.loads(found["data"])["icons"]:
            width = self.page.run("async (source) => { const image = new Image(); image.src = source; await image.decode(); return image.naturalWidth; }", icon["src"])
            check(width > 0 and icon["sizes"] in ("any", f"{width}x{width}"), f"{icon}: {width} pixels")

    def has_settings(self):
        """Settings act at once, and last."""
        page = self.page
        self.starts()
        usual = page.run(FELT)
        page.push("⚙")
        report(page.run(FAULTS, "dialog[open]"), "the settings")
        colours = {usual}
        for board in ("blue", "wood", "slate", "contrast"):
            page.run(SET, "Board", board)
            colours.add(page.run(FELT))
        check(len(colours) == 5, f"the boards have the colours {colours}")
        page.run(SET, "Coordinates", "off")
        hidden = "() => getComputedStyle(document.querySelector('.board .axis')).visibility"
        check(page.run(hidden) == "hidden", "the coordinates are shown")
        page.run(SET, "Colours", "dark")
        check(page.run("() => document.querySelector('meta[name=theme-color]').content") == "#151917", "the theme colour is not that of the page")
        self.starts()
        check(page.run(FELT) != usual and page.run(hidden) == "hidden", "a visit has lost the settings")
        page.push("⚙")
        for name, value in (("Board", "green"), ("Coordinates", "on"), ("Colours", "auto")):
            page.run(SET, name, value)
        page.push("Close")

    def clicks(self):
        """A move makes a sound only if that is set."""
        page = self.page
        page.run(SILENT)
        page.push("Analyse")
        page.wait("the view", "() => document.querySelector('.analyse .board .square')")
        page.push("Paste or open")
        page.run("() => { document.querySelector('#paste-text').value = 'f5d6c3'; }")
        page.push("Read")
        page.wait("a game", "() => document.querySelectorAll('.branches .move').length === 3")
        self.plays(4)
        check(page.run("() => window.clicks") == 0, "a move makes a sound")
        page.push("⚙")
        page.run(SET, "Sound of a move", "on")
        page.push("Close")
        self.plays(5)
        check(page.run("() => window.clicks") == 2, "the setting or a move makes no sound")
        page.push("⚙")
        page.run(SET, "Sound of a move", "off")
        page.push("Close")

    def plays(self, count):
        self.page.click(".analyse .board .can")
        self.page.wait(f"{count} moves", "(count) => document.querySelectorAll('.branches .move').length === count", count)

    def needs_no_storage(self):
        """Without storage the page works, and a language stays for the visit."""
        page = self.page
        script = page.call("Page.addScriptToEvaluateOnNewDocument", {"source": DENIED})["identifier"]
        self.starts()
        page.push("⚙")
        page.run(SET, "Board", "blue")
        page.run(SET, "Language", "ja")
        page.wait("Japanese", "() => document.readyState === 'complete' && document.querySelector('#settings')?.title === '設定'")
        page.call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
        self.starts()
        check(page.run("() => document.querySelector('#settings').title") == "Settings", "the language is still Japanese")

    def speaks_japanese(self):
        """A browser that prefers Japanese gets it in every view, and all of it fits; the setting wins."""
        page = self.page
        page.call("Emulation.setUserAgentOverride", {"userAgent": page.run("() => navigator.userAgent"), "acceptLanguage": "ja-JP,en"})
        width, height = page.width, page.height
        for size in ((390, 844), (1280, 800)):
            page.resize(*size)
            for view, ready in (("play", ".play .board .can"), ("analyse", ".analyse .opinion select"), ("watch", ".watch .run")):
                page.go("about:blank", self.address)
                page.go(f"http://{self.address}/#{view}", self.address)
                page.wait(f"{view} in Japanese", "(ready) => document.documentElement?.lang === 'ja' && document.querySelector(ready)", ready)
                page.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                report(page.run(FAULTS, "body"), f"{view} in Japanese at {size[0]} pixels")
                for word in {"play": ["新規対局", "⚙"], "analyse": ["貼り付け・開く"]}.get(view, []):
                    page.push(word)
                    report(page.run(FAULTS, "dialog[open]"), f"{word} at {size[0]} pixels")
                    page.push("閉じる")
                english = page.run(ENGLISH)
                check(not english, f"{view} has English: {english}")
        page.resize(width, height)
        page.push("⚙")
        page.run(SET, "言語", "en")
        page.wait("English", "() => document.readyState === 'complete' && document.documentElement.lang === 'en' && document.querySelector('.watch .run')")
        page.call("Emulation.setUserAgentOverride", {"userAgent": page.run("() => navigator.userAgent"), "acceptLanguage": "en-US"})
        page.run("() => localStorage.removeItem('outflank.settings')")
