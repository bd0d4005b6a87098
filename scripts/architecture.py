#!/usr/bin/env python3
"""Draws docs/images/architecture.svg, the map of the code, from the code itself.

Rooms are the folders and files below `src`. Their floors come from the table that
tests/layering/checker.rs checks, their uses from the paths `crate::ROOM` in their files. Tests count
neither as uses nor as lines.

    scripts/architecture.py            # writes the picture
    scripts/architecture.py --check    # ends with 1 if the picture is out of date
"""

import argparse
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/images/architecture.svg"

# What each room is for, in at most five words.
PURPOSES = {
    "game": "rules of five boards",
    "choices": "enums with names",
    "keys": "options and their keys",
    "model": "models as plain data",
    "eval": "evaluators without search",
    "predict": "questions of a tree search",
    "search": "alpha-beta, solver, MCTS",
    "net": "networks, play and training",
    "store": "files of runs, games, books",
    "train": "self-play, replay, learners",
    "players": "all that choose moves",
    "arena": "matches, ladders, ratings",
    "pipeline": "threads of a training run",
    "telemetry": "curves and progress",
    "config": "settings of a run",
    "cli": "subcommands",
    "protocol": "GTP, NBoard, JSON",
    "web": "the page in a browser",
}
# The column of each room, in widths of a column.
COLUMNS = {"keys": 0.5, "choices": 1.5, "game": 2.5, "model": 2, "eval": 2, "predict": 2, "search": 1.5, "net": 2.5}
COLUMNS |= {"store": 3, "players": 1, "train": 2, "arena": 1, "telemetry": 1, "pipeline": 2, "config": 3}
COLUMNS |= {"protocol": 0, "web": 1, "cli": 2}
NOT_ROOMS = ("main", "lib")
# A count of lines stays in the picture while it is off by at most this share.
TOLERANCE = 0.1

# Sizes in pixels.
WIDTH, HEIGHT = 200, 56
COLUMN, ROW = 226, 92
LEFT, TOP, FOOT = 52, 34, 86


def table(text, name):
    """The tuples of a constant table in checker.rs."""
    body = re.search(rf"const {name}: [^=]*= &\[(.*?)\];", text, re.S).group(1)
    return re.findall(r'\("(\w+)", "?(\w+)"?\)', body)


def without_comments(text):
    """Code whose comments, and strings with braces or paths, are empty."""
    token = r'//[^\n]*|/\*.*?\*/|r#".*?"#|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\''
    return re.sub(token, lambda found: '""' if found[0][0] in 'r"' else " ", text, flags=re.S)


def without_tests(code):
    """Code without its items of `#[cfg(test)]`, and the names of modules that are for tests only."""
    kept, modules = "", []
    while found := re.search(r"#\[cfg\(test\)\]", code):
        kept, code = kept + code[: found.start()], code[found.end() :]
        depth, end = 0, len(code)
        for place, mark in enumerate(code):
            depth += (mark == "{") - (mark == "}")
            if depth == 0 and mark in ";}":
                end = place + 1
                break
        if module := re.search(r"\bmod (\w+);$", code[:end]):
            modules.append(module[1])
        code = code[end:]
    return kept + code, modules


def uses(code, macros):
    """The rooms that a file names by `crate::`."""
    rooms = set()
    for rest in re.split(r"\bcrate::", code)[1:]:
        if not rest.startswith("{"):
            rooms.add(re.match(r"\w+", rest)[0])
            continue
        depth, first = 0, True
        for word in re.findall(r"\w+|[{},]", rest):
            depth += (word == "{") - (word == "}")
            if depth == 0:
                break
            if depth == 1 and first and word != "{":
                rooms.add(word)
            first = word == "," or (depth == 1 and word == "{")
    return {macros.get(room, room) for room in rooms}


def read():
    """The rooms: floor, lines of code, uses; and the rooms of the feature `program`."""
    checker = (ROOT / "tests/layering/checker.rs").read_text()
    floors = {name: int(floor) for name, floor in table(checker, "FLOORS") if name not in NOT_ROOMS}
    macros = dict(table(checker, "ROOT_MACROS"))
    lib = (ROOT / "src/lib.rs").read_text()
    program = set(re.findall(r'#\[cfg\(feature = "program"\)\]\s*pub mod (\w+);', lib))
    codes, tests, torch = {}, [], set()
    for file in sorted((ROOT / "src").rglob("*.rs")):
        if "tests" in file.parts or file.stem.endswith("tests"):
            continue
        text = file.read_text()
        if 'feature = "torch"' in text:
            torch.add(file)
        codes[file], modules = without_tests(without_comments(text))
        home = file.parent if file.stem in ("mod", "lib", "main") else file.with_suffix("")
        tests += [home / module for module in modules]
    rooms = {name: {"floor": floor, "lines": 0, "uses": set(), "torch": False} for name, floor in floors.items()}
    for file, code in codes.items():
        name = file.relative_to(ROOT / "src").parts[0].removesuffix(".rs")
        if name in NOT_ROOMS or any(file.with_suffix("") == test or test in file.parents for test in tests):
            continue
        if name not in rooms or name not in PURPOSES or name not in COLUMNS:
            sys.exit(
                f"`{name}` needs a floor in tests/layering/checker.rs, and a purpose and a column in "
                "scripts/architecture.py"
            )
        rooms[name]["lines"] += sum(bool(line.strip()) for line in code.splitlines())
        rooms[name]["torch"] |= file in torch
        rooms[name]["uses"] |= uses(code, macros) & rooms.keys() - {name}
    return rooms, program


def reduced(rooms):
    """The uses that do not follow from other uses: the transitive reduction."""

    def reach(name):
        return set().union(*({used} | reach(used) for used in rooms[name]["uses"]))

    kept = []
    for name, room in rooms.items():
        others = {used: set().union(*(reach(other) for other in room["uses"] - {used})) for used in room["uses"]}
        kept += [(name, used) for used in sorted(room["uses"]) if used not in others[used]]
    return kept




def middle(name, rooms):
    """The middle of a room's box."""
    rows = max(room["floor"] for room in rooms.values())
    x = LEFT + COLUMN * COLUMNS[name] + WIDTH / 2
    return x, TOP + ROW * (rows - rooms[name]["floor"]) + HEIGHT / 2


def is_free(start, end, names, rooms):
    """Whether a straight arrow meets no box of the given rooms."""
    for name in names:
        x, y = middle(name, rooms)
        for part in range(101):
            along = part / 100
            here = [a + (b - a) * along for a, b in zip(start, end)]
            if abs(here[0] - x) < WIDTH / 2 + 4 and abs(here[1] - y) < HEIGHT / 2 + 4:
                return False
    return True


def arrow(user, used, arrows, rooms):
    """The points of the arrow from a room to a room that it uses."""
    (x, y), (to_x, to_y) = middle(user, rooms), middle(used, rooms)
    if y == to_y:
        side = WIDTH / 2 if x < to_x else -WIDTH / 2
        return [(x + side, y), (to_x - side, y)]

    def port(name, ends):
        """The arrow's place on an edge, among all arrows there, in the order of their other ends."""
        ends = sorted((end for end in ends if middle(end, rooms)[1] != middle(name, rooms)[1]), key=COLUMNS.get)
        return WIDTH * 0.8 * ((ends.index(used if name == user else user) + 0.5) / len(ends) - 0.5)

    down = x + port(user, [end for start, end in arrows if start == user])
    up = to_x + port(used, [start for start, end in arrows if end == used])
    start, end = (down, y + HEIGHT / 2), (up, to_y - HEIGHT / 2)
    if is_free(start, end, rooms.keys() - {user, used}, rooms):
        return [start, end]
    side = WIDTH / 2 if to_x < x else -WIDTH / 2
    return [(x, y + HEIGHT / 2), (x, to_y), (to_x + side, to_y)]


def draw(rooms, program):
    """The picture as text."""
    rows = max(room["floor"] for room in rooms.values()) + 1
    width = LEFT + COLUMN * max(COLUMNS.values()) + WIDTH + 24
    height = TOP + ROW * rows + FOOT - (ROW - HEIGHT)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#1f2328">',
        "<title>The rooms of the code, their floors and their uses</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
    ]

    def text(x, y, words, more=""):
        lines.append(f'<text x="{x:g}" y="{y:g}"{more}>{escape(words)}</text>')

    places = [middle(name, rooms) for name in program]
    left, right = min(x for x, _ in places) - WIDTH / 2 - 12, max(x for x, _ in places) + WIDTH / 2 + 12
    top, bottom = min(y for _, y in places) - HEIGHT / 2 - 24, max(y for _, y in places) + HEIGHT / 2 + 12
    lines.append(
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" rx="8" fill="#dbeafe"/>'
    )
    text(right - 10, top + 17, "feature program", ' text-anchor="end" fill="#1d4ed8"')
    for floor in range(rows):
        text(22, TOP + ROW * (rows - 1 - floor) + HEIGHT / 2 + 5, str(floor), ' text-anchor="middle" fill="#57606a"')
    arrows = reduced(rooms)
    for user, used in arrows:
        points = " ".join(f"{x:g},{y:g}" for x, y in arrow(user, used, arrows, rooms))
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="#57606a" stroke-width="1.3" marker-end="url(#tip)"/>'
        )
    for name, room in rooms.items():
        x, y = middle(name, rooms)
        lines.append(
            f'<rect x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
            'fill="#f6f8fa" stroke="#8c959f"/>'
        )
        text(x - WIDTH / 2 + 10, y - 7, name, ' font-weight="600" font-size="15"')
        count = f'{room["lines"]:,}'
        text(x + WIDTH / 2 - 10, y - 7, count, f' id="{name}" text-anchor="end" font-size="12" fill="#57606a"')
        text(x - WIDTH / 2 + 10, y + 15, PURPOSES[name], ' font-size="12"')
    torch = ", ".join(name for name, room in rooms.items() if room["torch"])
    notes = [
        "Left: the floor. In a box: the room (a folder of src, or choices.rs), its lines of code, its purpose.",
        "An arrow leads to a room that is used. A use that also follows from other arrows has none.",
        f"Lines are rounded, without tests and comments. Rooms with code of the feature torch: {torch}.",
    ]
    for number, note in enumerate(notes):
        text(22, height - FOOT + 30 + 20 * number, note, ' fill="#57606a"')
    return "\n".join([*lines, "</svg>", ""])


def rounded(lines, shown):
    """A count of lines for the picture: the one shown so far, if it is still about right."""
    if shown and abs(shown - lines) <= TOLERANCE * lines:
        return shown
    return round(lines, -2) if lines >= 1000 else round(lines, -1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the picture is out of date")
    check = parser.parse_args().check
    old = PICTURE.read_text() if PICTURE.exists() else ""
    rooms, program = read()
    for name, room in rooms.items():
        shown = re.search(rf' id="{name}"[^>]*>([\d,]+)<', old)
        room["lines"] = rounded(room["lines"], int(shown[1].replace(",", "")) if shown else 0)
    new = draw(rooms, program)
    name = PICTURE.relative_to(ROOT)
    if check and new != old:
        sys.exit(f"{name} is out of date; write it again with scripts/architecture.py")
    if not check:
        PICTURE.write_text(new)


if __name__ == "__main__":
    main()
