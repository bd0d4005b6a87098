"""The command `outflank`: starts the program in the package that fits this machine and its libtorch."""

import importlib.util
import os
import pathlib
import sys

TORCH = "2.11.0"
PACKAGE = pathlib.Path(__file__).resolve().parent / "package"


def torch_libraries():
    """The folder of PyTorch's libraries, if PyTorch of the right version is installed."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        return None
    folder = pathlib.Path(found.submodule_search_locations[0])
    version = folder / "version.py"
    has_version = version.is_file() and f"'{TORCH}" in version.read_text(encoding="utf-8")
    return folder / "lib" if has_version else None


def main():
    libraries = torch_libraries()
    if libraries and (PACKAGE / "torch-programs").is_dir():
        os.environ["OUTFLANK_PROGRAMS"] = "torch-programs"
        known = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = f"{libraries}:{known}" if known else str(libraries)
    os.execv("/bin/sh", ["sh", str(PACKAGE / "outflank"), *sys.argv[1:]])
