#!/usr/bin/env python3
"""Writes the licences of all crates in the program into a file, as they ask for.

Usage: scripts/package/licences.py FILE
"""

import json
import pathlib
import subprocess
import sys

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def packages():
    """The crates of a release build, as cargo describes them."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    data = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    known, waiting = set(), [data["resolve"]["root"]]
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        for wanted in nodes[name]["deps"]:
            if any(kind["kind"] is None for kind in wanted["dep_kinds"]):
                waiting.append(wanted["pkg"])
    known.discard(data["resolve"]["root"])
    return sorted((each for each in data["packages"] if each["id"] in known), key=lambda each: each["name"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    users = {}
    for package in packages():
        folder = pathlib.Path(package["manifest_path"]).parent
        name = f"{package['name']} {package['version']} ({package['license'] or 'its own licence'})"
        texts = [file.read_text(encoding="utf-8", errors="replace").strip()
                 for file in sorted(folder.iterdir())
                 if file.is_file() and file.name.upper().startswith(NAMES)]
        for text in texts or [package["license"] or "no licence is named"]:
            users.setdefault(text, []).append(name)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("The programs contain these crates, each under the licence that follows their names.\n")
        for text, names in users.items():
            out.write("\n=== " + "\n    ".join(names) + f"\n\n{text}\n")


if __name__ == "__main__":
    main()
