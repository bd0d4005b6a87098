"""The files of a training run (docs/files.md), and the positions of `outflank games --to npz`."""

import json
import pathlib
import tomllib


class Run:
    """A run directory. It is read anew at each call, so a running run can be watched."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        if not (self.path / "config.toml").is_file():
            raise ValueError(f"{self.path} is no run: it has no config.toml")

    @property
    def config(self):
        """The configuration, as nested dictionaries."""
        return tomllib.loads((self.path / "config.toml").read_text(encoding="utf-8"))

    def rows(self):
        """The reports of metrics.jsonl as dictionaries. An unfinished last line is left out."""
        rows = []
        with open(self.path / "metrics.jsonl", encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    rows.append(json.loads(line))
        return rows

    def curve(self, name):
        """Training positions and values of a curve. KeyError: the run has no such curve."""
        points = [(row["positions"], row["values"][name]) for row in self.rows() if name in row["values"]]
        if not points:
            raise KeyError(f"{self.path} has no curve {name!r}; it has: {', '.join(self.curves())}")
        positions, values = zip(*points)
        return list(positions), list(values)

    def curves(self):
        """The names of all curves."""
        return sorted({name for row in self.rows() for name in row["values"]})


def load_npz(path):
    """The arrays of a file of `outflank games --to npz`, by name (docs/games.md). It needs numpy."""
    import numpy

    with numpy.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}
