#!/usr/bin/env python3
"""Checks the texts of the page without a browser.

Every text has a key (src/web/page/texts/, by language), and every key is in every language, with the same
values, and is used. No other file of the page has words for people of its own.

A form such as `save.whole.one`, for a count of 1, is needed only in languages that have it. A key may be
made of parts in the code, such as `side.${side}`; then all keys that fit are used.
"""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "src/web/page"
ENTRY = re.compile(r'^  "([^"]+)": "((?:[^"\\]|\\.)*)",$')
COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", re.S)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
# What stands before a string that nobody reads: a class, a selector, a path, a font, a module, a name of events.
UNREAD = re.compile(r"(class: |className = |classList\.\w+\(|setAttribute\(\"class\", |from |import |querySelector(All)?\(|closest\(|matches\(|matchMedia\("
                    r"|\.font = |write\(value\.\w+, |type: |getItem\(|viewBox: |\bd: |key === |case |kind === |name === |\w+Element\(|role: |Accept: |method: |addEventListener\()$")
# The server's own names of these are English.
FOREIGN = "level."
# Words of browsers and protocols, and names.
NAMES = {"AbortError", "Content-Type", "POST", "PUT", "GET", "DELETE", "SELECT", "Files", "Enter", "Escape", "Home", "End", "ArrowLeft", "ArrowRight", "ArrowUp",
         "ArrowDown", "Tastet", "Tastet 2001", "You", "Outflank", "English", "WTHOR.JOU", "WTHOR.TRN", "M0 4H26"}
# Words for people begin with a capital letter, or there are two of them.
WORDS = re.compile(r"(^|[\s(])[A-Z][a-z]+|[a-z]{2,} [a-z]{2,}")


class Wrong(Exception):
    """A check failed."""


def tables():
    """The texts by language."""
    found = {}
    for file in sorted((PAGE / "texts").glob("*.js")):
        table = found.setdefault(file.stem.split("-")[0], {})
        for number, line in enumerate(file.read_text().splitlines(), 1):
            entry = ENTRY.match(line)
            if entry is None:
                if line.startswith("  ") and not line.startswith("  //"):
                    raise Wrong(f"{file.name}:{number}: no entry: {line.strip()}")
                continue
            key, text = entry.groups()
            if key in table:
                raise Wrong(f"{file.name}:{number}: {key} is there twice")
            if not text.strip():
                raise Wrong(f"{file.name}:{number}: {key} is empty")
            table[key] = text
    return found


def code():
    """The code of each module without its comments."""
    return {file.name: COMMENT.sub("", file.read_text()) for file in sorted(PAGE.glob("*.js"))}


def values(text):
    return sorted(re.findall(r"\{(\w+)\}", text))


def compare(languages):
    """What differs between the languages."""
    faults = []
    for name, table in languages.items():
        for other, reference in languages.items():
            faults += [f"{key} is missing in {name}" for key in reference if key not in table and not key.endswith(".one")
                   and not (name == "en" and key.startswith(FOREIGN))]
            faults += [f"{key}: {name} and {other} have different values" for key in table
                       if key in reference and values(table[key]) != values(reference[key])]
        faults += [f"{key} has no form for other counts" for key in table if key.endswith(".one") and key.removesuffix(".one") not in table]
    return sorted(set(faults))


def used(modules, known):
    """The keys that the modules name, also where one of several is chosen, and patterns of those that they make."""
    keys, patterns = {}, []
    for name, text in modules.items():
        for key in re.findall(r'\b(?:t|hasText)\("([^"]+)"', text):
            keys.setdefault(key, name)
        for key in re.findall(r'"([^"\s]+\.[^"\s]+)"', text):
            if key in known:
                keys.setdefault(key, name)
        for key in re.findall(r"\b(?:t|hasText)\(`([^`]+)`", text):
            parts = re.split(r"\$\{[^}]*\}", key)
            patterns.append(re.compile("[^.]+(?:\\.[^.]+)?".join(map(re.escape, parts)) + "$"))
    return keys, patterns


def unkeyed(modules):
    """Strings for people in the modules, which should have keys."""
    found = []
    for name, text in modules.items():
        for string in STRING.finditer(text):
            content = string[1] if string[1] is not None else re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "", string[2])
            before = text[max(0, string.start() - 40):string.start()]
            if content in NAMES or re.search(r"\b(t|hasText)\($", before) or UNREAD.search(before):
                continue
            if WORDS.search(content):
                line = text.count("\n", 0, string.start()) + 1
                found.append(f"{name}, near line {line}: `{content.strip()[:60]}` has no key")
    return found


def main():
    """Prints what is wrong, if anything. Whether all is right."""
    languages, modules = tables(), code()
    english = languages["en"]
    keys, patterns = used(modules, english)
    faults = compare(languages)
    faults += [f"{name}: there is no text {key}" for key, name in keys.items() if key not in english]
    faults += [f"{key} is used nowhere" for key in english
               if key.removesuffix(".one") not in keys and not any(pattern.match(key) for pattern in patterns)]
    faults += unkeyed(modules)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if not faults:
        print(f"texts: {len(english)} keys in {len(languages)} languages: passed", flush=True)
    return not faults


if __name__ == "__main__":
    try:
        sys.exit(0 if main() else 1)
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(1)
