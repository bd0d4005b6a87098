"""A Chromium without a window, driven through pipes by the DevTools protocol. It needs only python3.

Everything that goes wrong in a page is kept in `Page.faults`: errors in the console, exceptions, and
requests to other hosts.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell")
# Seconds to wait for an answer of the browser, or for something to appear.
PATIENCE = 30


def installed():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Fault(Exception):
    """A check failed."""


class Ended(Fault):
    """The browser has ended by itself, which says nothing about the page."""


class Browser:
    """One Chromium with a profile of its own."""

    def __init__(self, program):
        self._profile = tempfile.mkdtemp(prefix="outflank-chromium-")
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        # Chromium reads commands from 3 and writes answers to 4. The copies have high numbers, so
        # that neither is overwritten by the other.
        ends = [os.dup(to_child), os.dup(from_child)]
        high = [self._high(end) for end in ends]
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                 "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 # Containers often have a /dev/shm that is too small for a page.
                 "--disable-dev-shm-usage",
                 "--hide-scrollbars", f"--user-data-dir={self._profile}", "about:blank"]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen([program, *flags], preexec_fn=place, close_fds=False,
                                         stdout=subprocess.DEVNULL, stderr=self._said)
        for end in (to_child, from_child, *ends, *high):
            os.close(end)
        self._buffer = b""
        self._next = 0
        self._answers = {}
        self._pages = {}

    @staticmethod
    def _high(end):
        import fcntl
        return fcntl.fcntl(end, fcntl.F_DUPFD, 60)

    def page(self, width, height):
        """Opens a page of this size; below 600 pixels it is a phone's."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target, width, height)
        self._pages[session] = page
        page.begin()
        return page

    def call(self, method, params=None, session=None):
        """Sends a command and waits for its answer."""
        self._next += 1
        number = self._next
        command = {"id": number, "method": method, "params": params or {}}
        if session:
            command["sessionId"] = session
        try:
            os.write(self._write, json.dumps(command).encode() + b"\0")
        except BrokenPipeError:
            raise self._ended() from None
        end = time.monotonic() + PATIENCE
        while number not in self._answers:
            if time.monotonic() > end:
                raise Fault(f"the browser does not answer {method}")
            self.listen(0.5)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Fault(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def listen(self, seconds):
        """Takes the messages that come within some seconds."""
        if not select.select([self._read], [], [], seconds)[0]:
            return
        read = os.read(self._read, 1 << 20)
        if not read:
            raise self._ended()
        *messages, self._buffer = (self._buffer + read).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self._pages:
                self._pages[message["sessionId"]].happened(message["method"], message["params"])

    def _ended(self):
        """What is known of a browser that is gone."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = "none yet"
        self._said.seek(0)
        last = self._said.read().decode(errors="replace").splitlines()[-5:]
        return Ended("\n  ".join([f"the browser has ended; exit code: {code}; its last lines:", *last]))

    def close(self):
        """Ends the browser and removes its profile."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._said.close()
        shutil.rmtree(self._profile, ignore_errors=True)


class Page:
    """A page of the browser."""

    def __init__(self, browser, session, target, width, height):
        self._browser = browser
        self._session = session
        self._target = target
        self.width, self.height = width, height
        self.faults = []
        self.host = None
        # A failed request is an error in the console. Checks of errors set this.
        self.expects_failures = False

    def begin(self):
        """Switches on what the checks need."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(self.width, self.height)

    def resize(self, width, height):
        """Sets the size; below 600 pixels it is a phone's."""
        self.width, self.height = width, height
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": self.is_phone}
        self.call("Emulation.setDeviceMetricsOverride", size)
        self.call("Emulation.setTouchEmulationEnabled", {"enabled": self.is_phone})

    @property
    def is_phone(self):
        return self.width < 600

    def call(self, method, params=None):
        """Sends a command to the page."""
        return self._browser.call(method, params, self._session)

    def happened(self, method, params):
        """Keeps what is wrong."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.faults.append(f"console: {[value.get('value') for value in params['args']]}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            if not (self.expects_failures and entry["source"] == "network"):
                self.faults.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            own = (f"http://{self.host}/", "blob:", "data:", "about:")
            if not url.startswith(own):
                self.faults.append(f"a request to {url}")

    def go(self, url, host):
        """Opens an address."""
        self.host = host
        self.call("Page.navigate", {"url": url})

    def run(self, script, *values):
        """The result of a script's function, called with values. An element becomes true."""
        called = f"await ({script})({','.join(map(json.dumps, values))})"
        expression = f"(async () => {{ const found = {called}; return found instanceof Node || found; }})()"
        answer = self.call("Runtime.evaluate", {
            "expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Fault(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, what, script, *values, seconds=PATIENCE):
        """Waits until a script's function returns something true, and returns it.

        It may fail as long as the page has not all that it asks about.
        """
        end = time.monotonic() + seconds
        failure = ""
        while time.monotonic() < end:
            try:
                found = self.run(script, *values)
            except Fault as fault:
                found, failure = None, f"; at last {fault}"
            if found:
                return found
            self._browser.listen(0.02)
        self.shot(os.path.join(tempfile.gettempdir(), "outflank-web-fault.png"))
        raise Fault(f"waited {seconds} s for {what}{failure}")

    def press(self, key):
        """Presses a key."""
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27, "Tab": 9}
        params = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if len(key) == 1:
            params["text"] = key
        elif key == "Enter":
            params["text"] = "\r"
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **params})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **params})

    def click(self, selector):
        """Clicks, or on a phone taps, in the middle of an element.

        What still loads may move the element away from the click, so one that missed is made again.
        """
        for _ in range(5):
            self._click_once(selector)
            for _ in range(10):
                if self.run("() => window.clickMet ?? true"):
                    return
                self._browser.listen(0.02)

    def _click_once(self, selector):
        point = self.run("""(selector) => {
            const element = document.querySelector(selector);
            if (!element) return null;
            element.scrollIntoView({ block: "nearest" });
            window.clickMet = false;
            element.addEventListener("click", () => { window.clickMet = true; }, { capture: true, once: true });
            const box = element.getBoundingClientRect();
            return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        }""", selector)
        if point is None:
            raise Fault(f"there is no {selector}")
        if self.is_phone:
            self.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
            self.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            return
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "button": "left", "clickCount": 1, **point})

    def drag(self, *points):
        """Draws with the left button through points."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 1)]
        for kind, (x, y) in [*zip(kinds, points), ("mouseReleased", points[-1])]:
            self.call("Input.dispatchMouseEvent", {"type": kind, "button": "left", "buttons": 1, "clickCount": 1, "x": x, "y": y})

    def drop(self, selector, paths):
        """Drops files or folders of this machine on an element."""
        x, y = self.run("(selector) => { const box = document.querySelector(selector).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }", selector)
        data = {"items": [], "files": paths, "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})

    def push(self, word):
        """Clicks the visible button with this word."""
        self.wait(f"a button `{word}`", """(word) => {
            for (const old of document.querySelectorAll("[data-pushed]")) delete old.dataset.pushed;
            const found = [...document.querySelectorAll("button, summary, nav a")]
                .filter((button) => button.textContent.trim() === word && button.checkVisibility() && !button.disabled);
            // A dialog lies over what has the same word below it.
            const top = found.find((button) => button.closest("dialog")) ?? found[0];
            if (top) top.dataset.pushed = "yes";
            return Boolean(top);
        }""", word)
        self.click("[data-pushed]")

    def shot(self, path, whole=False):
        """Saves a picture of the page."""
        picture = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def close(self):
        """Closes the page."""
        self._browser.call("Target.closeTarget", {"targetId": self._target})
