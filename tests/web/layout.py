"""Measures every view at several widths: nothing is wider than the window, and nothing that can be
clicked lies below something else."""

from browser import Fault

# A phone, a desk at 200 %, a desk and a large screen.
SIZES = ((390, 844), (640, 400), (1280, 800), (2560, 1300))
VIEWS = ("Play", "Analyse", "Library", "Lessons", "Watch")
# The dialogs, by their view and the button that opens them.
DIALOGS = {"Play": "New game", "Analyse": "Paste or open"}

# What is wrong with the page as it is: a list of sentences.
FAULTS = """(root) => {
    const found = [];
    // A message lies over the page for some seconds.
    document.querySelector("#notice").hidden = true;
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) found.push(`the page is ${wide} pixels wide`);
    const clickable = "button, a[href], select, input, textarea, summary, .board .can";
    for (const element of document.querySelector(root).querySelectorAll(clickable)) {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".unseen")) continue;
        element.scrollIntoView({ block: "center", behavior: "instant" });
        const box = element.getBoundingClientRect();
        const name = `${element.tagName} ${(element.ariaLabel || element.textContent || element.type || "").trim().slice(0, 40)}`;
        if (box.left < -1 || box.right > innerWidth + 1) found.push(`${name} reaches from ${box.left} to ${box.right}`);
        const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const label = element.closest("label");
        if (!top || !(element.contains(top) || label?.contains(top))) found.push(`${name} is covered by ${top?.tagName} ${top?.className?.baseVal ?? top?.className ?? ""}`);
    }
    scrollTo(0, 0);
    return found;
}"""


def measure(page):
    """Fails if a view is wrong at some width. The page must offer training."""
    for width, height in SIZES:
        page.resize(width, height)
        for view in VIEWS:
            page.push(view)
            ready = {"Play": ".play .board", "Analyse": ".analyse .move", "Library": ".library .filters",
                     "Lessons": ".lessons .card", "Watch": ".watch .chart"}[view]
            page.wait(f"{view} at {width}", "(ready) => document.querySelector(ready)?.checkVisibility()", ready)
            # Charts are drawn for the new width in the next frame.
            page.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            report(page.run(FAULTS, "body"), f"{view} at {width} pixels")
            if view == "Analyse":
                page.push("Save")
                report(page.run(FAULTS, ".menu"), f"Save at {width} pixels")
                page.push("Save")
            if view in DIALOGS:
                page.push(DIALOGS[view])
                report(page.run(FAULTS, "dialog[open]"), f"{DIALOGS[view]} at {width} pixels")
                page.push("Close")


def report(faults, where):
    if faults:
        raise Fault(f"{where}: " + "; ".join(faults))
